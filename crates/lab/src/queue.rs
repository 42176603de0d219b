//! The block layer above a drive, as a user names it, with the sizes of the drive from its profile.

use crate::parse;
use fathom_base::BadValue;
use fathom_base::near::meant;
use fathom_iosched::split::NoPas;
use fathom_iosched::{QueueConfig, SCHEDULERS, SPLITS};
use fathom_probe::{Parameter, Profile, Verdict};
use serde::Deserialize as _;
use toml::{Table, Value};

/// A block layer that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QueueError {
    /// What was written of it.
    #[error("{0}")]
    Syntax(String),
    /// A scheduler, a splitter or the queue itself.
    #[error(transparent)]
    Config(#[from] BadValue),
    /// Sizes of the drive are needed, and nothing gives them.
    #[error("{}", .problems.join("; "))]
    Sizes {
        /// Which scheduler or splitter needs what, and whatever else is wrong.
        problems: Vec<String>,
        /// What a profile calls them.
        parameters: Vec<Parameter>,
        /// The same with sizes, as a user writes it.
        example: String,
    },
    /// The profile does not know a size of the drive.
    #[error("`{wants}` needs `{key}`, and the profile says that `{parameter}` is {verdict}")]
    Unknown {
        /// Which scheduler or splitter.
        wants: String,
        /// Which of its keys.
        key: &'static str,
        /// What the profile does not know.
        parameter: Parameter,
        /// What it says.
        verdict: &'static str,
    },
}

impl QueueError {
    /// What to do.
    pub fn help(&self) -> String {
        match self {
            Self::Sizes { example, .. } => {
                format!("{}; or give them: {example}", self.help_by_name())
            }
            Self::Config(error) => config_help(error).into(),
            Self::Unknown { key, .. } => {
                format!("{}; or give {key}=BYTES yourself", self.help_by_name())
            }
            Self::Syntax(_) => self.help_by_name(),
        }
    }

    /// What to do where a scheduler or a splitter is named without keys.
    pub fn help_by_name(&self) -> String {
        match self {
            Self::Syntax(message) if meant(message).is_some() => {
                format!("did you mean `{}`?", meant(message).unwrap_or_default())
            }
            Self::Syntax(_) => {
                "`fathom list schedulers` and `fathom list splits` show all; docs/schedulers.md says what each takes"
                    .into()
            }
            Self::Sizes { parameters, .. } => {
                let names: Vec<&str> = parameters.iter().map(|p| p.name()).collect();
                format!(
                    "take them from a profile of the drive (`--profile DIR`; in a study, `sizes`), which is written by: fathom \
                     probe --only {} --out DIR TARGET",
                    names.join(",")
                )
            }
            Self::Config(_) => "take its sizes from a profile of the drive (`--profile DIR`)".into(),
            Self::Unknown { parameter, .. } => format!(
                "`fathom probe TARGET --only {parameter} --budget ...` may find it with more measuring"
            ),
        }
    }
}

/// What to do about a setting that cannot be, on the command line and in a study.
pub(crate) fn config_help(error: &BadValue) -> &'static str {
    match &*error.part {
        "queue" => "docs/schedulers.md says what a queue takes",
        _ => {
            "give it beside the name (NAME,KEY=VALUE; in a study, under [queue]), or take it from a profile of the drive \
             (`--profile`; in a study, `sizes`)"
        }
    }
}

/// A block layer from a table as a study file has it (`scheduler`, `split`, `plug`, ...), with what it leaves open
/// taken from a profile.
///
/// # Errors
/// [`QueueError`].
pub fn from_table(mut table: Table, profile: Option<&Profile>) -> Result<QueueConfig, QueueError> {
    if let Some(profile) = profile {
        for part in ["scheduler", "split"] {
            if let Some(Value::Table(part)) = table.get_mut(part) {
                fill(part, profile)?;
            }
        }
        if !table.contains_key("alignment")
            && let Some(bytes) = known(profile, Parameter::ClusteredPage)
        {
            table.insert("alignment".into(), format!("{bytes}B").into());
        }
    }
    let unsized_parts = unsized_parts(&mut table);
    let wrong = parse::problems::<QueueConfig>(&table);
    if let Some(error) = unsized_parts.into_error(&wrong) {
        return Err(error);
    }
    if !wrong.is_empty() {
        return Err(QueueError::Syntax(wrong.join("; ")));
    }
    let config = QueueConfig::deserialize(Value::Table(table))
        .map_err(|error| QueueError::Syntax(error.message().to_owned()))?;
    config.check()?;
    Ok(config)
}

/// Schedulers and splitters that lack sizes of the drive.
#[derive(Default)]
struct Unsized {
    problems: Vec<String>,
    parameters: Vec<Parameter>,
    examples: Vec<String>,
}

impl Unsized {
    /// With whatever else is wrong; `None` where all have their sizes.
    fn into_error(mut self, wrong: &[String]) -> Option<QueueError> {
        if self.problems.is_empty() {
            return None;
        }
        self.problems.extend_from_slice(wrong);
        self.parameters.sort_unstable();
        self.parameters.dedup();
        Some(QueueError::Sizes {
            problems: self.problems,
            parameters: self.parameters,
            example: self.examples.join(" "),
        })
    }
}

/// What lacks sizes of the drive; the table then has some, so that what else is wrong is found.
fn unsized_parts(table: &mut Table) -> Unsized {
    let mut found = Unsized::default();
    for (part, flag) in [("scheduler", "--sched"), ("split", "--split")] {
        let Some(Value::Table(part)) = table.get_mut(part) else {
            continue;
        };
        let name = part.get("name").and_then(Value::as_str).unwrap_or_default();
        let name = name.to_owned();
        let missing: Vec<_> = sizes(&name)
            .filter(|(key, _)| !part.contains_key(*key))
            .collect();
        if missing.is_empty() {
            continue;
        }
        let keys: Vec<String> = missing.iter().map(|(key, _)| format!("`{key}`")).collect();
        let given = missing.iter().map(|(key, _)| format!(",{key}=16KiB"));
        found
            .examples
            .push(format!("{flag} {name}{}", given.collect::<String>()));
        found.problems.push(format!(
            "`{name}` needs sizes of the drive: {}",
            keys.join(", ")
        ));
        for (key, parameter) in missing {
            found.parameters.push(parameter);
            part.insert(key.to_owned(), "16KiB".into());
        }
    }
    found
}

/// The sizes of a drive that a scheduler or a splitter needs: by which key, and what it is called in a profile.
fn sizes(name: &str) -> impl Iterator<Item = (&'static str, Parameter)> + use<> {
    let mut all = SCHEDULERS.iter().chain(SPLITS);
    let needs = all
        .find(|named| named.name == name)
        .map_or(&[][..], |named| named.needs);
    let size = |&(key, parameter)| Some((key, Parameter::from_name(parameter)?));
    needs.iter().filter_map(size)
}

fn known(profile: &Profile, parameter: Parameter) -> Option<u64> {
    let answer = profile.parameters.get(&parameter)?;
    let identified = answer.verdict == Verdict::Identified;
    answer.value.as_ref().filter(|_| identified)?.bytes()
}

fn buffer(parameter: Parameter) -> bool {
    matches!(parameter, Parameter::ReadBuffer | Parameter::WriteBuffer)
}

fn fill(part: &mut Table, profile: &Profile) -> Result<(), QueueError> {
    let name = part
        .get("name")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned();
    for (key, parameter) in sizes(&name) {
        if part.contains_key(key) {
            continue;
        }
        let verdict = profile
            .parameters
            .get(&parameter)
            .map(|answer| answer.verdict);
        let bytes = match known(profile, parameter) {
            Some(bytes) => bytes,
            // There is no such buffer that a request could be too long for.
            None if buffer(parameter) && verdict == Some(Verdict::Absent) => {
                NoPas::default().limit.0
            }
            None => {
                return Err(QueueError::Unknown {
                    wants: name,
                    key,
                    parameter,
                    verdict: verdict.map_or("not measured", Verdict::words),
                });
            }
        };
        part.insert(key.into(), format!("{bytes}B").into());
    }
    Ok(())
}
