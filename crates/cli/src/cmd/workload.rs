//! Builds the workload from the command line, with its steps and the write buffer in front.

use super::options;
use crate::args::WorkloadArgs;
use crate::failure::Failure;
use crate::file_kind::FileKind;
use crate::input;
use fathom_base::Named;
use fathom_base::near::{did_you_mean, meant, nearest};
use fathom_base::registry::{self, BadName, find};
use fathom_lab::parse::{in_words, problems};
use fathom_lab::source::{Kind, Reshape, Workload};
use fathom_trace::FORMATS;
use fathom_workload::generate::{Config, GENERATORS};
use fathom_workload::program::PROGRAMS;
use fathom_workload::step::{STEPS, Step};
use serde::de::DeserializeOwned;
use std::num::NonZeroU64;
use std::path::Path;
use std::str::FromStr;

/// Prefixes of the names of generators and programs.
const GENERATE: &str = "generate:";
const PROGRAM: &str = "program:";

/// Returns the workload that the options describe.
pub(super) fn of(args: &WorkloadArgs) -> Result<Workload, Failure> {
    let mut workload = of_name(&args.workload)?;
    options::check_workload(args, &workload.kind)?;
    match &mut workload.kind {
        Kind::Trace { read, .. } => {
            if let Some(name) = &args.format {
                read.format = Some(named(name, FORMATS)?);
            }
            read.lenient |= args.lenient;
            read.reorder = args.reorder.or(read.reorder);
            if let Some(accesses) = args.accesses {
                workload
                    .steps
                    .insert(0, step(&format!("first,accesses={accesses}"))?);
            }
        }
        Kind::Generator(config) => {
            config.accesses = args.accesses.map(NonZeroU64::get).or(config.accesses)
        }
        Kind::JobFile(_) | Kind::Jobs(_) | Kind::Program(_) => {}
    }
    for text in &args.step {
        workload.steps.push(step(text)?);
    }
    if let Some(text) = &args.reshape {
        workload.reshape = Some(reshape(text)?);
    }
    Ok(workload)
}

/// Returns true for the name of a built-in workload.
pub(super) fn is_name(name: &str) -> bool {
    name.starts_with(GENERATE) || name.starts_with(PROGRAM)
}

/// Returns the program with this name, or in the file of this name; `None` for another file.
///
/// # Errors
/// Another workload, or a file that cannot be read.
#[cfg(feature = "ext")]
pub(super) fn program(name: &str) -> Result<Option<fathom_workload::program::Config>, Failure> {
    let kind = FileKind::of(Path::new(name));
    let is_file = matches!(
        kind,
        FileKind::Workload | FileKind::Toml | FileKind::Model | FileKind::Jobs
    );
    if !is_name(name) && !is_file {
        return Ok(None);
    }
    match of_name(name)?.kind {
        Kind::Program(config) => Ok(Some(config)),
        other => {
            let message = format!("{name} is {}, and has no operations on files", other.name());
            let help = "an image takes a file of operations, or Postmark: program:postmark-cvfs";
            Err(Failure::input("fathom::image::operation", message).help(help))
        }
    }
}

/// Returns the workload with this name, or in the file of this name.
pub(super) fn of_name(name: &str) -> Result<Workload, Failure> {
    if let Some(name) = name.strip_prefix(GENERATE) {
        if let Some((known, _)) = name.split_once(',')
            && find(GENERATORS, known.trim()).is_some()
        {
            return Err(settings_of_generator(known));
        }
        return Ok(Workload::of_generator(Config::of(named(name, GENERATORS)?)));
    }
    if let Some(name) = name.strip_prefix(PROGRAM) {
        return Ok(Workload::of_program(named(name, PROGRAMS)?));
    }
    let path = Path::new(name);
    match FileKind::of(path) {
        FileKind::Jobs => {
            input::text(path)?;
            Ok(Workload::of_jobs(path))
        }
        FileKind::Model => {
            input::text(path)?;
            Ok(Workload::of_model(path)?)
        }
        FileKind::Workload | FileKind::Toml => {
            input::text(path)?;
            Ok(Workload::from_file(path)?)
        }
        FileKind::Other => trace(name),
        kind @ (FileKind::Drive | FileKind::Study | FileKind::Stored) => {
            Err(kind.misplaced(path, "workload"))
        }
    }
}

/// Looks up a name in a list. The failure suggests the nearest names, or lists all.
fn named<T: FromStr<Err = BadName>>(name: &str, list: &[Named]) -> Result<T, Failure> {
    name.parse().map_err(|error: BadName| {
        if error.problem.is_some() {
            return bad_setting(name, &error);
        }
        let prefix = list.first().map_or("", |named| named.kind.prefix);
        let near = error.near.iter().map(|near| format!("{prefix}{near}"));
        let help = did_you_mean(&near.collect::<Vec<_>>()).unwrap_or_else(|| {
            let names: Vec<&str> = list.iter().map(|named| named.name).collect();
            format!("there are {}", names.join(", "))
        });
        Failure::input("fathom::workload::unknown", error.message()).help(help)
    })
}

/// The failure for a generator with settings, which programs take on the command line.
fn settings_of_generator(name: &str) -> Failure {
    let message = format!("generate:{name} takes no settings on the command line");
    Failure::input("fathom::workload::setting", message).help(
        "write them into a workload file, under [generate] (docs/workloads.md); `--accesses N` is the number of accesses",
    )
}

/// The failure for a thing that exists, with a setting that does not or has a wrong value.
fn bad_setting(text: &str, error: &BadName) -> Failure {
    let name = text.split(',').next().unwrap_or_default().trim();
    let help = format!("`fathom explain {name}` lists the settings");
    let help = match did_you_mean(&error.near) {
        Some(meant) => format!("{meant} {help}"),
        None => help,
    };
    Failure::input("fathom::workload::setting", error.message()).help(help)
}

/// Returns a trace. It must exist if its name resembles that of another workload.
fn trace(name: &str) -> Result<Workload, Failure> {
    let path = Path::new(name);
    if let Some(drive) = drive(name) {
        let message = format!("{name} is a drive and no workload");
        return Err(
            Failure::input("fathom::workload::open", message).help(format!(
                "a workload runs on it with `fathom run generate:uniform --on {drive}`"
            )),
        );
    }
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

/// Returns the drive's name if the workload's name is that of a drive and no such file exists.
fn drive(name: &str) -> Option<String> {
    let bare = name.strip_prefix("model:").unwrap_or(name);
    let known = bare != name || fathom_model::find(bare).is_some();
    let file = Path::new(name).symlink_metadata().is_ok();
    (known && !file).then(|| format!("model:{bare}"))
}

/// Parses `NAME,KEY=VALUE,...` into a table as in a study file, with the name under `key`.
pub(super) fn table(key: &str, text: &str) -> Result<toml::Value, Failure> {
    let table = registry::table(key, text);
    let table = table.map_err(|problem| Failure::input("fathom::setting", problem))?;
    Ok(toml::Value::Table(table))
}

/// Converts a table to a `T`. The error is all problems found, and the name that was probably meant.
fn made<T: DeserializeOwned>(table: toml::Value) -> Result<T, (String, Option<String>)> {
    let problems = match &table {
        toml::Value::Table(table) => problems::<T>(table),
        _ => Vec::new(),
    };
    T::deserialize(table).map_err(|error| {
        let all = match problems.is_empty() {
            true => vec![error.message().to_owned()],
            false => problems,
        };
        let near = all.iter().find_map(|problem| meant(problem));
        let words: Vec<String> = all.iter().map(|p| in_words(p, None)).collect();
        (words.join("; "), near)
    })
}

fn step(text: &str) -> Result<Step, Failure> {
    made(table("step", text)?).map_err(|(problems, near)| {
        let name = text.split(',').next().unwrap_or_default();
        let example = find(STEPS, name).or_else(|| find(STEPS, near.as_deref()?));
        let meant = near.map_or_else(String::new, |near| format!("did you mean `{near}`? "));
        let help = match example {
            Some(step) => format!(
                "{meant}such as --step {}; `fathom explain {}` says more",
                step.example(),
                step.name
            ),
            None => {
                format!(
                    "{meant}`fathom list steps` shows all; docs/workloads.md says what each takes"
                )
            }
        };
        let message = format!("`--step {text}`: {problems}");
        Failure::input("fathom::workload::step", message).help(help)
    })
}

fn reshape(text: &str) -> Result<Reshape, Failure> {
    made(table("policy", text)?).map_err(|(problems, near)| {
        let message = format!("`--reshape {text}`: {problems}");
        Failure::input("fathom::workload::reshape", message).help(near.map_or_else(
            || "`fathom list buffers` shows all; docs/buffers.md says what each takes".to_owned(),
            |near| format!("did you mean `{near}`?"),
        ))
    })
}
