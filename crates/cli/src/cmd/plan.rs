//! `fathom plan`: what a rate of I/Os takes.

use super::platform::{behind, check_block, ended, part};
use crate::args::PlanArgs;
use crate::failure::{Exit, Failure};
use crate::{out, watch};
use fathom_lab::platform::{PlanOptions, plan};
use fathom_report::plan::text;

pub(super) fn run(args: &PlanArgs) -> Result<Exit, Failure> {
    check_block(args.bs)?;
    let platform = behind(&args.platform, args.drive.as_deref())?;
    watch::listen()?;
    let options = PlanOptions {
        iops: args.iops as f64,
        block: args.bs,
        seed: args.seed,
        stop: watch::interrupted,
    };
    let found = match plan(&platform, options, &part(args.quiet)) {
        Ok(found) => found,
        Err(error) => return ended(error),
    };
    match args.json {
        true => out::json(&found)?,
        false => out::text(&text(&found, out::screen()))?,
    }
    Ok(match found.takes {
        Some(_) => Exit::Done,
        None => Exit::Negative,
    })
}
