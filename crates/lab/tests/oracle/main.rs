//! Checks the rules for the ground truth against the drives themselves. A modelled drive without its noise is measured by
//! the accesses with the largest known effects of each parameter; if the rules call a parameter identifiable, its effect
//! must show there.
//!
//! The rules estimate effects to within a factor of two, so only larger deviations count as disagreements: an identifiable
//! parameter (a tenth) must show at least a twentieth, any other less than a fifth. Known disagreements are in the lists
//! below, each with its reason. One that no longer occurs must be removed from its list.

mod memories;
mod order;
mod rig;
mod units;

use crate::cases;
use fathom_lab::accuracy::{Family, Right, Sight, Truth, draw, mapping_unit};
use fathom_probe::Parameter;
use fathom_ssd::Spec;
use rayon::prelude::*;
use std::sync::OnceLock;

const SEED: u64 = 4;
/// Minimum measured effect where the rules say a tenth or more.
const SHOWN_MIN: f64 = 0.05;
/// Maximum measured effect where the rules say less.
const UNSHOWN_MAX: f64 = 0.2;
/// Maximum ratio of random to sequential times of whole blocks at which the rules call them equal.
const MET_MAX: f64 = 1.25;

/// Checks drives in parallel, and returns the disagreements. `check` returns a description of the measurement if it
/// disagrees with the rules; a drive that cannot be measured, or has nothing to measure, does not count.
fn disagreements(drives: u64, check: impl Fn(u64, &Spec) -> Checked + Sync) -> Vec<(u64, String)> {
    let indices: Vec<u64> = (0..drives).collect();
    let checked: Vec<(u64, Checked)> = indices
        .into_par_iter()
        .with_max_len(1)
        .map(|index| {
            let target = draw(Family::Wide, SEED, index).target;
            (index, check(index, target.spec().unwrap()))
        })
        .collect();
    let measured = checked
        .iter()
        .filter(|(_, c)| !matches!(c, Checked::Nothing));
    let measured = measured.count() as u64;
    assert!(
        measured >= drives / 10,
        "only {measured} of {drives} drives were measured"
    );
    let off = |(index, checked)| match checked {
        Checked::Off(what) => Some((index, what)),
        Checked::Nothing | Checked::Agrees => None,
    };
    checked.into_iter().filter_map(off).collect()
}

enum Checked {
    Nothing,
    Agrees,
    Off(String),
}

/// Compares a measured effect with a truth.
fn by_effect(truth: &Truth, effect: f64) -> Checked {
    let agrees = match truth.sight {
        Sight::Identifiable => effect >= SHOWN_MIN,
        Sight::Missing => return Checked::Nothing,
        Sight::Faint | Sight::Hidden => effect < UNSHOWN_MAX,
    };
    agrees_or(agrees, || format!("{truth}; measured {effect:.2}"))
}

fn agrees_or(agrees: bool, what: impl Fn() -> String) -> Checked {
    match agrees {
        true => Checked::Agrees,
        false => Checked::Off(what()),
    }
}

/// Asserts that the disagreements among so many drives are exactly the known ones.
fn are_known(found: &[(u64, String)], known: &[(u64, &str)], drives: u64) {
    let found_at: Vec<u64> = found.iter().map(|(index, _)| *index).collect();
    let known_at = known.iter().map(|(index, _)| *index);
    let known_at: Vec<u64> = known_at.filter(|index| *index < drives).collect();
    assert_eq!(found_at, known_at, "{found:#?}");
}

#[test]
fn units_that_are_identifiable_show_in_shifted_writes() {
    let drives = 16;
    let found = disagreements(drives, |_, spec| {
        let truth = mapping_unit(spec);
        match truth.sight {
            Sight::Missing => Checked::Nothing,
            _ => by_effect(&truth, units::shifted_writes(spec, spec.unit())),
        }
    });
    let known = [(
        8,
        "a shift moves some writes across the end of a block that is padded to, whatever the unit",
    )];
    are_known(&found, &known, drives);
}

#[test]
fn read_buffers_that_are_identifiable_answer_again_and_forget() {
    let drives = cases(20, 40);
    let found = disagreements(drives, |_, spec| {
        let truth = Truth::of(spec, Parameter::ReadBuffer);
        let Some((within, beyond)) = memories::read_again(spec) else {
            return Checked::Nothing;
        };
        by_effect(&truth, (1.0 + within) / (1.0 + beyond) - 1.0)
    });
    are_known(&found, &[], drives);
}

#[test]
fn reading_ahead_that_is_identifiable_shows_in_consecutive_reads() {
    let drives = cases(24, 60);
    let found = disagreements(drives, |_, spec| {
        let truth = Truth::of(spec, Parameter::Prefetch);
        match truth.sight {
            Sight::Missing => Checked::Nothing,
            _ => by_effect(&truth, memories::consecutive(spec)),
        }
    });
    are_known(&found, &[], drives);
}

#[test]
fn write_memories_are_full_where_the_rules_say() {
    let drives = cases(12, 60);
    let found = disagreements(drives, |_, spec| {
        let truth = Truth::of(spec, Parameter::WriteBuffer);
        if truth.sight == Sight::Missing {
            return Checked::Nothing;
        }
        let filled = memories::filled(spec);
        let holds = filled.is_some_and(|(low, high)| match &truth.right[0] {
            Right::Is(value) => (low..=high).contains(&value.bytes().unwrap()),
            Right::Between(least, most) => {
                low <= most.bytes().unwrap() && least.bytes().unwrap() <= high
            }
        });
        let agrees = truth.is_identifiable() == holds;
        agrees_or(agrees, || format!("{truth}; measured {filled:?}"))
    });
    are_known(&found, &[], drives);
}

#[test]
fn buffers_wait_for_what_is_written_again_and_caches_do_not() {
    let drives = cases(12, 60);
    let found = disagreements(drives, |_, spec| {
        let truth = Truth::of(spec, Parameter::WritePolicy);
        if !truth.is_identifiable() {
            return Checked::Nothing;
        }
        let buffer = spec.write_buffer.as_ref().unwrap();
        let waits = memories::rewritten_waits(spec);
        let agrees = waits == Some(!buffer.policy.is_cache());
        agrees_or(agrees, || format!("{truth}; measured waits {waits:?}"))
    });
    are_known(&found, &[], drives);
}

/// Reason for listing a drive whose effect is just outside the tolerance.
const SHALLOW: &str =
    "4.7 % are measured where the rules weigh ten, just more than a factor of two";

/// Number of drives whose blocks are measured, once for all tests, if they have log blocks and are small enough.
fn block_drives() -> u64 {
    cases(24, 56)
}

fn orders() -> &'static [Option<order::Order>] {
    static ORDERS: OnceLock<Vec<Option<order::Order>>> = OnceLock::new();
    ORDERS.get_or_init(|| {
        let indices: Vec<u64> = (0..block_drives()).collect();
        let measured = indices.into_par_iter().with_max_len(1).map(|index| {
            let target = draw(Family::Wide, SEED, index).target;
            let spec = target.spec().unwrap();
            // Page mapping shows no block.
            let logged = !spec.mapping.kind.is_paged();
            logged.then(|| order::order(spec)).flatten()
        });
        measured.collect()
    })
}

fn block_measured(
    parameter: Parameter,
    effect: impl Fn(&order::Order) -> f64 + Sync,
) -> Vec<(u64, String)> {
    let orders = orders();
    disagreements(block_drives(), |index, spec| {
        match &orders[index as usize] {
            Some(order) => by_effect(&Truth::of(spec, parameter), effect(order)),
            None => Checked::Nothing,
        }
    })
}

#[test]
fn clustered_blocks_that_are_identifiable_stand_out_or_have_boundaries() {
    let found = block_measured(Parameter::ClusteredBlock, |order| {
        order.stands_out().max(order.boundary)
    });
    are_known(&found, &[(37, SHALLOW)], block_drives());
}

#[test]
fn logical_blocks_that_are_identifiable_stand_out() {
    let found = block_measured(Parameter::LogicalBlock, |order| {
        match order.one <= MET_MAX {
            true => order.stands_out(),
            false => 0.0,
        }
    });
    let groups = "in order blocks go to several groups at the same time, at random they meet: random order stays behind";
    let copied = "on some superblock drives writes of a block leave nothing to copy; the rules cannot tell which";
    are_known(
        &found,
        &[(15, groups), (37, SHALLOW), (45, copied), (55, copied)],
        block_drives(),
    );
}
