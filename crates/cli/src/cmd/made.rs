//! Refuses directories that hold another command's results.

use crate::failure::Failure;
use crate::out;
use fathom_lab::store::{self, REPORT_FILE, SetKind};
use std::path::{Path, PathBuf};

/// Refuses directories that hold something other than `wanted`, and names the command that accepts them.
///
/// # Errors
/// An input failure.
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

/// Refuses a directory that holds none of the kinds that a command `reads`.
///
/// # Errors
/// An input failure.
pub(super) fn only(reads: &[SetKind], dir: &Path, command: &str) -> Result<(), Failure> {
    let there = store::kinds_in(dir);
    let Some(kind) = there
        .first()
        .filter(|_| !there.iter().any(|kind| reads.contains(kind)))
    else {
        return Ok(());
    };
    let taken: Vec<&str> = reads.iter().map(|kind| kind.words()).collect();
    let (dir, taken) = (out::shown(dir), taken.join(" or "));
    let message = format!(
        "{dir} holds {}, and `{command}` takes {taken}",
        kind.words()
    );
    let help = match kind {
        SetKind::Run => format!(
            "`fathom report {dir}` renders its page, `fathom compare` compares it with others"
        ),
        SetKind::Measurement => {
            format!("`fathom report {dir}` renders its page, `fathom solve {dir}` answers it again")
        }
        SetKind::Turns
        | SetKind::Study
        | SetKind::Paper
        | SetKind::WriteCost
        | SetKind::Platform
        | SetKind::Comparison => {
            format!(
                "its page is {dir}/{REPORT_FILE}; run the command again with `--out` to renew it"
            )
        }
    };
    Err(Failure::input("fathom::run::other", message).help(help))
}
