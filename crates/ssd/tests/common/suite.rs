//! The check suite of mappings and write buffers: one function, all properties, any drive file.
//!
//! Everything is seen from outside: what is read, how many flash operations that takes, what the counters say. What a
//! mapping's own tables say ([`Ssd::check`]) is asked as well and never alone.

#![allow(dead_code, reason = "every test binary uses its own part")]
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common::run;
use crate::torture::Torture;
use fathom_base::{Rng, SECTOR_BYTES, Time};
use fathom_block::conformance::{self, Options};
use fathom_block::{Device, Op, Request};
use fathom_ssd::spec::{MappingKind, Separation, Victim, WritePolicy};
use fathom_ssd::{Counters, Spec, Ssd};
use std::collections::BTreeSet;

/// Erases that a block may lag behind where wear is levelled.
const WEAR_GAP: u32 = 4;

type Outcome = Result<(), String>;
type Property = fn(&Spec, Effort) -> Outcome;

/// How much of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// Fixes every random choice.
    pub(crate) seed: u64,
    /// The power is cut at every so-manieth flash operation of a short life; at the first after `seed` of them.
    pub(crate) every: u64,
}

/// All that must hold of a drive, whatever its mapping and its buffer.
const PROPERTIES: [(&str, Property); 7] = [
    ("is a device", is_a_device),
    (
        "a full drive keeps its data, and loses what is trimmed",
        full_and_trimmed,
    ),
    ("valid pages are conserved", conserved),
    ("wear is even where writes are", worn_evenly),
    ("power cuts at any time", lives),
    ("power cuts at every n-th flash operation", cut_everywhere),
    ("blocks that fail", failing),
];

/// Runs all properties on a small drive.
///
/// # Errors
/// The drive, the property, and what is wrong.
pub(crate) fn check(spec: &Spec, effort: Effort) -> Outcome {
    for (name, holds) in PROPERTIES {
        holds(spec, effort)
            .map_err(|why| format!("{}, seed {}: {name}: {why}", spec.name, effort.seed))?;
    }
    Ok(())
}

fn is_a_device(spec: &Spec, effort: Effort) -> Outcome {
    let options = Options {
        operations: 100,
        region: 0..spec.capacity.0,
        ..Options::default()
    };
    let mut make = || Ssd::new(spec, effort.seed).unwrap().keep_data();
    let report = conformance::check(&mut make, &options).map_err(|v| v.to_string())?;
    want(report.bytes_compared > 0, || "nothing was compared".into())
}

/// Every unit valid, and written over and over; then everything trimmed, and written again.
fn full_and_trimmed(spec: &Spec, effort: Effort) -> Outcome {
    let mut t = Torture::new(spec, effort.seed);
    let unit = spec.unit() / SECTOR_BYTES;
    let units = spec.capacity.0 / spec.unit();
    t.fill(unit, 4 * units)?;
    t.verify()?;
    t.trim_all()?;
    let moved = t.drive.merges().moved_units;
    let line = spec.flash.clustered_page.0;
    let fill = (0..spec.capacity.0 / line).map(|i| Request::new(i, Op::Write, i * line, line));
    run(&mut t.drive, 1, fill);
    let moved = t.drive.merges().moved_units - moved;
    // Buffers may turn the order round, a log that all data blocks share goes on where it was, and a victim that is
    // drawn may be a full one: what was written since is then moved.
    // A map that lies in flash is still held, and where each of its pages is padded, stale ones between the data make room
    // scarce.
    let padded_map = spec.mapping.kind == MappingKind::Dftl && spec.unit() < line;
    let in_order = spec.write_buffer.is_none()
        && !padded_map
        && spec.mapping.kind != MappingKind::Hybrid
        && spec.gc.victim != Victim::DChoices;
    want(!in_order || moved == 0, || {
        format!("{moved} units of a drive that held nothing were moved")
    })?;
    t.drive.check()
}

/// A unit can be read from flash if and only if it was written and not trimmed; and every unit that was programmed is
/// one of the host's, of what was moved, or of the map.
fn conserved(spec: &Spec, effort: Effort) -> Outcome {
    let battery = spec.write_buffer.as_ref().is_some_and(|b| b.battery);
    if battery {
        // What it holds need never be in flash.
        return Ok(());
    }
    let mut drive = Ssd::new(spec, effort.seed).unwrap();
    let mut rng = Rng::new(effort.seed, 104);
    let (unit, units) = (spec.unit(), spec.capacity.0 / spec.unit());
    // Blocks are padded with what was never written, too.
    let pads = spec
        .write_buffer
        .as_ref()
        .is_some_and(|b| b.policy == WritePolicy::Bplru);
    let mut written = BTreeSet::new();
    let mut requests = Vec::new();
    for id in 0..6 * units {
        let at = rng.below(units);
        let n = 1 + rng.below((units - at).min(4));
        let op = if rng.chance(0.2) { Op::Trim } else { Op::Write };
        for lpn in at..at + n {
            match op {
                Op::Write => written.insert(lpn),
                _ => written.remove(&lpn),
            };
        }
        requests.push(Request::new(id, op, at * unit, n * unit));
    }
    requests.push(Request::new(0, Op::Flush, 0, 0));
    run(&mut drive, 1, requests);
    settle(&mut drive);
    accounted(spec, &drive)?;
    for lpn in 0..units {
        let before = drive.counters();
        run(&mut drive, 1, [Request::new(0, Op::Read, lpn * unit, unit)]);
        settle(&mut drive);
        let after = drive.counters();
        let of_map = |c: &Counters| c.map_reads + c.map_programs;
        let read = after.flash_ops - before.flash_ops > of_map(&after) - of_map(&before);
        let expected = written.contains(&lpn);
        // Writing the map may make room, and what moves then is no read of the host's.
        let odd = after.map_programs == before.map_programs && read != expected && !(read && pads);
        want(!odd, || {
            format!("unit {lpn} is in flash: {read}, written: {expected}")
        })?;
    }
    drive.check()
}

fn accounted(spec: &Spec, drive: &Ssd) -> Outcome {
    let (counters, merges) = (drive.counters(), drive.merges());
    let wear: u64 = drive.erase_counts().iter().map(|&n| u64::from(n)).sum();
    want(wear == counters.erases, || {
        format!("{wear} erases of {}", counters.erases)
    })?;
    let others = (merges.moved_units + counters.map_programs) * (spec.unit() / SECTOR_BYTES);
    let of_host = counters.flash_sectors_programmed.checked_sub(others);
    let written = counters.host_sectors_written;
    // A page that merges fill is programmed with the gaps in it, and so is one of a replacement block.
    let gaps = !spec.mapping.kind.is_paged() && spec.unit() < spec.flash.clustered_page.0;
    let fits = match &spec.write_buffer {
        None => of_host == Some(written) || gaps && of_host > Some(written),
        Some(buffer) if buffer.policy == WritePolicy::Bplru || gaps => of_host.is_some(),
        Some(_) => of_host.is_some_and(|n| n <= written && n > 0),
    };
    want(fits, || {
        format!("{of_host:?} sectors programmed for {written} of the host's")
    })
}

/// Until the erases are done that were due.
fn settle(drive: &mut Ssd) {
    let later = Time(drive.now().0 + 100_000_000);
    drive.wait(later, &mut Vec::new());
}

/// Where all of the drive is written over and over, no block is erased much more often than another of its group.
/// Logs take erased blocks in turn, and each pass in order needs every block once. Collection by pages takes the first
/// of equal blocks and needs wear levelling for it; a block that is open is not levelled.
fn worn_evenly(spec: &Spec, effort: Effort) -> Outcome {
    let mut spec = spec.clone();
    let paged = spec.mapping.kind.is_paged();
    let bound = if paged { WEAR_GAP + 10 } else { 3 };
    (spec.gc.wear_gap, spec.write_buffer) = (WEAR_GAP, None);
    let mut drive = Ssd::new(&spec, effort.seed).unwrap();
    let line = spec.flash.clustered_page.0;
    let lines = spec.capacity.0 / line;
    let mut rng = Rng::new(effort.seed, 105);
    let next = |i| if paged { rng.below(lines) } else { i % lines };
    let pages = (0..80 * lines).map(next).collect::<Vec<_>>().into_iter();
    let writes = pages.map(|page| Request::new(0, Op::Write, page * line, line));
    run(&mut drive, 1, writes);
    settle(&mut drive);
    let per_group = drive.geometry().cblocks_per_group as usize;
    let open = match spec.gc.separate {
        _ if !paged => 0,
        Separation::Nothing => 1,
        Separation::Copies => 2,
        Separation::HotCold => 3,
    };
    for group in drive.erase_counts().chunks(per_group) {
        let mut counts = group.to_vec();
        counts.sort_unstable();
        let (most, least) = (counts[counts.len() - 1], counts[open]);
        let fits = most > bound && most - least <= bound;
        want(fits, || format!("erase counts {counts:?}"))?;
    }
    Ok(())
}

fn lives(spec: &Spec, effort: Effort) -> Outcome {
    life(spec, effort.seed, 3).map(drop)
}

/// Work, cut, recover, several times; then work without a cut. Ends early where the drive is worn out. The drive as it
/// is then.
pub(crate) fn life(spec: &Spec, seed: u64, cuts: u32) -> Result<Ssd, String> {
    let mut t = Torture::new(spec, seed);
    let mut rng = Rng::new(seed, 101);
    let depth = if rng.chance(0.3) { 1 } else { 32 };
    for _ in 0..cuts {
        let most = if rng.chance(0.2) { 8 } else { 1500 };
        let at = t.drive.counters().flash_ops + 1 + rng.below(most);
        assert!(t.drive.cut_power_after(at));
        let worked = t.work(1500, depth);
        if t.drive.is_worn_out() {
            return Ok(t.drive);
        }
        worked?;
        while !t.drive.is_powered() {
            // Sometimes the power goes again while the drive is looking for what it has.
            if rng.chance(0.3) {
                let at = t.drive.counters().flash_ops + 1 + rng.below(30);
                t.drive.cut_power_after(at);
            }
            t.recover()?;
        }
    }
    t.drive.cut_power_after(u64::MAX);
    let worked = t.work(600, depth).and_then(|()| t.verify());
    if !t.drive.is_worn_out() {
        worked?;
    }
    Ok(t.drive)
}

fn cut_everywhere(spec: &Spec, effort: Effort) -> Outcome {
    // A drive with a large buffer does some thirty operations in all.
    let mut n = 1 + effort.seed % effort.every.min(32);
    let mut cuts = 0;
    while cut_at(spec, n).map_err(|why| format!("at {n}: {why}"))? {
        n += effort.every;
        cuts += 1;
    }
    want(cuts > 0, || format!("no cut: fewer than {n} operations"))
}

/// A short life, cut at the n-th flash operation, and again a few operations later; false if it has fewer.
fn cut_at(spec: &Spec, n: u64) -> Result<bool, String> {
    let mut t = Torture::new(spec, 5);
    t.drive.cut_power_after(n);
    t.work(100, 8)?;
    let cut = !t.drive.is_powered();
    let mut later = 1 + n % 7;
    while !t.drive.is_powered() {
        t.drive
            .cut_power_after(t.drive.counters().flash_ops + later);
        t.recover()?;
        t.work(20, 8)?;
        later *= 5;
    }
    t.drive.cut_power_after(u64::MAX);
    t.work(60, 8)?;
    t.verify()?;
    Ok(cut)
}

/// Blocks that are bad from the start, programs and erases that fail, and power cuts.
fn failing(spec: &Spec, effort: Effort) -> Outcome {
    let mut spec = spec.clone();
    spec.mapping.over_provisioning_percent = if spec.mapping.kind.is_paged() {
        100.0
    } else {
        1000.0
    };
    spec.faults.factory_bad_percent = 10.0;
    (spec.faults.program_fail, spec.faults.erase_fail) = (0.001, 0.005);
    (spec.faults.read_retry, spec.faults.read_retries_max) = (0.1, 3);
    let drive = life(&spec, effort.seed, 2)?;
    want(drive.counters().read_retries > 0, || {
        "no read was repeated".into()
    })
}

fn want(holds: bool, why: impl FnOnce() -> String) -> Outcome {
    if holds { Ok(()) } else { Err(why()) }
}
