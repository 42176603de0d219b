//! Recordings of the running kernel: what they leave behind, and what they say of events that did not fit.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod common;

use common::Loop;
use fathom_block::kernel::{Call, Event, Record};
use fathom_hostio::{HostError, IoDevices, Purpose, Recorder, RecorderConfig};
use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

fn config(device: &Path, buffer_bytes: u64) -> RecorderConfig {
    RecorderConfig {
        purpose: Purpose::Clocks,
        calls: vec![Call::Pread],
        devices: IoDevices::under(device).unwrap(),
        threads: vec![rustix::thread::gettid().as_raw_nonzero().get() as u32],
        clocks: true,
        buffer_bytes,
    }
}

/// Starts a recording; `None` without the right or the kernel for it.
fn start(config: &RecorderConfig) -> Option<Recorder> {
    match Recorder::start(config) {
        Ok(recorder) => Some(recorder),
        Err(error @ (HostError::NoTracefs | HostError::NoPermission { .. })) => {
            println!("skipped: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

fn read(device: &Path, blocks: u64) {
    let file = File::open(device).unwrap();
    let mut bytes = vec![0; 4096];
    for block in 0..blocks {
        // Far apart, so that nothing is read ahead.
        file.read_exact_at(&mut bytes, block * 65_536).unwrap();
    }
}

fn instances() -> Vec<PathBuf> {
    let dir = Path::new("/sys/kernel/tracing/instances");
    let own = format!("fathom-{}", std::process::id());
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let named = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        name == own || name.starts_with(&format!("{own}-"))
    };
    entries.map(|e| e.path()).filter(named).collect()
}

fn count(records: &[Record], is: impl Fn(&Event) -> bool) -> usize {
    records.iter().filter(|record| is(&record.event)).count()
}

/// One test for all: an instance of another would look like a leftover.
#[test]
fn a_recording_has_all_or_says_what_it_lost_and_leaves_nothing() {
    let Some(disk) = Loop::attach(16 << 20) else {
        return;
    };
    let Some(recorder) = start(&config(&disk.device, 4 << 20)) else {
        return;
    };
    read(&disk.device, 100);
    let recorded = recorder.finish().unwrap();
    assert_eq!(recorded.lost, 0);
    let records = &recorded.records;
    assert!(records.is_sorted_by_key(|record| record.at));
    let calls = count(records, |e| matches!(e, Event::Enter(Call::Pread)));
    let exits = count(records, |e| *e == Event::Exit(Call::Pread, 4096));
    assert_eq!((calls, exits), (100, 100));
    let dev = IoDevices::under(&disk.device).unwrap().issued[0];
    let issued = count(records, |e| matches!(e, Event::Issue(s) if s.dev == dev));
    let done = count(records, |e| matches!(e, Event::Complete(s) if s.dev == dev));
    assert!(
        issued == done && (1..=100).contains(&issued),
        "{issued} {done}"
    );
    assert_eq!(instances(), Vec::<PathBuf>::new());

    // The smallest buffers, never drained.
    let recorder = start(&config(&disk.device, 0)).unwrap();
    let second = start(&config(&disk.device, 0)).unwrap();
    assert_eq!(instances().len(), 2);
    let end = second.at_the_end();
    end();
    assert_eq!(instances().len(), 1);
    assert_eq!(second.finish().unwrap().records, []);
    for _ in 0..50 {
        read(&disk.device, 200);
    }
    let recorded = recorder.finish().unwrap();
    assert!(recorded.lost > 1000, "{}", recorded.lost);
    let told = recorded.records.iter().filter_map(|r| match r.event {
        Event::Lost { count, .. } => Some((r.cpu, count)),
        _ => None,
    });
    // The kernel does not always write the number into the page; of one such place on a processor it follows from its counters.
    let told: Vec<(u16, Option<u64>)> = told.collect();
    let known: u64 = told.iter().filter_map(|(_, count)| *count).sum();
    let unknown = told.iter().filter(|(_, count)| count.is_none());
    match unknown.count() {
        0 => assert_eq!(known, recorded.lost),
        several => assert!(several > 1 && known < recorded.lost, "{told:?}"),
    }

    drop(start(&config(&disk.device, 0)).unwrap());
    assert_eq!(instances(), Vec::<PathBuf>::new());
}
