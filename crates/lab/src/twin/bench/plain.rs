//! A candidate without the parts that a measurement leaves out.

use fathom_base::Dur;
use fathom_ssd::Spec;

/// Returns a drive without its fast cache: a full one that lets writes pass.
pub(super) fn native(spec: &Spec) -> Spec {
    Spec {
        fast_cache: None,
        ..spec.clone()
    }
}

/// Returns a drive whose reads are those of native blocks, and are not delayed by background work: one delayed loop would
/// count too much among the few that are measured.
pub(super) fn quiet(spec: &Spec) -> Spec {
    let mut spec = native(spec);
    spec.noise.background_interval = Dur::ZERO;
    spec.noise.background_duration = Dur::ZERO;
    spec
}
