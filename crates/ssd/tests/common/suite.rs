//! The check suite of mappings and write buffers: properties that hold for any small drive.
//!
//! Everything is observed from outside: the data of reads, the number of flash operations, the counters. The consistency
//! of a mapping's tables ([`Ssd::check`]) is checked in addition, never alone. The tests run the suite on the drives of
//! [`crate::common`] and on some randomly drawn ones. `cargo xtask torture` runs it on all of the former, with a power
//! cut at every single flash operation, and on as many of the latter as time allows.

#![allow(dead_code, reason = "every test binary uses its own part")]
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

pub(crate) mod case;
pub(crate) mod lists;
pub(crate) mod properties;
pub(crate) mod random;
pub(crate) mod script;
pub(crate) mod shadow;
pub(crate) mod torture;

use case::Case;
use fathom_base::Rng;
use fathom_ssd::{Spec, Ssd};
use properties::{conserved, full_and_trimmed, is_a_device, worn_evenly};
use script::Manner;
use std::fmt;
use torture::{Done, Torture};

/// Steps of a script on a drive.
const STEPS: usize = 400;
/// Steps of a script that is repeated for every flash operation.
const FEW_STEPS: usize = 60;

/// The effort of a check.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// Seed of all random choices.
    pub(crate) seed: u64,
    /// The power is cut at every `every`-th flash operation of a short script, starting at an offset derived from `seed`.
    pub(crate) every: u64,
}

/// The failure of a property on a drive.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    /// The drive, the property, and a description of the failure.
    pub(crate) why: String,
    /// The test case, if the failure can be expressed as one.
    pub(crate) case: Option<Box<Case>>,
}

impl From<String> for Failure {
    fn from(why: String) -> Self {
        Self { why, case: None }
    }
}

impl From<(Box<Case>, String)> for Failure {
    fn from((case, why): (Box<Case>, String)) -> Self {
        let case = Some(case);
        Self { why, case }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

type Property = fn(&Spec, Effort) -> Result<Done, Failure>;

/// The properties of every drive, regardless of its mapping and its buffer.
const PROPERTIES: [(&str, Property); 8] = [
    ("is a device", is_a_device),
    (
        "a full drive keeps its data, and loses what is trimmed",
        full_and_trimmed,
    ),
    ("valid pages are conserved", conserved),
    ("wear is even where writes are", worn_evenly),
    ("no power cut", quiet),
    ("power cuts at any time", lives),
    ("power cuts at every n-th flash operation", cut_everywhere),
    ("blocks that fail", failing),
];

/// Checks all properties on a small drive.
///
/// # Errors
/// Returns the drive, the property, and a description of the failure.
pub(crate) fn check(spec: &Spec, effort: Effort) -> Result<Done, Failure> {
    let mut all = Done::default();
    for (name, holds) in PROPERTIES {
        let done = holds(spec, effort).map_err(|failure| Failure {
            why: format!("{}, seed {}: {name}: {failure}", spec.name, effort.seed),
            ..failure
        })?;
        all.add(done);
    }
    Ok(all)
}

/// Runs a case. Returns it in the error if it fails.
fn run(case: Case) -> Result<Done, Failure> {
    match case.run() {
        Ok(done) => Ok(done),
        Err(why) => Err((Box::new(case), why).into()),
    }
}

fn quiet(spec: &Spec, effort: Effort) -> Result<Done, Failure> {
    run(Case::draw(spec, effort.seed, STEPS))
}

fn lives(spec: &Spec, effort: Effort) -> Result<Done, Failure> {
    let mut all = Done::default();
    for i in 0..4 {
        all.add(run(Case::draw_with_cuts(spec, 4 * effort.seed + i, STEPS))?);
    }
    Ok(all)
}

fn cut_everywhere(spec: &Spec, effort: Effort) -> Result<Done, Failure> {
    let case = Case::draw(spec, effort.seed, FEW_STEPS);
    Ok(case.cut_everywhere(effort.every)?)
}

/// Blocks that are bad from the start, failing programs and erases, and power cuts.
fn failing(spec: &Spec, effort: Effort) -> Result<Done, Failure> {
    let mut spec = spec.clone();
    spec.mapping.over_provisioning_percent = if spec.mapping.kind.is_paged() {
        100.0
    } else {
        1000.0
    };
    spec.faults.factory_bad_percent = 10.0;
    (spec.faults.program_fail, spec.faults.erase_fail) = (0.001, 0.005);
    (spec.faults.read_retry, spec.faults.read_retries_max) = (0.1, 3);
    lives(&spec, effort)
}

/// Runs long scripts with power cuts that are far apart. Returns the drive in its final state.
///
/// # Errors
/// Returns a description of the failure.
pub(crate) fn life(spec: &Spec, seed: u64, cuts: u32) -> Result<Ssd, String> {
    let mut rng = Rng::new(seed, 101);
    let mut t = Torture::new(spec, seed);
    for _ in 0..cuts {
        let manner = Manner::draw(spec, &mut rng).with_cuts(1000);
        let depth = rng.pick(&[1, spec.host.queue_depth]).copied().unwrap_or(1);
        let script = manner.script(1500, depth as usize, &mut rng);
        script.play(&mut t)?;
    }
    Ok(t.drive)
}
