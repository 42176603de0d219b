//! Tests a real device beyond the contract: its clock, its data, its failures, and what it leaves behind.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // A helper that fails is a failed test; a skipped one says why.

mod common;

use common::{Loop, Mounted, config, destroying, directory, one, refusal, write_of};
use fathom_base::{Dur, Time};
use fathom_block::layers::Limit;
use fathom_block::{Contents, Device, IoErrorKind, Limited, Op, Request};
use fathom_hostio::{HostConfig, HostDevice, HostError, QueueDepth, open};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

const MIB: u64 = 1 << 20;

fn scratch(directory: &Path, bytes: u64) -> HostDevice {
    let config = config(directory, |c| {
        c.scratch_bytes = Some(bytes);
        c.keep_data = true;
    });
    open(&config).unwrap()
}

#[test]
fn a_latency_lies_between_the_submission_and_the_next_look_at_the_clock() {
    let directory = directory();
    let mut device = scratch(directory.path(), MIB);
    for (id, op) in [(1, Op::Write), (2, Op::Read), (3, Op::Flush), (4, Op::Trim)] {
        let len = if op == Op::Flush { 0 } else { 65_536 };
        let before = device.now();
        let done = one(&mut device, Request::new(id, op, 0, len));
        assert_eq!((done.result, done.op), (Ok(()), op));
        assert!(before <= done.submitted && done.submitted < done.completed);
        assert!(done.completed <= device.now());
    }
    let until = Time(device.now().0 + 3_000_000);
    device.wait(until, &mut Vec::new());
    assert!(device.now() >= until);
    device.wait(Time::MAX, &mut Vec::new());
}

#[test]
fn writes_without_data_differ_in_every_sector() {
    let directory = directory();
    let mut device = scratch(directory.path(), 2 * MIB);
    let mut sectors = BTreeSet::new();
    for id in 0..4 {
        let request = Request::new(id, Op::Write, 65_536, MIB);
        assert_eq!(one(&mut device, request).result, Ok(()));
        let read = one(&mut device, Request::new(id, Op::Read, 65_536, MIB));
        let data = read.data.unwrap();
        sectors.extend(data.chunks(512).map(<[u8]>::to_vec));
    }
    assert_eq!(sectors.len() as u64, 4 * MIB / 512);
}

#[test]
fn a_place_is_told_as_a_hole_blank_or_data() {
    use std::os::unix::fs::FileExt;
    let directory = directory();
    let path = directory.path().join("file");
    let file = std::fs::File::create(&path).unwrap();
    file.set_len(8 * MIB).unwrap();
    let bytes: Vec<u8> = (0..MIB).map(|i| (i % 251) as u8).collect();
    file.write_all_at(&bytes, 2 * MIB).unwrap();
    file.write_all_at(&vec![0xff; MIB as usize], 4 * MIB)
        .unwrap();
    file.sync_all().unwrap();
    let config = config(&path, |c| c.read_only = true);
    let mut device = open(&config).unwrap();
    let mut told = |offset| device.contents(offset, 8192);
    for hole in [0, MIB, 3 * MIB, 5 * MIB, 8 * MIB - 8192] {
        assert_eq!(told(hole), Ok(Contents::Hole), "{hole}");
    }
    assert_eq!(told(2 * MIB), Ok(Contents::Data));
    assert_eq!(told(3 * MIB - 4096), Ok(Contents::Data), "in part");
    assert_eq!(told(4 * MIB + 4096), Ok(Contents::Blank));
    let outside = told(8 * MIB).unwrap_err();
    assert_eq!(outside.kind, IoErrorKind::OutOfRange);
    let mut scratch = scratch(directory.path(), MIB);
    assert_eq!(
        scratch.contents(0, 4096),
        Ok(Contents::Hole),
        "allocated and not written"
    );
    let written = Request::new(1, Op::Write, 0, 65_536);
    assert_eq!(one(&mut scratch, written).result, Ok(()));
    assert_eq!(scratch.contents(0, 4096), Ok(Contents::Data));
}

#[test]
fn a_device_that_is_dropped_has_written_everything_first() {
    let directory = directory();
    let path = directory.path().join("file");
    std::fs::write(&path, vec![0; 8 * MIB as usize]).unwrap();
    let mut device = open(&destroying(&path)).unwrap();
    for id in 0..32 {
        let data = vec![id as u8 + 1; 262_144];
        device.submit(write_of(id, id * 262_144, data)).unwrap();
    }
    drop(device);
    let bytes = std::fs::read(&path).unwrap();
    for (id, piece) in bytes.chunks(262_144).enumerate() {
        assert!(piece.iter().all(|&b| b == id as u8 + 1), "request {id}");
    }
}

#[test]
fn data_of_another_length_than_the_request_is_refused() {
    let directory = directory();
    let mut device = scratch(directory.path(), MIB);
    let mut request = write_of(1, 0, vec![1; 4096]);
    request.len = 8192;
    let kind = one(&mut device, request).result.map_err(|e| e.kind);
    assert_eq!(kind, Err(IoErrorKind::Misaligned));
}

#[test]
fn a_full_file_system_is_no_space_and_no_room_for_a_scratch_file() {
    let disk = or_skip!(Loop::attach(16 * MIB));
    let mounted = or_skip!(Mounted::ext4(disk.path()));
    for (scratch_bytes, needed) in [(None, 256 * MIB), (Some(64 * MIB), 64 * MIB)] {
        let config = config(mounted.at(), |c| c.scratch_bytes = scratch_bytes);
        match refusal(&config) {
            HostError::NotEnoughRoom {
                free_bytes,
                needed_bytes,
                ..
            } => {
                assert_eq!(needed_bytes, needed);
                assert!((MIB..16 * MIB).contains(&free_bytes));
            }
            other => panic!("{other}"),
        }
    }
    let path = mounted.at().join("sparse");
    std::fs::File::create(&path)
        .unwrap()
        .set_len(64 * MIB)
        .unwrap();
    let mut device = open(&destroying(&path)).unwrap();
    let outcomes: Vec<_> = (0..64)
        .map(|id| one(&mut device, Request::new(id, Op::Write, id * MIB, MIB)))
        .map(|done| done.result.map_err(|e| e.kind))
        .collect();
    assert_eq!(outcomes.first(), Some(&Ok(())));
    assert_eq!(outcomes.last(), Some(&Err(IoErrorKind::NoSpace)));
    let all_told = |o: &Result<(), IoErrorKind>| matches!(o, Ok(()) | Err(IoErrorKind::NoSpace));
    assert!(outcomes.iter().all(all_told), "{outcomes:?}");
}

#[test]
fn a_drive_that_cannot_read_is_a_failed_medium_and_a_cut_file_is_out_of_range() {
    let directory = directory();
    let path = directory.path().join("file");
    std::fs::write(&path, vec![1; MIB as usize]).unwrap();
    let mut device = open(&HostConfig::new(&path)).unwrap();
    std::fs::File::create(&path).unwrap();
    let read = Request::new(1, Op::Read, 65_536, 4096);
    let kind = one(&mut device, read).result.map_err(|e| e.kind);
    assert_eq!(kind, Err(IoErrorKind::OutOfRange));

    let disk = or_skip!(Loop::attach(4 * MIB));
    let mut device = open(&HostConfig::new(&disk.device)).unwrap();
    // The device keeps its size when its backing file is truncated; reads of the lost part fail with an I/O error.
    std::fs::File::create(&disk.file).unwrap();
    let read = Request::new(1, Op::Read, 2 * MIB, 4096);
    let kind = one(&mut device, read).result.map_err(|e| e.kind);
    assert_eq!(kind, Err(IoErrorKind::Medium));
}

fn entries(directory: &Path) -> usize {
    std::fs::read_dir(directory).unwrap().count()
}

#[test]
fn a_scratch_file_is_in_nobodys_way_and_gone_after_the_drop() {
    let directory = directory();
    std::fs::write(directory.path().join("mine"), b"kept").unwrap();
    let mut device = scratch(directory.path(), MIB);
    one(&mut device, Request::new(1, Op::Write, 0, 4096));
    assert_eq!(entries(directory.path()), 1);
    drop(device);
    assert_eq!(entries(directory.path()), 1);
    let kept = std::fs::read(directory.path().join("mine")).unwrap();
    assert_eq!(kept, b"kept");
}

const HELPER: &str = "holds_a_scratch_file_until_it_is_killed";
const HELPER_DIRECTORY: &str = "FATHOM_TEST_DIRECTORY";

/// Not a test of its own: this is the process that the next test kills.
#[test]
#[ignore = "started by the test that kills it"]
fn holds_a_scratch_file_until_it_is_killed() {
    let Some(directory) = std::env::var_os(HELPER_DIRECTORY) else {
        return;
    };
    let mut device = scratch(Path::new(&directory), 4 * MIB);
    for id in 0..4 {
        let write = Request::new(id, Op::Write, id * MIB, MIB);
        device.submit(write).unwrap();
    }
    println!("holding");
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
}

#[test]
fn a_killed_process_leaves_nothing_behind() {
    let directory = directory();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", HELPER, "--ignored", "--nocapture"])
        .env(HELPER_DIRECTORY, directory.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    let holding = output
        .lines()
        .map_while(Result::ok)
        .any(|l| l.contains("holding"));
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(holding, "the helper ended before it held anything");
    assert_eq!(entries(directory.path()), 0);
}

/// `queue/nr_requests` (Documentation/ABI/stable/sysfs-block) with a size that is no default.
#[test]
fn a_drive_has_as_many_requests_as_the_kernel_queues_for_it() {
    let disk = or_skip!(Loop::attach(16 * MIB));
    let attribute = format!("/sys/block/{}/queue/nr_requests", disk.name());
    if let Err(error) = std::fs::write(&attribute, "57") {
        println!("skipped: {attribute} cannot be changed: {error}");
        return;
    }
    let config = config(&disk.device, |c| {
        c.read_only = true;
        c.queue_depth = QueueDepth::Drive;
    });
    let mut device = open(&config).unwrap();
    assert_eq!(device.info().queue_depth, 57);
    let read = |id| Request::new(id, Op::Read, id * 4096, 4096);
    let taken = (0..100).take_while(|&id| device.submit(read(id)).is_ok());
    assert_eq!(taken.count(), 57);
    let mut done = Vec::new();
    while done.len() < 57 {
        device.wait(Time::MAX, &mut done);
    }
}

#[test]
fn a_token_bucket_in_front_of_a_real_drive_keeps_its_rate() {
    let directory = directory();
    let limit = Limit {
        operations_per_second: Some(1000),
        operations_burst: Some(10),
        ..Limit::default()
    };
    let mut device = Limited::new(scratch(directory.path(), MIB), Some(&limit));
    let began = device.now();
    let mut done = Vec::new();
    for id in 0..110 {
        let mut request = Request::new(id, Op::Write, id * 4096, 4096);
        while let Err(busy) = device.submit(request) {
            request = busy.0;
            device.wait(Time::MAX, &mut done);
        }
    }
    while done.len() < 110 {
        device.wait(Time::MAX, &mut done);
    }
    assert!(done.iter().all(|done| done.result.is_ok()));
    // Those after the burst wait a millisecond each, the last one with them.
    assert!(device.now().since(began) >= Dur::ms(99));
}
