//! Advice for each trace error: how the user can fix it.

use super::Format;
use super::error::{ErrorKind, TraceError};

/// Minimum number of accesses to reorder that the help suggests; the default of the formats that are only roughly in order.
const REORDER: u32 = 4096;

impl TraceError {
    /// Returns advice on how to fix the error.
    pub fn help(&self) -> String {
        let help = self.kind.help();
        match self.kind.lenient_help().filter(|_| !self.lenient) {
            Some(effect) => {
                format!("{help}; or read leniently (`--lenient`): {effect}")
            }
            None => help,
        }
    }
}

impl ErrorKind {
    /// Returns the effect of reading leniently, if that overcomes the error.
    fn lenient_help(&self) -> Option<&'static str> {
        self.is_skippable().then_some(match self {
            Self::Backwards { .. } => {
                "such times are then moved up to the access before, and counted"
            }
            Self::CutRecord | Self::Truncated { .. } => {
                "the trace then ends with the last whole line before this place, if there is one"
            }
            Self::Trailing { .. } => "these bytes are then ignored, and counted",
            _ => "such lines are then left out, and counted",
        })
    }

    fn help(&self) -> String {
        match self {
            Self::Missing { .. }
            | Self::Malformed { .. }
            | Self::UnknownOp { .. }
            | Self::TooLarge { .. }
            | Self::ZeroLength
            | Self::LongLine { .. } => "mend the line, or name the trace's format".into(),
            Self::Backwards { reorder, .. } => format!(
                "sort the trace by time; or hold back more than {reorder} accesses to set them right (`--reorder {}`; in a \
                 study, `reorder`)",
                reorder.saturating_mul(4).max(REORDER)
            ),
            Self::TooManyFiles { .. } => "split the trace by file".into(),
            Self::BadMagic { .. } => {
                "take the trace again, or merge the files of its CPUs with `blkparse -d`".into()
            }
            Self::Version { .. } => "convert the trace with blkparse, and read its text".into(),
            Self::CutRecord | Self::Truncated { .. } | Self::Corrupt { .. } => {
                "fetch the file again".into()
            }
            Self::Trailing { .. } => "cut these bytes off, or fetch the file again".into(),
            Self::Window { .. } => {
                "decompress it first, or compress it with a smaller window: `zstd --long=27`, `xz -9`".into()
            }
            Self::Io(_) => "check the file and the medium that holds it".into(),
            Self::Empty => "name a file that holds a trace".into(),
            Self::Archive { .. } => "unpack it, and read the trace that is inside".into(),
            Self::Unrecognised { .. } | Self::Ambiguous { .. } => {
                format!("name the format: one of {}", Format::ALL.map(Format::name).join(", "))
            }
            Self::NeedsSeek => "give the file itself, not a pipe and not compressed".into(),
            Self::Foreign(_) => "convert the file to a text format, such as alibaba".into(),
            Self::Parquet(_) => "write the file again from the trace it was made of".into(),
            Self::Setting { .. } => "choose another value".into(),
        }
    }
}
