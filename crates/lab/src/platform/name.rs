//! Platforms as a user names them: a preset or a platform file, with settings.

use crate::parse::in_words;
use crate::target::settings::set;
use crate::target::{Setting, TargetError};
use crate::text;
use fathom_base::SpecError;
use fathom_base::near::{did_you_mean, nearest};
use fathom_base::registry::find;
use fathom_platform::{PLATFORMS, Platform};
use std::io;
use std::path::{Path, PathBuf};
use toml::Table;

/// The reason why there is no such platform.
#[derive(Debug, thiserror::Error)]
pub enum PlatformError {
    /// No preset has the name.
    #[error("there is no platform `{name}`")]
    Unknown {
        /// The name.
        name: String,
        /// Similar names.
        nearest: Vec<&'static str>,
    },
    /// The file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The file is no platform file.
    #[error("{}: {message}", path.display())]
    File {
        /// The file, or the name of a preset.
        path: PathBuf,
        /// The place and the problem.
        message: String,
    },
    /// A setting is wrong.
    #[error("`{setting}`: {message}")]
    Setting {
        /// The setting as written.
        setting: String,
        /// The problem.
        message: String,
    },
}

impl PlatformError {
    /// Returns advice on how to resolve the error.
    pub fn help(&self) -> String {
        match self {
            Self::Unknown { nearest, .. } => {
                let meant = did_you_mean(nearest).map(|meant| format!("{meant} "));
                format!(
                    "{}`fathom list platforms` shows all; a file ends with .toml",
                    meant.unwrap_or_default()
                )
            }
            Self::Read { .. } => "name a platform file, or one of `fathom list platforms`".into(),
            Self::File { .. } => {
                "`fathom explain x5570-sas` prints a platform file to compare with".into()
            }
            Self::Setting { .. } => {
                "write NAME,KEY=VALUE,... with keys of a platform file, such as x5570-sas,cores=1,clocks.block=900".into()
            }
        }
    }
}

/// The keys that may be empty: what has no limit.
const MAY_BE_EMPTY: [&str; 3] = ["adapter.iops", "adapter.rate", "adapter.link"];

/// Returns the platform of `NAME` or `FILE.toml`, followed by settings: `,KEY=VALUE,...`.
///
/// # Errors
/// [`PlatformError`].
pub fn platform(text: &str) -> Result<Platform, PlatformError> {
    in_turn(&[text])
}

/// Returns the platform of a run, which has a drive of its own. The first text is as that of [`platform`]; the others are
/// settings, `,KEY=VALUE,...`, which replace those before.
///
/// # Errors
/// [`PlatformError`].
pub(crate) fn charged(texts: &[&str]) -> Result<Platform, PlatformError> {
    let drive = settings(texts).find(|setting| key_of(setting) == "drive");
    if let Some(setting) = drive {
        let message =
            "a run has a drive of its own; `drive` is for `fathom platform` and `fathom plan`";
        return Err(PlatformError::Setting {
            setting: setting.to_owned(),
            message: message.into(),
        });
    }
    in_turn(texts)
}

/// Returns the platform of a run as a user names it: as [`platform`], without the key `drive`.
///
/// # Errors
/// [`PlatformError`].
pub fn platform_of_run(text: &str) -> Result<Platform, PlatformError> {
    charged(&[text])
}

/// The settings of all texts.
fn settings<'a>(texts: &[&'a str]) -> impl Iterator<Item = &'a str> {
    texts.iter().flat_map(|text| text.split(',').skip(1))
}

fn key_of(setting: &str) -> &str {
    setting.split('=').next().unwrap_or_default().trim()
}

fn in_turn(texts: &[&str]) -> Result<Platform, PlatformError> {
    let first = texts.first().copied().unwrap_or_default();
    let name = first.split(',').next().unwrap_or_default();
    let file = match find(PLATFORMS, name) {
        Some(preset) => preset.text.to_owned(),
        None if name.ends_with(".toml") => read(Path::new(name))?,
        None => {
            let nearest = nearest(name, PLATFORMS.iter().map(|preset| preset.name));
            let name = name.to_owned();
            return Err(PlatformError::Unknown { name, nearest });
        }
    };
    let platform = Platform::from_toml(&file).map_err(|error| PlatformError::File {
        path: name.into(),
        message: words(&error),
    })?;
    for text in texts {
        check_keys(text)?;
    }
    let settings: Vec<&str> = settings(texts).collect();
    match settings.is_empty() {
        true => Ok(platform),
        false => with_settings(&file, &settings),
    }
}

/// Checks that no key is set twice or to nothing.
fn check_keys(text: &str) -> Result<(), PlatformError> {
    let mut keys = Vec::new();
    for setting in text.split(',').skip(1) {
        let key = key_of(setting);
        let wrong = |message: String| {
            Err(PlatformError::Setting {
                setting: setting.to_owned(),
                message,
            })
        };
        if setting.trim().is_empty() {
            return wrong("there is no setting after a comma".to_owned());
        }
        if keys.contains(&key) {
            return wrong(format!("`{key}` is set twice"));
        }
        let value = setting.split_once('=').map(|(_, value)| value.trim());
        if value == Some("") && !MAY_BE_EMPTY.contains(&key) {
            let may = MAY_BE_EMPTY.map(|key| format!("`{key}`")).join(", ");
            return wrong(format!("has no value; only these may be empty: {may}"));
        }
        keys.push(key);
    }
    Ok(())
}

/// Applies settings. Their values are checked together: the range of one may depend on another.
fn with_settings(file: &str, settings: &[&str]) -> Result<Platform, PlatformError> {
    let mut table: Table = file.parse().unwrap_or_default();
    let wrong = |setting: &str, message: String| PlatformError::Setting {
        setting: setting.to_owned(),
        message,
    };
    let mut made = Ok(Platform::default());
    for part in settings {
        let setting: Result<Setting, TargetError> = part.parse();
        let setting = setting.map_err(|error| wrong(part, error.to_string()))?;
        set(&mut table, &setting).map_err(|error| wrong(part, error.to_string()))?;
        made = Platform::from_toml(&toml::to_string(&table).unwrap_or_default());
        if let Err(SpecError::Syntax { message, .. }) = &made {
            return Err(wrong(part, in_words(message, Some(&setting.key))));
        }
    }
    made.map_err(|error| {
        let key = match &error {
            SpecError::Value(bad) => bad.key,
            SpecError::Syntax { .. } => "",
        };
        let sets = |part: &&&str| key_of(part) == key;
        let part = settings.iter().rfind(sets).or(settings.last());
        wrong(part.copied().unwrap_or_default(), error.to_string())
    })
}

fn words(error: &SpecError) -> String {
    match error {
        SpecError::Syntax {
            line,
            column,
            message,
        } => format!("line {line}, column {column}: {}", in_words(message, None)),
        SpecError::Value(error) => error.to_string(),
    }
}

fn read(path: &Path) -> Result<String, PlatformError> {
    text::read(path).map_err(|source| PlatformError::Read {
        path: path.to_owned(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_have_settings() {
        let own = platform("x5570-sas,cores=1,clocks.block=900,adapter.iops=").unwrap();
        assert_eq!(
            (own.cores, own.clocks.block, own.adapter.iops),
            (1, 900, None)
        );
        assert_eq!(own.clocks.interrupt, 4_600);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let said = |text| {
            let error = platform(text).unwrap_err();
            (error.to_string(), error.help())
        };
        let (message, help) = said("x5570-sass");
        assert_eq!(message, "there is no platform `x5570-sass`");
        assert!(help.starts_with("did you mean x5570-sas"), "{help}");
        let (message, _) = said("x5570-sas,cores=0");
        assert!(
            message.starts_with("`cores=0`: `cores` is 0: must be at least 1"),
            "{message}"
        );
        let (message, _) = said("x5570-sas,interrupts.count=2,cores=2");
        assert!(
            message.starts_with("`cores=2`: `interrupts.time` is 0ns: must be above zero"),
            "{message}"
        );
        assert!(platform("x5570-sas,interrupts.count=2,interrupts.time=1us").is_ok());
        let (message, _) = said("x5570-sas,clocks.blok=1");
        assert!(
            message.contains("`clocks.blok=1`: there is no key"),
            "{message}"
        );
        let (message, _) = said("x5570-sas,clock=3");
        assert!(message.contains("has no unit"), "{message}");
        let (message, _) = said("x5570-sas,");
        assert_eq!(message, "``: there is no setting after a comma");
        let (message, _) = said("x5570-sas,cores");
        assert!(message.starts_with("`cores`"), "{message}");
        let (message, _) = said("x5570-sas,cores=2,clock=1GHz,cores=3");
        assert_eq!(message, "`cores=3`: `cores` is set twice");
        for empty in ["cores=", "clocks.blok=", "interrupts= "] {
            let text = format!("x5570-sas,{empty}");
            let message = platform(&text).unwrap_err().to_string();
            let expected = format!("`{empty}`: has no value; only these may be empty");
            assert!(message.starts_with(&expected), "{message}");
        }
        let (message, _) = said("x5570-sas,interrupts.time=5us");
        assert!(
            message.starts_with("`interrupts.time=5us`: `interrupts.time` is 5us: must be 0ns"),
            "{message}"
        );
        let (message, _) = said("/nowhere/at-all.toml");
        assert!(
            message.starts_with("cannot read /nowhere/at-all.toml"),
            "{message}"
        );
    }

    /// Every key that may be empty is one that a platform file may leave out for good.
    #[test]
    fn only_what_has_no_default_may_be_empty() {
        let file: Table = Platform::default().to_toml().parse().unwrap();
        let adapter = file["adapter"].as_table().unwrap();
        for key in MAY_BE_EMPTY {
            let key = key.strip_prefix("adapter.").unwrap();
            assert!(!adapter.contains_key(key), "{key}");
            let empty = format!("x5570-sas,adapter.{key}=");
            assert!(platform(&empty).is_ok(), "{empty}");
        }
    }

    #[test]
    fn a_run_has_its_own_drive_and_points_replace_settings() {
        let own = charged(&["x5570-sas,cores=1,drives=8", ",cores=2", ",stripe=64KiB"]).unwrap();
        assert_eq!((own.cores, own.drives, own.stripe.0), (2, 8, 65_536));
        let drive = charged(&["x5570-sas", ",drive=model:nvme"]).unwrap_err();
        assert!(
            drive
                .to_string()
                .starts_with("`drive=model:nvme`: a run has a drive of its own"),
            "{drive}"
        );
        assert!(platform("x5570-sas,drive=model:nvme").is_ok());
        let twice = charged(&["x5570-sas", ",cores=1,cores=2"]).unwrap_err();
        assert_eq!(twice.to_string(), "`cores=2`: `cores` is set twice");
    }
}
