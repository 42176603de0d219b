//! `fathom diff`: compares two profiles.

use super::made;
use crate::args::DiffArgs;
use crate::failure::{Exit, Failure};
use crate::{input, out};
use fathom_lab::store::{self, SetKind};
use fathom_report::diff::{self, Outcome};

/// The exit status is negative if at least one parameter differs; answers that cannot be compared do not count.
pub(super) fn run(args: &DiffArgs) -> Result<Exit, Failure> {
    made::check(
        SetKind::Measurement,
        &[args.left.clone(), args.right.clone()],
    )?;
    input::profile(&args.left)?;
    input::profile(&args.right)?;
    let left = out::loaded(store::load_profile(&args.left)?);
    let right = out::loaded(store::load_profile(&args.right)?);
    let diff = diff::diff(&left, &right);
    if args.json {
        out::json(&diff)?;
    } else {
        out::text(&diff::text(&diff, out::screen()))?;
    }
    Ok(match diff.count(Outcome::Differs) {
        0 => Exit::Done,
        _ => Exit::Negative,
    })
}
