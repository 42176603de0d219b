//! A memory of writes that dips by itself when it is emptied, or that absorbs every second erase, so that dips are two units apart.

use super::dips::Dips;
use crate::robust::size::size;
use crate::{Answers, Estimate, Parameter, Verdict};

/// The share of the distance of the dips from which on a memory of writes may absorb every second erase: drives whose memory had
/// half of a unit dipped at every second one.
const ABSORBED: f64 = 0.25;
/// The relative difference up to which the distance of the dips is the capacity of the memory.
const SAME: f64 = 0.06;
/// The share of the logarithm of what zones of a quarter cost that zones of one unit cost as well, because they begin anywhere in
/// one: 0.24 to 0.76 on 26 of 31 drives, 0.17 and less on four that dipped at every second unit.
const SHARED: f64 = 0.22;

/// Returns the answer where the dips may be those of a memory of writes, or where it may have absorbed every second erase and zones
/// of this size cost as little as zones of two units. `slower` has the sizes of zones, ascending, with the time of a byte over that in order.
pub(super) fn absorbed(
    dips: &Dips,
    slower: &[(u64, f64)],
    others: &Answers<'_>,
) -> Option<Estimate> {
    let found = others(Parameter::WriteBuffer);
    let value = found.value.filter(|_| found.verdict == Verdict::Identified);
    let memory = value?.number()?;
    if (memory / dips.bytes - 1.0).abs() < SAME {
        return Some(Estimate::inconclusive(format!(
            "overwrites in order dip every {}, which is what the memory for writes holds ({}): the dips may be those of memory that \
             is emptied as a whole, or of two units",
            size(dips.bytes as u64),
            size(memory as u64)
        )));
    }
    let [(_, small), (_, whole), ..] = slower[..] else {
        return None;
    };
    let may = memory >= ABSORBED * dips.low && whole.ln() < SHARED * small.ln();
    may.then(|| {
        Estimate::inconclusive(format!(
            "overwrites in order dip every {}, but memory of {} may absorb every second erase, and zones of this size at random take \
             only {whole:.2} times as long as the drive in order: the unit may be half of it",
            size(dips.bytes as u64),
            size(memory as u64)
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Value;

    const DIPS: Dips = Dips {
        bytes: 67_108_864.0,
        low: 66_400_000.0,
        high: 67_700_000.0,
        share: 0.1,
        wait_ns: 5e6,
        correlation: 0.9,
    };

    fn zones(whole: f64) -> [(u64, f64); 3] {
        [(16 << 20, 2.0), (64 << 20, whole), (256 << 20, 1.0)]
    }

    #[test]
    fn memory_of_half_a_unit_may_absorb_every_second_erase() {
        let open = |mib: u64, whole: f64| {
            let memory = Estimate::identified(Value::Bytes(mib << 20), "planted");
            let of = |of| match of {
                Parameter::WriteBuffer => memory.clone(),
                _ => Estimate::inconclusive("not asked"),
            };
            absorbed(&DIPS, &zones(whole), &of)
        };
        // Dips of 64 MiB may be those of units of 32 MiB.
        let reason = open(16, 1.1).unwrap().evidence.reason;
        assert!(reason.contains("half of it"), "{reason}");
        assert!(open(8, 1.1).is_none());
        // Memory of the same length is emptied as a whole.
        let reason = open(63, 1.4).unwrap().evidence.reason;
        assert!(reason.contains("as a whole"), "{reason}");
        assert!(open(72, 1.4).is_none());
        // Zones of one unit share their first and last one with others.
        assert!(open(16, 1.3).is_none());
        let unknown = |_| Estimate::inconclusive("not asked");
        assert!(absorbed(&DIPS, &zones(1.1), &unknown).is_none());
    }
}
