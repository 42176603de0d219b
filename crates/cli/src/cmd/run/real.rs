//! Prepares a real drive for a workload: opens it, asks for permission, and writes data to read.

use super::super::confirm::{Bound, Consent, confirm};
use super::super::{queue, scratch};
use crate::args::RunArgs;
use crate::failure::Failure;
use crate::{out, watch};
use fathom_lab::replay::{Plan, check};
use fathom_lab::target::{OpenOptions, Opened, TargetName};
use fathom_report::text::human_bytes;
use std::path::Path;

/// Opens a real drive with the same safety checks as `fathom probe`. Refuses jobs that the drive cannot run before anything
/// is written. Writes a scratch file once, sequentially: reads of unwritten space do not reach the drive.
pub(super) fn open(args: &RunArgs, name: &TargetName, plan: &Plan) -> Result<Opened, Failure> {
    let wants = plan.workload.wants()?;
    let on = &args.on;
    let options = OpenOptions {
        size: args.size,
        destroy: args.real.destroy.clone(),
        // A scratch file must be written before it can be read, so it is never opened read-only.
        read_only: !wants.writes && !Path::new(on).is_dir(),
        keep_data: wants.data,
        depth: Some(queue::real_depth(&args.queue)),
        seed: plan.seed,
        limit: None,
    };
    let mut opened = name.open(on, &options)?;
    check(plan, opened.device.info())?;
    let bound = match wants.writes || opened.scratch() {
        true => Bound::Workload,
        false => Bound::Nothing,
    };
    let consent = Consent {
        destroy: args.real.destroy.as_deref(),
        yes: args.real.yes,
        read_only: !wants.writes,
        rated_bytes: None,
    };
    confirm(&opened, bound, consent)?;
    watch::listen()?;
    if opened.scratch() {
        let words = human_bytes(opened.target.capacity_bytes);
        out::note(&format!("Writing the scratch file of {words} once."));
        scratch::write_once(&mut opened)?;
    }
    Ok(opened)
}
