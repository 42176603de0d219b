//! Crashes at random writes: the journal is replayed, by e2fsck and by the kernel, and no file is lost that was synced.
//!
//! All writes and flushes of a run are recorded. An image after a crash has the writes before a random one, or before a
//! random flush; of those since the last flush, half of the blocks, chosen at random, are missing. Replaying the journal must be enough: e2fsck then
//! finds nothing wrong, and the files are those of the last sync that ended, or of the one that was in progress.

use crate::common::kernel::{Mounted, can_mount};
use crate::common::{apply, cases, clean, e2fsck, layout, mixture, right, scratch, settings};
use fathom_base::Rng;
use fathom_ext::{Disk, Image, format_disk};
use fathom_fs::ext::Version;
use fathom_fs::{BLOCK_BYTES, Operation};
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

const BLOCK: usize = BLOCK_BYTES as usize;
const BLOCKS: u64 = (256 << 20) / BLOCK_BYTES;

enum Event {
    Write(u64, Vec<u8>),
    Flush,
    /// A sync has ended.
    Synced,
}

type Events = Arc<Mutex<Vec<Event>>>;

/// A disk in memory that records.
struct Recorder {
    blocks: BTreeMap<u64, Vec<u8>>,
    events: Events,
}

impl Disk for Recorder {
    fn blocks(&self) -> u64 {
        BLOCKS
    }

    fn read(&mut self, block: u64, into: &mut [u8]) -> io::Result<()> {
        for (at, part) in (block..).zip(into.chunks_mut(BLOCK)) {
            match self.blocks.get(&at) {
                Some(data) => part.copy_from_slice(data),
                None => part.fill(0),
            }
        }
        Ok(())
    }

    fn write(&mut self, block: u64, from: &[u8]) -> io::Result<()> {
        assert!(block + (from.len() / BLOCK) as u64 <= BLOCKS);
        for (at, part) in (block..).zip(from.chunks(BLOCK)) {
            self.blocks.insert(at, part.to_vec());
        }
        self.events
            .lock()
            .unwrap()
            .push(Event::Write(block, from.to_vec()));
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.events.lock().unwrap().push(Event::Flush);
        Ok(())
    }

    fn zero(&mut self, block: u64, blocks: u64) -> io::Result<()> {
        (block..block + blocks).for_each(|block| drop(self.blocks.remove(&block)));
        Ok(())
    }
}

/// The lengths of files.
type Files = BTreeMap<String, u64>;

struct Run {
    events: Vec<Event>,
    /// The first event after formatting.
    begin: usize,
    /// The files after each sync, none first.
    states: Vec<Files>,
}

impl Run {
    /// The flushes after formatting.
    fn flushes(&self) -> Vec<usize> {
        let events = self.events.iter().enumerate().skip(self.begin + 1);
        let flushes = events.filter(|(_, event)| matches!(event, Event::Flush));
        flushes.map(|(index, _)| index).collect()
    }
}

fn recorded(version: Version, allocator: &str, operations: &str) -> Run {
    let events = Events::default();
    let disk = || Recorder {
        blocks: BTreeMap::new(),
        events: Arc::clone(&events),
    };
    format_disk(Box::new(disk()), &layout(version)).unwrap();
    let mut formatted = disk();
    for event in events.lock().unwrap().iter() {
        if let Event::Write(block, data) = event {
            for (at, part) in (*block..).zip(data.chunks(BLOCK)) {
                formatted.blocks.insert(at, part.to_vec());
            }
        }
    }
    let begin = events.lock().unwrap().len();
    let mut image = Image::on(Box::new(formatted), settings(allocator)).unwrap();
    let (mut files, mut states) = (Files::new(), vec![Files::new()]);
    for line in operations.lines() {
        let operation: Operation = line.parse().unwrap();
        image.perform(&operation).unwrap();
        apply(&mut files, &operation);
        if operation == Operation::Sync {
            events.lock().unwrap().push(Event::Synced);
            states.push(files.clone());
        }
    }
    drop(image);
    let events = std::mem::take(&mut *events.lock().unwrap());
    Run {
        events,
        begin,
        states,
    }
}

/// Writes the image after a crash before event `end`. Returns the number of syncs that had ended.
fn crashed(run: &Run, end: usize, rng: &mut Rng, path: &Path) -> usize {
    let file = File::create(path).unwrap();
    file.set_len(BLOCKS * BLOCK_BYTES).unwrap();
    let durable = run.events[..end]
        .iter()
        .rposition(|event| matches!(event, Event::Flush));
    let mut synced = 0;
    for (index, event) in run.events[..end].iter().enumerate() {
        match event {
            Event::Write(block, data) if durable.is_some_and(|durable| index < durable) => {
                file.write_all_at(data, block * BLOCK_BYTES).unwrap();
            }
            Event::Write(block, data) => {
                for (at, part) in (*block..).zip(data.chunks(BLOCK)) {
                    if rng.below(2) == 0 {
                        file.write_all_at(part, at * BLOCK_BYTES).unwrap();
                    }
                }
            }
            Event::Flush => {}
            Event::Synced => synced += 1,
        }
    }
    synced
}

/// The files below a directory, with their contents checked.
fn found(at: &Path) -> Files {
    let mut files = Files::new();
    for entry in std::fs::read_dir(at).unwrap() {
        let entry = entry.unwrap();
        let directory = entry.file_name().into_string().unwrap();
        if directory == "lost+found" {
            continue;
        }
        for file in std::fs::read_dir(entry.path()).unwrap() {
            let file = file.unwrap();
            let name = format!("{directory}/{}", file.file_name().to_str().unwrap());
            let contents = std::fs::read(file.path()).unwrap();
            right(&name, &contents);
            files.insert(name, contents.len() as u64);
        }
    }
    files
}

fn check(found: &Files, run: &Run, synced: usize, what: &str) {
    let states = &run.states[synced..run.states.len().min(synced + 2)];
    assert!(
        states.contains(found),
        "{what}: the files are those of no sync"
    );
}

/// Crashes at `points` random events, two of three a flush: as much as can be missing before it is missing.
fn crashes(version: Version, allocator: &str, points: usize) {
    let run = recorded(version, allocator, &mixture(2500, 60, 60_000));
    let dir = scratch();
    let path = dir.path().join("image");
    if e2fsck("-V", &path).is_none() {
        return;
    }
    let mounts = can_mount(dir.path());
    let flushes = run.flushes();
    let mut rng = Rng::new(9, 0);
    let mut replayed = 0;
    for point in 0..points {
        let end = match point % 3 {
            0 => run.begin + 1 + rng.below((run.events.len() - run.begin) as u64) as usize,
            _ => flushes[rng.below(flushes.len() as u64) as usize],
        };
        let what = format!(
            "{version:?}, {allocator}, event {end} of {}",
            run.events.len()
        );
        let synced = crashed(&run, end, &mut rng, &path);
        if mounts {
            let copy = dir.path().join("copy");
            std::fs::copy(&path, &copy).unwrap();
            let option = if point % 4 < 2 { "ro" } else { "rw" };
            let mounted = Mounted::new(&copy, dir.path(), option).unwrap();
            check(
                &found(&mounted.at),
                &run,
                synced,
                &format!("{what}, kernel"),
            );
            mounted.end();
            clean(&copy, &format!("{what}, kernel"));
        }
        let mut replay = Command::new("e2fsck");
        replay.args(["-y", "-E", "journal_only"]).arg(&path);
        let output = replay.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        replayed += usize::from(text.contains("recovering journal"));
        assert!(
            output.status.code().is_some_and(|code| code <= 1),
            "{what}: {text}"
        );
        clean(&path, &what);
        let to = dir.path().join("exported");
        Image::read_only(&path).unwrap().export(&to).unwrap();
        check(&found(&to), &run, synced, &what);
        std::fs::remove_dir_all(&to).unwrap();
    }
    eprintln!("{version:?}, {allocator}: {points} crashes, {replayed} replayed");
    assert!(replayed > points / 2);
}

/// Crashes on a member of the family: with one allocator, or with all if the tests may take long.
fn all_crashes(version: Version, allocators: [&str; 2]) {
    for allocator in &allocators[..cases(1, 2)] {
        crashes(version, allocator, cases(16, 100));
    }
}

#[test]
fn ext3_loses_no_synced_file() {
    all_crashes(Version::Ext3, ["greedy-space", "ext3-windows"]);
}

#[test]
fn ext4_loses_no_synced_file() {
    all_crashes(Version::Ext4, ["ext4-mballoc", "greedy-local"]);
}
