//! The arguments of functions.
//!
//! A tuple of different types is several arguments in one. It has no names at the call, and clippy's limit on the number
//! of arguments does not count its parts. A pair of one type, such as a range, is acceptable.

use crate::members;
use crate::source::{Source, Which};
use crate::sources::shipped;

#[test]
fn no_function_takes_a_tuple_of_different_types() {
    let mut found = Vec::new();
    for member in members() {
        for (path, source) in shipped(&member.dir) {
            for (function, parameter) in mixed_tuples(&source) {
                found.push(format!("{}: {function} takes {parameter}", path.display()));
            }
        }
    }
    assert!(
        found.is_empty(),
        "tuples of different types as parameters, which want a struct with named fields:\n{}",
        found.join("\n")
    );
}

/// Returns every parameter that is a tuple of different types, or a reference to one, with the name of its function.
fn mixed_tuples(source: &Source) -> Vec<(String, String)> {
    let words = source.words(Which::Shipped);
    let mut found = Vec::new();
    for at in (0..words.len()).filter(|at| words[*at] == "fn") {
        // A type `fn(...)` has no name.
        if words.get(at + 1).is_none_or(|name| *name == "(") {
            continue;
        }
        let after = &words[at + 1..];
        let mut depths = depths(after);
        let open = depths.position(|(word, depth)| word == "(" && depth == 1);
        let parameters = open.map_or(&after[..0], |open| inner(&after[open..]));
        for parameter in list(parameters) {
            if is_mixed_tuple(type_of(parameter)) {
                found.push((after[0].to_owned(), parameter.join(" ")));
            }
        }
    }
    found
}

/// Returns the type of a parameter without references; nothing for `self`.
fn type_of<'a, 'b>(parameter: &'a [&'b str]) -> &'a [&'b str] {
    let colon = depths(parameter).position(|(word, depth)| word == ":" && depth == 0);
    let mut rest = colon.map_or(&parameter[..0], |colon| &parameter[colon + 1..]);
    loop {
        rest = match rest {
            ["'", _, inner @ ..] | ["&" | "mut", inner @ ..] => inner,
            _ => return rest,
        };
    }
}

fn is_mixed_tuple(words: &[&str]) -> bool {
    let types: Vec<_> = match words {
        ["(", ..] => list(inner(words)).collect(),
        _ => return false,
    };
    types.iter().any(|one| *one != types[0])
}

/// Splits words at the commas outside of brackets; nothing follows a trailing comma.
fn list<'a, 'b>(words: &'a [&'b str]) -> impl Iterator<Item = &'a [&'b str]> {
    let mut depths = depths(words);
    let parts = words.split(move |_| depths.next() == Some((",", 0)));
    parts.filter(|part| !part.is_empty())
}

/// Returns the contents of the group that these words start with.
fn inner<'a, 'b>(words: &'a [&'b str]) -> &'a [&'b str] {
    let end = depths(words).position(|(_, depth)| depth == 0);
    &words[1..end.unwrap_or(words.len())]
}

/// Returns each word with the number of brackets that are open after it. Brackets of types count, the arrows `->` and
/// `=>` do not.
fn depths<'a, 'b>(words: &'a [&'b str]) -> impl Iterator<Item = (&'b str, i32)> + use<'a, 'b> {
    let mut depth = 0;
    let mut before = "";
    words.iter().map(move |word| {
        match *word {
            "(" | "[" | "{" | "<" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            ">" if !["-", "="].contains(&before) => depth -= 1,
            _ => {}
        }
        before = word;
        (*word, depth)
    })
}

#[test]
fn tuples_of_different_types_are_found() {
    let refused = [
        "fn f(a: (u8, u16)) {}",
        "fn f(a: u8, (b, c): (Dur, &str), d: u8) {}",
        "fn f(a: &'a mut (u64, Option<(u8, u8)>)) {}",
        "impl A { pub fn f(&self, a: &(Vec<u8>, Vec<u16>),) -> u8 { 0 } }",
        "fn f<F: Fn(u8) -> u8, const N: usize>(g: F, a: (u8, [u8; N])) {}",
        "trait T { fn f(a: ((u8, u8), u8)); }",
        "macro_rules! m { ($t:ty) => { fn f(a: ($t, u8)) {} }; }",
    ];
    for text in refused {
        assert_eq!(mixed_tuples(&Source::parse(text)).len(), 1, "{text}");
    }
    let allowed = [
        "fn f(a: (u8, u8), b: &[(u8, u16)], c: Option<(u8, u16)>) -> (u8, u16) { (a.0, 1) }",
        "fn f(self, a: (), b: (u8), g: impl Fn((u8, u16)) -> (u8, u16), h: fn((u8, u16))) {}",
        "fn f(a: HashMap<u8, u16>, b: (Pair<u8, u16>, Pair<u8, u16>)) {}",
        "fn f() { let g = |(a, b): (u8, u16)| a; } struct S(u8, u16);",
        "#[cfg(test)] fn f(a: (u8, u16)) {}",
    ];
    for text in allowed {
        let found = mixed_tuples(&Source::parse(text));
        assert!(found.is_empty(), "{found:?}");
    }
}
