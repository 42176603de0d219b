//! Ground truth of the read unit, the clustered page of the flash array.
//!
//! A short read across its end reads two pages. If they lie on one station, they are read one after the other. If they lie on
//! different stations, two reads at once meet only within a page ([`super::parallelism`]), unless memory answers the second
//! of two reads less than half of a page apart. A page of one logical block is never read in part.
//!
//! Where the memory for writes cannot gather a page, the mapped unit is right as well.

use super::parallelism::waits;
use super::reads::Reads;
use super::right::{Truth, sizes};
use super::speeds::Speeds;
use super::stripe_unit::{gathers, line, unit};
use fathom_ssd::Spec;

pub(super) fn truth(spec: &Spec) -> Truth {
    let (page, block) = (spec.flash.clustered_page.0, spec.host.logical_block.0);
    if page <= block {
        return Truth::missing();
    }
    let speeds = Speeds::of(spec);
    let right = match gathers(spec) {
        true => sizes(&[page]),
        false => sizes(&[page, spec.unit()]),
    };
    let stripe = unit(spec);
    let one = speeds.command() + speeds.link(2 * block) + speeds.read + speeds.bus(2 * block);
    let effect = if stripe > page || Reads::of(spec).stations() < 2 {
        speeds.read / one
    } else if spec.host.queue_depth > 1 && page >= 2 * line(spec) {
        waits(spec)
    } else {
        0.0
    };
    Truth::by_effect(
        effect,
        right,
        "reads of two pages take as long as reads of one, and hardly meet within one",
    )
}
