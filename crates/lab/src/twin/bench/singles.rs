//! Single commands: reads of nothing, of one block and of two, and two of them at once.

use super::rig::Rig;
use crate::twin::figures::{Samples, What};
use fathom_base::Dur;

const SMALL: u64 = 4096;
/// The area that is trimmed for reads of nothing.
const AREA: u64 = 8 << 20;
const NOTHINGS: u64 = 150;
const LONES: u64 = 400;
/// The pause after which a drive has come to rest.
const REST: Dur = Dur::ms(2000);

/// Times single commands of a drive whose map is in flash, or not.
pub(super) fn singles(rig: &mut Rig, mapped: bool) -> Samples {
    let mut samples = Samples::new();
    nothing(rig, &mut samples);
    lone(rig, mapped, &mut samples);
    samples
}

fn nothing(rig: &mut Rig, samples: &mut Samples) {
    let area = AREA.min(rig.span / 16);
    let block = rig.block;
    rig.trim(0..area);
    for _ in 0..NOTHINGS {
        let places = [0; 2].map(|_| rig.below(area / block) * block);
        for at in places {
            rig.read(at, block);
        }
        let one = rig.read(places[0], block);
        samples.entry((What::Nothing, 0)).or_default().push(one);
        let clean = rig.flush();
        samples.entry((What::Clean, 0)).or_default().push(clean);
        let both = rig.pair(places, block);
        samples
            .entry((What::NothingPair, 0))
            .or_default()
            .push(both);
    }
    rig.fill(0..area);
    rig.idle(REST);
}

/// Reads places alone and in pairs. With a map in flash each place is read before, as the probe does.
fn lone(rig: &mut Rig, mapped: bool, samples: &mut Samples) {
    let block = rig.block;
    let known = |rig: &mut Rig, at: u64, len: u64| {
        if mapped {
            rig.read(at, len);
        }
    };
    for number in 0..LONES {
        let at = rig.any(block);
        known(rig, at, block);
        let one = rig.read(at, block);
        samples.entry((What::One, 0)).or_default().push(one);
        if number % 2 == 0 {
            let at = rig.any(2 * block);
            known(rig, at, 2 * block);
            let two = rig.read(at, 2 * block);
            samples.entry((What::Two, 0)).or_default().push(two);
            let at = rig.any(SMALL.next_multiple_of(block));
            let small = rig.read(at, SMALL.next_multiple_of(block));
            samples.entry((What::Small, 0)).or_default().push(small);
        }
        let places = [0; 2].map(|_| rig.any(block));
        places.iter().for_each(|at| known(rig, *at, block));
        let both = rig.pair(places, block);
        samples.entry((What::Pair, 0)).or_default().push(both);
    }
}
