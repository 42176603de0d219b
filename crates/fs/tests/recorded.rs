//! The recorded file operations and traces of `../shared/golden/fs`, for the tests of several crates.

use std::path::Path;
use std::process::Command;

/// Returns a recorded file as text; `None` if it is not there, which it says.
pub(crate) fn recorded(name: &str) -> Option<String> {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/golden/fs");
    let path = shared.join(name);
    if !path.exists() {
        eprintln!("skipped: {} is not there", path.display());
        return None;
    }
    match Command::new("xz").arg("-dc").arg(&path).output() {
        Ok(output) if output.status.success() => Some(String::from_utf8(output.stdout).unwrap()),
        other => {
            eprintln!("skipped: xz is not there ({other:?})");
            None
        }
    }
}
