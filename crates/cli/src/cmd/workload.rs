//! A workload as flags say it: a trace, a generator or a workload file, with steps and a write buffer.

use crate::args::WorkloadArgs;
use crate::failure::Failure;
use crate::input;
use fathom_lab::source::{Reshape, Workload};
use fathom_lab::target::Setting;
use fathom_trace::Format;
use fathom_workload::generate::{Config, GENERATORS, Name};
use fathom_workload::program::{self, PROGRAMS};
use fathom_workload::step::Step;
use serde::Deserialize;
use std::path::Path;

/// The workload that the flags describe.
pub(super) fn of(args: &WorkloadArgs) -> Result<Workload, Failure> {
    let mut workload = if let Some(name) = args.workload.strip_prefix("generate:") {
        Workload::of_generator(Config {
            accesses: args.accesses,
            ..Config::of(generator(name)?)
        })
    } else if let Some(name) = args.workload.strip_prefix("program:") {
        Workload::of_program(program(name)?)
    } else if args.workload.ends_with(".fio") {
        input::text(Path::new(&args.workload))?;
        Workload::of_jobs(Path::new(&args.workload))
    } else if args.workload.ends_with(".toml") {
        input::text(Path::new(&args.workload))?;
        Workload::from_file(Path::new(&args.workload))?
    } else {
        Workload::of_trace(Path::new(&args.workload))
    };
    if let Some(name) = &args.format {
        workload.read.format = Some(format(name)?);
    }
    workload.read.lenient |= args.lenient;
    for text in &args.step {
        workload.steps.push(step(text)?);
    }
    if let Some(text) = &args.reshape {
        workload.reshape = Some(reshape(text)?);
    }
    Ok(workload)
}

fn generator(name: &str) -> Result<Name, Failure> {
    let found = Name::ALL.iter().find(|n| n.entry().name == name);
    found.copied().ok_or_else(|| {
        let names: Vec<&str> = GENERATORS.iter().map(|entry| entry.name).collect();
        Failure::input(
            "fathom::replay::generator",
            format!("there is no generator `{name}`"),
        )
        .help(format!("there are {}", names.join(", ")))
    })
}

fn program(name: &str) -> Result<program::Config, Failure> {
    let found = program::Name::ALL.iter().find(|n| n.entry().name == name);
    found.map(|name| name.config()).ok_or_else(|| {
        let names: Vec<&str> = PROGRAMS.iter().map(|entry| entry.name).collect();
        Failure::input(
            "fathom::replay::program",
            format!("there is no program `{name}`"),
        )
        .help(format!("there are {}", names.join(", ")))
    })
}

fn format(name: &str) -> Result<Format, Failure> {
    Format::from_name(name).ok_or_else(|| {
        let names: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
        Failure::input(
            "fathom::replay::format",
            format!("there is no trace format `{name}`"),
        )
        .help(format!("there are {}", names.join(", ")))
    })
}

/// `NAME,KEY=VALUE,...` as a study file would have it, with the name under `key`.
pub(super) fn table(key: &str, text: &str) -> Result<toml::Value, Failure> {
    let mut parts = text.split(',');
    let mut table = toml::Table::new();
    table.insert(key.into(), parts.next().unwrap_or_default().trim().into());
    for part in parts {
        let setting: Setting = part.parse()?;
        if let Some(value) = setting.value {
            table.insert(setting.key, value);
        }
    }
    Ok(toml::Value::Table(table))
}

fn step(text: &str) -> Result<Step, Failure> {
    Step::deserialize(table("step", text)?).map_err(|error| {
        Failure::input(
            "fathom::replay::step",
            format!("`{text}` is no step: {}", error.message()),
        )
        .help("`fathom list steps` shows all; docs/workloads.md says what each takes")
    })
}

fn reshape(text: &str) -> Result<Reshape, Failure> {
    Reshape::deserialize(table("policy", text)?).map_err(|error| {
        Failure::input(
            "fathom::replay::reshape",
            format!("`{text}` is no write buffer: {}", error.message()),
        )
        .help("`fathom list buffers` shows all; docs/buffers.md says what each takes")
    })
}
