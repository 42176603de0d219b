//! `fathom diff`: compares two runs.

use super::compare::instead;
use crate::args::DiffArgs;
use crate::failure::{Exit, Failure};
use crate::{input, out};
use fathom_lab::store::{self, PROFILE_FILE, RUN_FILE};
use fathom_report::diff::{self, Outcome};
use std::path::PathBuf;

/// A negative result where at least one parameter differs; answers that cannot be compared are none.
pub(super) fn run(args: &DiffArgs) -> Result<Exit, Failure> {
    let all = [args.left.clone(), args.right.clone()];
    let played = |path: &PathBuf| path.join(RUN_FILE).exists() && !path.join(PROFILE_FILE).exists();
    if let Some(path) = all.iter().find(|path| played(path)) {
        return Err(instead(path, ("run", "probe"), "compare", &all));
    }
    input::run(&args.left)?;
    input::run(&args.right)?;
    let left = out::loaded(store::load_profile(&args.left)?);
    let right = out::loaded(store::load_profile(&args.right)?);
    let diff = diff::diff(&left, &right);
    if args.json {
        out::json(&diff)?;
    } else {
        out::text(&diff::text_on(&diff, out::screen()))?;
    }
    Ok(match diff.count(Outcome::Differs) {
        0 => Exit::Done,
        _ => Exit::Negative,
    })
}
