//! What libblkid says of a device, where its program is installed: formats that are newer than our table.
//!
//! `blkid --probe` opens the device for reading only and looks at it itself, without its cache.

use super::Signature;
use std::path::Path;
use std::process::{Command, Stdio};

/// Exit code of `blkid --probe` where several formats contradict each other (blkid(8)).
const AMBIVALENT: i32 = 8;

/// What `blkid` finds on a device; nothing where it is not installed or finds nothing.
pub(crate) fn ask(device: &Path) -> Vec<Signature> {
    let asked = Command::new("blkid")
        .args(["--probe", "--output", "export"])
        .arg(device)
        .stdin(Stdio::null())
        .output();
    let Ok(output) = asked else {
        return Vec::new();
    };
    let named = |name: String| Signature {
        name: name.into(),
        offset: None,
    };
    if output.status.code() == Some(AMBIVALENT) {
        return vec![named("signatures of several formats (blkid)".into())];
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    parse(&text).map(named).collect()
}

/// The kinds in the `KEY=value` lines of `blkid --output export`.
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
