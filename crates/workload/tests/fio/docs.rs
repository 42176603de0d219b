//! Checks the statements of the documentation and of the examples.

use super::harness::{info, jobs, play};
use fathom_block::Op;
use fathom_workload::program::fio::{IGNORED, Job, OPTIONS, REFUSED, parse};

const PAGE: &str = include_str!("../../../../docs/jobs.md");
const FILE_SERVER: &str = include_str!("../../../../examples/file-server.fio");
const FIVE_READERS: &str = include_str!("../../../../examples/five-readers.fio");

#[test]
fn the_page_lists_every_option_and_no_other() {
    let table: Vec<_> = PAGE
        .lines()
        .filter(|line| line.starts_with("| `"))
        .collect();
    let mut listed: Vec<_> = table
        .iter()
        .filter_map(|line| line.split('|').nth(1))
        .flat_map(|names| names.split('`').skip(1).step_by(2))
        .collect();
    let mut names: Vec<_> = OPTIONS
        .iter()
        .flat_map(|option| option.names)
        .copied()
        .collect();
    listed.sort_unstable();
    names.sort_unstable();
    assert_eq!(listed, names);
    for (others, why) in [IGNORED, REFUSED].into_iter().flatten() {
        for name in others.split(' ') {
            assert!(PAGE.contains(&format!("`{name}`")), "{name}: {why}");
        }
    }
}

#[test]
fn the_page_says_the_defaults() {
    let job = Job::default();
    let default = |name: &str| {
        let row = PAGE
            .lines()
            .find(|line| line.starts_with(&format!("| `{name}`")));
        let cell = row.and_then(|row| row.split('|').nth(3));
        cell.map(|cell| cell.trim().trim_matches('`').to_owned())
    };
    for (name, value) in [
        ("rw", job.rw.to_string()),
        ("bs", format!("{}k", job.blocks.bs.read / 1024)),
        ("iodepth", job.iodepth.to_string()),
        ("numjobs", job.numjobs.to_string()),
        ("rwmixread", job.rwmixread.to_string()),
        ("loops", job.ends.loops.to_string()),
        ("thinktime_blocks", job.pace.thinktime_blocks.to_string()),
        ("fsync", job.flushes.fsync.to_string()),
        ("fdatasync", job.flushes.fdatasync.to_string()),
        ("end_fsync", u8::from(job.flushes.end_fsync).to_string()),
        ("number_ios", job.ends.number_ios.to_string()),
        ("do_verify", u8::from(job.do_verify).to_string()),
    ] {
        assert_eq!(default(name), Some(value), "{name}");
    }
    for name in ["random_distribution", "offset"] {
        let given = format!("[job]\n{name}={}", default(name).unwrap());
        assert_eq!(
            parse(&given).unwrap().jobs,
            parse("[job]").unwrap().jobs,
            "{name}"
        );
    }
}

#[test]
fn the_example_of_the_page_is_read_as_it_says() {
    let start = PAGE.find("```ini\n").unwrap() + 7;
    let end = start + PAGE[start..].find("```").unwrap();
    let file = parse(&PAGE[start..end]).unwrap();
    assert_eq!(file.notes, [] as [&str; 0]);
    let of: Vec<_> = file
        .jobs
        .iter()
        .map(|job| (job.numjobs, job.depth(), job.verify, job.schedule.stonewall))
        .collect();
    assert_eq!(of, [(5, 1, false, false), (1, 32, true, true)]);
    assert!(
        file.jobs
            .iter()
            .all(|job| job.resolve(&info(1 << 30)).is_ok())
    );
}

#[test]
fn the_file_server_is_that_of_iometer() {
    let played = play(FILE_SERVER, 1 << 30);
    let bytes: u64 = played.iter().map(|one| one.access.len).sum();
    assert!((256 << 20..(256 << 20) + 65536).contains(&bytes));
    let share = |hits: usize, percent: f64| {
        let (n, p) = (played.len() as f64, percent / 100.0);
        let found = hits as f64 / n;
        assert!(
            (found - p).abs() < 5.0 * (p * (1.0 - p) / n).sqrt(),
            "{percent}: {found}"
        );
    };
    let reads = played.iter().filter(|one| one.access.op == Op::Read);
    share(reads.count(), 80.0);
    // "File Server Access Pattern (as defined by Intel)" of Iometer.
    let table = [
        (512, 10.0),
        (1024, 5.0),
        (2048, 5.0),
        (4096, 60.0),
        (8192, 2.0),
        (16384, 4.0),
        (32768, 4.0),
        (65536, 10.0),
    ];
    for (len, percent) in table {
        let hits = played.iter().filter(|one| one.access.len == len);
        share(hits.count(), percent);
    }
}

#[test]
fn the_readers_are_five() {
    let jobs = jobs(FIVE_READERS, 1 << 30, 1);
    assert_eq!(jobs.processes().len(), 5);
    let played = play(FIVE_READERS, 1 << 30);
    assert_eq!(played.len(), 5 * 4096);
    assert!(
        played
            .iter()
            .all(|one| one.access.op == Op::Read && one.tag.sync)
    );
}

/// The jobs of the page that compares presets with published figures.
#[test]
fn every_job_beside_published_figures_is_read_and_named() {
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");
    let page = std::fs::read_to_string(format!("{docs}/fidelity.md")).unwrap();
    let files = std::fs::read_dir(format!("{docs}/fidelity")).unwrap();
    let mut zoned = 0;
    for file in files.map(|file| file.unwrap().path()) {
        let name = file.file_stem().unwrap().to_str().unwrap();
        let jobs = parse(&std::fs::read_to_string(&file).unwrap()).unwrap();
        assert_eq!(jobs.notes, [] as [&str; 0], "{name}");
        assert!(page.contains(&format!("`{name}")), "{name}");
        assert!(
            jobs.jobs
                .iter()
                .all(|job| job.zones.zbd == name.starts_with("zns-"))
        );
        zoned += usize::from(name.starts_with("zns-"));
    }
    assert!(zoned >= 11, "{zoned}");
}
