//! Adds one extension of each kind to a copy of the workspace, and checks that it compiles and that it needs as many
//! files and lines as CONTRIBUTING.md promises.
//!
//! `tests/toys` has one file per kind. An extension duplicates something that exists under another name: files and lines
//! are copied and `names` are replaced in them, so that the extension stays valid when the original changes. Large copies
//! (a crate) are replaced by a `text`.

use crate::{files, root};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

struct Toy {
    /// Heading of its recipe.
    recipe: String,
    /// The crate that must compile with it, together with the crates that it depends on.
    package: String,
    /// Path and text of each file.
    files: Vec<(PathBuf, String)>,
    lines: Vec<Line>,
}

/// Lines to add to a file before the first line that contains `like`: either `text`, or a copy of that line and the
/// `count - 1` lines after it, with the names replaced.
struct Line {
    path: PathBuf,
    like: String,
    count: usize,
    text: Option<String>,
    names: Vec<(String, String)>,
}

impl Toy {
    /// Parses the file of an extension; `read` returns the sources of the workspace.
    fn parse(text: &str, read: &dyn Fn(&Path) -> String) -> Toy {
        let table: toml::Table = text.parse().unwrap();
        let toy = serde_json::to_value(table).unwrap();
        let said = |value: &Value, key: &str| value[key].as_str().map(str::to_owned);
        let path = |value: &Value, key: &str| PathBuf::from(said(value, key).unwrap());
        let each = |key: &str| toy[key].as_array().cloned().unwrap_or_default();
        let names: Vec<(String, String)> = each("names")
            .iter()
            .map(|pair| {
                [0, 1]
                    .map(|at| pair[at].as_str().unwrap().to_owned())
                    .into()
            })
            .collect();
        let file = |file: &Value| {
            let like = || renamed(&read(&path(file, "like")), &names);
            (path(file, "path"), said(file, "text").unwrap_or_else(like))
        };
        let line = |line: &Value| Line {
            path: path(line, "path"),
            like: said(line, "like").unwrap(),
            count: line["count"].as_u64().unwrap_or(1) as usize,
            text: said(line, "text"),
            names: names.clone(),
        };
        Toy {
            recipe: said(&toy, "recipe").unwrap(),
            package: format!("fathom-{}", said(&toy, "crate").unwrap()),
            files: each("file").iter().map(file).collect(),
            lines: each("line").iter().map(line).collect(),
        }
    }

    /// Returns the size as stated in CONTRIBUTING.md.
    fn promise(&self) -> String {
        let counted = |n: usize, what: &str| {
            let word = [
                "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine",
            ][n];
            format!("{word} {what}{}", if n == 1 { "" } else { "s" })
        };
        let lines = self.lines.iter().map(|line| line.count).sum();
        let files = self.files.len();
        format!("{} and {}", counted(files, "file"), counted(lines, "line"))
    }
}

impl Line {
    /// Returns the text of the file after the addition.
    fn added_to(&self, file: &str) -> String {
        let at = file.lines().position(|line| line.contains(&self.like));
        let shown = self.path.display();
        let at = at.unwrap_or_else(|| panic!("{shown}: no line contains `{}`", self.like));
        let mut lines: Vec<&str> = file.lines().collect();
        let these = lines[at..at + self.count].join("\n");
        let text = match &self.text {
            Some(text) => text.clone(),
            None => renamed(&these, &self.names),
        };
        assert_ne!(text, these, "{shown}: a line is added as it is there");
        lines.insert(at, &text);
        lines.join("\n") + "\n"
    }
}

fn renamed(text: &str, names: &[(String, String)]) -> String {
    let mut text = text.to_owned();
    for (from, to) in names {
        text = text.replace(from, to);
    }
    text
}

fn toys() -> Vec<Toy> {
    let read = |path: &Path| std::fs::read_to_string(root().join(path)).unwrap();
    let texts = files(&root().join("xtask/tests/toys"), "toml");
    let toys: Vec<Toy> = texts
        .iter()
        .map(|path| Toy::parse(&std::fs::read_to_string(path).unwrap(), &read))
        .collect();
    assert!(toys.len() >= 3, "no toys");
    toys
}

#[test]
fn an_addition_is_as_small_as_its_recipe_says() {
    let text = std::fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    for toy in toys() {
        let recipe = text
            .split("\n## ")
            .find(|section| section.lines().next() == Some(&toy.recipe));
        let recipe = recipe.unwrap_or_else(|| panic!("CONTRIBUTING.md has no `{}`", toy.recipe));
        let promise = toy.promise();
        let recipe = recipe.to_lowercase().replace('\n', " ");
        assert!(recipe.contains(&promise), "{}: {promise}", toy.recipe);
    }
}

#[test]
fn an_addition_of_each_kind_compiles() {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root().join("target"), PathBuf::from);
    let copy = target.join("toys");
    let toys = toys();
    let manifests = ["Cargo.toml", "Cargo.lock"].map(PathBuf::from);
    let dirs = ["crates", "xtask", "examples", "docs", "papers"];
    let mut wanted: Vec<PathBuf> = dirs.iter().flat_map(|dir| files_below(dir)).collect();
    wanted.extend(manifests);
    // Removes files that were added or have disappeared since the last run.
    for dir in dirs {
        for path in every_file(&copy.join(dir)) {
            let kept = path.strip_prefix(&copy).unwrap();
            if !wanted.iter().any(|path| path == kept) {
                std::fs::remove_file(path).unwrap();
            }
        }
    }
    for path in wanted {
        let original = std::fs::read(root().join(&path)).unwrap();
        let lines = toys.iter().flat_map(|toy| &toy.lines);
        let mut lines = lines.filter(|line| line.path == path).peekable();
        let text = match lines.peek() {
            None => original,
            Some(_) => lines
                .fold(String::from_utf8(original).unwrap(), |text, line| {
                    line.added_to(&text)
                })
                .into_bytes(),
        };
        write(&copy.join(&path), &text);
    }
    number_apart(&copy);
    for (path, text) in toys.iter().flat_map(|toy| &toy.files) {
        assert!(!root().join(path).exists(), "{} is there", path.display());
        write(&copy.join(path), text.as_bytes());
    }
    let packages = toys.iter().flat_map(|toy| ["-p", &toy.package]);
    let status = Command::new(env!("CARGO"))
        .args(["check", "--quiet"])
        .args(packages)
        .current_dir(&copy)
        .env("CARGO_TARGET_DIR", &target)
        .status();
    assert!(status.unwrap().success(), "{} holds it", copy.display());
}

/// Gives the packages of the copy another version. Both workspaces use one target directory, for their dependencies, and cargo
/// takes packages of the same name and version for the same, wherever they lie.
fn number_apart(copy: &Path) {
    let manifest = copy.join("Cargo.toml");
    let text = std::fs::read_to_string(&manifest).unwrap();
    let version = |number: &str| format!("version = \"{number}\"");
    let own = version(env!("CARGO_PKG_VERSION"));
    assert!(text.contains(&own), "{text}");
    let other = version(concat!(env!("CARGO_PKG_VERSION"), "-toys"));
    write(&manifest, text.replacen(&own, &other, 1).as_bytes());
}

/// Returns the files of a directory of the repository, relative to its root.
fn files_below(dir: &str) -> Vec<PathBuf> {
    let found = every_file(&root().join(dir));
    let relative = |path: &PathBuf| path.strip_prefix(root()).unwrap().to_owned();
    found.iter().map(relative).collect()
}

fn every_file(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .flat_map(|path| match path.is_dir() {
            true => every_file(&path),
            false => vec![path],
        })
        .collect()
}

/// Does not touch a file that is already up to date, because cargo compiles newer files.
fn write(path: &Path, text: &[u8]) {
    if std::fs::read(path).is_ok_and(|old| old == text) {
        return;
    }
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

#[test]
fn files_and_lines_are_added_under_another_name() {
    let text = r#"
        recipe = "A thing"
        crate = "x"
        names = [["old", "new"]]
        file = [{ like = "old.rs", path = "new.rs" }, { path = "own.md", text = "old" }]
        line = [{ path = "mod.rs", like = "old", count = 2 }, { path = "mod.rs", like = "use {", text = "use b;" }]
    "#;
    let toy = Toy::parse(text, &|_| "struct old;".to_owned());
    let own = ("own.md".into(), "old".into());
    assert_eq!(toy.files, [("new.rs".into(), "struct new;".into()), own]);
    let added = toy.lines.iter();
    let added = added.fold("use {\n/// old\nmod old;\n".to_owned(), |text, line| {
        line.added_to(&text)
    });
    assert_eq!(
        added,
        "use b;\nuse {\n/// new\nmod new;\n/// old\nmod old;\n"
    );
    assert_eq!(toy.promise(), "two files and three lines");
}
