//! Filebench's personalities against recordings of the program itself: ten seconds each on ext4 of Linux 6.18.
//!
//! The recordings do not repeat and depend on the machine, so distributions and shares are compared. docs/filebench.md
//! has the figures and what cannot be compared.

use crate::program::{Drive, Played, play};
use crate::recorded::recorded;
use fathom_base::{Bytes, Dur, Rng};
use fathom_block::Op;
use fathom_fs::{FileSystem, Format};
use fathom_platform::System;
use fathom_workload::program::filebench::language::{Amount, Distribution, Shape};
use fathom_workload::program::filebench::{FileSettings, OltpSettings, Server, fileserver, oltp};
use std::collections::{BTreeMap, BTreeSet};

const CAPACITY: u64 = 8 << 30;
const PAGE: u64 = 4096;
const SECTOR: u64 = 512;

/// Fast enough that the processors are what the program waits for, as in the recordings.
const FAST: Drive = Drive {
    latency: Dur::us(20),
    depth: 256,
};

/// A request of a recording as it was queued.
struct Queued {
    /// Microseconds from the first event.
    at: u64,
    rwbs: String,
    offset: u64,
    len: u64,
    by: String,
}

/// The queued requests of a recording; `None` if it is not there.
fn queued(name: &str) -> Option<Vec<Queued>> {
    let text = recorded(name)?;
    let rows = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let queued = rows.filter(|row| row[1] == "Q").map(|row| Queued {
        at: row[0].parse().unwrap(),
        rwbs: row[2].into(),
        offset: row[3].parse::<u64>().unwrap() * SECTOR,
        len: row[4].parse::<u64>().unwrap() * SECTOR,
        by: row[5].into(),
    });
    Some(queued.collect())
}

/// The file system and the machine of the recordings, as far as they are known. No data is written back during the run,
/// and reading changes nothing (`relatime`).
fn machine() -> (FileSystem, System) {
    let file_system = FileSystem {
        format: Format::Ext4,
        inode_bytes: 256,
        bytes_per_inode: Bytes::kib(16),
        ..FileSystem::default()
    };
    let system = System {
        memory: Bytes::gib(64),
        barriers: true,
        access_times: false,
        ..System::default()
    };
    (file_system, system)
}

/// The distance of two distributions: the largest difference of their shares below a value (Kolmogorov and Smirnov).
fn distance(one: &[u64], two: &[u64]) -> f64 {
    let share = |of: &[u64], value: u64| {
        let below = of.partition_point(|&other| other <= value);
        below as f64 / of.len() as f64
    };
    let (mut one, mut two) = (one.to_vec(), two.to_vec());
    one.sort_unstable();
    two.sort_unstable();
    let values = one.iter().chain(&two);
    values
        .map(|&value| (share(&one, value) - share(&two, value)).abs())
        .fold(0.0, f64::max)
}

/// The distance that samples of one distribution exceed in one case of a thousand.
fn critical(one: usize, two: usize) -> f64 {
    1.949 * ((one + two) as f64 / (one as f64 * two as f64)).sqrt()
}

/// Lengths of files of the file server, in whole pages.
fn drawn(gamma: f64) -> Vec<u64> {
    let size = Amount::Random(Distribution {
        shape: Shape::Gamma {
            mean: 131_072.0,
            gamma,
        },
        min: 1,
        max: u64::MAX,
        round: 0,
    });
    let mut rng = Rng::new(1, 1);
    let draws = (0..100_000).map(|_| size.draw(&mut rng).next_multiple_of(PAGE));
    draws.collect()
}

/// What write-back writes first are files as they were laid out, each by one request.
#[test]
fn files_have_the_lengths_of_the_recording() {
    let Some(rows) = queued("fb_fileserver.csv.xz") else {
        return;
    };
    let data = rows.iter().filter(|row| row.rwbs == "W");
    let first: Vec<u64> = data
        .take_while(|row| row.at < 5_000_000)
        .map(|row| row.len)
        .collect();
    assert_eq!(first.len(), 1273);
    let own = drawn(1.5);
    let most = critical(first.len(), own.len());
    let found = distance(&first, &own);
    assert!(found < most, "{found} {most}");
    // Another shape, or another mean, is told apart.
    let shape = distance(&first, &drawn(1.0));
    let longer: Vec<u64> = own.iter().map(|len| len * 5 / 4).collect();
    assert!(shape > most, "{shape} {most}");
    assert!(distance(&first, &longer) > most);
}

fn server() -> FileSettings {
    let (file_system, system) = machine();
    FileSettings {
        mean_size: Bytes::kib(128),
        duration: Dur::ms(10_500),
        file_system,
        system,
        ..fileserver()
    }
}

/// The share of requests that begin where the one before ended.
fn adjacent(requests: &[(u64, u64)]) -> f64 {
    let pairs = requests.windows(2);
    let next = pairs.filter(|pair| pair[0].0 + pair[0].1 == pair[1].0);
    next.count() as f64 / requests.len() as f64
}

/// Blocks that each commit wrote to the journal, with its record, from what is written to it in order: a length and
/// whether it is the record.
fn commits(log: impl Iterator<Item = (u64, bool)>) -> Vec<f64> {
    let (mut all, mut blocks) = (Vec::new(), 0);
    for (len, record) in log {
        blocks += len / PAGE;
        if record {
            all.push(blocks as f64);
            blocks = 0;
        }
    }
    all
}

/// Requests of a recording, by place and length.
fn places<'a>(rows: impl Iterator<Item = &'a Queued>) -> Vec<(u64, u64)> {
    rows.map(|row| (row.offset, row.len)).collect()
}

fn lens(requests: &[(u64, u64)]) -> Vec<u64> {
    requests.iter().map(|&(_, len)| len).collect()
}

/// The file server of the recording, and what it sent to the drive besides reads, in order.
fn served() -> (usize, Vec<Played>) {
    let settings = server();
    let mut machine = settings.build(Server::File, CAPACITY, 1).unwrap();
    let mut played = play(&mut machine, FAST);
    played.retain(|p| p.access.op != Op::Read);
    played.sort_by_key(|p| p.asked);
    (settings.threads as usize, played)
}

#[test]
fn the_file_server_writes_as_in_the_recording() {
    let Some(rows) = queued("fb_fileserver.csv.xz") else {
        return;
    };
    let (threads, own) = served();
    let forced: Vec<&Played> = own.iter().filter(|p| p.tag.fua).collect();

    // No thread writes data: write-back does, after the run.
    let theirs = || rows.iter().filter(|row| row.rwbs == "W");
    assert!(theirs().all(|row| row.by == "wb"));
    assert!(own.iter().all(|p| p.actor >= threads));

    // A commit comes after five seconds. Each has a flush, and a record that is forced to the medium.
    let journal = || rows.iter().filter(|row| row.by == "jbd2");
    let record = |row: &Queued| row.rwbs == "FWFSM";
    let at: Vec<u64> = journal()
        .filter(|row| record(row))
        .map(|row| row.at)
        .collect();
    assert!(at[0].abs_diff(5_000_000) < 100_000 && at[1].abs_diff(at[0] + 5_000_000) < 100_000);
    let flushes = own.iter().filter(|p| p.access.op == Op::Flush).count();
    assert_eq!((forced.len(), flushes), (3, 3));
    for (of, ms) in [(forced[0], 5_000), (forced[1], 10_000)] {
        assert!(of.asked.0.abs_diff(ms * 1_000_000) < 100_000_000, "{of:?}");
    }

    // The rotation reaches every file in five seconds, so a commit has all inodes and directories of the set: about
    // 8,000 / 16 and 500 blocks, and bitmaps. The program nests directories, which makes 5 % of them more.
    let end = forced[1].asked;
    let before = own
        .iter()
        .filter(|p| p.asked <= end && p.access.op == Op::Write);
    let here = commits(before.map(|p| (p.access.len, p.tag.fua)));
    let there = commits(journal().map(|row| (row.len, record(row))));
    for (here, there) in here.iter().zip(&there) {
        assert!((here / there - 1.0).abs() < 0.05, "{here} {there}");
    }

    // What is left after the run is written file by file, besides the last commit and what follows it.
    let log = forced[1].access.end()..forced[2].access.end();
    let last: Vec<(u64, u64)> = own
        .iter()
        .filter(|p| p.access.op == Op::Write && p.asked > end && p.asked < forced[2].asked)
        .filter(|p| !log.contains(&p.access.offset))
        .map(|p| (p.access.offset, p.access.len))
        .collect();
    let theirs = places(theirs().filter(|row| row.at > 10_000_000));
    let most = critical(last.len(), theirs.len());
    let found = distance(&lens(&last), &lens(&theirs));
    assert!(last.len() > 7_000 && found < most, "{found} {most}");
    // Small files lie in the pools of their processor, and which one that is differs from run to run. There is no theory of
    // how much: the bound is twice what was found (54 and 49 %), and guards what is here.
    let (here, there) = (adjacent(&last), adjacent(&theirs));
    assert!((here - there).abs() < 0.1, "{here} {there}");
}

fn transactions(same_draws: bool) -> Vec<Played> {
    let (file_system, system) = machine();
    let settings = OltpSettings {
        duration: Dur::ms(2_000),
        same_draws,
        file_system,
        system,
        ..oltp()
    };
    let mut played = play(&mut settings.build(CAPACITY, 1).unwrap(), FAST);
    played.sort_by_key(|p| p.asked);
    played
}

/// The share of these writes that are the first of their page, and the number of writes that most pages have.
fn repeated(pages: impl Iterator<Item = u64>) -> (f64, u64) {
    let mut times: BTreeMap<u64, u64> = BTreeMap::new();
    pages.for_each(|page| *times.entry(page).or_default() += 1);
    let mut pages: BTreeMap<u64, usize> = BTreeMap::new();
    times
        .values()
        .for_each(|&n| *pages.entry(n).or_default() += 1);
    let most = pages.iter().max_by_key(|&(_, pages)| pages).unwrap();
    let writes = times.values().sum::<u64>();
    (times.len() as f64 / writes as f64, *most.0)
}

#[test]
fn writers_write_the_pages_of_the_recording_together() {
    let Some(rows) = queued("fb_oltp.csv.xz") else {
        return;
    };
    let theirs = || {
        let of_program = |row: &&Queued| row.rwbs == "WS" && row.by == "filebench";
        rows.iter().filter(of_program)
    };
    // A page of data, a record of the log, or a piece of a file as it was laid out: it is dirty and a single folio, so
    // the first write to the drive takes all of it.
    let lens: BTreeSet<u64> = theirs().map(|row| row.len).collect();
    assert_eq!(lens, BTreeSet::from([PAGE, 256 << 10, 1 << 20]));
    let laid_out: Vec<u64> = theirs()
        .filter(|row| row.len == 1 << 20)
        .map(|row| row.offset)
        .collect();
    let once: BTreeSet<u64> = laid_out.iter().copied().collect();
    assert_eq!(once.len(), laid_out.len());

    let pages = |played: &[Played]| -> Vec<u64> {
        let of_writers = |p: &&Played| (1..=10).contains(&p.actor) && p.access.op == Op::Write;
        let writes = played.iter().filter(of_writers);
        writes
            .inspect(|p| assert!(p.access.len == PAGE && p.tag.sync))
            .map(|p| p.access.offset)
            .collect()
    };
    let same = transactions(true);
    let log = same
        .iter()
        .filter(|p| p.actor == 0 && p.access.op == Op::Write);
    assert!(log.clone().count() > 0 && log.clone().all(|p| p.access.len == 256 << 10));

    // Each page is written by ten writers, so a tenth of the writes are the first of their page if all have done the
    // same, and more if some are ahead. Of as many pages at random in 100 MiB, 92 % would be the first.
    let data: Vec<u64> = theirs()
        .filter(|row| row.len == PAGE)
        .map(|row| row.offset)
        .collect();
    let first = |pages: Vec<u64>| repeated(pages.into_iter().take(data.len()));
    let (share, most) = repeated(data.iter().copied());
    assert!((0.09..0.5).contains(&share) && most == 10, "{share} {most}");
    let (share, most) = first(pages(&same));
    assert!((0.09..0.5).contains(&share) && most == 10, "{share} {most}");
    let (share, most) = first(pages(&transactions(false)));
    assert!(share > 0.9 && most == 1, "{share} {most}");
}
