//! Asks libblkid about a device through its program, if installed. It knows formats that are newer than the table here.
//!
//! `blkid --probe` opens the device read-only and examines it itself, without its cache.

use super::Signature;
use crate::clock::pause;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

/// Exit code of `blkid --probe` where several formats contradict each other (blkid(8)).
const AMBIVALENT: i32 = 8;

/// Paths of the program. A program of that name elsewhere in the user's PATH is not run.
const PROGRAMS: [&str; 4] = [
    "/usr/sbin/blkid",
    "/sbin/blkid",
    "/usr/bin/blkid",
    "/bin/blkid",
];
/// Time limit: number of checks, and the pause between them in milliseconds.
const LOOKS: u32 = 300;
const PAUSE_MS: u32 = 10;

/// Returns the formats that `blkid` finds on a device; `None` if it is not installed or does not finish within three
/// seconds.
pub(crate) fn ask(device: &Path) -> Option<Vec<Signature>> {
    let program = PROGRAMS.iter().find(|path| Path::new(path).exists())?;
    let child = Command::new(program)
        .args(["--probe", "--output", "export"])
        .arg(device)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn();
    let output = in_time(child.ok()?)?;
    let named = |name: String| Signature {
        name: name.into(),
        offset: None,
    };
    if output.status.code() == Some(AMBIVALENT) {
        return Some(vec![named("signatures of several formats (blkid)".into())]);
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Some(parse(&text).map(named).collect())
}

/// Returns the output of a process that ends in time; kills it otherwise. The output is smaller than a pipe's buffer.
fn in_time(mut child: Child) -> Option<Output> {
    for _ in 0..LOOKS {
        if child.try_wait().ok()?.is_some() {
            return child.wait_with_output().ok();
        }
        pause(PAUSE_MS);
    }
    let _gone_already = child.kill();
    let _no_zombie_stays = child.wait();
    None
}

/// Returns the formats in the `KEY=value` lines of `blkid --output export`.
fn parse(text: &str) -> impl Iterator<Item = String> {
    let kind = |line: &str| {
        let (key, value) = line.split_once('=')?;
        let value = value.trim();
        let told = !value.is_empty() && matches!(key, "TYPE" | "PTTYPE");
        told.then(|| format!("{value} (blkid)"))
    };
    text.lines()
        .filter_map(kind)
        .collect::<Vec<_>>()
        .into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_and_partition_tables_are_read() {
        let text =
            "DEVNAME=/dev/x\nUUID=1\nBLOCK_SIZE=1024\nTYPE=ext4\nUSAGE=filesystem\nPTTYPE=dos\n";
        let found: Vec<String> = parse(text).collect();
        assert_eq!(found, ["ext4 (blkid)", "dos (blkid)"]);
        assert_eq!(parse("TYPE=\nnonsense\n").count(), 0);
    }
}
