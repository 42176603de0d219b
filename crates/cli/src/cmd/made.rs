//! Runs of one command that are named where those of another belong.

use crate::failure::Failure;
use crate::out;
use fathom_lab::store::{self, SetKind};
use std::path::PathBuf;

/// Refuses directories that hold something else than what is `wanted`, with the command that takes it.
///
/// # Errors
/// Input.
pub(super) fn check(wanted: SetKind, runs: &[PathBuf]) -> Result<(), Failure> {
    let other = |run: &PathBuf| {
        let there = store::kinds_in(run);
        let kind = there.first().filter(|_| !there.contains(&wanted))?;
        Some((out::shown(run), *kind))
    };
    let others: Vec<(String, SetKind)> = runs.iter().filter_map(other).collect();
    let Some((first, kind)) = others.first() else {
        return Ok(());
    };
    let all = others.len() == runs.len() && others.iter().all(|(_, other)| other == kind);
    let names: Vec<&str> = others.iter().map(|(name, _)| name.as_str()).collect();
    let help = match (kind, names.as_slice()) {
        (SetKind::Run, names) if all => format!("compare them with: fathom compare {}", names.join(" ")),
        (SetKind::Measurement, [left, right, ..]) if all => {
            format!("compare two of them with: fathom diff {left} {right}")
        }
        _ => "`fathom diff` takes two runs of `fathom probe`, `fathom compare` runs of `fathom run`; one kind cannot be compared \
              with the other"
            .to_owned(),
    };
    let message = format!(
        "{first} holds {}, and what is compared here is {}",
        kind.words(),
        wanted.words()
    );
    Err(Failure::input("fathom::run::other", message).help(help))
}
