//! The steps that take the samples of the read buffer.

use super::manner::{Manner, Pass};
use crate::{Parameter, Series, Session, Stop};
use fathom_base::Dur;

const PARAMETER: Parameter = Parameter::ReadBuffer;
/// The repetitions of a pass in a round.
pub(crate) const PASSES: u32 = 5;

/// The repetitions of a trial.
pub(crate) const TRIALS: u32 = 16;
/// Areas begin at multiples of this, in bytes, at which lines of the buffer also begin.
const ALIGNED: u64 = 1 << 20;
const PAUSE: Dur = Dur::ms(300);
/// The number of batches of reads within the buffered bytes, the reads of one, and the rounds.
const BATCHES: u64 = 8;
const BATCH: u64 = 8;
const ROUNDS: u32 = 9;

/// Reads places far apart, each a second time at once.
pub(crate) fn try_out(session: &mut Session<'_>, manner: Manner) -> Result<(), Stop> {
    let (start, span) = (session.region().start, session.space().span());
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
            io.sample(Series::MISS, manner.pass().bytes, rep);
            manner.read(io, &places)?;
            io.sample(Series::HIT, manner.pass().bytes, rep);
        }
        Ok(())
    })
}

/// Makes the same reads at places that hold nothing. If the drive does not support TRIM, these are places like all others,
/// so the test distinguishes nothing.
pub(crate) fn unmapped(session: &mut Session<'_>, manner: Manner) -> Result<(), Stop> {
    let (start, span) = (session.region().start, session.space().span());
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
            io.sample(Series::HIT, manner.pass().bytes, rep);
        }
        if io.info().trim {
            io.fill_sequential(start..start + area)
        } else {
            Ok(())
        }
    })
}

/// Reads an area, then the same places within it in every round.
pub(crate) fn within(session: &mut Session<'_>, pass: Pass) -> Result<(), Stop> {
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
                io.sample(Series::HIT, pass.bytes, round);
            }
        }
        Ok(())
    })
}

pub(crate) fn make(session: &mut Session<'_>, pass: Pass, round: u32) -> Result<(), Stop> {
    let (start, span) = (session.region().start, session.space().span());
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
            io.sample(Series::MISS, pass.bytes, round * PASSES + rep);
            pass.manner.read(io, &places)?;
            io.sample(Series::HIT, pass.bytes, round * PASSES + rep);
        }
        Ok(())
    })
}
