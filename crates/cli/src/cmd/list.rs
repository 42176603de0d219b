//! `fathom list`: everything that has a name.

use super::explain;
use crate::args::{ListArgs, Listing};
use crate::failure::{Exit, Failure};
use crate::out;
use clap::ValueEnum as _;
use fathom_iosched::{Entry, SCHEDULERS, SPLITS};
use fathom_lab::reproduce::PAPERS;
use fathom_model as model;
use fathom_probe::Parameter;
use fathom_report::table::{Kind, table};
use fathom_ssd::spec::{BUFFERS, FTLS, Listed, VICTIMS};
use fathom_trace::Format;
use fathom_workload::generate::GENERATORS;
use fathom_workload::program::PROGRAMS;
use fathom_workload::step::STEPS;
use serde::Serialize;
use std::borrow::Cow;

/// What is listed, for another program.
#[derive(Serialize)]
struct Items<'a, T> {
    items: &'a T,
}

#[derive(Serialize)]
struct Drive {
    name: &'static str,
    target: String,
    summary: &'static str,
}

#[derive(Serialize)]
struct Choice {
    name: Cow<'static, str>,
    summary: Cow<'static, str>,
}

#[derive(Serialize)]
struct Measured {
    name: &'static str,
    unit: &'static str,
    summary: &'static str,
}

pub(super) fn run(args: &ListArgs) -> Result<Exit, Failure> {
    let Some(what) = args.what else {
        choices(&listings(), args.json)?;
        return Ok(Exit::Done);
    };
    match what {
        Listing::Drives => {
            let drives: Vec<Drive> = model::catalog()
                .map(|preset| Drive {
                    name: preset.name,
                    target: format!("model:{}", preset.name),
                    summary: preset.summary,
                })
                .collect();
            let rows = drives.iter().map(|d| [d.target.as_str(), d.summary]);
            print(&drives, rows.collect(), args.json)?;
        }
        Listing::Parameters => {
            let parameters = Parameter::ALL.map(|parameter| Measured {
                name: parameter.name(),
                unit: parameter.about().unit.symbol(),
                summary: parameter.about().summary(),
            });
            let rows = parameters.iter().map(|p| [p.name, p.summary]);
            print(&parameters, rows.collect(), args.json)?;
        }
        what => choices(&named(what), args.json)?,
    }
    Ok(Exit::Done)
}

/// What can be listed.
fn listings() -> Vec<Choice> {
    let values = Listing::value_variants().iter();
    let choice = |value: clap::builder::PossibleValue| Choice {
        name: value.get_name().to_owned().into(),
        summary: value
            .get_help()
            .map(ToString::to_string)
            .unwrap_or_default()
            .into(),
    };
    values
        .filter_map(|l| l.to_possible_value())
        .map(choice)
        .collect()
}

/// Names with a line each.
fn named(what: Listing) -> Vec<Choice> {
    let choice = |name: &'static str, summary: &'static str| Choice {
        name: name.into(),
        summary: summary.into(),
    };
    let listed = |all: &[Listed]| all.iter().map(|l| choice(l.name, l.summary)).collect();
    let entries = |all: &[Entry]| all.iter().map(|e| choice(e.name, e.summary)).collect();
    match what {
        Listing::Drives | Listing::Parameters => Vec::new(),
        Listing::Ftls => listed(FTLS),
        Listing::Buffers => listed(BUFFERS),
        Listing::Victims => listed(VICTIMS),
        Listing::Schedulers => entries(SCHEDULERS),
        Listing::Splits => entries(SPLITS),
        Listing::Traces => {
            let formats = Format::ALL.iter();
            formats.map(|f| choice(f.name(), f.about())).collect()
        }
        Listing::Workloads => {
            let generators = GENERATORS.iter().map(|g| choice(g.name, g.help));
            let programs = PROGRAMS.iter().map(|p| choice(p.name, p.help));
            generators.chain(programs).collect()
        }
        Listing::Steps => STEPS.iter().map(|s| choice(s.name, s.help)).collect(),
        Listing::Studies => PAPERS.iter().map(|p| choice(p.name, p.title)).collect(),
        Listing::Examples => {
            let examples = explain::EXAMPLES.iter();
            examples
                .map(|(name, about, _)| choice(name, about))
                .collect()
        }
    }
}

fn choices(choices: &[Choice], json: bool) -> Result<(), Failure> {
    let rows = choices.iter().map(|c| [&*c.name, &*c.summary]);
    print(&choices, rows.collect(), json)
}

fn print(items: &impl Serialize, rows: Vec<[&str; 2]>, json: bool) -> Result<(), Failure> {
    if json {
        return out::json(&Items { items });
    }
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|row| row.map(str::to_owned).to_vec())
        .collect();
    out::text(&table(&rows, Kind::List, out::screen()))
}
