//! Common parts of all drive files: reading, writing, errors, and the lists of the drive files that come with Fathom.
//!
//! This module handles TOML but knows no keys.

use crate::BadValue;
use crate::registry::{Kind, Text};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The error for an unusable drive file.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SpecError {
    /// Invalid TOML, an unknown key, or a value of the wrong type.
    #[error("line {line}, column {column}: {message}")]
    Syntax {
        /// Line of the error, from 1.
        line: usize,
        /// Column of the error, from 1, in bytes.
        column: usize,
        /// The problem and what is allowed.
        message: String,
    },
    /// A value that describes no valid drive.
    #[error(transparent)]
    Value(#[from] BadValue),
}

/// Parses the text of a drive file without checking the values.
///
/// # Errors
/// Returns [`SpecError::Syntax`] with line and column.
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

/// Returns the text of a drive file with all defaults written out; empty if TOML cannot express it.
pub fn to_toml<T: Serialize>(spec: &T) -> String {
    toml::to_string(spec).unwrap_or_default()
}

/// The registry kind of the drives that come with Fathom.
pub const DRIVE: Kind = Kind {
    one: "drive",
    list: "drives",
    summary: "The modelled drives",
    prefix: "model:",
    option: "--on",
    text: Text::DriveFile,
};

/// Defines lists of drives by name and summary. Each drive has a file `../presets/NAME.toml`, relative to the calling
/// file.
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

/// Defines the common parts of the structure `Spec` of a model: its kind (`kind = "..."`), and reading and writing.
/// `Spec` must have a method `check`.
#[macro_export]
macro_rules! drive_kind {
    ($kind:ident = $name:literal) => {
        /// The kind of drive that the file describes; each model has exactly one.
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
            /// Parses and checks a drive file.
            ///
            /// # Errors
            /// Returns [`SpecError::Syntax`] with line and column, or [`SpecError::Value`] from [`Spec::check`].
            pub fn from_toml(text: &str) -> Result<Spec, SpecError> {
                let spec: Spec = $crate::drive_file::from_toml(text)?;
                spec.check()?;
                Ok(spec)
            }

            /// Returns the text of the drive file with all defaults written out.
            pub fn to_toml(&self) -> String {
                $crate::drive_file::to_toml(self)
            }
        }
    };
}
