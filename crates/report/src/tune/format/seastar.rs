//! Seastar's `io_properties.yaml` (seastar, doc/io-properties-file.md).

use super::comment::{head, line, of, open, reason};
use super::form::Format;
use crate::tune::Tuning;

pub(super) const FORMAT: Format = Format {
    name: "seastar",
    summary: "Seastar's io_properties.yaml",
    render,
};

/// The keys that a mount point needs.
const NEEDED: [&str; 4] = [
    "read_iops",
    "read_bandwidth",
    "write_iops",
    "write_bandwidth",
];

fn render(found: &Tuning) -> String {
    let mut text = head(
        found,
        "Give it with --io-properties-file, with the directory of the data in the place of MOUNTPOINT.",
    );
    let advice = of(found, "seastar");
    advice.clone().for_each(|advice| text += &reason(advice));
    text += &open(found, &["seastar"]);
    let has = |key: &&str| advice.clone().any(|advice| advice.setting == **key);
    let whole = NEEDED.iter().all(has);
    if !whole {
        text += &line(
            "The four rates belong together; without them there is no file. For a file of yours:",
        );
    }
    let start = if whole { "" } else { "# " };
    text += &format!("{start}disks:\n{start}  - mountpoint: MOUNTPOINT\n");
    for advice in advice {
        text += &format!("{start}    {}: {}\n", advice.setting, advice.value);
    }
    text
}
