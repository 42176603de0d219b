//! The families of settings. Each has a file in this directory, a `mod` line and a line in the list.

mod btrfs;
mod content;
mod cryptsetup;
mod discard;
mod ext4;
mod f2fs;
mod family;
mod iocost;
mod loads;
mod lvm;
mod mdadm;
mod partition;
mod placement;
mod postgresql;
mod queue;
mod rocksdb;
mod seastar;
mod xfs;
mod zfs;

use super::advice::{Advice, Decided, Open, Undecided};
use super::case::Case;
use family::{Family, Rule};
use fathom_probe::Verdict;

/// All families, in the order of the output.
const FAMILIES: [&Family; 17] = [
    &queue::FAMILY,
    &discard::FAMILY,
    &partition::FAMILY,
    &placement::FAMILY,
    &content::FAMILY,
    &ext4::FAMILY,
    &xfs::FAMILY,
    &btrfs::FAMILY,
    &f2fs::FAMILY,
    &zfs::FAMILY,
    &mdadm::FAMILY,
    &lvm::FAMILY,
    &cryptsetup::FAMILY,
    &iocost::FAMILY,
    &seastar::FAMILY,
    &rocksdb::FAMILY,
    &postgresql::FAMILY,
];

/// Applies every rule.
pub(super) fn all(case: &Case<'_>) -> (Vec<Advice>, Vec<Open>) {
    let (mut advice, mut open) = (Vec::new(), Vec::new());
    for family in FAMILIES {
        for rule in family.rules {
            match (rule.decide)(case) {
                Ok(decided) => advice.push(advised(family, rule, decided, case)),
                Err(undecided) => open.push(left(family, rule, undecided)),
            }
        }
    }
    (advice, open)
}

fn advised(family: &Family, rule: &Rule, decided: Decided, case: &Case<'_>) -> Advice {
    let of_queue = family.name == queue::FAMILY.name || rule.setting == discard::LONGEST;
    let now = of_queue.then(|| case.reported.now(rule.setting)).flatten();
    Advice {
        family: family.name.to_owned(),
        setting: rule.setting.to_owned(),
        value: decided.value,
        now,
        reason: decided.reason,
        parameter: decided.parameter.to_owned(),
        // A rule decides on identified parameters only.
        verdict: Verdict::Identified,
    }
}

fn left(family: &Family, rule: &Rule, undecided: Undecided) -> Open {
    Open {
        family: family.name.to_owned(),
        setting: rule.setting.to_owned(),
        parameter: undecided.parameter.to_owned(),
        verdict: undecided.verdict,
        why: undecided.why,
    }
}
