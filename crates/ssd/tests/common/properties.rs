//! Properties of the suite that are no scripts: what counters and flash operations say.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use super::script::{Script, Step};
use super::torture::{Done, Outcome, Torture};
use super::{Effort, Failure};
use crate::common::run;
use fathom_base::{Rng, SECTOR_BYTES, Time};
use fathom_block::conformance::{self, Options};
use fathom_block::{Device, Op, Request};
use fathom_ssd::spec::{Faults, MappingKind, Noise, Separation, Victim, WritePolicy};
use fathom_ssd::{Counters, Spec, Ssd};
use std::collections::BTreeSet;

/// Erases that a block may lag behind where wear is levelled.
const WEAR_GAP: u32 = 4;

/// The drive without what hides or disturbs its counters, and for requests of any length.
fn calm(spec: &Spec) -> Spec {
    let mut spec = spec.clone();
    (spec.noise, spec.faults) = (Noise::default(), Faults::default());
    spec.read_buffer = None;
    spec.host.max_request = spec.capacity;
    spec
}

pub(super) fn is_a_device(spec: &Spec, effort: Effort) -> Result<Done, Failure> {
    let mut spec = spec.clone();
    // A drive that fails is none.
    spec.faults = Faults::default();
    let options = Options {
        seed: effort.seed,
        operations: 100,
        region: 0..spec.capacity.0,
        ..Options::default()
    };
    let mut make = || Ssd::new(&spec, effort.seed).unwrap().keep_data();
    let report = conformance::check(&mut make, &options).map_err(|v| v.to_string())?;
    want(report.bytes_compared > 0, || "nothing was compared".into())?;
    Ok(Done {
        operations: report.requests,
        ..Done::default()
    })
}

/// Every unit valid, and written over and over; then everything trimmed, and written again.
pub(super) fn full_and_trimmed(spec: &Spec, effort: Effort) -> Result<Done, Failure> {
    let mut spec = calm(spec);
    // Levelling moves what is valid, too.
    spec.gc.wear_gap = 0;
    let mut t = Torture::new(&spec, effort.seed);
    let mut rng = Rng::new(effort.seed, 106);
    let (unit, units) = (spec.unit() / SECTOR_BYTES, spec.capacity.0 / spec.unit());
    let mut order: Vec<u64> = (0..units).collect();
    rng.shuffle(&mut order);
    order.extend((0..3 * units).map(|_| rng.below(units)));
    let write = |at: u64| Step::Ask {
        op: Op::Write,
        first: at * unit,
        n: unit,
        fua: false,
    };
    let full = Script {
        depth: 8.min(spec.host.queue_depth as usize),
        steps: order.into_iter().map(write).collect(),
    };
    full.play(&mut t)?;
    all_trimmed(&mut t, pads(&spec))?;
    let moved = t.drive.merges().moved_units;
    let line = spec.flash.clustered_page.0;
    let fill = (0..spec.capacity.0 / line).map(|i| Request::new(i, Op::Write, i * line, line));
    run(&mut t.drive, 1, fill);
    let moved = t.drive.merges().moved_units - moved;
    // Buffers may turn the order round, a log that data blocks share goes on where it was, and a victim that is drawn
    // may be a full one: what was written since is then moved. A map that lies in flash is still held, and its pages take
    // from what is spare: they lie between the data, and where room is scarce they are moved.
    let in_order = spec.write_buffer.is_none()
        && !matches!(
            spec.mapping.kind,
            MappingKind::Hybrid | MappingKind::Superblock | MappingKind::Dftl
        )
        && spec.gc.victim != Victim::DChoices;
    want(!in_order || moved == 0, || {
        format!("{moved} units of a drive that held nothing were moved")
    })?;
    t.drive.check()?;
    Ok(t.counts())
}

/// Whether blocks that leave the buffer are padded with what was never written, too.
fn pads(spec: &Spec) -> bool {
    let buffer = spec.write_buffer.as_ref();
    buffer.is_some_and(|b| b.policy == WritePolicy::Bplru)
}

/// Trims everything; then nothing may be left of it, in the buffer or in flash.
fn all_trimmed(t: &mut Torture, pads: bool) -> Outcome {
    t.submit(Op::Trim, (0, t.sectors()), false)?;
    t.drain()?;
    settle(&mut t.drive);
    let before = t.drive.counters();
    t.verify()?;
    let after = t.drive.counters();
    // Of a map that lies in flash something may have to be read to know it.
    let read = after.flash_ops - before.flash_ops;
    want(pads || read <= after.map_reads - before.map_reads, || {
        "what was trimmed is read from flash".into()
    })
}
/// A unit can be read from flash if and only if it was written and not trimmed; and every unit that was programmed is
/// one of the host's, of what was moved, or of the map.
pub(super) fn conserved(spec: &Spec, effort: Effort) -> Result<Done, Failure> {
    let spec = &calm(spec);
    let battery = spec.write_buffer.as_ref().is_some_and(|b| b.battery);
    if battery {
        // What it holds need never be in flash.
        return Ok(Done::default());
    }
    let mut drive = Ssd::new(spec, effort.seed).unwrap();
    let mut rng = Rng::new(effort.seed, 104);
    let (unit, units) = (spec.unit(), spec.capacity.0 / spec.unit());
    let pads = pads(spec);
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
    accounted(spec, &drive, written.is_empty())?;
    let before = drive.counters();
    settle(&mut drive);
    want(drive.counters() == before, || {
        "an idle drive goes on working".into()
    })?;
    for lpn in 0..units {
        let before = drive.counters();
        run(&mut drive, 1, [Request::new(0, Op::Read, lpn * unit, unit)]);
        settle(&mut drive);
        let after = drive.counters();
        let of_map = |c: &Counters| c.map_reads + c.map_programs;
        let read = after.flash_ops - before.flash_ops > of_map(&after) - of_map(&before);
        let expected = written.contains(&lpn);
        // A map that comes into the cache may need room in flash, and what moves then is no read of the host's.
        let room = after.map_programs > before.map_programs || after.erases > before.erases;
        let odd = !room && read != expected && !(read && pads);
        want(!odd, || {
            format!("unit {lpn} is in flash: {read}, written: {expected}")
        })?;
    }
    drive.check()?;
    Ok(Done {
        operations: 6 * units,
        read_back: units,
        ..Done::default()
    })
}

fn accounted(spec: &Spec, drive: &Ssd, is_empty: bool) -> Outcome {
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
        // What is longer than the buffer leaves it in parts, and each of them has its unit programmed.
        Some(buffer)
            if buffer.policy == WritePolicy::Bplru
                || gaps
                || buffer.capacity < spec.flash.clustered_page =>
        {
            of_host.is_some()
        }
        Some(_) => of_host.is_some_and(|n| n <= written && (n > 0 || is_empty)),
    };
    want(fits, || {
        format!("{of_host:?} sectors programmed for {written} of the host's")
    })
}

/// Until everything is done that was due, collecting in idle time included.
fn settle(drive: &mut Ssd) {
    let later = Time(drive.now().0 + 2_000_000_000);
    drive.wait(later, &mut Vec::new());
}

/// Where all of the drive is written over and over, no block is erased much more often than another of its group.
/// Logs take erased blocks in turn, and each pass in order needs every block once; superblocks take turns among
/// themselves only. Collection by pages takes what holds least and needs wear levelling for it: one block for each that
/// the host fills, so that many that lag at once take their time. A block that is open is not levelled.
pub(super) fn worn_evenly(spec: &Spec, effort: Effort) -> Result<Done, Failure> {
    let mut spec = calm(spec);
    let kind = spec.mapping.kind;
    (spec.gc.wear_gap, spec.write_buffer) = (WEAR_GAP, None);
    let mut drive = Ssd::new(&spec, effort.seed).unwrap();
    let line = spec.flash.clustered_page.0;
    let lines = spec.capacity.0 / line;
    let mut rng = Rng::new(effort.seed, 105);
    let next = |i| {
        if kind.is_paged() {
            rng.below(lines)
        } else {
            i % lines
        }
    };
    let pages = (0..80 * lines).map(next).collect::<Vec<_>>().into_iter();
    let writes = pages.map(|page| Request::new(0, Op::Write, page * line, line));
    run(&mut drive, 1, writes);
    settle(&mut drive);
    let per_group = drive.geometry().cblocks_per_group;
    let open = match spec.gc.separate {
        _ if !kind.is_paged() => 0,
        Separation::Nothing => 1,
        Separation::Copies => 2,
        Separation::HotCold => 3,
    };
    for group in drive.erase_counts().chunks(per_group as usize) {
        let mut counts = group.to_vec();
        counts.sort_unstable();
        let (most, least) = (counts[counts.len() - 1], counts[open]);
        let bound = match kind {
            // U-blocks go to some superblocks more often than to others: a drawn drive had 17 and 24.
            MappingKind::Superblock => 3.max(most / 3),
            kind if kind.is_paged() => WEAR_GAP + 10.max(per_group),
            _ => 3,
        };
        // A group that is seldom written tells nothing.
        let fits = most <= bound || most - least <= bound;
        want(fits, || format!("erase counts {counts:?}"))?;
    }
    Ok(Done {
        operations: 80 * lines,
        ..Done::default()
    })
}

fn want(holds: bool, why: impl FnOnce() -> String) -> Outcome {
    if holds { Ok(()) } else { Err(why()) }
}
