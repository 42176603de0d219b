//! The block layer above a drive, as a user names it, with the sizes of the drive from its profile.

use fathom_iosched::split::NoPas;
use fathom_iosched::{BadConfig, QueueConfig};
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
    Config(#[from] BadConfig),
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
            Self::Syntax(_) => {
                "`fathom list schedulers` and `fathom list splits` show all; docs/schedulers.md says what each takes"
                    .into()
            }
            Self::Config(error) => config_help(error).into(),
            Self::Unknown { key, parameter, .. } => format!(
                "`fathom probe TARGET --only {parameter} --budget ...` may find it with more measuring; or give \
                 {key}=BYTES yourself"
            ),
        }
    }
}

/// What to do about a setting that cannot be, on the command line and in a study.
pub(crate) fn config_help(error: &BadConfig) -> &'static str {
    match error.part {
        "queue" => "docs/schedulers.md says what a queue takes",
        _ => {
            "give it beside the name (NAME,KEY=VALUE; in a study, under [queue]), or take it from a profile of the drive \
             (`--profile`; in a study, `sizes`)"
        }
    }
}

/// What a key of a scheduler or a splitter is called in a profile.
const SIZES: [(&str, &str, Parameter); 10] = [
    ("pas", "read", Parameter::ReadBuffer),
    ("pas", "write", Parameter::WriteBuffer),
    ("pasa", "read", Parameter::ReadBuffer),
    ("pasa", "write", Parameter::WriteBuffer),
    ("pasa", "read_boundary", Parameter::ClusteredPage),
    ("pasa", "write_boundary", Parameter::ClusteredPage),
    ("pai", "read", Parameter::ReadBuffer),
    ("pai", "write", Parameter::WriteBuffer),
    ("pai", "read_boundary", Parameter::ClusteredPage),
    ("pai", "write_boundary", Parameter::ClusteredPage),
];
/// The same of the schedulers that bundle writes.
const BUNDLES: [&str; 2] = ["irbw-fifo", "irbw-fifo-rp"];

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
    let config = QueueConfig::deserialize(Value::Table(table))
        .map_err(|error| QueueError::Syntax(error.message().to_owned()))?;
    config.check()?;
    Ok(config)
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
    let bundle = BUNDLES.map(|name| (name, "bundle", Parameter::LogicalBlock));
    for (wants, key, parameter) in SIZES.into_iter().chain(bundle) {
        if wants != name || part.contains_key(key) {
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
