//! Making a twin: from the answers to a draft, from the draft to the fitted drive.

use super::bench::Bench;
use super::error::TwinError;
use super::fit::{Fitting, fit};
use super::seen::Seen;
use super::{draft, figures};
use fathom_base::Bytes;
use fathom_probe::{Method, Parameter, Profile, Record};
use fathom_report::twin::{Assumed, Figure};
use fathom_ssd::Spec;
use serde::Serialize;
use std::sync::atomic::AtomicU64;

/// A twin, and how well it fits.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Twin {
    /// The drive.
    #[serde(skip)]
    pub spec: Spec,
    /// The figures of the record and of the twin.
    pub figures: Vec<Figure>,
    /// What the record does not tell.
    pub assumed: Vec<Assumed>,
    /// The candidates that were measured.
    pub evaluations: u64,
}

/// Makes the twin of a complete record. `interrupted` ends the search.
///
/// # Errors
/// [`TwinError`]: the record is not complete, of another method or version, or says too little.
pub fn twin(
    record: &Record,
    profile: &Profile,
    interrupted: &(dyn Fn() -> bool + Sync),
) -> Result<Twin, TwinError> {
    check(record)?;
    let seen = Seen::new(record, profile);
    let recorded = figures::samples(&seen);
    let goals = figures::goals(&recorded);
    let reads = [figures::What::One, figures::What::Small];
    if !goals.iter().any(|goal| reads.contains(&goal.what)) {
        return Err(little());
    }
    let mut drafts = draft::drafts(&seen)?;
    let bench = Bench::of(&seen);
    let fitting = Fitting {
        bench: &bench.sparse(),
        goals: &goals,
        recorded: &recorded,
        link: draft::wire(&seen).is_some(),
        interrupted,
        evaluations: AtomicU64::new(0),
    };
    let specs: Vec<Spec> = drafts.iter().map(|draft| draft.spec.clone()).collect();
    let fitted = fit(&fitting, &specs);
    let (Some((number, spec)), false) = (fitted, interrupted()) else {
        return Err(TwinError::Interrupted);
    };
    let mut samples = bench.reads(&spec)?;
    samples.extend(bench.writes(&spec)?);
    samples.extend(bench.mixed(&spec)?);
    if !spec.mapping.kind.is_paged() {
        samples.extend(bench.merges(&spec)?);
    }
    let mut assumed = drafts.swap_remove(number).assumed;
    now(&mut assumed, &spec);
    let whole = record.meta.target.capacity_bytes;
    if spec.capacity.0 != whole && !assumed.iter().any(|one| one.key == "capacity") {
        assumed.push(Assumed {
            key: "capacity".to_owned(),
            value: spec.capacity.to_string(),
            why: format!("rounded from {} to whole blocks", Bytes(whole)),
        });
    }
    Ok(Twin {
        figures: goals.iter().map(|goal| goal.shown(&samples)).collect(),
        spec,
        assumed,
        evaluations: fitting.evaluations.into_inner(),
    })
}

fn little() -> TwinError {
    TwinError::Little {
        lacks: format!(
            "single reads (parameters `{}` and `{}`)",
            Parameter::Parallelism,
            Parameter::Stalls
        ),
    }
}

/// Checks that a record can be the target of a fit.
fn check(record: &Record) -> Result<(), TwinError> {
    let here = env!("CARGO_PKG_VERSION");
    match () {
        () if record.meta.method == Method::Paper => Err(TwinError::Paper),
        () if record.meta.fathom != here => Err(TwinError::Version {
            found: record.meta.fathom.clone(),
            here: here.to_owned(),
        }),
        () if rotates(record) => Err(TwinError::Rotating),
        () if !record.meta.complete => Err(TwinError::Unfinished {
            run: record.meta.target.name.clone().into(),
        }),
        () => Ok(()),
    }
}

fn rotates(record: &Record) -> bool {
    let look = record.meta.look.as_ref();
    look.is_some_and(|look| look.rotational == Some(true))
}

/// Puts the values of the fitted drive in the place of those that were assumed first.
fn now(assumed: &mut [Assumed], spec: &Spec) {
    let Ok(root) = spec.to_toml().parse::<toml::Table>() else {
        return;
    };
    for one in assumed {
        let mut parts = one.key.split('.');
        let first = parts.next().and_then(|part| root.get(part));
        let value = parts.fold(first, |value, part| value?.as_table()?.get(part));
        match value {
            Some(toml::Value::String(text)) => one.value.clone_from(text),
            Some(toml::Value::Table(_)) | None => {}
            Some(value) => one.value = value.to_string(),
        }
    }
}
