//! Runs one case of docs/performance.md in its own process, so that its memory can be measured. Prints requests per
//! second of this process's CPU time, the peak resident memory, and further figures of the case.
//!
//! `cargo xtask performance` runs every case several times and creates the table. Linux only: CPU time and memory are
//! read from `/proc/self`.

#[path = "../../ssd/benches/cases/mod.rs"]
mod cases;

use cases::{DEPTH, blocks, epo, epo_tight, fill, measured, steady, tebibyte};
use fathom_block::{Device, Op};
use fathom_disksim::{self as ms, MsSsd};
use fathom_ssd::{Spec, Ssd};
use std::io::{self, Write};
use std::{env, fs};

const USAGE: &str = "\
Usage: performance DRIVE LOAD REQUESTS
  DRIVE  epo, tight-N (an N-th of the size, less over-provisioned), tebibyte or ms-ssd
  LOAD   setup, reads, fresh, fill or steady (writes under collection)";

/// Number of writes after which `ms-ssd` has been cleaning for a long time.
const MS_PREPARE: u64 = 15_000_000;

fn main() -> io::Result<()> {
    let args: Vec<String> = env::args().skip(1).collect();
    let requests = args.get(2).and_then(|n| n.parse().ok());
    let (Some(drive), Some(load), Some(requests)) = (args.first(), args.get(1), requests) else {
        return Err(io::Error::other(USAGE));
    };
    let began = seconds()?;
    let mut case = Case {
        load,
        requests,
        began,
        prepared: began,
    };
    if drive == "ms-ssd" {
        let mut drive = MsSsd::new(&ms::Spec::default()).map_err(io::Error::other)?;
        return case.run_ms(&mut drive);
    }
    let spec = match drive.strip_prefix("tight-") {
        Some(n) => epo_tight(blocks(n.parse().map_err(io::Error::other)?)),
        None if drive == "tebibyte" => tebibyte(),
        None => epo(),
    };
    case.run(&spec)
}

struct Case<'a> {
    load: &'a str,
    requests: u64,
    began: f64,
    prepared: f64,
}

impl Case<'_> {
    fn run(&mut self, spec: &Spec) -> io::Result<()> {
        let mut drive = match self.load {
            "steady" => steady(spec),
            _ => Ssd::new(spec, 1).map_err(io::Error::other)?,
        };
        if self.load == "reads" {
            fill(&mut drive);
        }
        let before = drive.counters();
        self.measure(&mut drive)?;
        let after = drive.counters();
        let programmed = after.flash_sectors_programmed - before.flash_sectors_programmed;
        let written = after.host_sectors_written - before.host_sectors_written;
        let mut out = io::stdout().lock();
        if self.load == "steady" {
            let waf = programmed as f64 / written as f64;
            writeln!(out, "write_amplification {waf:.3}")?;
        }
        if self.requests > 0 {
            let events = after.events - before.events;
            let events = events as f64 / self.requests as f64;
            writeln!(out, "events_per_request {events:.2}")?;
        }
        writeln!(out, "tables_bytes {}", drive.state_bytes())
    }

    fn run_ms(&mut self, drive: &mut MsSsd) -> io::Result<()> {
        if self.load == "steady" {
            measured(drive, Op::Write, MS_PREPARE, 3);
        }
        let before = drive.counters();
        self.measure(drive)?;
        let after = drive.counters();
        if self.load == "steady" {
            let written = after.pages_written - before.pages_written;
            let moved = after.pages_moved - before.pages_moved;
            let waf = (written + moved) as f64 / written as f64;
            writeln!(io::stdout().lock(), "write_amplification {waf:.3}")?;
        }
        Ok(())
    }

    /// Runs the load and prints its cost.
    fn measure(&mut self, drive: &mut impl Device) -> io::Result<()> {
        self.prepared = seconds()?;
        match self.load {
            "setup" => {}
            "fill" => fill(drive),
            "reads" => measured(drive, Op::Read, self.requests, 1),
            _ => measured(drive, Op::Write, self.requests, 2),
        }
        let took = seconds()? - self.prepared;
        let mut out = io::stdout().lock();
        writeln!(out, "depth {DEPTH}")?;
        writeln!(out, "prepare_seconds {:.3}", self.prepared - self.began)?;
        if self.load != "setup" {
            writeln!(out, "measured_seconds {took:.3}")?;
            writeln!(out, "per_second {:.0}", self.requests as f64 / took)?;
        }
        writeln!(out, "peak_kib {}", peak_kib()?)
    }
}

/// Returns the CPU time of this process so far, in seconds.
fn seconds() -> io::Result<f64> {
    let text = fs::read_to_string("/proc/self/schedstat")?;
    let first = text.split_whitespace().next().unwrap_or_default();
    let ns: f64 = first.parse().map_err(io::Error::other)?;
    Ok(ns / 1e9)
}

/// Returns the peak resident memory of this process, in KiB.
fn peak_kib() -> io::Result<u64> {
    let text = fs::read_to_string("/proc/self/status")?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().next());
    kib.and_then(|kib| kib.parse().ok())
        .ok_or_else(|| io::Error::other("no VmHWM in /proc/self/status"))
}
