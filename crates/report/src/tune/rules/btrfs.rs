//! `mkfs.btrfs` (mkfs.btrfs(8)).

use super::family::{Family, Rule};
use crate::tune::advice::{Decided, Decision, Undecided};
use crate::tune::case::Case;

pub(super) const FAMILY: Family = Family {
    name: "btrfs",
    rules: &[Rule {
        setting: "--nodesize",
        decide: nodesize,
    }],
};

/// The default and the largest node.
const NODE: u64 = 16 << 10;
const NODE_MAX: u64 = 64 << 10;

fn nodesize(case: &Case<'_>) -> Decision {
    let unit = case.write_unit()?;
    if unit.high > NODE_MAX {
        let why = format!(
            "a node is at most 64 KiB, less than a unit of {}",
            unit.said
        );
        return Err(Undecided::identified(unit.parameter, why));
    }
    let node = unit.high.max(NODE);
    let reason = match node == NODE {
        true => format!(
            "the default: a node of metadata is a whole number of units of {}",
            unit.said
        ),
        false => format!(
            "a node of metadata below {} makes the drive read first",
            unit.said
        ),
    };
    Ok(Decided::new(node, unit.parameter, reason))
}
