//! The read buffer (`parameter-aware-io` 4.2.5): how much can be read a second time without the flash.
//!
//! First the reads that show a buffer best are looked for: places are read one by one or many at a time, and at once again.
//! Then more and more neighbouring places are read twice, in an order that no stream has: where lines leave in order of
//! their last use, all of the second pass is served up to the capacity and nothing beyond it. Both sides of the edge are
//! measured again after a pause.
//!
//! What is faster the second time need not be memory for data: a drive that reads its map from flash saves that. Its
//! second read still takes longer than one of a place that holds nothing, which no buffered read does. A read-only run has no
//! such place; there the time of buffered reads must not depend on the place.

use super::{identified, of_step, prepare, prepared, size, times, without};
use crate::probes::{Needs, Probe, Space, written};
use crate::profile::{Estimate, Parameter, Value, Verdict};
use crate::record::{Record, Series};
use crate::session::{Io, Session, Stop};
use crate::solve::separate::mann_whitney_p;
use crate::solve::{place, robust};
use fathom_base::Dur;

const PARAMETER: Parameter = Parameter::ReadBuffer;
/// Repetitions of a trial, and neighbouring places of one: several, so that reads shorter than a line of the buffer do
/// not look better than they are; or a single one, of which more do not fit into it.
const TRIALS: u32 = 16;
const GROUP: u64 = 4;
/// The longest read, in bytes.
const READ_MAX: u64 = 1 << 20;
/// A saving counts with this p-value, and from this share of the second time on.
const P: f64 = 1e-5;
const SAVES: f64 = 0.05;
/// Repetitions of a pass: at first, and in all where they do not agree.
const PASSES: u32 = 5;
const PASSES_MAX: u32 = 15;
/// So large a share of them must agree.
const AGREE: f64 = 0.8;
/// Reads of a pass, from which on longer reads are taken where they show it nearly as well.
const READS: u64 = 512;
/// Sizes closer than this share of the capacity are not told apart.
const RESOLUTION: u64 = 1024;
/// A capacity that the shortest buffered read does not tell to a share of this is not settled.
const COARSEST: u64 = 4;
/// Areas begin on multiples of this, in bytes, on which lines do.
const ALIGNED: u64 = 1 << 20;
/// A second read of data takes at most so many times a read of nothing where it is served by memory.
const MEMORY: f64 = 1.1;
/// Below this place between a pass that is served and one that is not it is served. Less than half: where the map is read
/// from flash, a second pass that is not served saves that.
const SERVED: f64 = 0.3;
/// A first pass takes at least so many times as long as one that is served.
const FIRST_MIN: f64 = 1.005;
const PAUSE: Dur = Dur::ms(300);
/// Batches of reads within what is kept, reads of one, and rounds.
const BATCHES: u64 = 8;
const BATCH: u64 = 8;
const ROUNDS: u32 = 9;
/// Their place matters with this p-value.
const P_PLACE: f64 = 0.01;

pub(super) struct ReadBuffer;

/// How places are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Manner {
    /// Bytes of a read.
    read: u64,
    /// As many at a time as the drive takes, or one.
    many: bool,
    /// Neighbouring places of a trial.
    group: u64,
}

impl Manner {
    fn name(self, what: &str) -> String {
        let how = if self.many { "many" } else { "one" };
        format!("{what} {} x {} {how} at a time", self.group, self.read)
    }

    /// Every manner, the shortest read first.
    fn all(space: &Space, longest: u64) -> Vec<Manner> {
        let most = READ_MAX.min(longest).min(space.span() / 64);
        let reads = std::iter::successors(Some(space.block_bytes), |read| Some(read * 2));
        reads
            .take_while(|read| *read <= most)
            .flat_map(|read| {
                let manners = [(false, GROUP), (true, GROUP), (false, 1)];
                manners.map(|(many, group)| Manner { read, many, group })
            })
            .collect()
    }

    /// A pass over the places of a trial.
    fn pass(self) -> Pass {
        Pass {
            manner: self,
            bytes: self.group * self.read,
            again: false,
        }
    }

    fn read(self, io: &mut Io<'_>, places: &[(u64, u64)]) -> Result<(), Stop> {
        let depth = if self.many { u32::MAX } else { 1 };
        io.read_queued(places, depth).map(|_| ())
    }
}

/// A pass over neighbouring places, twice; the last read is shorter where the whole is no multiple.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pass {
    manner: Manner,
    bytes: u64,
    again: bool,
}

impl Pass {
    fn count(&self) -> u64 {
        self.bytes.div_ceil(self.manner.read)
    }

    fn name(&self, round: u32) -> String {
        let what = if self.again { "repeat" } else { "pass" };
        let how = if self.manner.many { "many" } else { "one" };
        let (bytes, read) = (self.bytes, self.manner.read);
        format!("{what} {bytes} by {read} {how} at a time, round {round}")
    }

    /// The places from `offset` on, downwards: that is no stream, and places of one line of the buffer come together.
    fn places(&self, offset: u64) -> Vec<(u64, u64)> {
        let read = self.manner.read;
        let down = (0..self.count()).rev().map(|i| i * read);
        down.map(|at| (offset + at, read.min(self.bytes - at)))
            .collect()
    }
}

/// How far a record has come.
#[derive(Clone, Debug, PartialEq)]
enum Stage {
    Try(Manner),
    Unmapped(Manner),
    Make(Pass, u32),
    /// Reads within so many bytes, which a second pass is served from.
    Within(Pass),
    /// Memory serves the first size and not the second.
    Found(u64, u64),
    /// Every size up to this one is served.
    Larger(u64),
    /// The second read saves a look-up only.
    Map,
    /// Perhaps it does: a read of what is kept depends on its place.
    Flash,
    Nothing,
    Unsettled(u64),
}

fn of(record: &Record, name: &str, series: Series) -> Vec<f64> {
    times(record, (PARAMETER, name), series)
}

/// First and second times of a trial's places, and whether the second is shorter; `None` where it was not made.
fn trial(record: &Record, manner: Manner) -> Option<(f64, f64, bool)> {
    let arms = [Series::Miss, Series::Hit].map(|s| of(record, &manner.name("try"), s));
    let (miss, hit) = (robust::median(&arms[0])?, robust::median(&arms[1])?);
    let saves = miss > (1.0 + SAVES) * hit && mann_whitney_p(&arms[0], &arms[1])? < P;
    Some((miss, hit, saves))
}

fn stage(record: &Record, space: &Space) -> Stage {
    let mut best: Option<(Manner, f64)> = None;
    let all = Manner::all(space, record.meta.target.max_request_bytes);
    for manner in &all {
        match trial(record, *manner) {
            None => return Stage::Try(*manner),
            Some((miss, hit, true))
                if best.is_none_or(|b| rank(*manner, miss / hit) > rank(b.0, b.1)) =>
            {
                best = Some((*manner, miss / hit));
            }
            Some(_) => {}
        }
    }
    let Some((best, ratio)) = best else {
        return Stage::Nothing;
    };
    if prepared(record) {
        let nothing = of(record, &best.name("unmapped"), Series::Hit);
        if nothing.is_empty() {
            return Stage::Unmapped(best);
        }
        let hit = trial(record, best).map_or(0.0, |t| t.1);
        if robust::median(&nothing).is_some_and(|nothing| hit > MEMORY * nothing) {
            return Stage::Map;
        }
    }
    // Shorter reads may not go through the buffer: a pass does not end with one.
    let saves = |m: &&Manner| trial(record, **m).is_some_and(|(_, _, saves)| saves);
    let shortest = all.iter().find(saves).map_or(best.read, |m| m.read);
    let good: Vec<Manner> = all
        .into_iter()
        .filter(|m| {
            trial(record, *m).is_some_and(|(miss, hit, saves)| {
                saves
                    && (m.group, m.many) == (best.group, best.many)
                    && m.read >= best.read
                    && (miss / hit).ln() > 0.5 * ratio.ln()
            })
        })
        .collect();
    search(record, (space.span() / 2, shortest), (&good, best))
}

/// Several places tell more than one, and one at a time more than many, which wait for each other.
fn rank(manner: Manner, ratio: f64) -> (bool, bool, f64) {
    (manner.group > 1, !manner.many, ratio)
}

/// A pass over so many bytes, by the reads that suit it.
fn pass(good: &[Manner], bytes: u64, best: Manner) -> Pass {
    let long = good.iter().rev().find(|m| m.read * READS <= bytes).copied();
    Pass {
        manner: long.unwrap_or(best),
        bytes,
        again: false,
    }
}

/// Whether the second pass is served; `Err` with what is to be made.
fn served(record: &Record, pass: &Pass) -> Result<Option<bool>, Stage> {
    let Some((_, hit, _)) = trial(record, pass.manner) else {
        return Ok(None);
    };
    let all_hit = hit / pass.manner.group as f64 * pass.count() as f64;
    // From a pass that is served, 0, to one that is like the first, 1; nowhere if the first is served as well.
    let place = |first: f64, second: f64| match first > FIRST_MIN * all_hit {
        true => (second - all_hit) / (first - all_hit),
        false => f64::NAN,
    };
    let mut places: Vec<f64> = Vec::new();
    for round in 0..PASSES_MAX / PASSES {
        let name = pass.name(round);
        let [first, second] = [Series::Miss, Series::Hit].map(|s| of(record, &name, s));
        if first.is_empty() {
            return Err(Stage::Make(*pass, round));
        }
        places.extend(
            first
                .iter()
                .zip(&second)
                .map(|(first, second)| place(*first, *second)),
        );
        let yes = places.iter().filter(|place| **place < SERVED).count() as f64;
        let no = places.iter().filter(|place| **place >= SERVED).count() as f64;
        let all = places.len() as f64;
        if yes >= AGREE * all {
            return Ok(Some(true));
        }
        if no >= AGREE * all {
            return Ok(Some(false));
        }
    }
    Ok(None)
}

fn search(
    record: &Record,
    (most, shortest): (u64, u64),
    (good, best): (&[Manner], Manner),
) -> Stage {
    let (mut low, mut high) = (0, None);
    let mut bytes = best.read * best.group;
    // A size that is not settled between two that are says nothing; two in a row that are not served are the end.
    let (mut beyond, mut unsettled) = (0, false);
    while bytes <= most && beyond < 2 {
        let pass = pass(good, bytes, best);
        match served(record, &pass) {
            Err(stage) => return stage,
            Ok(None) => unsettled = true,
            Ok(Some(true)) => (low, high, beyond, unsettled) = (pass.bytes, None, 0, false),
            Ok(Some(false)) => {
                high = high.or(Some(pass.bytes));
                beyond += 1;
            }
        }
        bytes = if bytes < most {
            (2 * bytes).min(most)
        } else {
            most + 1
        };
    }
    let Some(mut high) = high else {
        return match unsettled {
            true => Stage::Unsettled(low),
            false => Stage::Larger(low),
        };
    };
    if low == 0 {
        return Stage::Unsettled(high);
    }
    let finest = |low: u64| (low / RESOLUTION).max(1).next_multiple_of(shortest);
    while high - low > finest(low) {
        let middle = low + ((high - low) / 2 / shortest).max(1) * shortest;
        match served(record, &pass(good, middle, best)) {
            Err(stage) => return stage,
            Ok(None) => return Stage::Unsettled(middle),
            Ok(Some(true)) => low = middle,
            Ok(Some(false)) => high = middle,
        }
    }
    for (bytes, wanted) in [(low, true), (high, false)] {
        let again = Pass {
            again: true,
            ..pass(good, bytes, best)
        };
        match served(record, &again) {
            Err(stage) => return stage,
            Ok(Some(is)) if is == wanted => {}
            Ok(_) => return Stage::Unsettled(bytes),
        }
    }
    if high - low > low / COARSEST {
        return Stage::Unsettled(low);
    }
    if record.meta.read_only {
        let within = pass(good, (low / 2).next_multiple_of(shortest), best);
        match from_memory(record, &within) {
            None => return Stage::Within(within),
            Some(false) => return Stage::Flash,
            Some(true) => {}
        }
    }
    Stage::Found(low, high)
}

/// Whether reads of what a pass has read take as long everywhere; `None` where they were not made.
fn from_memory(record: &Record, pass: &Pass) -> Option<bool> {
    let samples: Vec<_> = of_step(record, PARAMETER, &pass.manner.name("within"))?.collect();
    Some(!place::matters(
        &written::rounds(&samples, Series::Hit),
        P_PLACE,
    ))
}

impl ReadBuffer {
    /// Places far apart, each read and read again at once.
    fn try_out(&self, session: &mut Session<'_>, manner: Manner) -> Result<(), Stop> {
        let (start, span) = (session.region().start, Space::from(&*session).span());
        session.step(PARAMETER, &manner.name("try"), |io| {
            let slots = (span / ALIGNED).max(1);
            for rep in 0..TRIALS {
                let part = slots / u64::from(TRIALS);
                let slot = u64::from(rep) * part + io.rng.below(part.max(1));
                let most = start + span - manner.group * manner.read;
                let places = manner
                    .pass()
                    .places((start + slot % slots * ALIGNED).min(most));
                manner.read(io, &places)?;
                io.sample(Series::Miss, manner.pass().bytes, rep);
                manner.read(io, &places)?;
                io.sample(Series::Hit, manner.pass().bytes, rep);
            }
            Ok(())
        })?;
        Ok(())
    }

    /// The same reads of places that hold nothing; where the drive knows no TRIM, of places like all others, so that
    /// nothing is told apart.
    fn unmapped(&self, session: &mut Session<'_>, manner: Manner) -> Result<(), Stop> {
        let (start, span) = (session.region().start, Space::from(&*session).span());
        let area = (TRIALS as u64 * ALIGNED.max(2 * manner.read)).min(span);
        session.step(PARAMETER, &manner.name("unmapped"), |io| {
            if io.info().trim {
                io.trim(start, area)?;
            }
            for rep in 0..TRIALS {
                let place = start + u64::from(rep) * area / u64::from(TRIALS) / ALIGNED * ALIGNED;
                let most = start + span - manner.group * manner.read;
                let places = manner.pass().places(place.min(most));
                manner.read(io, &places)?;
                manner.read(io, &places)?;
                io.sample(Series::Hit, manner.pass().bytes, rep);
            }
            if io.info().trim {
                io.fill_sequential(start..start + area)
            } else {
                Ok(())
            }
        })?;
        Ok(())
    }

    /// Reads an area, then the same places of it in every round.
    fn within(&self, session: &mut Session<'_>, pass: Pass) -> Result<(), Stop> {
        let start = session.region().start;
        session.step(PARAMETER, &pass.manner.name("within"), |io| {
            let block = u64::from(io.info().logical_block_bytes).max(1);
            let read = pass.manner.read.min(pass.bytes);
            let part = (pass.bytes - read) / BATCHES / block;
            let mut batches: Vec<Vec<(u64, u64)>> = Vec::new();
            for number in 0..BATCHES {
                let first = number * part + io.rng.below(part.max(1));
                let others = (1..BATCH).map(|_| io.rng.below((pass.bytes - read) / block + 1));
                let places: Vec<u64> = std::iter::once(first).chain(others).collect();
                batches.push(places.iter().map(|at| (start + at * block, read)).collect());
            }
            pass.manner.read(io, &pass.places(start))?;
            for round in 0..ROUNDS {
                io.rng.shuffle(&mut batches);
                for batch in &batches {
                    io.read_queued(batch, u32::MAX)?;
                    io.sample(Series::Hit, pass.bytes, round);
                }
            }
            Ok(())
        })?;
        Ok(())
    }

    fn make(&self, session: &mut Session<'_>, pass: Pass, round: u32) -> Result<(), Stop> {
        let (start, span) = (session.region().start, Space::from(&*session).span());
        let area = (pass.bytes + 1).next_multiple_of(ALIGNED);
        let areas = (span / area).max(1);
        session.step(PARAMETER, &pass.name(round), |io| {
            if pass.again {
                io.idle(PAUSE)?;
            }
            let mut at = io.rng.below(areas);
            for rep in 0..PASSES {
                at = (at + 1) % areas;
                let offset = (start + at * area).min(start + span - pass.bytes);
                let places = pass.places(offset);
                pass.manner.read(io, &places)?;
                io.sample(Series::Miss, pass.bytes, round * PASSES + rep);
                pass.manner.read(io, &places)?;
                io.sample(Series::Hit, pass.bytes, round * PASSES + rep);
            }
            Ok(())
        })?;
        Ok(())
    }
}

impl Probe for ReadBuffer {
    fn parameter(&self) -> Parameter {
        PARAMETER
    }

    fn needs(&self) -> Needs {
        Needs {
            writes: false,
            prepared: true,
        }
    }

    fn bound(&self, space: &Space) -> u64 {
        (u64::from(TRIALS) * 2 * READ_MAX).min(space.span())
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Stop> {
        if !session.read_only() {
            prepare(session, PARAMETER)?;
        }
        let space = Space::from(&*session);
        loop {
            match stage(session.record(), &space) {
                Stage::Try(manner) => self.try_out(session, manner)?,
                Stage::Unmapped(manner) => self.unmapped(session, manner)?,
                Stage::Make(pass, round) => self.make(session, pass, round)?,
                Stage::Within(pass) => self.within(session, pass)?,
                // A second read that is faster shows that the first one touched flash.
                Stage::Nothing if session.read_only() => return prepare(session, PARAMETER),
                _ => return Ok(()),
            }
        }
    }

    fn solve(&self, record: &Record) -> Estimate {
        let space = Space::of(record);
        match stage(record, &space) {
            Stage::Nothing => without(
                PARAMETER,
                Verdict::Absent,
                "a second read at once is no faster at any size",
            ),
            Stage::Map => without(
                PARAMETER,
                Verdict::Absent,
                "a second read is faster, but still takes longer than one of a place that holds nothing: what is kept is not data",
            ),
            Stage::Flash => without(
                PARAMETER,
                Verdict::Inconclusive,
                "a second read is faster, but its time depends on the place as that of flash does: perhaps the map is kept and \
                 no data; a run that may write tells",
            ),
            Stage::Found(low, high) => {
                let reason = format!(
                    "all of {} is faster when it is read again at once, and nothing of {}, both again after a pause",
                    size(low),
                    size(high)
                );
                identified(PARAMETER, Value::Bytes(low), reason)
                    .between(low, high - space.block_bytes)
            }
            Stage::Larger(low) => {
                let reason = format!(
                    "a second pass is faster at every size up to {}: the capacity is larger",
                    size(low)
                );
                without(PARAMETER, Verdict::NotIdentifiable, reason)
            }
            Stage::Unsettled(bytes) => {
                let reason = format!(
                    "a second read is faster, but of {} it is not settled how much is",
                    size(bytes)
                );
                without(PARAMETER, Verdict::Inconclusive, reason)
            }
            Stage::Try(_) | Stage::Unmapped(_) | Stage::Make(..) | Stage::Within(_) => without(
                PARAMETER,
                Verdict::Inconclusive,
                "it was not measured to its end",
            ),
        }
    }
}
