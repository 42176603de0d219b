//! Recorded pages of the kernel's buffers, decoded and compared with what the kernel itself printed of them (`trace`).
//!
//! Recorded on Linux 6.18 (x86-64, two processors, clock `x86-tsc`) on a loop device over an image in the page cache, and on
//! a file on ext4 over virtio-blk: direct and buffered `pread` of 4 KiB, batches of four through io_uring, and a recording
//! that did not fit in its buffers. `formats.txt` has the `format` files of that kernel.
//!
//! `md` is the first page of a recording on Linux 6.1 (Debian, one emulated processor) of an md array of two null_blk devices
//! with chunks of 64 KiB: `pread` of 4 and 128 KiB and io_uring. `formats-6.1.txt` has the `format` files of that kernel.

use super::Recorded;
use super::decode::{Decoder, Layout};
use super::wish::names_of;
use crate::tracing::Lost;
use fathom_block::kernel::{Call, Event, Interrupt, Record, Span, Tracepoint};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

const PAGE: usize = 4096;

fn testdata() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("testdata")
}

fn read(name: &str) -> String {
    fs::read_to_string(testdata().join(name)).unwrap()
}

fn points() -> Vec<Tracepoint> {
    use super::{IoDevices, Purpose, RecorderConfig};
    let config = RecorderConfig {
        purpose: Purpose::Clocks,
        calls: vec![Call::Pread, Call::UringEnter],
        devices: IoDevices::default(),
        threads: Vec::new(),
        clocks: true,
        buffer_bytes: 0,
    };
    config.tracepoints()
}

/// Returns a decoder for the kernel with these `format` files, and the events that it does not have.
fn decoder_of(formats: &str) -> (Decoder, Vec<Tracepoint>) {
    let text = read(formats);
    let mut decoder = Decoder::new(16);
    let mut missing = Vec::new();
    for point in points() {
        let described = names_of(point).find_map(|name| {
            let (_, format) = text.split_once(&format!("name: {name}\n"))?;
            format.split("\nname: ").next()
        });
        match described {
            Some(format) => decoder.add(Layout::parse(point, format).unwrap()),
            None => missing.push(point),
        }
    }
    (decoder, missing)
}

fn decoder() -> Decoder {
    let (decoder, missing) = decoder_of("formats.txt");
    assert_eq!(missing, []);
    decoder
}

fn pages(name: &str) -> BTreeMap<u16, Vec<u8>> {
    let page = |cpu: u16| (cpu, testdata().join(name).join(format!("cpu{cpu}.raw")));
    let read = |(cpu, path)| Some((cpu, fs::read(path).ok()?));
    let pages: BTreeMap<u16, Vec<u8>> = [0, 1].map(page).into_iter().filter_map(read).collect();
    assert!(!pages.is_empty(), "{name}");
    pages
}

fn decoded(name: &str, lost: &[Lost]) -> Recorded {
    decoder().all(&pages(name), PAGE, lost)
}

/// Parses a line of the kernel's text.
fn line(line: &str) -> Option<Record> {
    let (head, rest) = line.split_once(" [")?;
    let thread = head.rsplit_once('-')?.1.trim().parse().ok()?;
    let (cpu, rest) = rest.split_once("] ")?;
    let (at, said) = rest.split_once(' ')?.1.trim_start().split_once(": ")?;
    let event = match said.strip_prefix("sys_") {
        Some(call) => syscall(call)?,
        None => {
            let (name, said) = said.split_once(": ")?;
            event(name, said)?
        }
    };
    Some(Record {
        at: at.parse().ok()?,
        thread,
        cpu: cpu.parse().ok()?,
        event,
    })
}

fn syscall(said: &str) -> Option<Event> {
    let call = match said.starts_with("pread64") {
        true => Call::Pread,
        false => Call::UringEnter,
    };
    match said.split_once(" -> 0x") {
        Some((_, result)) => Some(Event::Exit(call, i64::from_str_radix(result, 16).ok()?)),
        None => Some(Event::Enter(call)),
    }
}

/// Returns the number after `name=`.
fn value(said: &str, name: &str) -> Option<u32> {
    let word = said.split_whitespace().find_map(|w| w.strip_prefix(name))?;
    word.strip_prefix('=')?.parse().ok()
}

/// Parses `7,0 RS 4096 () 13296 + 8 ...`.
fn span(said: &str) -> Option<Span> {
    let (before, after) = said.split_once(" + ")?;
    let (major, minor) = said.split_once(' ')?.0.split_once(',')?;
    Some(Span {
        dev: major.parse::<u32>().ok()? << 20 | minor.parse::<u32>().ok()?,
        sector: before.rsplit(' ').next()?.parse().ok()?,
        sectors: after.split_whitespace().next()?.parse().ok()?,
    })
}

/// Parses `9,0 RS 116480 / 116608 ...`: the bio, and where its second part begins.
fn split(said: &str) -> Option<Span> {
    let (before, _) = said.split_once(" / ")?;
    span(&format!("{before} + 0"))
}

fn event(name: &str, said: &str) -> Option<Event> {
    let interrupt = |kind| match name.ends_with("entry") {
        true => Event::Interrupt(kind),
        false => Event::InterruptEnd(kind),
    };
    Some(match name {
        "block_bio_queue" => Event::BioQueue(span(said)?),
        "block_split" => Event::BioSplit(split(said)?),
        "block_bio_complete" => Event::BioComplete(span(said)?),
        "block_getrq" => Event::GetRequest(span(said)?),
        "block_rq_insert" => Event::Insert(span(said)?),
        "block_rq_issue" => Event::Issue(span(said)?),
        "block_rq_complete" => Event::Complete(span(said)?),
        "irq_handler_entry" | "irq_handler_exit" => {
            interrupt(Interrupt::Device(value(said, "irq")?))
        }
        "softirq_entry" | "softirq_exit" => interrupt(Interrupt::Soft(value(said, "vec")?)),
        "local_timer_entry" | "local_timer_exit" => interrupt(Interrupt::Timer),
        "reschedule_entry" | "reschedule_exit" => interrupt(Interrupt::Reschedule),
        "irq_work_entry" | "irq_work_exit" => interrupt(Interrupt::Work),
        _ if name.starts_with("call_function") => interrupt(Interrupt::Call),
        "sched_switch" => {
            let state = said.split("prev_state=").nth(1)?.split(' ').next()?;
            let preempted = state == "R" || state.ends_with('+');
            let to = value(said, "next_pid")?;
            Event::Switch { to, preempted }
        }
        "sched_waking" => Event::Waking(value(said, "pid")?),
        "sched_wakeup" => Event::Woken(value(said, "pid")?),
        "io_uring_submit_req" | "io_uring_submit_sqe" => Event::UringSubmit,
        "io_uring_complete" => Event::UringComplete,
        "iomap_dio_complete" => Event::DirectDone,
        "mm_filemap_get_pages" => Event::PagesReady,
        _ => panic!("the test does not know {name}"),
    })
}

fn printed(name: &str) -> Vec<Record> {
    let text = read(&format!("{name}/trace.txt"));
    let lines = text
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty());
    let known = lines.filter(|line| !line.contains("LOST"));
    let records = known.map(|text| line(text).unwrap_or_else(|| panic!("{text}")));
    records.collect()
}

/// Fails at the first difference.
fn compare(ours: &[Record], theirs: &[Record], name: &str) {
    assert_eq!(ours.len(), theirs.len(), "{name}");
    for (ours, theirs) in ours.iter().zip(theirs) {
        assert_eq!(ours, theirs, "{name}");
    }
}

#[test]
fn every_event_is_the_one_that_the_kernel_prints() {
    for (name, count) in [
        ("loop", 222),
        ("file", 120),
        ("buffered", 135),
        ("uring", 126),
    ] {
        let Recorded {
            records,
            lost,
            cpus,
        } = decoded(name, &[]);
        assert_eq!((lost, cpus), (0, 2), "{name}");
        let printed = printed(name);
        compare(&records, &printed, name);
        assert_eq!(records.len(), count, "{name}");
    }
}

#[test]
fn an_older_kernel_with_an_array_is_decoded_as_well() {
    let (decoder, missing) = decoder_of("formats-6.1.txt");
    assert_eq!(missing, [Tracepoint::DirectDone, Tracepoint::PagesReady]);
    let Recorded { records, lost, .. } = decoder.all(&pages("md"), PAGE, &[]);
    assert_eq!(lost, 0);
    compare(&records, &printed("md"), "md");
    let count = |of: fn(&Event) -> bool| records.iter().filter(|r| of(&r.event)).count();
    assert_eq!(count(|event| matches!(event, Event::UringSubmit)), 1);
    assert_eq!(count(|event| matches!(event, Event::BioSplit(_))), 1);
    // A bio of the array is queued a second time on the device that it is mapped to.
    let on = |major: u32| {
        let of = |r: &&Record| matches!(r.event, Event::BioQueue(span) if span.dev >> 20 == major);
        records.iter().filter(of).count()
    };
    assert_eq!((on(9), on(253)), (4, 5));
}

#[test]
fn what_did_not_fit_is_told_with_its_number() {
    let counted = [(0, 2719), (1, 8411)].map(|(cpu, events)| Lost { cpu, events });
    let recorded = decoded("lost", &counted);
    assert_eq!(recorded.lost, 2719 + 8411);
    let (lost, records): (Vec<Record>, Vec<_>) = recorded
        .records
        .into_iter()
        .partition(|record| matches!(record.event, Event::Lost { .. }));
    compare(&records, &printed("lost"), "lost");
    assert_eq!(lost.len(), 2);
    for (record, Lost { cpu, events }) in lost.iter().zip(counted) {
        let count = Some(events);
        assert_eq!(record.cpu, cpu);
        assert_eq!(record.event, Event::Lost { since: 0, count });
        let first = records.iter().find(|r| r.cpu == record.cpu).unwrap();
        assert_eq!(record.at, first.at);
    }
}

#[test]
fn broken_pages_never_panic_and_are_told() {
    let decoder = decoder();
    let mut pages = pages("loop");
    let whole = decoder.all(&pages, PAGE, &[]);
    // More bytes in use than the page has.
    pages.get_mut(&1).unwrap()[9] = 0xff;
    let broken = decoder.all(&pages, PAGE, &[]);
    assert!(broken.lost > 0 && broken.records.len() < whole.records.len());
    for seed in 0..500_usize {
        let mut damaged = pages.clone();
        let bytes = damaged.get_mut(&(seed as u16 % 2)).unwrap();
        let at = seed.wrapping_mul(2_654_435_761) % bytes.len();
        bytes[at] ^= 1 << (seed % 8);
        decoder.all(&damaged, PAGE, &[]);
        decoder.all(&damaged, 1 + seed, &[]);
    }
}
