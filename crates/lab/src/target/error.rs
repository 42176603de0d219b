//! Errors of targets: what happened, where, and what to do.

use super::key;
use super::setting::Setting;
use crate::parse::in_words;
use fathom_base::Bytes;
use fathom_base::near;
use fathom_base::{BadValue, SpecError};
use fathom_hostio::HostError;
use std::fmt;
use std::io;
use std::ops::Range;
use std::path::PathBuf;

/// The examples that `fathom explain` prints, of a solid state drive and of a disk.
const DRIVE: &str = "drive.toml";
const DISK: &str = "disk.toml";

/// A text and its origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Name of the file, for messages.
    pub name: String,
    /// Contents of the file.
    pub text: String,
}

impl Place {
    /// Creates one.
    pub fn new(name: impl Into<String>, text: &str) -> Self {
        Self {
            name: name.into(),
            text: text.to_owned(),
        }
    }

    /// The example file of the kind of drive that the text describes.
    pub(super) fn example(&self) -> &'static str {
        let table: toml::Table = self.text.parse().unwrap_or_default();
        match table.get("kind").and_then(toml::Value::as_str) {
            Some("hdd") => DISK,
            _ => DRIVE,
        }
    }

    /// Returns the error of the drive file, with its line and key.
    pub(super) fn error(self, error: SpecError) -> TargetError {
        let (at, key) = match &error {
            SpecError::Syntax { line, column, .. } => {
                let at = key::offset_of(&self.text, *line, *column);
                let span = key::token_at(&self.text, at);
                (Some(span), key::key_at(&self.text, *line))
            }
            SpecError::Value(BadValue { key, .. }) => {
                (key::span_of(&self.text, key), Some((*key).to_owned()))
            }
        };
        let line = at.as_ref().map(|at| key::line_of(&self.text, at.start));
        TargetError::Drive(Box::new(DriveFault {
            place: self,
            at,
            line,
            key,
            error,
        }))
    }
}

/// A fault of a drive file, with its position.
#[derive(Debug)]
pub struct DriveFault {
    /// The file and its text.
    pub place: Place,
    /// Position in the text, in bytes.
    pub at: Option<Range<usize>>,
    /// The line, counted from 1.
    pub line: Option<usize>,
    /// The key, including its tables.
    pub key: Option<String>,
    /// The fault, and what is allowed.
    pub error: SpecError,
}

impl DriveFault {
    /// Returns the key or the value that was probably meant.
    fn meant(&self) -> Option<String> {
        match &self.error {
            SpecError::Syntax { message, .. } => near::meant(message),
            SpecError::Value(BadValue {
                key: "kind",
                found,
                allowed,
                ..
            }) => {
                let names = allowed.split('"').skip(1).step_by(2);
                let found = found.trim_matches('"');
                let near = near::nearest(found, names);
                (!near.is_empty()).then(|| near.join("` or `"))
            }
            SpecError::Value(_) => None,
        }
    }
}

/// Formats as `drive.toml:12: flash.page: ...`.
impl fmt::Display for DriveFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.place.name)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        match (&self.error, &self.key) {
            (SpecError::Syntax { message, .. }, key) => {
                write!(f, ": {}", in_words(message, key.as_deref()))
            }
            (SpecError::Value(BadValue { found, allowed, .. }), key) => {
                let key = key.iter().map(|key| format!("`{key}` "));
                write!(
                    f,
                    ": {}is {found}; allowed is {allowed}",
                    key.collect::<String>()
                )
            }
        }
    }
}

/// A fault of a drive after settings have replaced values of its file.
#[derive(Clone, Debug, PartialEq)]
pub struct SettingFault {
    /// Name of the drive, for messages.
    pub drive: String,
    /// The setting at fault, if it can be determined.
    pub setting: Option<Setting>,
    /// The fault, and what is allowed.
    pub why: String,
    /// The name that was probably meant.
    pub meant: Option<String>,
    /// The example file that shows the keys.
    pub example: &'static str,
}

impl SettingFault {
    /// Returns the message; `said` is the setting as the user wrote it.
    pub fn of(&self, said: &str) -> String {
        format!("{said} on {}: {}", self.drive, self.why)
    }
}

impl fmt::Display for SettingFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&match &self.setting {
            Some(setting) => self.of(&format!("`{setting}`")),
            None => self.of("these settings"),
        })
    }
}

fn joined(faults: &[SettingFault]) -> String {
    let said: Vec<String> = faults.iter().map(ToString::to_string).collect();
    said.join("; ")
}

/// Error of a target that cannot be measured.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// There is no preset of this name.
    #[error("there is no modelled drive `{name}`")]
    UnknownPreset {
        /// The name that was given.
        name: String,
        /// Similar names, nearest first; may be empty.
        nearest: Vec<String>,
    },
    /// The path does not exist, and is similar to the name of a modelled drive.
    #[error("{}: no such file, directory or device", path.display())]
    Bare {
        /// The path that was given.
        path: PathBuf,
        /// Names of similar modelled drives, nearest first.
        nearest: Vec<String>,
    },
    /// A drive file is named without `model:`, like a real drive.
    #[error("{} is a file in TOML, and no drive", path.display())]
    Unprefixed {
        /// The file.
        path: PathBuf,
    },
    /// The drive file cannot be read.
    #[error("cannot read the drive file {}", path.display())]
    DriveFile {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The drive file is invalid.
    #[error("{0}")]
    Drive(Box<DriveFault>),
    /// A modelled drive cannot have this size.
    #[error("`--size {size}`: {}", of_size(.error))]
    Size {
        /// The requested size.
        size: Bytes,
        /// The reason.
        error: SpecError,
    },
    /// Permission to destroy was given for a target that is not a real drive.
    #[error("`--destroy {destroy}` names a real drive, and the target is {target}")]
    DestroyModel {
        /// The drive that the permission names.
        destroy: String,
        /// The target.
        target: String,
    },
    /// The record is of another drive than the one that has its name now.
    #[error("the record is of another drive than {name} is now: it was {recorded}, it is {found}")]
    OtherDrive {
        /// Name of the target in both cases.
        name: String,
        /// The drive in the record.
        recorded: String,
        /// The drive that was found.
        found: String,
    },
    /// A modelled drive is required.
    #[error("{target} is no modelled drive")]
    NoModel {
        /// The target that was given.
        target: String,
    },
    /// The drive file is valid, but not with these settings.
    #[error("{}", joined(.0))]
    Set(Vec<SettingFault>),
    /// A setting of a drive cannot be parsed.
    #[error("`{text}` is no setting of a drive")]
    Setting {
        /// The text that was given.
        text: String,
    },
    /// The key of a setting goes through something that is not a table.
    #[error("`{key}` cannot be set: `{under}` is no table of the drive file")]
    NoTable {
        /// The whole key.
        key: String,
        /// The part that is not a table.
        under: String,
    },
    /// A real target cannot be opened, or is refused.
    #[error(transparent)]
    Host(#[from] HostError),
}

/// Says why a drive cannot have a size: what its capacity may be, or which other value no longer fits.
fn of_size(error: &SpecError) -> String {
    match error {
        SpecError::Value(BadValue {
            key: "capacity",
            allowed,
            ..
        }) => {
            format!("the capacity of this drive is {allowed}")
        }
        other => format!("with this capacity {other}"),
    }
}

impl TargetError {
    /// Returns true if the safety lock refused the target, as opposed to a mistake in the request.
    pub fn refused(&self) -> bool {
        matches!(self, Self::Host(HostError::Refused(_)))
    }

    /// Returns advice on how to resolve the error, unless the message gives it.
    pub fn help(&self) -> Option<String> {
        Some(match self {
            Self::UnknownPreset { nearest, .. } if nearest.is_empty() => {
                "`fathom list drives` shows all; model:PATH.toml is a drive file of your own".into()
            }
            Self::Unprefixed { path } => {
                format!("the drive that it describes is model:{}", path.display())
            }
            Self::UnknownPreset { nearest, .. } | Self::Bare { nearest, .. } => {
                let names: Vec<_> = nearest.iter().map(|n| format!("model:{n}")).collect();
                format!(
                    "did you mean {}? `fathom list drives` shows all",
                    names.join(" or ")
                )
            }
            Self::Drive(fault) => key_help(fault.meant(), fault.place.example()),
            Self::Set(faults) => {
                let example = faults.first().map_or(DRIVE, |fault| fault.example);
                key_help(faults.iter().find_map(|fault| fault.meant.clone()), example)
            }
            Self::DriveFile { .. } | Self::NoTable { .. } => key_help(None, DRIVE),
            Self::Size { .. } => "choose another `--size`, or leave it out".into(),
            Self::DestroyModel { .. } => {
                "leave `--destroy` out, or name the real drive as the target".into()
            }
            Self::OtherDrive { .. } => {
                "connect the drive that was measured, or start a new run without `--resume`".into()
            }
            Self::NoModel { .. } => "name a modelled drive: model:NAME or model:PATH.toml".into(),
            Self::Setting { .. } => {
                "write a key of the drive file with its table and a value: flash.read=40us".into()
            }
            Self::Host(_) => return None,
        })
    }
}

/// Returns advice for a key or a value of a drive file, with what was probably meant. It refers to a command of the
/// program, so that it works without the sources.
fn key_help(meant: Option<String>, example: &str) -> String {
    match meant {
        Some(meant) => format!(
            "did you mean `{meant}`? `fathom explain {example}` prints a drive file with every key"
        ),
        None => format!(
            "`fathom explain {example}` prints a commented drive file with every key and what it may be"
        ),
    }
}
