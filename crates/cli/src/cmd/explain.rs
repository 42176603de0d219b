//! `fathom explain`: what a parameter, a modelled drive or anything else with a name is; example files.

mod markdown;

use crate::args::ExplainArgs;
use crate::failure::{Exit, Failure};
use crate::out;
use fathom_iosched::{SCHEDULERS, SPLITS};
use fathom_lab::near::{did_you_mean, nearest};
use fathom_lab::{reproduce, target};
use fathom_model as model;
use fathom_probe::Parameter;
use fathom_ssd::spec::{BUFFERS, FTLS, VICTIMS};
use fathom_trace::Format;
use fathom_workload::generate::GENERATORS;
use fathom_workload::program::PROGRAMS;
use fathom_workload::step::STEPS;
use markdown::wrap;

/// The page on the block layer.
const SCHEDULERS_PAGE: &str = include_str!("../../../../docs/schedulers.md");

/// Files to start from: name, what it is, and its text.
pub(super) const EXAMPLES: [(&str, &str, &str); 5] = [
    (
        "drive.toml",
        "a drive file with every key and what it may be",
        include_str!("../../../../examples/drive.toml"),
    ),
    (
        "study.toml",
        "a study for `fathom run`",
        include_str!("../../../../examples/study.toml"),
    ),
    (
        "schedulers.toml",
        "a study of schedulers over one drive",
        include_str!("../../../../examples/schedulers.toml"),
    ),
    (
        "file-server.fio",
        "jobs for `fathom bench`: a file server",
        include_str!("../../../../examples/file-server.fio"),
    ),
    (
        "five-readers.fio",
        "jobs for `fathom bench`: five processes that read at random",
        include_str!("../../../../examples/five-readers.fio"),
    ),
];

pub(super) fn run(args: &ExplainArgs) -> Result<Exit, Failure> {
    let name = args.name.replace('-', "_");
    if let Some(parameter) = Parameter::from_name(&name) {
        show(parameter.about().page)?;
        return Ok(Exit::Done);
    }
    if let Some((_, _, text)) = EXAMPLES.iter().find(|(name, ..)| *name == args.name) {
        out::data(text)?;
        return Ok(Exit::Done);
    }
    if let Some(paper) = args.name.strip_prefix("paper:").and_then(reproduce::find) {
        show(paper.readme)?;
        return Ok(Exit::Done);
    }
    if let Some(mut text) = choice(&args.name) {
        // A paper and its write buffer have one name.
        if let Some(paper) = reproduce::find(&args.name) {
            text += &format!(
                "\nThe paper of this name, run again: fathom explain paper:{}\n",
                paper.name
            );
        }
        show(&text)?;
        return Ok(Exit::Done);
    }
    let drive = args.name.strip_prefix("model:").unwrap_or(&args.name);
    let Some(preset) = model::find(drive) else {
        return Err(unknown(&args.name, drive));
    };
    let comments = header(preset.toml);
    out::text(&format!(
        "# model:{}: {}\n\n{comments}\n",
        preset.name, preset.summary
    ))?;
    Ok(Exit::Done)
}

/// Prints a page, set for the terminal.
fn show(page: &str) -> Result<(), Failure> {
    out::text(&markdown::set(page, out::screen()))
}

/// A page on what has a name and is neither a parameter nor a drive.
fn choice(name: &str) -> Option<String> {
    let page = |kind: &str, summary: &str, text: &str| {
        format!("# {kind} {name}: {summary}\n\n{}\n", wrap(text))
    };
    if let Some(ftl) = FTLS.iter().find(|ftl| ftl.name == name) {
        return Some(page("translation layer", ftl.summary, ftl.explanation));
    }
    if let Some(buffer) = BUFFERS.iter().find(|buffer| buffer.name == name) {
        return Some(page("write buffer", buffer.summary, buffer.explanation));
    }
    if let Some(victim) = VICTIMS.iter().find(|victim| victim.name == name) {
        return Some(page("victim policy", victim.summary, victim.explanation));
    }
    if let Some(text) = section(name) {
        return Some(text);
    }
    if let Some(format) = Format::from_name(name) {
        return Some(page("trace format", format.about(), format.explain()));
    }
    let generator = name.strip_prefix("generate:").unwrap_or(name);
    if let Some(entry) = GENERATORS.iter().find(|entry| entry.name == generator) {
        return Some(page("generator", entry.help, entry.explanation));
    }
    let program = name.strip_prefix("program:").unwrap_or(name);
    if let Some(entry) = PROGRAMS.iter().find(|entry| entry.name == program) {
        return Some(page("program", entry.help, entry.explanation));
    }
    let step = STEPS.iter().find(|step| step.name == name)?;
    Some(format!(
        "# step {name}: {}\n\nSuch as --step {}; docs/workloads.md says what it takes.\n",
        step.help, step.example
    ))
}

/// The section of docs/schedulers.md on a scheduler or a splitter.
fn section(name: &str) -> Option<String> {
    let start = format!("\n## `{name}`: ");
    let (_, rest) = SCHEDULERS_PAGE.split_once(&start)?;
    let end = rest.find("\n#").unwrap_or(rest.len());
    Some(format!("# {name}: {}\n", rest.get(..end)?.trim_end()))
}

/// The comments that a drive file begins with.
fn header(toml: &str) -> String {
    let lines = toml.lines().take_while(|line| line.starts_with('#'));
    let bare = lines.map(|line| line.trim_start_matches('#').trim_start());
    bare.collect::<Vec<_>>().join("\n")
}

fn unknown(name: &str, drive: &str) -> Failure {
    let wanted = name.replace('-', "_");
    let near = |p: &Parameter| p.name().starts_with(&wanted) || p.name().ends_with(&wanted);
    let parameters = Parameter::ALL.into_iter().filter(near);
    let entries = GENERATORS.iter().map(|entry| entry.name);
    let entries = entries
        .chain(PROGRAMS.iter().map(|entry| entry.name))
        .chain(STEPS.iter().map(|entry| entry.name))
        .chain(SCHEDULERS.iter().chain(SPLITS).map(|entry| entry.name))
        .chain(FTLS.iter().chain(BUFFERS).chain(VICTIMS).map(|l| l.name));
    let names: Vec<String> = parameters
        .map(|p| p.name().to_owned())
        .chain(target::nearest(drive))
        .chain(nearest(name, entries).into_iter().map(str::to_owned))
        .collect();
    let help = did_you_mean(&names).unwrap_or_else(|| {
        "`fathom list` shows what there is: parameters, drives and more".to_owned()
    });
    let message = format!("there is nothing that is called `{name}`");
    Failure::input("fathom::explain::unknown", message).help(help)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_begins_with_its_parameter_and_explains_every_verdict() {
        for parameter in Parameter::ALL {
            let text = parameter.about().page;
            assert!(text.starts_with(&format!("# {parameter}: ")), "{parameter}");
            for part in [
                "identified",
                "absent",
                "not identifiable",
                "inconclusive",
                "--method paper",
            ] {
                assert!(text.contains(part), "{parameter} lacks {part}");
            }
        }
    }

    #[test]
    fn every_scheduler_and_splitter_has_its_section() {
        for entry in SCHEDULERS.iter().chain(SPLITS) {
            let text = choice(entry.name).unwrap();
            let title = format!("# {}: {}\n\n", entry.name, entry.summary);
            assert!(text.starts_with(&title), "{text}");
            assert!(text.lines().count() > 2 && !text.contains("\n#"), "{text}");
        }
    }

    #[test]
    fn the_header_ends_where_the_drive_begins() {
        assert_eq!(header("# A\n#\n#  b\nname = 'x' # c\n# d\n"), "A\n\nb");
    }
}
