//! What the drive files of every model share: how they are read and written, what may be wrong with one, and the lists of
//! those that come with Fathom.
//!
//! Knows TOML and no key.

use crate::BadValue;
use crate::registry::{Kind, Text};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A drive file that cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SpecError {
    /// Not TOML, an unknown key, a value of the wrong kind.
    #[error("line {line}, column {column}: {message}")]
    Syntax {
        /// From 1.
        line: usize,
        /// From 1, in bytes.
        column: usize,
        /// What is wrong there and what is allowed.
        message: String,
    },
    /// A value that makes no drive.
    #[error(transparent)]
    Value(#[from] BadValue),
}

/// Reads the text of a drive file, whose values are not checked.
///
/// # Errors
/// [`SpecError::Syntax`] with line and column.
pub fn from_toml<T: DeserializeOwned>(text: &str) -> Result<T, SpecError> {
    toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start).min(text.len());
        let before = text.get(..at).unwrap_or_default();
        SpecError::Syntax {
            line: before.matches('\n').count() + 1,
            column: at - before.rfind('\n').map_or(0, |i| i + 1) + 1,
            message: error.message().to_owned(),
        }
    })
}

/// The text of a drive file with every default written out; empty for what TOML cannot say.
pub fn to_toml<T: Serialize>(spec: &T) -> String {
    toml::to_string(spec).unwrap_or_default()
}

/// Drives that come with Fathom.
pub const DRIVE: Kind = Kind {
    one: "drive",
    list: "drives",
    summary: "The modelled drives",
    prefix: "model:",
    option: "--on",
    text: Text::DriveFile,
};

/// Lists of drives, by name and summary: a file `../presets/NAME.toml` for each, as seen from the file that calls it.
#[macro_export]
macro_rules! presets {
    ($($(#[$doc:meta])* $list:ident { $($name:literal: $summary:literal,)* })*) => {$(
        $(#[$doc])*
        pub const $list: &[$crate::Named] = &[$($crate::Named::new(
            &$crate::drive_file::DRIVE,
            $name,
            $crate::About::new($summary).text(include_str!(concat!("../presets/", $name, ".toml"))),
        )),*];
    )*};
}

/// What every drive file has, for the structure `Spec` of a model: its kind, `kind = "..."`, and how it is read and written.
/// `Spec` has a method `check`.
#[macro_export]
macro_rules! drive_kind {
    ($kind:ident = $name:literal) => {
        /// The kind of drive that the file describes: this one, of those that there are.
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, ::serde::Serialize, ::serde::Deserialize,
        )]
        pub enum Kind {
            #[doc = concat!("`kind = \"", $name, "\"`.")]
            #[default]
            #[serde(rename = $name)]
            $kind,
        }

        impl Spec {
            /// Reads a drive file.
            ///
            /// # Errors
            /// [`SpecError::Syntax`] with line and column, or [`SpecError::Value`] from [`Spec::check`].
            pub fn from_toml(text: &str) -> Result<Spec, SpecError> {
                let spec: Spec = $crate::drive_file::from_toml(text)?;
                spec.check()?;
                Ok(spec)
            }

            /// The drive file of this drive, with every default written out.
            pub fn to_toml(&self) -> String {
                $crate::drive_file::to_toml(self)
            }
        }
    };
}
