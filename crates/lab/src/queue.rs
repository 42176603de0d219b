//! Block layer configuration as a user writes it. Sizes of the drive are taken from its profile.

use crate::parse;
use fathom_base::BadValue;
use fathom_base::near::meant;
use fathom_iosched::split::NoPas;
use fathom_iosched::{QueueConfig, SCHEDULERS, SPLITS};
use fathom_probe::{Parameter, Profile, Verdict};
use serde::Deserialize as _;
use std::collections::BTreeSet;
use toml::{Table, Value};

/// Error in the description of a block layer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QueueError {
    /// Keys are wrong; the messages are those of serde.
    #[error("{}", in_plain_words(.0))]
    Syntax(Vec<String>),
    /// A setting of a scheduler, a splitter or the queue itself is invalid.
    #[error(transparent)]
    Config(#[from] BadValue),
    /// A scheduler or splitter needs sizes of the drive, and neither its keys nor a profile give them.
    #[error("{}", .problems.join("; "))]
    Sizes {
        /// The scheduler or splitter and the sizes that it needs, followed by any other faults.
        problems: Vec<String>,
        /// The parameters of a profile that hold these sizes.
        parameters: Vec<Parameter>,
        /// The same block layer with example sizes, as a user would write it.
        example: String,
    },
    /// The profile has no value for a required size of the drive.
    #[error("`{wants}` needs `{key}`, and the profile says that `{parameter}` is {verdict}")]
    Unknown {
        /// Name of the scheduler or splitter.
        wants: String,
        /// Key that needs the size.
        key: &'static str,
        /// Parameter that the profile has no value for.
        parameter: Parameter,
        /// Verdict of the profile on that parameter.
        verdict: &'static str,
    },
}

fn in_plain_words(messages: &[String]) -> String {
    let words = messages
        .iter()
        .map(|message| parse::in_words(message, None));
    words.collect::<Vec<_>>().join("; ")
}

impl QueueError {
    /// Returns advice on how to resolve the error.
    pub fn help(&self) -> String {
        match self {
            Self::Sizes { example, .. } => {
                format!("{}; or give them: {example}", self.help_by_name())
            }
            Self::Config(error) => config_help(error),
            Self::Unknown { key, .. } => {
                format!("{}; or give {key}=BYTES yourself", self.help_by_name())
            }
            Self::Syntax(_) => self.help_by_name(),
        }
    }

    /// Returns advice for a scheduler or splitter that is named without keys.
    pub fn help_by_name(&self) -> String {
        match self {
            Self::Syntax(messages) => match messages.iter().find_map(|message| meant(message)) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => "`fathom list schedulers` and `fathom list splits` show all; `fathom explain NAME` says what each takes".into(),
            },
            Self::Sizes { parameters, .. } => {
                let names: Vec<&str> = parameters.iter().map(|p| p.name()).collect();
                format!(
                    "take them from a profile of the drive (`--profile DIR`; in a study, `sizes`), which is written by: fathom \
                     probe --only {} --out DIR TARGET",
                    names.join(",")
                )
            }
            Self::Config(error) => config_help(error),
            Self::Unknown { parameter, .. } => format!(
                "`fathom probe TARGET --only {parameter} --budget ...` may find it with more measuring"
            ),
        }
    }
}

/// Returns advice for an invalid setting, on the command line or in a study.
pub(crate) fn config_help(error: &BadValue) -> String {
    let mut all = SCHEDULERS.iter().chain(SPLITS);
    if all.any(|named| named.needs.iter().any(|(key, _)| *key == error.key)) {
        return "give it beside the name (NAME,KEY=VALUE; in a study, under [queue]), or take it from a profile of the drive \
                (`--profile`; in a study, `sizes`)"
            .into();
    }
    if error.key == "drive" {
        let kernel = match error.part == "block layer" {
            true => {
                ". The kernel's `mq-deadline` keeps the writes of a zone in order, the one here does not"
            }
            false => "",
        };
        return format!(
            "run it without a block layer (`--sched none`) and without a platform: leave `--split`, `--ab` and `--platform` out \
             (in a study, `queue` and `platform`); or take another drive{kernel}"
        );
    }
    match SCHEDULERS.iter().any(|named| named.name == error.part) {
        true => format!("`fathom explain {}` says what it takes", error.part),
        false => "docs/schedulers.md says what a queue takes".into(),
    }
}

/// Builds a block layer from a table in the form of a study file (`scheduler`, `split`, `plug`, ...). Sizes that the table
/// leaves out are taken from the profile.
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
        return Err(QueueError::Syntax(wrong));
    }
    let config = QueueConfig::deserialize(Value::Table(table))
        .map_err(|error| QueueError::Syntax(vec![error.message().to_owned()]))?;
    config.check()?;
    Ok(config)
}

/// Schedulers and splitters for which sizes of the drive are missing.
#[derive(Default)]
struct Unsized {
    problems: Vec<String>,
    parameters: Vec<Parameter>,
    examples: Vec<String>,
}

impl Unsized {
    /// Returns the error, with the other faults in `wrong`; `None` if no size is missing.
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

/// Finds the parts that lack sizes of the drive. It puts example sizes into the table, so that the check goes on to find
/// other faults.
fn unsized_parts(table: &mut Table) -> Unsized {
    let mut found = Unsized::default();
    for (part, flag) in [("scheduler", "--sched"), ("split", "--split")] {
        let Some(Value::Table(part)) = table.get_mut(part) else {
            continue;
        };
        let name = name_of(part).to_owned();
        let missing = missing(part);
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

/// Returns the sizes that a scheduler or a splitter needs: its key and the parameter of a profile.
fn sizes(name: &str) -> impl Iterator<Item = (&'static str, Parameter)> + use<> {
    let mut all = SCHEDULERS.iter().chain(SPLITS);
    let needs = all
        .find(|named| named.name == name)
        .map_or(&[][..], |named| named.needs);
    let size = |&(key, parameter)| Some((key, Parameter::from_name(parameter)?));
    needs.iter().filter_map(size)
}

/// Returns the sizes that a scheduler or a splitter needs and its table does not have.
fn missing(part: &Table) -> Vec<(&'static str, Parameter)> {
    let missing = sizes(name_of(part)).filter(|(key, _)| !part.contains_key(*key));
    missing.collect()
}

fn name_of(part: &Table) -> &str {
    part.get("name").and_then(Value::as_str).unwrap_or_default()
}

/// Returns the parameters whose values [`from_table`] takes from a profile, because the table does not have them.
pub(crate) fn unknown_sizes(table: &Table) -> BTreeSet<Parameter> {
    let parts = ["scheduler", "split"].into_iter();
    let parts = parts.filter_map(|part| table.get(part)?.as_table());
    let of_parts = parts.flat_map(missing).map(|(_, parameter)| parameter);
    let alignment = (!table.contains_key("alignment")).then_some(Parameter::ClusteredPage);
    of_parts.chain(alignment).collect()
}

/// A size of the drive that a profile identifies, in bytes.
pub(crate) fn known(profile: &Profile, parameter: Parameter) -> Option<u64> {
    let answer = profile.parameters.get(&parameter)?;
    let identified = answer.verdict == Verdict::Identified;
    answer.value.as_ref().filter(|_| identified)?.bytes()
}

fn buffer(parameter: Parameter) -> bool {
    matches!(parameter, Parameter::ReadBuffer | Parameter::WriteBuffer)
}

fn fill(part: &mut Table, profile: &Profile) -> Result<(), QueueError> {
    let name = name_of(part).to_owned();
    for (key, parameter) in missing(part) {
        let verdict = profile
            .parameters
            .get(&parameter)
            .map(|answer| answer.verdict);
        let bytes = match known(profile, parameter) {
            Some(bytes) => bytes,
            // The drive has no such buffer, so no request can be too long for it.
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
