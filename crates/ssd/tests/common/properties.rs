//! Properties of the suite that are not scripts: statements about counters and flash operations.

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

/// Allowed lag in erases of a block with wear levelling.
const WEAR_GAP: u32 = 4;

/// Returns the drive without noise and other features that disturb its counters, and for requests of any length.
fn calm(spec: &Spec) -> Spec {
    let mut spec = spec.clone();
    (spec.noise, spec.faults) = (Noise::default(), Faults::default());
    spec.read_buffer = None;
    spec.flash.parity_stripe = 0;
    spec.host.max_request = spec.capacity;
    spec
}

pub(super) fn is_a_device(spec: &Spec, effort: Effort) -> Result<Done, Failure> {
    let mut spec = spec.clone();
    // A drive with injected faults does not conform.
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

/// Writes every unit, then overwrites them repeatedly; then trims everything and writes it again.
pub(super) fn full_and_trimmed(spec: &Spec, effort: Effort) -> Result<Done, Failure> {
    let mut spec = calm(spec);
    // Wear levelling would also move valid data.
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
    // Units may still be moved: buffers may change the order, a log shared by data blocks continues at its position, and
    // a randomly drawn victim may be full of data written since. A mapping table in flash remains stored, and its pages
    // are taken from the spare blocks: they lie between the data, and are moved if space is scarce. Data in a fast cache is
    // folded.
    let in_order = spec.write_buffer.is_none()
        && spec.fast_cache.is_none()
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

/// Returns true if evicted blocks are padded with pages that were never written.
fn pads(spec: &Spec) -> bool {
    let buffer = spec.write_buffer.as_ref();
    buffer.is_some_and(|b| b.policy == WritePolicy::Bplru)
}

/// Trims everything. No data may remain, in the buffer or in flash.
fn all_trimmed(t: &mut Torture, pads: bool) -> Outcome {
    t.submit(Op::Trim, (0, t.sectors()), false)?;
    t.drain()?;
    settle(&mut t.drive);
    let before = t.drive.counters();
    t.verify()?;
    let after = t.drive.counters();
    // Determining this may require reads of a mapping table in flash.
    let read = after.flash_ops - before.flash_ops;
    want(pads || read <= after.map_reads - before.map_reads, || {
        "what was trimmed is read from flash".into()
    })
}
/// A unit can be read from flash if and only if it was written and not trimmed. Every programmed unit is host data, moved
/// data, or part of the map.
pub(super) fn conserved(spec: &Spec, effort: Effort) -> Result<Done, Failure> {
    let spec = &calm(spec);
    let battery = spec.write_buffer.as_ref().is_some_and(|b| b.battery);
    if battery {
        // Data in the battery-backed buffer never has to reach the flash.
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
        // Loading a map page may need room in flash; the data moved for that is not read by the host.
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
    // A page filled by a merge is programmed including its gaps, and so is a page of a replacement block.
    let gaps = !spec.mapping.kind.is_paged() && spec.unit() < spec.flash.clustered_page.0;
    let fits = match &spec.write_buffer {
        None => of_host == Some(written) || gaps && of_host > Some(written),
        // A write that is longer than the buffer is evicted in parts, and each part programs its unit.
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

/// Waits until all pending work is done, including background garbage collection.
fn settle(drive: &mut Ssd) {
    let later = Time(drive.now().0 + 2_000_000_000);
    drive.wait(later, &mut Vec::new());
}

/// If the whole drive is overwritten repeatedly, no block is erased much more often than another of its group. Logs use
/// erased blocks in turn, and each sequential pass needs every block once; superblocks take turns only among themselves.
/// Page collection chooses the block with the fewest valid pages, so it needs wear levelling: one block per block that
/// the host fills, so many lagging blocks take a while. An open block is not levelled.
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
    } + usize::from(spec.fast_cache.is_some());
    for group in drive.erase_counts().chunks(per_group as usize) {
        let mut counts = group.to_vec();
        counts.sort_unstable();
        let (most, least) = (counts[counts.len() - 1], counts[open]);
        let bound = match kind {
            // U-blocks go to some superblocks more often than to others: a randomly drawn drive had 17 and 24.
            MappingKind::Superblock => 3.max(most / 3),
            kind if kind.is_paged() => WEAR_GAP + 10.max(per_group),
            _ => 3,
        };
        // A group that is rarely written gives no information.
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
