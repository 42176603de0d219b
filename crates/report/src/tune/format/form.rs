//! What a form of the settings consists of.

use crate::tune::Tuning;

/// A form of the settings.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// Its name.
    pub name: &'static str,
    /// The file that it is, or the commands.
    pub summary: &'static str,
    /// Writes the settings in this form.
    pub render: fn(&Tuning) -> String,
}
