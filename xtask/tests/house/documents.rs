//! The front documents: the targets of their links exist, and their language is plain.

use crate::{files, members, root};
use std::path::{Path, PathBuf};

fn documents() -> Vec<PathBuf> {
    let mut found = files(&root().join("docs"), "md");
    found.extend(files(&root().join("papers"), "md"));
    for name in ["README", "ARCHITECTURE", "CONTRIBUTING", "CHANGELOG"] {
        found.push(root().join(name).with_extension("md"));
    }
    found
}

#[test]
fn every_link_leads_somewhere() {
    let mut links = 0;
    for document in documents() {
        let text = std::fs::read_to_string(&document).unwrap();
        for target in targets(&text) {
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let path = match file {
                "" => document.clone(),
                file => document.parent().unwrap().join(file),
            };
            let shown = document.display();
            assert!(path.exists(), "{shown}: {target} does not exist");
            assert!(
                anchor.is_empty() || anchors(&path).iter().any(|a| a == anchor),
                "{shown}: {target}: no such heading"
            );
            links += 1;
        }
    }
    assert!(links > 20, "only {links} links were found");
}

/// Phrases that a reader has to read twice, and the plain wording.
const RIDDLES: &[(&str, &str)] = &[
    ("has waited too long", "expired requests"),
    ("as keep the latency low", "to meet a latency target"),
    (
        "what needs writing stays open",
        "parameters that need writes are reported as inconclusive",
    ),
    ("whatever the times", "without regard to timestamps"),
    ("whatever its times", "without regard to timestamps"),
    (
        "with an interval how much faster",
        "reports the speed-up with a 95 % confidence interval",
    ),
    ("tells the difference", "reports the difference"),
    ("told / from", "heads of columns say what is in them"),
    ("leaves first", "evicts"),
];

/// Further phrases, forbidden in the documents only.
const RIDDLES_OF_DOCUMENTS: &[(&str, &str)] = &[
    ("answers to answers", "depends on completions"),
    ("are held to", "are compared with"),
    ("at hand", "available"),
    ("goes on where it was", "continues"),
    ("in silence", "without a message"),
    ("is held to", "is compared with"),
    ("is nothing but", "is only"),
    ("leaves together", "is evicted as one batch"),
    ("leaves whole", "is never split"),
    ("moves in", "when it is needed"),
    ("passed over", "skipped"),
    ("so that what", "a sentence with a subject"),
    ("stays open", "is inconclusive"),
    ("the more so", "and more"),
    ("told from", "distinguished from"),
    ("what goes", "a noun"),
    ("what is there", "a noun"),
    ("what leaves", "evicted pages"),
    ("what stands", "a noun"),
    ("what was there", "a noun"),
    ("what waits", "waiting requests"),
    ("whichever", "any"),
    ("with no more to lend", "is empty"),
];

/// Applies to everything that a user reads: the documents, and the texts and help of the programs.
#[test]
fn nothing_is_said_in_riddles() {
    let sources = members()
        .into_iter()
        .flat_map(|member| files(&member.dir.join("src"), "rs"));
    let own = root().join("CHANGELOG.md");
    for path in documents().into_iter().filter(|path| *path != own) {
        lacks(&path, RIDDLES_OF_DOCUMENTS);
        lacks(&path, RIDDLES);
    }
    sources.for_each(|path| lacks(&path, RIDDLES));
}

/// Checks that no line of the file contains one of the phrases.
fn lacks(path: &Path, riddles: &[(&str, &str)]) {
    let text = std::fs::read_to_string(path).unwrap();
    for (riddle, meant) in riddles {
        let line = text.lines().position(|line| line.contains(riddle));
        let place = line.map(|line| format!("{}:{}", path.display(), line + 1));
        assert_eq!(
            place, None,
            "`{riddle}`: say what is meant, such as `{meant}`"
        );
    }
}

/// Returns the targets of links and images in a Markdown text, without those on other sites.
fn targets(text: &str) -> Vec<&str> {
    text.split("](")
        .skip(1)
        .filter_map(|rest| rest.split([')', ' ']).next())
        .filter(|target| !target.contains("://"))
        .collect()
}

/// Returns the headings of a Markdown file in the form used by links.
fn anchors(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines()
        .filter(|line| line.starts_with('#'))
        .map(|line| {
            let title = line.trim_start_matches('#').trim().to_lowercase();
            title
                .chars()
                .filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c))
                .map(|c| if c == ' ' { '-' } else { c })
                .collect()
        })
        .collect()
}

#[test]
fn links_are_found() {
    let text = "see [a](a.md) and ![b](img/b.png \"title\"), [c](https://c), [d](x.md#y)";
    assert_eq!(targets(text), ["a.md", "img/b.png", "x.md#y"]);
}

/// The examples in the documentation of a library are run, and no runner is started where there are none.
#[test]
fn examples_in_the_documentation_are_run() {
    for member in members()
        .iter()
        .filter(|m| m.dir.join("src/lib.rs").exists())
    {
        let mut sources = files(&member.dir.join("src"), "rs").into_iter();
        let has_example = sources.any(|path| {
            let text = std::fs::read_to_string(path).unwrap();
            let mut lines = text.lines().map(str::trim_start);
            lines.any(|line| {
                ["/// ```", "//! ```"]
                    .iter()
                    .any(|fence| line.starts_with(fence))
            })
        });
        let manifest = std::fs::read_to_string(member.dir.join("Cargo.toml")).unwrap();
        let is_run = !manifest.contains("\ndoctest = false\n");
        assert_eq!(is_run, has_example, "`doctest` of {}", member.name);
    }
}
