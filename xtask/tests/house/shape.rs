//! Size of files and structs, cycles between files, and the public items of a crate.

use crate::modules::Modules;
use crate::source::{Source, Which};
use crate::sources::{PURE, shipped};
use crate::{files, members, root};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Maximum number of lines of a file, and of a file that is compiled only for tests.
const LINES_MAX: usize = 400;
const TEST_LINES_MAX: usize = 600;

/// Maximum number of fields of a struct that holds state.
const FIELDS_MAX: usize = 20;

#[test]
fn no_circle_of_files() {
    let mut found = Vec::new();
    for member in members() {
        for root in ["lib.rs", "main.rs"] {
            let modules = Modules::read(&member.dir.join("src").join(root));
            found.extend(modules.circles().into_iter().map(|c| c.join("\n")));
        }
    }
    assert!(
        found.is_empty(),
        "circles of files:\n\n{}",
        found.join("\n\n")
    );
}

#[test]
fn no_file_is_too_long() {
    let mut found = Vec::new();
    for member in members() {
        let src = member.dir.join("src");
        let own: BTreeSet<_> = shipped(&member.dir)
            .into_iter()
            .map(|(path, _)| path)
            .collect();
        for path in files(&src, "rs") {
            let lines = std::fs::read_to_string(&path).unwrap().lines().count();
            let most = match own.contains(&path) {
                true => LINES_MAX,
                false => TEST_LINES_MAX,
            };
            if lines > most {
                found.push(format!(
                    "{}: {lines} lines, more than {most}",
                    path.display()
                ));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn no_struct_holds_too_much() {
    let mut found = Vec::new();
    for member in members()
        .iter()
        .filter(|member| PURE.contains(&&*member.name))
    {
        for (path, source) in shipped(&member.dir) {
            for (name, fields) in large_structs(&source, FIELDS_MAX) {
                found.push(format!("{}: {name} has {fields} fields", path.display()));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Returns the structs with more than `most` fields, with their number of fields. A struct that derives `Deserialize`
/// mirrors a file format and is exempt.
fn large_structs(source: &Source, most: usize) -> Vec<(String, usize)> {
    let words = source.words(Which::Shipped);
    let mut found = Vec::new();
    for at in (0..words.len()).filter(|at| words[*at] == "struct") {
        let before = words[..at]
            .iter()
            .rev()
            .take_while(|w| ![";", "{", "}"].contains(w));
        if before.into_iter().any(|word| *word == "Deserialize") {
            continue;
        }
        let fields = fields(&words[at + 2..]);
        if fields > most {
            found.push((words[at + 1].to_owned(), fields));
        }
    }
    found
}

/// Returns the number of fields of the struct whose name precedes these words.
fn fields(words: &[&str]) -> usize {
    let (mut depth, mut fields) = (0, 0);
    for (at, word) in words.iter().enumerate() {
        match *word {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth -= 1,
            ":" if depth == 1 && words[at - 1] != ":" && words[at + 1] != ":" => fields += 1,
            _ => {}
        }
        if depth == 0 && ["}", ";"].contains(word) {
            break;
        }
    }
    fields
}

#[test]
fn what_is_public_has_a_user_outside() {
    let members = members();
    // Programs use a crate like other crates do; tests do not count.
    let programs = |dir: &Path| ["benches", "examples"].map(|name| dir.join(name));
    let mut others = words_below(&[root().join("examples"), root().join("fuzz")]);
    for member in &members {
        others.extend(words_below(&programs(&member.dir)));
    }
    let mut found = Vec::new();
    for member in &members {
        let lib = member.dir.join("src/lib.rs");
        if !lib.exists() {
            continue;
        }
        let mut used = others.clone();
        for other in members.iter().filter(|other| other.name != member.name) {
            used.extend(words_below(&[other.dir.join("src")]));
        }
        used.extend(documented(&std::fs::read_to_string(&lib).unwrap()));
        let sources = shipped(&member.dir);
        let unused = unused(sources.iter().map(|(_, source)| source), used);
        found.extend(
            unused
                .into_iter()
                .map(|name| format!("{}: {name}", member.name)),
        );
    }
    assert!(
        found.is_empty(),
        "public, and neither used outside of the crate nor named in the documentation of its root:\n{}",
        found.join("\n")
    );
}

/// Returns every word of the code in these directories, without tests.
fn words_below(dirs: &[PathBuf]) -> BTreeSet<String> {
    let files = dirs.iter().flat_map(|dir| files(dir, "rs"));
    files
        .flat_map(|path| Source::read(&path).identifiers(Which::Shipped))
        .collect()
}

/// Returns the words in the documentation of a crate's root: the items it lists, and those of its example.
fn documented(text: &str) -> BTreeSet<String> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("//!"));
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    lines
        .flat_map(|line| line.split(|c| !is_word(c)))
        .map(str::to_owned)
        .collect()
}

/// Returns the public items that nobody uses. Items in the signature of a used item count as used.
fn unused<'a>(
    sources: impl Iterator<Item = &'a Source>,
    mut used: BTreeSet<String>,
) -> Vec<String> {
    let mut items: Vec<(String, BTreeSet<String>)> = sources.flat_map(public).collect();
    loop {
        let (these, rest): (Vec<_>, _) =
            items.into_iter().partition(|(name, _)| used.contains(name));
        items = rest;
        if these.is_empty() {
            break;
        }
        used.extend(these.into_iter().flat_map(|(_, signature)| signature));
    }
    items.into_iter().map(|(name, _)| name).collect()
}

/// Returns every `pub` item of a file with the words of its signature: a function up to its body, any other item
/// completely.
fn public(source: &Source) -> Vec<(String, BTreeSet<String>)> {
    let words = source.words(Which::Shipped);
    let mut found = Vec::new();
    for at in (0..words.len()).filter(|at| words[*at] == "pub") {
        let rest = &words[at + 1..];
        let qualifiers = ["const", "unsafe", "async"];
        let skipped = rest
            .windows(2)
            .take_while(|pair| qualifiers.contains(&pair[0]) && pair[1] == "fn");
        let rest = &rest[skipped.count()..];
        let [kind, name, signature @ ..] = rest else {
            continue;
        };
        let kinds = [
            "fn", "struct", "enum", "union", "trait", "type", "const", "static",
        ];
        // `$` occurs in macros.
        if !kinds.contains(kind) || *name == "$" {
            continue;
        }
        let mut depth = 0;
        let end = signature.iter().position(|word| {
            match *word {
                "{" if *kind == "fn" && depth == 0 => return true,
                "{" | "(" | "[" => depth += 1,
                "}" | ")" | "]" => depth -= 1,
                _ => {}
            }
            depth == 0 && [";", "}"].contains(word)
        });
        let signature = &signature[..end.unwrap_or(signature.len())];
        let signature = signature.iter().map(|word| (*word).to_owned()).collect();
        found.push(((*name).to_owned(), signature));
    }
    found
}

#[test]
fn fields_are_counted() {
    let text = "struct A<T: B> { a: std::fmt::Error, pub(crate) b: [T; 3], #[x(y: 1)] c: Box<dyn Fn(d: u8)> }
                #[derive(serde::Deserialize)] struct F { a: u8, b: u8, c: u8 }
                struct T(u8, u8, u8); fn f() { g(h: i, j: k) } struct U; struct V { a: u8 }";
    let source = Source::parse(text);
    assert_eq!(large_structs(&source, 2), [("A".to_owned(), 3)]);
    assert!(large_structs(&source, 3).is_empty());
}

#[test]
fn what_nobody_uses_is_found() {
    let text = "pub struct Used { pub field: Field } pub struct Field; pub enum Unused { A(OnlyThere) }
                pub struct OnlyThere; pub(crate) fn own() {} impl Used { pub const fn f(&self) -> R { Local } }
                pub type R = u8; pub struct Local;";
    let used = ["Used", "f"].map(str::to_owned).into();
    let source = Source::parse(text);
    let unused = unused([&source].into_iter(), used);
    assert_eq!(unused, ["Unused", "OnlyThere", "Local"]);
    let words = documented("//! A [`Thing`].\n//! let x = thing.make();\nuse other;");
    assert!(words.contains("Thing") && words.contains("make") && !words.contains("other"));
}
