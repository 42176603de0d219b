//! A candidate without the parts that a measurement leaves out.

use fathom_base::Dur;
use fathom_ssd::Spec;
use fathom_ssd::spec::Drain;

/// Returns a drive without its fast cache: a full one that lets writes pass.
pub(super) fn native(spec: &Spec) -> Spec {
    Spec {
        fast_cache: None,
        ..spec.clone()
    }
}

/// Returns a drive whose reads are those of native blocks, and are not delayed by background work: one delayed loop would
/// count too much among the few that are measured. Its write buffer keeps nothing: what it keeps is a much larger part of what is
/// written here than of a drive.
pub(super) fn quiet(spec: &Spec) -> Spec {
    let mut spec = native(spec);
    spec.noise.background_interval = Dur::ZERO;
    spec.noise.background_duration = Dur::ZERO;
    if let Some(buffer) = spec.write_buffer.as_mut()
        && buffer.drain == Drain::OnFull
    {
        (buffer.drain, buffer.idle_delay) = (Drain::Idle, Dur::ZERO);
    }
    spec
}
