//! A Rust file as tokens, so that words in comments and strings are not found.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::path::{Path, PathBuf};

/// The tokens of a file with their lines, including those inside of groups.
pub(crate) struct Source {
    tokens: Vec<Token>,
    /// Files that are compiled only for tests.
    pub(crate) test_files: Vec<PathBuf>,
}

struct Token {
    text: String,
    line: usize,
    /// True inside of an item that is compiled only for tests.
    test: bool,
}

/// Selects tokens.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Which {
    All,
    /// Only tokens outside of `#[cfg(test)]` items.
    Shipped,
    /// Only tokens inside of `#[cfg(test)]` items.
    Tests,
}

impl Source {
    pub(crate) fn read(path: &Path) -> Source {
        let text = std::fs::read_to_string(path).unwrap();
        let mut source = Source::parse(&text);
        let dir = path.parent().unwrap();
        let children = children_of(path);
        for file in &mut source.test_files {
            // `#[path]` is relative to the file's directory, a plain `mod` to that of its children.
            let start = if file.extension().is_some() {
                dir
            } else {
                &children
            };
            *file = start.join(&*file).with_extension("rs");
        }
        source
    }

    pub(crate) fn parse(text: &str) -> Source {
        let stream: TokenStream = text.parse().unwrap();
        let mut source = Source {
            tokens: Vec::new(),
            test_files: Vec::new(),
        };
        source.add(stream, false);
        source
    }

    fn add(&mut self, stream: TokenStream, test: bool) {
        let trees: Vec<TokenTree> = stream.into_iter().collect();
        let mut at = 0;
        while at < trees.len() {
            if is_test_attribute(&trees[at..]) {
                let end = at + item_length(&trees[at..]);
                self.test_files.extend(file_of_module(&trees[at..end]));
                self.add(trees[at + 2..end].iter().cloned().collect(), true);
                at = end;
            } else {
                self.push(&trees[at], test);
                at += 1;
            }
        }
    }

    fn push(&mut self, tree: &TokenTree, test: bool) {
        let mut token = |text: String, line| self.tokens.push(Token { text, line, test });
        let TokenTree::Group(group) = tree else {
            return token(tree.to_string(), tree.span().start().line);
        };
        let (open, close) = match group.delimiter() {
            Delimiter::Brace => ("{", "}"),
            Delimiter::Bracket => ("[", "]"),
            Delimiter::Parenthesis => ("(", ")"),
            Delimiter::None => ("", ""),
        };
        token(open.to_owned(), group.span_open().start().line);
        self.add(group.stream(), test);
        self.tokens.push(Token {
            text: close.to_owned(),
            line: group.span_close().start().line,
            test,
        });
    }

    fn shown(&self, which: Which) -> Vec<&Token> {
        self.tokens
            .iter()
            .filter(|token| which == Which::All || token.test == (which == Which::Tests))
            .collect()
    }

    /// Returns every token of the file.
    pub(crate) fn words(&self, which: Which) -> Vec<&str> {
        let shown = self.shown(which);
        shown.into_iter().map(|token| &*token.text).collect()
    }

    /// Returns every identifier of the file.
    pub(crate) fn identifiers(&self, which: Which) -> Vec<String> {
        self.shown(which)
            .iter()
            .filter(|token| {
                token
                    .text
                    .starts_with(|c: char| c.is_alphabetic() || c == '_')
            })
            .map(|token| token.text.clone())
            .collect()
    }

    /// Returns the lines in which this sequence of tokens occurs.
    pub(crate) fn find(&self, sequence: &[&str], which: Which) -> Vec<usize> {
        self.shown(which)
            .windows(sequence.len())
            .filter(|window| window.iter().zip(sequence).all(|(t, s)| t.text == *s))
            .map(|window| window[0].line)
            .collect()
    }

    /// Returns the lines that name the module `std::NAME`, in a path or in a `use` with braces.
    pub(crate) fn find_std(&self, name: &str, which: Which) -> Vec<usize> {
        let mut lines = self.find(&["std", ":", ":", name], which);
        let tokens = self.shown(which);
        for (at, window) in tokens.windows(4).enumerate() {
            if !window
                .iter()
                .map(|t| t.text.as_str())
                .eq(["std", ":", ":", "{"])
            {
                continue;
            }
            let mut depth = 0;
            for pair in tokens[at + 3..].windows(2) {
                match pair[0].text.as_str() {
                    "{" => depth += 1,
                    "}" => depth -= 1,
                    _ => {}
                }
                if depth == 0 {
                    break;
                }
                if depth == 1 && ["{", ","].contains(&&*pair[0].text) && pair[1].text == name {
                    lines.push(pair[1].line);
                }
            }
        }
        lines
    }
}

/// Returns the directory of the files of a module's child modules.
pub(crate) fn children_of(path: &Path) -> PathBuf {
    let stem = path.file_stem().unwrap();
    match ["mod", "lib", "main"].iter().any(|own| stem == *own) {
        true => path.parent().unwrap().to_owned(),
        false => path.with_extension(""),
    }
}

/// Matches `#[cfg(test)]`, `#[cfg(all(test, ...))]` and `#[test]`.
fn is_test_attribute(trees: &[TokenTree]) -> bool {
    let [TokenTree::Punct(hash), TokenTree::Group(attribute), ..] = trees else {
        return false;
    };
    let text = attribute.stream().to_string().replace(' ', "");
    hash.as_char() == '#'
        && ["cfg(test)", "cfg(all(test,", "test"]
            .iter()
            .any(|test| text == *test || (test.ends_with(',') && text.starts_with(test)))
}

/// Returns the number of tokens up to the end of the item that starts here with its attributes.
fn item_length(trees: &[TokenTree]) -> usize {
    let end = trees.iter().position(|tree| match tree {
        TokenTree::Punct(punct) => punct.as_char() == ';',
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        _ => false,
    });
    end.map_or(trees.len(), |end| end + 1)
}

/// Returns the file of `mod name;` or `#[path = "file.rs"] mod name;`; a plain name has no extension.
fn file_of_module(trees: &[TokenTree]) -> Option<PathBuf> {
    let texts: Vec<String> = trees.iter().map(ToString::to_string).collect();
    let [.., keyword, name, end] = texts.as_slice() else {
        return None;
    };
    if keyword != "mod" || end != ";" {
        return None;
    }
    let path = texts.iter().find_map(|text| {
        let value = text.strip_prefix("[path = \"")?;
        value.strip_suffix("\"]")
    });
    Some(PathBuf::from(path.unwrap_or(name)))
}

#[test]
fn comments_and_texts_are_no_code() {
    let source = Source::parse("// unsafe\n/// unsafe\nfn f() { \"unsafe\"; r#\"unsafe\"#; }");
    assert!(source.find(&["unsafe"], Which::All).is_empty());
    let source = Source::parse("fn f() {\n    unsafe { g() }\n}");
    assert_eq!(source.find(&["unsafe"], Which::All), [2]);
}

#[test]
fn what_only_tests_compile_is_told_apart() {
    let text = "#[cfg(test)]\nmod tests {\n    use std::fs;\n}\n#[cfg(test)]\n#[path = \"x_tests.rs\"]\nmod more;\n\
                #[cfg(all(test, unix))]\nmod plain;\nuse std::env;";
    let source = Source::parse(text);
    assert_eq!(source.find_std("fs", Which::All), [3]);
    assert!(source.find_std("fs", Which::Shipped).is_empty());
    assert_eq!(source.find_std("env", Which::Shipped), [10]);
    assert_eq!(
        source.test_files,
        [Path::new("x_tests.rs"), Path::new("plain")]
    );
}

#[test]
fn modules_are_found_in_paths_and_in_braces() {
    let source = Source::parse(
        "use std::{fmt, io::{self, time}, time::Duration};\nfn f() { std::fs::read(x) }",
    );
    assert_eq!(source.find_std("time", Which::All), [1]);
    assert_eq!(source.find_std("fs", Which::All), [2]);
    assert!(source.find_std("self", Which::All).is_empty());
}
