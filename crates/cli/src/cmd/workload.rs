//! A workload as flags say it: a trace, a generator or a workload file, with steps and a write buffer.

use crate::args::WorkloadArgs;
use crate::failure::Failure;
use crate::input;
use fathom_base::Named;
use fathom_base::near::{did_you_mean, meant, nearest};
use fathom_base::registry::{self, BadName, find};
use fathom_lab::parse::problems;
use fathom_lab::source::{Reshape, Workload};
use fathom_lab::target::describes_drive;
use fathom_trace::FORMATS;
use fathom_workload::generate::{Config, GENERATORS};
use fathom_workload::program::PROGRAMS;
use fathom_workload::step::{STEPS, Step};
use serde::de::DeserializeOwned;
use std::path::Path;
use std::str::FromStr;

/// What stands before the name of a generator, and of a program.
const GENERATE: &str = "generate:";
const PROGRAM: &str = "program:";

/// The workload that the flags describe.
pub(super) fn of(args: &WorkloadArgs) -> Result<Workload, Failure> {
    let mut workload = if let Some(name) = args.workload.strip_prefix(GENERATE) {
        Workload::of_generator(Config {
            accesses: args.accesses,
            ..Config::of(named(name, GENERATORS)?)
        })
    } else if let Some(name) = args.workload.strip_prefix(PROGRAM) {
        Workload::of_program(named(name, PROGRAMS)?)
    } else if args.workload.ends_with(".fio") {
        input::text(Path::new(&args.workload))?;
        Workload::of_jobs(Path::new(&args.workload))
    } else if args.workload.ends_with(".toml") {
        input::text(Path::new(&args.workload))?;
        no_drive_file(Path::new(&args.workload), "workload file")?;
        Workload::from_file(Path::new(&args.workload))?
    } else {
        trace(&args.workload)?
    };
    if let Some(name) = &args.format {
        workload.read.format = Some(named(name, FORMATS)?);
    }
    workload.read.lenient |= args.lenient;
    workload.read.reorder = args.reorder.or(workload.read.reorder);
    for text in &args.step {
        workload.steps.push(step(text)?);
    }
    if let Some(text) = &args.reshape {
        workload.reshape = Some(reshape(text)?);
    }
    Ok(workload)
}

/// One of a list by its name, or that nothing of the kind has this name, with the nearest or all that there are.
fn named<T: FromStr<Err = BadName>>(name: &str, list: &[Named]) -> Result<T, Failure> {
    name.parse().map_err(|error: BadName| {
        let prefix = list.first().map_or("", |named| named.kind.prefix);
        let near = error.near.iter().map(|near| format!("{prefix}{near}"));
        let help = did_you_mean(&near.collect::<Vec<_>>()).unwrap_or_else(|| {
            let names: Vec<&str> = list.iter().map(|named| named.name).collect();
            format!("there are {}", names.join(", "))
        });
        Failure::input("fathom::replay::unknown", error.message()).help(help)
    })
}

/// A trace, which has to be there where it is named like something else that can be played.
fn trace(name: &str) -> Result<Workload, Failure> {
    let path = Path::new(name);
    let all = || GENERATORS.iter().chain(PROGRAMS);
    let near = nearest(name, all().map(|named| named.name));
    if near.is_empty() || path.symlink_metadata().is_ok() {
        return Ok(Workload::of_trace(path));
    }
    let prefixed = near.iter().filter_map(|near| {
        let named = all().find(|named| named.name == *near)?;
        Some(format!("{}{}", named.kind.prefix, named.name))
    });
    let failure = Failure::input(
        "fathom::workload::open",
        format!("there is no file `{name}`"),
    );
    Err(match did_you_mean(&prefixed.collect::<Vec<_>>()) {
        Some(help) => failure.help(help),
        None => failure,
    })
}

/// A text of ours that a drive file was named instead of.
pub(super) fn no_drive_file(path: &Path, wanted: &str) -> Result<(), Failure> {
    let table = fathom_lab::text::read(path).ok();
    let table = table.and_then(|text| text.parse::<toml::Table>().ok());
    if !table.is_some_and(|table| describes_drive(&table)) {
        return Ok(());
    }
    let (file, kind) = (path.display(), "is a drive file and no");
    Err(
        Failure::input("fathom::input::drive_file", format!("{file} {kind} {wanted}")).help(format!(
            "the drive that it describes is model:{file}: fathom replay generate:uniform --on model:{file} plays a workload on it"
        )),
    )
}

/// `NAME,KEY=VALUE,...` as a study file would have it, with the name under `key`.
pub(super) fn table(key: &str, text: &str) -> Result<toml::Value, Failure> {
    let table = registry::table(key, text);
    let table = table.map_err(|problem| Failure::input("fathom::setting", problem))?;
    Ok(toml::Value::Table(table))
}

/// A table of a text as a `T`, or everything that is wrong with it and the name that was probably meant.
fn made<T: DeserializeOwned>(table: toml::Value) -> Result<T, (String, Option<String>)> {
    let problems = match &table {
        toml::Value::Table(table) => problems::<T>(table),
        _ => Vec::new(),
    };
    T::deserialize(table).map_err(|error| {
        let all = match problems.is_empty() {
            true => error.message().to_owned(),
            false => problems.join("; "),
        };
        let near = meant(&all);
        (all, near)
    })
}

fn step(text: &str) -> Result<Step, Failure> {
    made(table("step", text)?).map_err(|(problems, near)| {
        let name = text.split(',').next().unwrap_or_default();
        let example = find(STEPS, name).or_else(|| find(STEPS, near.as_deref()?));
        let help = match (near, example) {
            (Some(near), None) => format!("did you mean `{near}`?"),
            (_, Some(step)) => format!(
                "such as --step {}; `fathom explain {}` says more",
                step.example(),
                step.name
            ),
            (None, None) => {
                "`fathom list steps` shows all; docs/workloads.md says what each takes".to_owned()
            }
        };
        let message = format!("`{text}` is no step: {problems}");
        Failure::input("fathom::replay::step", message).help(help)
    })
}

fn reshape(text: &str) -> Result<Reshape, Failure> {
    made(table("policy", text)?).map_err(|(problems, near)| {
        let message = format!("`{text}` is no write buffer: {problems}");
        Failure::input("fathom::replay::reshape", message).help(near.map_or_else(
            || "`fathom list buffers` shows all; docs/buffers.md says what each takes".to_owned(),
            |near| format!("did you mean `{near}`?"),
        ))
    })
}
