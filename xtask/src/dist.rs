//! The programs that are measured: `fathom`, and the example `performance` of the drives, in the profile for installation.

use crate::command::{builds, cargo, succeeds, target};
use std::path::PathBuf;

pub(crate) const PROFILE: &str = "dist";
const EXAMPLE: &str = "performance";

/// The directory of both programs.
#[derive(Clone, Debug)]
pub(crate) struct Programs(PathBuf);

impl Programs {
    pub(crate) fn in_dir(dir: PathBuf) -> Self {
        Self(dir)
    }

    /// Builds both.
    ///
    /// # Errors
    /// One does not build; cargo has said why.
    pub(crate) fn built() -> Result<Self, String> {
        let build = format!("build --profile {PROFILE} -p fathom-cli");
        match succeeds(&mut cargo(&build)) && builds("fathom-model", EXAMPLE, PROFILE) {
            true => Ok(Self(target().join(PROFILE))),
            false => Err("the programs do not build".to_owned()),
        }
    }

    pub(crate) fn fathom(&self) -> PathBuf {
        self.0.join("fathom")
    }

    /// The example, which runs the inner loop.
    pub(crate) fn inner_loop(&self) -> PathBuf {
        self.0.join("examples").join(EXAMPLE)
    }
}
