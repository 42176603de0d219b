//! Opens the file of a trace.

use super::error::SourceError;
use crate::text;
use fathom_trace::{Compression, ErrorKind, Options, Trace};
use std::fs::File;
use std::path::Path;

/// Opens a trace file.
///
/// # Errors
/// [`SourceError`] if the file cannot be opened or its format is not recognised.
pub(super) fn open_trace(path: &Path, options: &Options) -> Result<Trace, SourceError> {
    // The file may be read more than once: in a first pass, and again for each seed. A pipe cannot be.
    let file = text::look(path, None)
        .map_err(text::unfit)
        .and_then(|()| File::open(path));
    let file = file.map_err(|source| SourceError::Open {
        path: path.to_owned(),
        source,
    })?;
    fathom_trace::open_file(file, options).map_err(|error| {
        let path = path.to_owned();
        match (&*error.kind, named_compression(&path)) {
            (ErrorKind::Unrecognised { .. }, Some(compression)) => {
                SourceError::Misnamed { path, compression }
            }
            _ => SourceError::Trace { path, error },
        }
    })
}

/// Returns the compression that the suffix of a file's name suggests.
fn named_compression(path: &Path) -> Option<Compression> {
    match path.extension()?.to_str()? {
        "gz" => Some(Compression::Gzip),
        "xz" => Some(Compression::Xz),
        "zst" => Some(Compression::Zstd),
        _ => None,
    }
}
