//! RocksDB's options in the form of its OPTIONS file.

use super::comment::{head, line, of, open, reason};
use super::form::Format;
use crate::tune::Tuning;

pub(super) const FORMAT: Format = Format {
    name: "rocksdb",
    summary: "RocksDB's options",
    render,
};

/// The sections of the file, with the options in each.
const SECTIONS: [(&str, &[&str]); 2] = [
    (
        "[DBOptions]",
        &["compaction_readahead_size", "bytes_per_sync"],
    ),
    (
        "[TableOptions/BlockBasedTable \"default\"]",
        &["block_size"],
    ),
];
/// An argument of a function, which no file has.
const RATE: &str = "rate_bytes_per_sec";

fn render(found: &Tuning) -> String {
    let mut text = head(found, "Take these into the database's OPTIONS file.");
    text += &open(found, &["rocksdb"]);
    for (section, options) in SECTIONS {
        let of_section = of(found, "rocksdb").filter(|a| options.contains(&a.setting.as_str()));
        if of_section.clone().next().is_none() {
            continue;
        }
        text += &format!("\n{section}\n");
        for advice in of_section {
            text += &reason(advice);
            text += &format!("{}={}\n", advice.setting, advice.value);
        }
    }
    if let Some(rate) = of(found, "rocksdb").find(|advice| advice.setting == RATE) {
        text += "\n";
        text += &reason(rate);
        let code = "In the program: options.rate_limiter.reset(rocksdb::NewGenericRateLimiter(";
        text += &line(&format!("{code}{}));", rate.value));
    }
    text
}
