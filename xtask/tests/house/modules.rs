//! Dependencies between the files of a crate, and cycles among them.
//!
//! An import counts as a use of the file that defines the item, through any number of re-exports. A `mod` line or a
//! re-export alone is not a use, and code compiled only for tests does not count. Method calls are not detected.

use crate::source::{Source, Which, children_of};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

/// Keywords that start an item; its name follows.
const ITEMS: [&str; 9] = [
    "fn",
    "struct",
    "enum",
    "union",
    "trait",
    "type",
    "const",
    "static",
    "macro_rules",
];

/// A module path from the root of the crate.
type Place = Vec<String>;

/// The modules of a crate.
#[derive(Default)]
pub(crate) struct Modules {
    files: Vec<PathBuf>,
    modules: BTreeMap<Place, Module>,
}

#[derive(Default)]
struct Module {
    /// Index of its file.
    file: usize,
    items: BTreeSet<String>,
    /// Local name, and the path that it stands for.
    imports: BTreeMap<String, Vec<String>>,
    /// Imports and paths in code.
    uses: Vec<Vec<String>>,
}

enum Found {
    Module(Place),
    /// An item, with the file that defines it.
    Item(usize),
}

impl Modules {
    /// Reads the crate with this root file.
    pub(crate) fn read(root: &Path) -> Modules {
        let mut modules = Modules::default();
        modules.file(root, Vec::new(), &|path| {
            path.exists().then(|| Source::read(path))
        });
        modules
    }

    fn file(&mut self, path: &Path, place: Place, read: &dyn Fn(&Path) -> Option<Source>) {
        let Some(source) = read(path) else {
            return;
        };
        let file = self.files.len();
        self.files.push(path.to_owned());
        let words = source.words(Which::Shipped);
        for child in self.scan(&words, file, place.clone()) {
            let below = children_of(path).join(child[place.len()..].join("/"));
            let plain = below.with_extension("rs");
            let path = if read(&plain).is_some() {
                plain
            } else {
                below.join("mod.rs")
            };
            self.file(&path, child, read);
        }
    }

    /// Scans the code of one module. Returns the child modules that have files of their own.
    fn scan(&mut self, words: &[&str], file: usize, place: Place) -> Vec<Place> {
        let mut module = Module {
            file,
            ..Module::default()
        };
        let mut children = Vec::new();
        let mut code: Vec<&str> = Vec::new();
        let mut re_exported = Vec::new();
        let (mut at, mut depth) = (0, 0);
        while at < words.len() {
            let word = words[at];
            match word {
                "{" | "(" | "[" => depth += 1,
                "}" | ")" | "]" => depth -= 1,
                _ => {}
            }
            match (word, &words[at + 1..]) {
                ("use", rest) if rest.first() != Some(&"<") => {
                    let end = at + rest.iter().position(|w| *w == ";").unwrap_or(rest.len()) + 1;
                    let public = words[..at].last().is_some_and(|w| ["pub", ")"].contains(w));
                    let mut leaves = Vec::new();
                    use_tree(&words[at + 1..end], &[], &mut leaves);
                    for (name, path) in leaves {
                        if public {
                            re_exported.push((name.clone(), path.clone()));
                        } else {
                            module.uses.push(path.clone());
                        }
                        module.imports.insert(name, path);
                    }
                    at = end;
                    continue;
                }
                ("mod", [name, ";", ..]) if depth == 0 => {
                    children.push(child(&place, name));
                    at += 3;
                    continue;
                }
                ("mod", [name, "{", ..]) if depth == 0 => {
                    let end = at + 2 + closing(&words[at + 2..]);
                    let inner = self.scan(&words[at + 3..end], file, child(&place, name));
                    children.extend(inner);
                    at = end + 1;
                    continue;
                }
                (item, [name, rest @ ..]) if depth == 0 && ITEMS.contains(&item) => {
                    let name = if *name == "!" { rest[0] } else { name };
                    module.items.insert(name.to_owned());
                }
                _ => {}
            }
            code.push(word);
            at += 1;
        }
        module.uses.extend(paths(&code));
        // A re-export counts as a use if the code also names the item.
        let used = re_exported
            .into_iter()
            .filter(|(name, _)| is_named(&code, name));
        module.uses.extend(used.map(|(_, path)| path));
        self.modules.insert(place, module);
        children
    }

    /// Resolves a path in a module. Returns `None` for items of other crates.
    fn resolve(&self, place: &Place, path: &[String], depth: usize) -> Option<Found> {
        let mut at = place.clone();
        let mut own = false;
        for (nth, word) in path.iter().enumerate() {
            let module = self.modules.get(&at)?;
            match word.as_str() {
                "crate" => at.clear(),
                "self" => {}
                "super" => drop(at.pop()),
                _ if self.modules.contains_key(&child(&at, word)) => at.push(word.clone()),
                _ if module.items.contains(word) => return Some(Found::Item(module.file)),
                _ => match module.imports.get(word) {
                    // A name that stands for itself is that of a crate.
                    Some(path) if depth < 16 && (path[0] != *word || nth > 0) => {
                        match self.resolve(&at, path, depth + 1)? {
                            Found::Module(place) => at = place,
                            item @ Found::Item(_) => return Some(item),
                        }
                    }
                    // An item defined by a macro.
                    None if own => return Some(Found::Item(module.file)),
                    _ => return None,
                },
            }
            own = true;
        }
        Some(Found::Module(at))
    }

    /// Returns, for each file, the files that it uses and the names it uses from them.
    fn edges(&self) -> BTreeMap<usize, BTreeMap<usize, BTreeSet<String>>> {
        let mut edges: BTreeMap<_, BTreeMap<_, BTreeSet<_>>> = BTreeMap::new();
        for (place, module) in &self.modules {
            for path in &module.uses {
                if let Some(Found::Item(file)) = self.resolve(place, path, 0)
                    && file != module.file
                {
                    let names = edges
                        .entry(module.file)
                        .or_default()
                        .entry(file)
                        .or_default();
                    names.insert(path.last().cloned().unwrap_or_default());
                }
            }
        }
        edges
    }

    /// Returns one shortest cycle for each group of files that use each other: one line per file, with the names it uses.
    pub(crate) fn circles(&self) -> Vec<Vec<String>> {
        let edges = self.edges();
        let mut seen = BTreeSet::new();
        let mut circles: Vec<Vec<usize>> = (0..self.files.len())
            .filter_map(|file| circle(&edges, file))
            .collect();
        circles.sort_by_key(Vec::len);
        circles.retain(|circle| {
            let new = circle.iter().all(|file| !seen.contains(file));
            seen.extend(circle.iter().copied());
            new
        });
        let shown = |circle: Vec<usize>| {
            let next = circle.iter().cycle().skip(1);
            let pairs = circle.iter().zip(next);
            pairs
                .map(|(from, to)| {
                    let names: Vec<&str> = edges[from][to].iter().map(String::as_str).collect();
                    let (from, to) = (self.files[*from].display(), self.files[*to].display());
                    format!("{from} uses {} of {to}", names.join(", "))
                })
                .collect()
        };
        circles.into_iter().map(shown).collect()
    }
}

/// Returns the shortest path from a file back to itself.
fn circle<T>(edges: &BTreeMap<usize, BTreeMap<usize, T>>, file: usize) -> Option<Vec<usize>> {
    let mut before = BTreeMap::new();
    let mut queue = VecDeque::from([file]);
    while let Some(at) = queue.pop_front() {
        for next in edges.get(&at).into_iter().flatten().map(|(next, _)| *next) {
            if next == file {
                let mut way = vec![at];
                while way[way.len() - 1] != file {
                    way.push(before[&way[way.len() - 1]]);
                }
                way.reverse();
                return Some(way);
            }
            before.entry(next).or_insert_with(|| {
                queue.push_back(next);
                at
            });
        }
    }
    None
}

fn child(place: &[String], name: &str) -> Place {
    let mut child = place.to_vec();
    child.push(name.to_owned());
    child
}

/// Returns true if code names an item: a type anywhere, or a function where it is called, unless a variable or method has
/// the same name.
fn is_named(code: &[&str], name: &str) -> bool {
    let mut places = (1..code.len()).filter(|at| code[*at] == name);
    if name.starts_with(char::is_uppercase) {
        return places.next().is_some();
    }
    let binds = ["let", "mut", "fn", "|", "."];
    let mut called = false;
    for at in places {
        if binds.contains(&code[at - 1]) {
            return false;
        }
        called |= code.get(at + 1) == Some(&"(");
    }
    called
}

/// Returns the index of the bracket that closes the group that these words start with.
fn closing(words: &[&str]) -> usize {
    let mut depth = 0;
    for (at, word) in words.iter().enumerate() {
        match *word {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    words.len()
}

/// Collects the names that the tree of a `use` imports, each with its path; a `*` imports none.
fn use_tree(words: &[&str], before: &[String], found: &mut Vec<(String, Vec<String>)>) {
    let mut path = before.to_vec();
    let mut at = 0;
    while at < words.len() {
        match words[at] {
            ":" => {}
            "{" => {
                let end = at + closing(&words[at..]);
                for branch in branches(&words[at + 1..end]) {
                    use_tree(branch, &path, found);
                }
                return;
            }
            "*" => return,
            "self" if !path.is_empty() => {}
            "as" => {
                found.push((words[at + 1].to_owned(), path));
                return;
            }
            word => path.push(word.to_owned()),
        }
        at += 1;
    }
    if let Some(name) = path.last().cloned() {
        found.push((name, path));
    }
}

/// Splits words at the commas outside of inner braces.
fn branches<'a, 'b>(words: &'a [&'b str]) -> impl Iterator<Item = &'a [&'b str]> {
    let mut depth = 0;
    words.split(move |word| {
        match *word {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        depth == 0 && *word == ","
    })
}

/// Returns every `a::b::c` in the code.
fn paths(words: &[&str]) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut at = 0;
    let joined = |at: usize| words.get(at..at + 2) == Some(&[":", ":"]);
    let is_name = |at: usize| {
        let first = words.get(at).and_then(|word| word.chars().next());
        first.is_some_and(|c| c.is_alphabetic() || c == '_')
    };
    while at < words.len() {
        let begins = is_name(at) && joined(at + 1) && (at < 2 || !joined(at - 2));
        if !begins {
            at += 1;
            continue;
        }
        let mut path = vec![words[at].to_owned()];
        at += 1;
        while joined(at) && is_name(at + 2) {
            path.push(words[at + 2].to_owned());
            at += 3;
        }
        found.push(path);
    }
    found
}

#[cfg(test)]
fn circles_of(files: &[(&str, &str)]) -> Vec<Vec<String>> {
    let files: BTreeMap<&Path, &str> = files.iter().map(|(p, t)| (Path::new(*p), *t)).collect();
    let mut modules = Modules::default();
    modules.file(Path::new("lib.rs"), Vec::new(), &|path| {
        files.get(path).map(|text| Source::parse(text))
    });
    modules.circles()
}

#[test]
fn a_circle_is_found_through_a_re_export() {
    let lib = (
        "lib.rs",
        "mod a; mod b; pub use b::{inner::Thing, Other as More};",
    );
    let a = ("a.rs", "use crate::{Thing, More}; pub struct A;");
    let b = ("b.rs", "pub mod inner; pub struct Other;");
    let inner = |text| ("b/inner.rs", text);
    let circles = circles_of(&[lib, a, b, inner("pub struct Thing(super::super::a::A);")]);
    assert_eq!(
        circles,
        [["a.rs uses Thing of b/inner.rs", "b/inner.rs uses A of a.rs"]]
    );
    let circles = circles_of(&[lib, a, b, inner("pub struct Thing;")]);
    assert!(circles.is_empty(), "{circles:?}");
}

#[test]
fn a_parent_that_uses_its_child_and_is_used_by_it_is_a_circle() {
    let child = ("a.rs", "use super::Up; pub fn f(_: Up) {}");
    for user in ["a::f(Up)", "use a::f; f(Up)"] {
        let lib = format!("mod a; pub struct Up; fn g() {{ {user} }}");
        assert_eq!(circles_of(&[("lib.rs", &lib), child]).len(), 1, "{user}");
    }
    for (used, circles) in [("f(Up)", 1), ("let f = 1; f(2); x.f()", 0)] {
        let lib = format!("mod a; pub use a::f; pub struct Up; fn g() {{ {used} }}");
        assert_eq!(
            circles_of(&[("lib.rs", &lib), child]).len(),
            circles,
            "{used}"
        );
    }
    // Declaring and re-exporting a child is not a use, and tests do not count.
    let lib = "mod a; pub use a::f; pub struct Up; #[cfg(test)] mod tests { use super::a::f; }";
    assert!(circles_of(&[("lib.rs", lib), child]).is_empty());
}

#[test]
fn modules_in_a_directory_and_in_braces_are_found() {
    let lib = "mod a; mod inline { pub mod deep; pub struct In; }";
    let a = "use crate::inline; fn f() -> inline::deep::D { x }";
    let deep = "use crate::a::g; pub struct D;";
    let files = [("lib.rs", lib), ("a/mod.rs", a), ("inline/deep.rs", deep)];
    assert_eq!(circles_of(&files).len(), 1);
}
