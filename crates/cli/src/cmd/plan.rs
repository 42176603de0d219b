//! `fathom plan`: what a rate of I/Os takes.

use super::platform::{behind, check_block, ended, part};
use crate::args::PlanArgs;
use crate::failure::{Exit, Failure};
use crate::{out, watch};
use fathom_base::{Bytes, Dur};
use fathom_lab::platform::{PlanOptions, plan};
use fathom_platform::{Interface, Platform};
use fathom_report::plan::{PlanReport, Takes, text};

/// Reads of the run that checks an answer, for each I/O in flight and at least: filling and draining the queues is then about
/// a thousandth of it.
const CHECK: (u32, u32) = (1_000, 500_000);

pub(super) fn run(args: &PlanArgs) -> Result<Exit, Failure> {
    check_block(args.bs)?;
    if args.latency_max == Some(Dur::ZERO) {
        let message = "`--latency-max 0ns` allows no I/O";
        return Err(Failure::input("fathom::plan::latency", message)
            .help("give a time above zero, such as 500us, or leave it out"));
    }
    let platform = behind(&args.platform, args.drive.as_deref())?;
    watch::listen()?;
    let options = PlanOptions {
        iops: args.iops as f64,
        block: args.bs,
        latency_max: args.latency_max,
        seed: args.asked.seed,
        stop: watch::interrupted,
    };
    let found = match plan(&platform, options, &part(args.asked.quiet)) {
        Ok(found) => found,
        Err(error) => return ended(error),
    };
    match args.asked.json {
        true => out::json(&found)?,
        false => {
            let check = found.takes.as_ref();
            let check = check.map(|takes| check_with(args, &platform, &found, takes));
            let text = text(&found, out::screen()) + &check.unwrap_or_default();
            out::text(&text)?;
        }
    }
    Ok(match found.takes {
        Some(_) => Exit::Done,
        None => Exit::Negative,
    })
}

/// The run that shows the same rate.
fn check_with(args: &PlanArgs, platform: &Platform, found: &PlanReport, takes: &Takes) -> String {
    let counts = ["cores=", "adapters=", "drives="];
    let own = args.platform.split(',');
    let own = own.filter(|part| !counts.iter().any(|key| part.trim().starts_with(key)));
    let name = own.collect::<Vec<_>>().join(",");
    let Takes {
        drives,
        adapters,
        drives_per_adapter: each,
        cores,
        threads,
        in_flight,
        ..
    } = takes;
    let arrival = match platform.interface {
        Interface::Pread => format!("closed:{in_flight}"),
        _ => format!("processes:{threads}:{}", in_flight / threads.max(&1)),
    };
    let bytes = found.drive_bytes * u64::from(*drives) / args.bs.0 * args.bs.0;
    let accesses = in_flight.saturating_mul(CHECK.0).max(CHECK.1);
    format!(
        "\nTo check it, write a workload file reads.toml:\n\
         \x20 [generate]\n\
         \x20 generator = \"uniform\"\n\
         \x20 read-percent = 100\n\
         \x20 accesses = {accesses}\n\
         \x20 sizes = \"{bs}\"\n\
         \x20 align = \"{bs}\"\n\
         \x20 range = {{ len = \"{}\" }}\n\
         and run it:\n\
         \x20 fathom run reads.toml --on {} --size {} --platform {name},drives={each},adapters={adapters},cores={cores} \
         --arrival {arrival}\n",
        Bytes(bytes),
        platform.drive,
        Bytes(found.drive_bytes),
        bs = args.bs,
    )
}
