//! Reads and writes of a full drive in closed loops.

use super::loops::Load;
use super::rig::{Ask, Rig};
use super::{Bench, merges};
use crate::twin::figures::{Loaded, Samples, loaded_figures};
use fathom_base::{Bytes, Dur, SpecError};
use fathom_block::Op;
use fathom_model::Model;
use fathom_run::{Precondition, prepare};
use fathom_ssd::Spec;

/// One request of so many is a write, and the part of the drive that is used, in bytes (parameter `fast_cache`).
const WRITE_EVERY: u64 = 4;
const AREA: u64 = 1 << 30;
/// A larger candidate is measured as one of this size, in bytes: the loops write a hundredth of it, and so meet no collection on
/// either.
const LARGE: u64 = 8 << 30;
/// The pause in which a fast cache is emptied before its loops, as in the record.
const SETTLED: Dur = Dur::ms(60_000);

impl Bench {
    /// Measures reads and writes together on a full candidate.
    ///
    /// # Errors
    /// The drive cannot be built.
    pub(in crate::twin) fn load(&self, spec: &Spec) -> Result<Samples, SpecError> {
        let mut samples = Samples::new();
        if self.loads.is_empty() {
            return Ok(samples);
        }
        let Some(mut rig) = self.loaded(spec)? else {
            return Ok(samples);
        };
        for one in &self.loads {
            let asks = asks(&mut rig, one);
            let served = rig.serve(&asks, one.depth as usize).into_iter();
            let loaded = served.map(|served| Loaded {
                reads: served.ask.is_read(),
                bytes: served.ask.bytes(),
                from: served.began(),
                took: served.took(),
            });
            loaded_figures(one.depth, loaded.collect(), &mut samples);
        }
        Ok(samples)
    }

    /// Builds a candidate that is full, in the state in which the record has the loops: a fast cache was full before the drive was
    /// emptied, and has come to rest before its last parts were written. `None` if the candidate refuses to be filled.
    fn loaded(&self, spec: &Spec) -> Result<Option<Rig>, SpecError> {
        let spec = Spec {
            limit: None,
            ..smaller(spec)
        };
        let mut drive = Model::Ssd(Box::new(spec.clone())).build(self.seed)?;
        if prepare(&mut drive, Precondition::Filled, self.seed).is_err() {
            return Ok(None);
        }
        let mut rig = self.rig(drive, AREA);
        let (end, block) = (rig.capacity, rig.block);
        if !spec.mapping.kind.is_paged() {
            // Other measurements of the record had put all log blocks in use.
            merges::use_logs(&mut rig, &spec);
            rig.trim(0..end);
            rig.fill(0..end);
        }
        let at = |share: f64| (end as f64 * share) as u64 / block * block;
        let [half, nearly] = self.parts.map(at);
        if nearly > 0 {
            let full = (self.cache + self.cache / 4).min(half) / block * block;
            rig.trim(0..end);
            rig.fill(0..full);
            rig.trim(0..end);
            rig.fill(0..half);
            for part in [half..nearly, nearly..end] {
                rig.idle(SETTLED);
                rig.fill(part);
            }
        }
        Ok(Some(rig))
    }
}

/// Returns a drive of the same parts that is not larger than [`LARGE`], if there is one. The static part of a fast cache is the same
/// share of it.
fn smaller(spec: &Spec) -> Spec {
    let mut small = spec.clone();
    let block = spec.flash.clustered_block.0.max(1);
    small.capacity = Bytes((LARGE / block * block).min(spec.capacity.0));
    let share = small.capacity.0 as f64 / spec.capacity.0.max(1) as f64;
    if let Some(cache) = &mut small.fast_cache {
        cache.static_capacity.0 = (cache.static_capacity.0 as f64 * share) as u64;
    }
    match small.check() {
        Ok(()) => small,
        Err(_) => spec.clone(),
    }
}

fn asks(rig: &mut Rig, one: &Load) -> Vec<Ask> {
    let ask = |_| {
        let writes = rig.below(WRITE_EVERY) == 0;
        let (op, len) = if writes {
            (Op::Write, one.write)
        } else {
            (Op::Read, one.read)
        };
        let at = rig.any(len);
        Ask::new(op, at, len)
    };
    (0..one.count).map(ask).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::twin::figures::{What, distance, goals, samples};
    use crate::twin::seen::Seen;
    use fathom_base::Dur;
    use fathom_probe::run::{RunConfig, run, solve};
    use fathom_probe::{Level, Parameter, Unobserved};
    use fathom_ssd::spec::{FastCache, Fold, WhenFull};

    /// The drive itself, in the state in which its record has the loops: with a full cache, though nothing was overwritten.
    #[test]
    fn the_loops_of_a_full_cache_are_repeated() {
        let mut spec = Spec::from_toml(fathom_model::find("nvme").unwrap().text).unwrap();
        spec.capacity = Bytes::gib(1);
        spec.fast_cache = Some(FastCache {
            bits_per_cell: 3,
            static_capacity: Bytes::mib(96),
            dynamic_percent: 0.0,
            read: Dur::us(25),
            program: Dur::us(150),
            erase: Dur::us(3500),
            fold: Fold::Idle,
            idle_delay: Dur::ms(500),
            when_full: WhenFull::Fold,
        });
        spec.check().unwrap();
        let mut drive = Model::Ssd(Box::new(spec.clone())).build(1).unwrap();
        let config = RunConfig {
            seed: 1,
            level: Level::Full,
            parameters: vec![Parameter::FastCache],
            ..RunConfig::default()
        };
        let record = run(&mut drive, &config, None, &mut Unobserved).unwrap();
        let profile = solve(&record);
        let seen = Seen::new(&record, &profile);
        let goals = goals(&samples(&seen));
        let bench = Bench::of(&seen);
        let far = |bench: &Bench| distance(&goals, &bench.load(&spec).unwrap(), What::load);
        let rested = Bench {
            parts: [0.0; 2],
            ..bench.clone()
        };
        let (full, rested) = (far(&bench), far(&rested));
        assert!(full < 0.2 * rested, "{full} and {rested}");
    }

    #[test]
    fn a_large_candidate_is_not_filled_whole() {
        let mut spec = Spec::from_toml(fathom_model::find("nvme").unwrap().text).unwrap();
        spec.capacity = Bytes::gib(960);
        spec.check().unwrap();
        let small = smaller(&spec);
        assert_eq!(small.capacity, Bytes::gib(8));
        // The static part of a fast cache is the same share of it.
        let mut cached = Spec::from_toml(fathom_model::find("tlc-dram").unwrap().text).unwrap();
        cached.capacity = Bytes::gib(960);
        cached.fast_cache.as_mut().unwrap().static_capacity = Bytes::gib(12);
        let small = smaller(&cached);
        assert_eq!(small.capacity, Bytes::gib(8));
        // 12 GiB of 960.
        let fixed = small.fast_cache.unwrap().static_capacity;
        assert_eq!(fixed.0, (8 << 30) / 80);
        spec.capacity = Bytes::gib(2);
        assert_eq!(smaller(&spec).capacity, Bytes::gib(2));
    }
}
