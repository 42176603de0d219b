//! Reads while something writes, and after a write.

use super::rig::{Ask, Rig};
use super::{Bench, SMALL, native};
use crate::twin::figures::{Rounds, SHARES, Samples, What, picked, rank};
use fathom_base::{Dur, SpecError};
use fathom_block::Op;
use fathom_ssd::Spec;

/// A window of reads while something writes: its length, and the part at its head that is not counted.
const WINDOW: Dur = Dur::ms(12_000);
const HEAD: Dur = Dur::ms(1000);
/// The reads in flight, the length of a write, and the interval between two, of the parameter `stalls`.
const WINDOW_DEPTH: usize = 64;
const WRITE: u64 = 64 << 10;
const WRITES_APART: u64 = 3_906_250;
/// The bytes of a write that only reads follow.
const WRITE_BEFORE: u64 = 256 << 10;

impl Bench {
    /// Measures reads while something writes, beside a full fast cache that lets writes pass.
    ///
    /// # Errors
    /// The drive cannot be built.
    pub(in crate::twin) fn mixed_native(&self, spec: &Spec) -> Result<Samples, SpecError> {
        self.mixed(&native(spec))
    }

    /// Measures reads while something writes.
    ///
    /// # Errors
    /// The drive cannot be built.
    pub(in crate::twin) fn mixed(&self, spec: &Spec) -> Result<Samples, SpecError> {
        let mut rig = self.prepared(spec)?;
        let reads = rig.places(SMALL, WINDOW.0 / self.apart.0);
        let reads = (0..)
            .zip(reads)
            .map(|(i, ask)| ask.at(Dur(i * self.apart.0)));
        let slots = (rig.span / WRITE).max(1);
        let writes = (0..WINDOW.0 / WRITES_APART)
            .map(|i| Ask::new(Op::Write, i % slots * WRITE, WRITE).at(Dur(i * WRITES_APART)));
        let mut asks: Vec<Ask> = reads.chain(writes).collect();
        asks.sort_by_key(Ask::due);
        let served = rig.serve(&asks, WINDOW_DEPTH).into_iter();
        let served = served.filter(|one| one.ask.is_read() && one.ask.due() >= HEAD);
        let mut times: Vec<(f64, f64)> = served
            .map(|one| {
                (
                    one.took(),
                    (one.ask.due().0 % WRITES_APART) as f64 / WRITES_APART as f64,
                )
            })
            .collect();
        times.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut samples = self.slow(times);
        if let Some(rounds) = &self.after {
            rounds.samples(&after(&mut rig, rounds), &mut samples);
        }
        Ok(samples)
    }

    /// Returns what is kept of reads, each with the phase when it was due; the fastest is the first.
    fn slow(&self, mut times: Vec<(f64, f64)>) -> Samples {
        let count = times.len();
        let kept = ((count as f64 * self.tail).round() as usize).clamp(1, count.max(1));
        let at = |rank: usize| times.get(count.checked_sub(rank + 1)?);
        let shares = SHARES.iter().filter_map(|share| {
            let (ns, _) = at(rank(*share, count))?;
            Some(((What::Tail, *share), vec![*ns]))
        });
        let mut samples: Samples = shares.collect();
        let picked = picked(kept, count).into_iter();
        let phases = picked.filter_map(|rank| Some(at(rank)?.1)).collect();
        samples.insert((What::TailPhase, 0), phases);
        let slowest = times.split_off(count.saturating_sub(kept));
        let middle = times.get(times.len() / 2).map(|(ns, _)| *ns);
        let (slowest, phases): (Vec<f64>, Vec<f64>) = slowest.into_iter().unzip();
        samples.insert((What::Typical, 0), middle.into_iter().collect());
        samples.insert((What::Slowest, 0), slowest);
        samples.insert((What::Phase, 0), phases);
        samples
    }

    /// Measures when reads are slow after a write, beside a full fast cache that lets writes pass.
    ///
    /// # Errors
    /// The drive cannot be built.
    pub(in crate::twin) fn after_native(&self, spec: &Spec) -> Result<Samples, SpecError> {
        self.after(&native(spec))
    }

    /// Measures when reads are slow after a write.
    ///
    /// # Errors
    /// The drive cannot be built.
    pub(in crate::twin) fn after(&self, spec: &Spec) -> Result<Samples, SpecError> {
        let mut samples = Samples::new();
        if let Some(rounds) = &self.after {
            rounds.samples(&after(&mut self.prepared(spec)?, rounds), &mut samples);
        }
        Ok(samples)
    }
}

/// Returns the slow reads after writes: when each began after its write, and how long it took.
fn after(rig: &mut Rig, rounds: &Rounds) -> Vec<(f64, f64)> {
    let len = WRITE_BEFORE.next_multiple_of(rig.block);
    let short = SMALL.next_multiple_of(rig.block);
    let slots = (rig.span / len).max(1);
    let mut slow = Vec::new();
    for round in 0..rounds.count as u64 {
        rig.write(round % slots * len, len.min(rig.span), false);
        let began = rig.now();
        loop {
            let since = rig.now().since(began);
            if since >= rounds.look {
                rig.idle(Dur(rounds.read.0.saturating_sub(since.0)));
                break;
            }
            let at = rig.any(short);
            let took = rig.read(at, short);
            if took >= rounds.slow_ns {
                slow.push((since.0 as f64, took));
            }
        }
    }
    slow
}
