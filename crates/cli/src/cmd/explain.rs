//! `fathom explain`: describes a parameter, a modelled drive or anything else with a name; prints example files.

mod markdown;

use crate::args::ExplainArgs;
use crate::failure::{Exit, Failure};
use crate::{names, out};
use fathom_base::Named;
use fathom_base::near::{did_you_mean, nearest};
use fathom_base::registry::{Text, Unset};
use markdown::wrap;

/// Documentation pages with a section per name.
const PAGES: [(&str, &str); 1] = [(
    "schedulers.md",
    include_str!("../../../../docs/schedulers.md"),
)];

pub(super) fn run(args: &ExplainArgs) -> Result<Exit, Failure> {
    let all = names::all();
    let mut found: Vec<&Named> = all.iter().filter(|named| is(named, &args.name)).collect();
    // A bare name means first the kind without a prefix; a drive or paper may share it.
    found.sort_by_key(|named| !named.kind.prefix.is_empty());
    let Some(first) = found.first() else {
        return Err(unknown(&args.name, &all));
    };
    if first.kind.text == Text::File {
        out::data(first.text)?;
        return Ok(Exit::Done);
    }
    let mut text = page(first);
    for other in found.iter().skip(1) {
        let (one, prefix, name) = (other.kind.one, other.kind.prefix, other.name);
        text += &match prefix {
            "" => format!("\n{}", page(other)),
            _ => format!("\nThe {one} of this name: fathom explain {prefix}{name}\n"),
        };
    }
    out::text(&markdown::set(&text, out::screen()))?;
    Ok(Exit::Done)
}

/// Returns true if `said` names this item; `-` may stand for `_`.
fn is(named: &Named, said: &str) -> bool {
    let bare = said.strip_prefix(named.kind.prefix).unwrap_or(said);
    bare == named.name || bare.replace('-', "_") == named.name
}

/// Returns the description of an item, in Markdown.
fn page(named: &Named) -> String {
    let (kind, name, summary) = (named.kind, named.name, named.summary);
    let title = format!("# {} {name}: {summary}\n", kind.one);
    let keys = keys(named);
    match kind.text {
        Text::Page | Text::File => named.text.to_owned(),
        Text::DriveFile => {
            format!(
                "# {}{name}: {summary}\n\n{}\n",
                kind.prefix,
                header(named.text)
            )
        }
        Text::Section(page) => format!("{title}\n{}\n{keys}", section(page, name)),
        Text::Prose if named.text.is_empty() => format!("{title}{keys}"),
        Text::Prose => format!("{title}\n{}\n{keys}", wrap(named.text)),
    }
}

/// Returns the section for a name from a page, without its tables; the keys come from the item itself.
fn section(page: &str, name: &str) -> String {
    let page = PAGES.iter().find(|(path, _)| *path == page);
    let start = format!("\n## `{name}`: ");
    let section = page.and_then(|(_, text)| text.split_once(&start));
    let section = section.map_or("", |(_, rest)| rest);
    let end = section.find("\n#").unwrap_or(section.len());
    let text = section.get(..end).unwrap_or_default().lines().skip(1);
    let text: Vec<&str> = text.filter(|line| !line.starts_with('|')).collect();
    text.join("\n").trim().to_owned()
}

/// Returns a table of the item's keys, and an example of how to name it.
fn keys(named: &Named) -> String {
    if named.keys.is_empty() {
        return String::new();
    }
    let mut text = "\n| key | default | |\n|---|---|---|\n".to_owned();
    let mut texts = String::new();
    for (key, default) in named.defaults() {
        let default = match default {
            // A line of a table ends where the line ends.
            Unset::Value(value) if value.contains('\n') => {
                let lines = value.trim().lines().map(|line| format!("    {line}\n"));
                texts += &format!("\nThe default of `{}`:\n\n", key.name());
                texts.extend(lines);
                "below".to_owned()
            }
            Unset::Value(value) => value,
            Unset::Needed(None) => "needed".to_owned(),
            Unset::Needed(Some(parameter)) => format!("needed: {parameter} of a profile"),
            Unset::Open => String::new(),
        };
        text += &format!(
            "| `{}` | {default} | {} |\n",
            key.name(),
            key.summary.trim()
        );
    }
    text += &texts;
    if !named.kind.option.is_empty() {
        text += &format!("\nSuch as {} {}\n", named.kind.option, named.example());
    }
    text
}

/// Returns the comments at the beginning of a drive file.
fn header(toml: &str) -> String {
    let lines = toml.lines().take_while(|line| line.starts_with('#'));
    let bare = lines.map(|line| line.trim_start_matches('#').trim_start());
    bare.collect::<Vec<_>>().join("\n")
}

fn unknown(said: &str, all: &[Named]) -> Failure {
    let bare = said.split_once(':').map_or(said, |(_, name)| name);
    let mut near = nearest(bare, all.iter().map(|named| named.name));
    near.dedup();
    let help = did_you_mean(&near).unwrap_or_else(|| {
        "`fathom list` shows what there is: parameters, drives and more".to_owned()
    });
    let message = format!("there is nothing that is called `{said}`");
    Failure::input("fathom::explain::unknown", message).help(help)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_iosched::{SCHEDULERS, SPLITS};
    use fathom_workload::program::PROGRAMS;

    #[test]
    fn every_scheduler_and_splitter_has_its_section() {
        for named in SCHEDULERS.iter().chain(SPLITS) {
            let Text::Section(path) = named.kind.text else {
                panic!("{}", named.name)
            };
            let heading = format!("\n## `{}`: {}\n\n", named.name, named.summary);
            assert!(PAGES[0].1.contains(&heading), "{heading}");
            let text = section(path, named.name);
            assert!(!text.is_empty() && !text.contains("\n#"), "{text}");
        }
    }

    #[test]
    fn a_default_of_several_lines_does_not_break_the_table() {
        for named in PROGRAMS {
            let text = keys(named);
            let rows = text.lines().skip_while(|line| !line.starts_with('|'));
            let rows: Vec<&str> = rows.take_while(|line| !line.is_empty()).collect();
            assert_eq!(rows.len(), named.keys.len() + 2, "{text}");
            assert!(rows.iter().all(|row| row.ends_with('|')), "{text}");
        }
    }

    #[test]
    fn the_header_ends_where_the_drive_begins() {
        assert_eq!(header("# A\n#\n#  b\nname = 'x' # c\n# d\n"), "A\n\nb");
    }
}
