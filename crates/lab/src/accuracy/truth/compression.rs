//! Ground truth of the compression: units that shrink are not programmed.
//!
//! A write of such content is as fast as the link, one of any other as fast as the flash. Where the link is slower than the
//! flash, only the counters of the drive show the difference.

use super::right::{Right, Sight, Truth, word};
use super::speeds::{Speeds, beyond};
use fathom_ssd::Spec;
use fathom_ssd::spec::Log;

/// The length of a write in order, in bytes.
const LONG: u64 = 8 << 20;

pub(super) fn truth(spec: &Spec) -> Truth {
    let Some(compression) = &spec.compression else {
        return Truth::missing();
    };
    let right: Vec<Right> = vec![word(match compression.deduplicates {
        true => "repeats",
        false => "zeros",
    })];
    if spec.host.log == Log::Media {
        return Truth::new(Sight::Identifiable, right, "");
    }
    if spec.limit.is_some() {
        return Truth::new(Sight::Faint, right, "a limit may be slower than the flash");
    }
    let speeds = Speeds::of(spec);
    let host = speeds.host(LONG);
    let flash = speeds.programmed(LONG as f64, speeds.stations_in_order());
    // Records are programmed for what shrinks.
    let records = flash * compression.zero_percent / 100.0;
    let effect = beyond(host.max(flash), host.max(records));
    Truth::by_effect(effect, right, "the link is slower than the flash")
}
