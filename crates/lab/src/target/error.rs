//! Why a target cannot be measured: what happened, where, and what to do.

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

/// A text and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file, for people.
    pub name: String,
    /// What stands in it.
    pub text: String,
}

impl Place {
    pub(super) fn new(name: impl Into<String>, text: &str) -> Self {
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

    /// The drive file's error, at its line and key.
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

/// What is wrong with a drive file, and where.
#[derive(Debug)]
pub struct DriveFault {
    /// The file and its text.
    pub place: Place,
    /// Where in the text, in bytes.
    pub at: Option<Range<usize>>,
    /// The line, counted from 1.
    pub line: Option<usize>,
    /// The key, with the tables above it.
    pub key: Option<String>,
    /// What is wrong, and what is allowed.
    pub error: SpecError,
}

impl DriveFault {
    /// The key or the value that was probably meant.
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
                near::nearest(found, names)
                    .first()
                    .map(|&name| name.to_owned())
            }
            SpecError::Value(_) => None,
        }
    }
}

/// `drive.toml:12: flash.page: ...`
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

/// What is wrong with a drive once settings replace what stands in its file.
#[derive(Clone, Debug, PartialEq)]
pub struct SettingFault {
    /// The drive, for people.
    pub drive: String,
    /// The setting at fault, where one can be told.
    pub setting: Option<Setting>,
    /// What is wrong, and what is allowed.
    pub why: String,
    /// The name that was probably meant.
    pub meant: Option<String>,
    /// The example file that shows the keys.
    pub example: &'static str,
}

impl SettingFault {
    /// The fault in words, of a setting as the user wrote it.
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

fn in_turn(faults: &[SettingFault]) -> String {
    let said: Vec<String> = faults.iter().map(ToString::to_string).collect();
    said.join("; ")
}

/// A target that cannot be measured.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// No preset has this name.
    #[error("there is no modelled drive `{name}`")]
    UnknownPreset {
        /// What was asked for.
        name: String,
        /// Names like it, nearest first; may be empty.
        nearest: Vec<String>,
    },
    /// Nothing is at a path, and it is named like a modelled drive.
    #[error("{}: no such file, directory or device", path.display())]
    Bare {
        /// What was named.
        path: PathBuf,
        /// Modelled drives that are named like it, nearest first.
        nearest: Vec<String>,
    },
    /// A drive file is named as a real drive is.
    #[error("{} is a file in TOML, and no drive", path.display())]
    Unprefixed {
        /// Which one.
        path: PathBuf,
    },
    /// The drive file cannot be read.
    #[error("cannot read the drive file {}", path.display())]
    DriveFile {
        /// Which one.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The drive file is wrong.
    #[error("{0}")]
    Drive(Box<DriveFault>),
    /// A modelled drive cannot have this size.
    #[error("the modelled drive cannot have a size of {size}: {error}")]
    Size {
        /// What was asked for.
        size: Bytes,
        /// Why not.
        error: SpecError,
    },
    /// Permission to destroy was given for something else than a real drive.
    #[error("`--destroy {destroy}` names a real drive, and the target is {target}")]
    DestroyModel {
        /// What it names.
        destroy: String,
        /// What would be measured.
        target: String,
    },
    /// The record is of another drive than the one that is there now.
    #[error("the record is of another drive than {name} is now: it was {recorded}, it is {found}")]
    OtherDrive {
        /// The target's name in both.
        name: String,
        /// The one in the record.
        recorded: String,
        /// The one found.
        found: String,
    },
    /// A modelled drive is needed.
    #[error("{target} is no modelled drive")]
    NoModel {
        /// What was named.
        target: String,
    },
    /// The drive file is right, and with these settings it is not.
    #[error("{}", in_turn(.0))]
    Set(Vec<SettingFault>),
    /// A setting of a drive that cannot be read.
    #[error("`{text}` is no setting of a drive")]
    Setting {
        /// What was asked for.
        text: String,
    },
    /// A setting stands under something that is no table.
    #[error("`{key}` cannot be set: `{under}` is no table of the drive file")]
    NoTable {
        /// The whole key.
        key: String,
        /// What stands in the way.
        under: String,
    },
    /// A real target cannot be opened, or is refused.
    #[error(transparent)]
    Host(#[from] HostError),
}

impl TargetError {
    /// Whether this is the safety lock's refusal, and not a mistake in what was asked.
    pub fn refused(&self) -> bool {
        matches!(self, Self::Host(HostError::Refused(_)))
    }

    /// What to do, where the message does not say it itself.
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

/// What to do about a key or a value of a drive file, with what was probably meant: what a user can ask the program for, also
/// where its sources are not at hand.
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
