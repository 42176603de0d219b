//! What a flush costs: rounds of a flush after nothing, after a small write and after more, in random order.
//!
//! The flush after each size is compared with one that has nothing to write: it takes clearly longer, or the same within a
//! tenth (an equivalence test). Forced unit access is the second signal: a drive whose FUA costs what a flush does not cost
//! contradicts itself. Whether data is durable after a flush only a power cut can tell.

use super::judge::{Costs, Seen, beyond, costs, per_byte};
use super::measure::{PARAMETER, batch, batch_bytes, batches, sizes};
use super::series::{CLEAN, DIRTY, FUA, PLAIN};
use crate::robust::prepare::prepare;
use crate::robust::samples::at;
use crate::robust::size::{size, time};
use crate::{Answers, Estimate, Parameter, Probe, Record, Session, Space, Stop, Value, Verdict};
use fathom_stats::location::{median, median_interval};

/// The batches before anything is decided.
const BATCHES_MIN: u32 = 2;
/// FUA costs something if a write takes this many times as long with it.
const FUA_COSTS: f64 = 1.5;

pub(crate) struct Flush;

fn seen(record: &Record, space: &Space) -> Seen {
    let sizes = sizes(space);
    Seen {
        clean: at(record, PARAMETER, CLEAN, sizes[0]),
        dirty: (sizes.iter())
            .map(|size| (*size, at(record, PARAMETER, DIRTY, *size)))
            .collect(),
    }
}

/// The medians that the reason names, in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Typical {
    clean: f64,
    small: f64,
    many: f64,
    write: f64,
    fua: f64,
}

fn typical(record: &Record, seen: &Seen) -> Option<Typical> {
    let (small, times) = seen.dirty.first()?;
    let (_, many) = seen.dirty.last()?;
    Some(Typical {
        clean: median(&seen.clean)?,
        small: median(times)?,
        many: median(many)?,
        write: median(&at(record, PARAMETER, PLAIN, *small))?,
        fua: median(&at(record, PARAMETER, FUA, *small))?,
    })
}

fn something(seen: &Seen, typical: Typical, volatile: bool) -> Estimate {
    let extra = beyond(seen);
    let (Some(one), Some((low, high))) = (median(&extra), median_interval(&extra)) else {
        return Estimate::inconclusive("too few flushes were timed");
    };
    let small = seen.dirty.first().map_or(0, |(bytes, _)| *bytes);
    if low <= 0.0 {
        return Estimate::inconclusive(format!(
            "flushes take longer after large writes, but those after a write of {} take from {} less to {} more than clean ones: \
             they vary too much",
            size(small),
            time(-low),
            time(high.max(0.0))
        ));
    }
    let mut reason = format!(
        "a flush takes {} after a write of {}, and {} after none",
        time(typical.small),
        size(small),
        time(typical.clean)
    );
    if let Some(slope) = per_byte(seen) {
        let more = format!("; each MiB more takes {}", time(slope * (1 << 20) as f64));
        reason.push_str(&more);
    }
    if !volatile {
        reason.push_str("; yet the drive reports no volatile cache");
    }
    let value = |ns: f64| Value::Nanoseconds(ns.max(0.0) as u64);
    Estimate::identified(value(one), reason).between(value(low), value(high))
}

fn nothing(typical: Typical, volatile: bool) -> Estimate {
    let same = format!(
        "a flush takes {} whatever was written before",
        time(typical.clean)
    );
    let fua = typical.fua / typical.write.max(1.0);
    Estimate::absent(match volatile {
        false => format!(
            "{same}, and the drive reports no volatile cache: its writes are durable when they complete, as far as anything \
             but a power cut tells"
        ),
        true if fua >= FUA_COSTS => format!(
            "{same}, although the drive reports a volatile cache and a write with forced unit access takes {fua:.1} times a \
             plain one: the flush may do nothing, which only a power cut tells"
        ),
        true => format!(
            "{same}, although the drive reports a volatile cache: either its memory is protected or its flush does nothing, \
             which only a power cut tells"
        ),
    })
}

/// Returns the bytes that the run wrote before it measured flushes.
fn written_before(record: &Record) -> u64 {
    let before = record.steps.iter();
    let before = before.take_while(|step| step.parameter != PARAMETER);
    before.map(|step| step.cost.bytes_written).sum()
}

/// Says in which state of a fast cache an answer was found: one with room answers sooner.
fn on_cache(mut answer: Estimate, cache: Option<u64>, written: u64) -> Estimate {
    if let (Some(bytes), Verdict::Identified) = (cache, answer.verdict) {
        let state = format!(
            "; that is with the fast cache of {} as {} of writes in this run left it",
            size(bytes),
            size(written)
        );
        answer.evidence.reason.push_str(&state);
    }
    answer
}

impl Probe for Flush {
    fn bound(&self, space: &Space) -> u64 {
        u64::from(batches(space)) * batch_bytes(space)
    }

    fn expected(&self, space: &Space) -> u64 {
        u64::from(BATCHES_MIN) * batch_bytes(space)
    }

    fn fruitless(&self, space: &Space) -> u64 {
        self.bound(space)
    }

    fn reach(&self, space: &Space) -> u64 {
        space.bytes().min(64 << 20)
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Stop> {
        prepare(session, PARAMETER)?;
        let space = session.space();
        for number in 0..batches(&space) {
            batch(session, number)?;
            let decided = costs(&seen(session.record(), &space)) != Costs::Undecided;
            if decided && number + 1 >= BATCHES_MIN {
                break;
            }
        }
        Ok(())
    }

    fn solve(&self, record: &Record, others: &Answers<'_>) -> Estimate {
        let space = Space::of(record);
        let seen = seen(record, &space);
        let Some(typical) = typical(record, &seen) else {
            return Estimate::inconclusive("no flush was timed");
        };
        let volatile = record.meta.target.volatile_cache;
        let answer = match costs(&seen) {
            Costs::Something => something(&seen, typical, volatile),
            Costs::Nothing => nothing(typical, volatile),
            Costs::Undecided => Estimate::inconclusive(format!(
                "flushes take {} with nothing to write and {} after the largest write, and vary too much to tell both apart",
                time(typical.clean),
                time(typical.many)
            )),
        };
        let answer = match per_byte(&seen) {
            Some(slope) => answer.figure("ns_per_mib", slope * (1 << 20) as f64),
            None => answer,
        };
        let many = seen.dirty.last().map_or(0, |(bytes, _)| *bytes);
        let cache = others(Parameter::FastCache).bytes();
        on_cache(answer, cache, written_before(record))
            .figure("clean_ns", typical.clean)
            .figure("dirty1_ns", typical.small)
            .figure("dirty_n_ns", typical.many)
            .figure("dirty_n_bytes", many as f64)
            .figure("write_ns", typical.write)
            .figure("fua_ns", typical.fua)
    }
}

#[cfg(test)]
mod tests {
    use super::{Seen, Typical, nothing, on_cache, something};
    use crate::{Estimate, Value, Verdict};

    #[test]
    fn a_cost_whose_interval_includes_zero_is_none() {
        let typical = Typical {
            clean: 1e6,
            small: 1.03e6,
            many: 4e6,
            write: 3e4,
            fua: 1e6,
        };
        let verdict = |spread: f64| {
            let extra = |i: u32| 3e4 + spread * (f64::from(i % 8) - 3.5);
            let small: Vec<f64> = (0..32).map(|i| 1e6 + extra(i)).collect();
            let seen = Seen {
                clean: vec![1e6; 32],
                dirty: vec![(4096, small), (1 << 20, vec![4e6; 32])],
            };
            something(&seen, typical, true).verdict
        };
        assert_eq!(verdict(1e3), Verdict::Identified);
        assert_eq!(verdict(1e6), Verdict::Inconclusive);
    }

    #[test]
    fn an_answer_names_the_state_of_the_fast_cache() {
        let found = || Estimate::identified(Value::Nanoseconds(700_000), "a flush takes long");
        let said = on_cache(found(), Some(5 << 30), 3 << 20).evidence.reason;
        assert!(said.contains("fast cache of 5120 MiB as 3 MiB"), "{said}");
        assert_eq!(on_cache(found(), None, 3 << 20), found());
    }

    #[test]
    fn a_drive_that_contradicts_itself_is_said_to() {
        let typical = |fua: f64| Typical {
            clean: 2e4,
            small: 2e4,
            many: 2e4,
            write: 3e4,
            fua,
        };
        let reason = |fua, volatile| nothing(typical(fua), volatile).evidence.reason;
        assert!(reason(3e4, true).contains("either its memory is protected"));
        assert!(reason(9e5, true).contains("30.0 times"));
        assert!(reason(3e4, false).contains("no volatile cache"));
    }
}
