//! `fathom mkfs`, `import` and `export`, and `fathom run` on an image: real images of ext2, ext3 and ext4.
//!
//! They need the feature `ext`, which needs libext2fs. Without it, each says how to build with it.

#[cfg(feature = "ext")]
mod commands;
#[cfg(feature = "ext")]
mod refusal;

#[cfg(feature = "ext")]
pub(super) use commands::{export, import, mkfs, run};
#[cfg(not(feature = "ext"))]
pub(super) use without::{export, import, mkfs, run};

#[cfg(not(feature = "ext"))]
mod without {
    use crate::args::{ExportArgs, ImportArgs, MkfsArgs, RunArgs};
    use crate::failure::{Exit, Failure};

    fn unavailable(command: &str) -> Failure {
        let message =
            format!("{command}: this program was built without images of ext2, ext3 and ext4");
        Failure::input("fathom::image::feature", message).help(
            "install libext2fs (Debian: apt install libext2fs-dev), then build with its feature: \
             cargo install --path crates/cli --features ext",
        )
    }

    pub(crate) fn mkfs(_args: &MkfsArgs) -> Result<Exit, Failure> {
        Err(unavailable("fathom mkfs"))
    }

    pub(crate) fn import(_args: &ImportArgs) -> Result<Exit, Failure> {
        Err(unavailable("fathom import"))
    }

    pub(crate) fn export(_args: &ExportArgs) -> Result<Exit, Failure> {
        Err(unavailable("fathom export"))
    }

    pub(crate) fn run(_args: &RunArgs, _allocator: &str) -> Result<Exit, Failure> {
        Err(unavailable("fathom run --alloc"))
    }
}
