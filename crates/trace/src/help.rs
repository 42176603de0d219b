//! What to do about what is wrong with a trace.

use super::Format;
use super::error::{ErrorKind, TraceError};

/// How many accesses to hold back is suggested where a format's traces are in order by themselves: as many as are held back
/// of those that are merged only roughly.
const REORDER: u32 = 4096;

impl TraceError {
    /// What to do.
    pub fn help(&self) -> String {
        self.kind.help()
    }
}

impl ErrorKind {
    fn help(&self) -> String {
        match self {
            Self::Missing { .. }
            | Self::Malformed { .. }
            | Self::UnknownOp { .. }
            | Self::TooLarge { .. }
            | Self::ZeroLength
            | Self::LongLine { .. } => {
                "mend the line, name the trace's format, or read leniently: such lines are then left out and counted"
                    .into()
            }
            Self::Backwards { reorder, .. } => format!(
                "sort the trace by time; or hold back more than {reorder} accesses to set them right (`--reorder {}`; in a \
                 study, `reorder`); or read leniently (`--lenient`): such times are then moved up to the access before, and \
                 counted",
                reorder.saturating_mul(4).max(REORDER)
            ),
            Self::TooManyFiles { .. } => "split the trace by file".into(),
            Self::BadMagic { .. } => {
                "take the trace again, or merge the files of its CPUs with `blkparse -d`".into()
            }
            Self::CutRecord | Self::Truncated { .. } => {
                "fetch the file again; or read leniently, up to this place".into()
            }
            Self::Version { .. } => "convert the trace with blkparse, and read its text".into(),
            Self::Corrupt { .. } => "fetch the file again".into(),
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
