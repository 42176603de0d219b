//! A real drive for a workload: opened, allowed by the user, and with data to read.

use super::confirm::{Bound, Consent, confirm};
use crate::args::RealArgs;
use crate::failure::Failure;
use crate::{out, watch};
use fathom_lab::replay::{Plan, check};
use fathom_lab::source::Wants;
use fathom_lab::target::{OpenOptions, Opened, QueueDepth, TargetName, fill};
use fathom_report::text::human_bytes;
use std::path::Path;

/// Opens a real drive as safely as `fathom probe` does. A scratch file is written once from beginning to end: reads of
/// what was never written touch no drive. What the jobs cannot do on this drive is told before.
pub(super) fn open(
    on: &str,
    name: &TargetName,
    (args, depth): (&RealArgs, QueueDepth),
    (wants, plan): (Wants, &Plan),
) -> Result<Opened, Failure> {
    let options = OpenOptions {
        size: args.size,
        destroy: args.destroy.clone(),
        // A scratch file must be written before it can be read.
        read_only: !wants.writes && !Path::new(on).is_dir(),
        keep_data: wants.data,
        depth: Some(depth),
        seed: plan.seed,
    };
    let mut opened = name.open(on, &options)?;
    check(plan, opened.device.info())?;
    let bound = match wants.writes || opened.scratch() {
        true => Bound::Workload,
        false => Bound::Nothing,
    };
    let consent = Consent {
        destroy: args.destroy.as_deref(),
        yes: args.yes,
        read_only: !wants.writes,
        rated_bytes: None,
    };
    confirm(&opened, bound, consent)?;
    watch::listen()?;
    if opened.scratch() {
        let size = human_bytes(opened.target.capacity_bytes);
        out::note(&format!("Writing the scratch file of {size} once."));
        fill(&mut *opened.device, &watch::interrupted).map_err(|error| {
            Failure::input("fathom::real::fill", error.to_string())
                .help("make room on what holds the file, or use a smaller one (`--size`)")
        })?;
    }
    Ok(opened)
}
