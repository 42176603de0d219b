//! Compares the accesses made from job files with those of fio itself, as recorded in its I/O log.
//!
//! Only properties that do not depend on a clock are compared. Sequential jobs and the structure of a verification must
//! agree access by access. Random jobs must agree in their shares, within five standard deviations of the difference of
//! two samples, and in the blocks that they cover. The tests are skipped if fio is not installed.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "helpers of tests")]

use crate::fio::harness;
use crate::fio::harness::{Drive, jobs};
use fathom_block::Op;
use fathom_workload::program::fio::{HARMLESS, IGNORED, OPTIONS, REFUSED};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

type Did = (Op, u64, u64);

const CAPACITY: u64 = 1 << 30;

/// Runs a job file with fio and returns the accesses from its log; `None` if fio is not installed.
fn by_fio(name: &str, text: &str) -> Option<Vec<Did>> {
    let version = Command::new("fio").arg("--version").output();
    let Ok(version) = version else {
        eprintln!("skipped: fio is not installed");
        return None;
    };
    assert!(version.status.success());
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fio_compare");
    std::fs::create_dir_all(&dir).unwrap();
    let (file, log) = (
        dir.join(format!("{name}.fio")),
        dir.join(format!("{name}.log")),
    );
    let _ = std::fs::remove_file(&log);
    // The null engine completes every access without I/O; everything else is fio's normal path.
    let more = format!(
        "write_iolog={}\nfilename=target\nioengine=null\n",
        log.display()
    );
    // Runs one access at a time, because fio logs an access twice if the null engine does not accept it at once. The
    // order of the accesses does not depend on the depth.
    let other = |line: &&str| !line.starts_with("ioengine") && !line.starts_with("iodepth");
    let text: Vec<_> = text.lines().filter(other).collect();
    std::fs::write(&file, format!("{}\n{more}", text.join("\n"))).unwrap();
    let output = Command::new("fio")
        .arg(&file)
        .current_dir(&dir)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name}: {said}");
    let log = std::fs::read_to_string(&log).unwrap();
    Some(log.lines().filter_map(logged).collect())
}

/// Parses a line of a version 3 log: time, file, operation, offset, length.
fn logged(line: &str) -> Option<Did> {
    let fields: Vec<_> = line.split_whitespace().collect();
    let [_, _, op, offset, len] = fields[..] else {
        return None;
    };
    let number = |text: &str| text.parse::<u64>().unwrap();
    Some(match op {
        "read" => (Op::Read, number(offset), number(len)),
        "write" => (Op::Write, number(offset), number(len)),
        "trim" => (Op::Trim, number(offset), number(len)),
        "sync" | "datasync" => (Op::Flush, 0, 0),
        _ => panic!("{line}"),
    })
}

fn here(text: &str) -> Vec<Did> {
    on(text, CAPACITY)
}

fn on(text: &str, capacity: u64) -> Vec<Did> {
    let mut drive = Drive::new(capacity);
    if text.contains("verify=") {
        drive.bytes = Some(BTreeMap::new());
    }
    let mut played = drive.play(&mut jobs(text, capacity, 1)).unwrap();
    played.sort_by_key(|one| one.asked);
    let did = |one: &harness::Played| (one.access.op, one.access.offset, one.access.len);
    played.iter().map(did).collect()
}

/// Asserts that two counts are equal shares of their totals.
fn alike(what: &str, (hits, n): (usize, usize), (others, m): (usize, usize)) {
    let (n, m) = (n as f64, m as f64);
    let p = (hits + others) as f64 / (n + m);
    let sigma = (p * (1.0 - p) * (1.0 / n + 1.0 / m)).sqrt();
    let (one, other) = (hits as f64 / n, others as f64 / m);
    assert!(
        (one - other).abs() <= 5.0 * sigma + 1e-12,
        "{what}: fio {one:.4}, here {other:.4}, standard deviation {sigma:.4}"
    );
}

/// Asserts that each combination of operation and length has the same share in both.
fn alike_in_shares(name: &str, fio: &[Did], own: &[Did]) {
    let kinds: BTreeSet<_> = fio.iter().chain(own).map(|did| (did.0, did.2)).collect();
    let count = |all: &[Did], op, len| all.iter().filter(|did| (did.0, did.2) == (op, len)).count();
    for &(op, len) in &kinds {
        let what = format!("{name}: {op}s of {len} bytes");
        let (one, other) = (count(fio, op, len), count(own, op, len));
        alike(&what, (one, fio.len()), (other, own.len()));
    }
}

/// Returns the number of accesses of each place, in descending order.
fn heat(all: &[Did]) -> Vec<usize> {
    let mut counts = BTreeMap::new();
    for did in all {
        *counts.entry(did.1).or_insert(0) += 1;
    }
    let mut counts: Vec<_> = counts.into_values().collect();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    counts
}

#[test]
fn sequential_jobs_agree_access_by_access() {
    for (name, text) in [
        ("read", "[a]\nrw=read\nsize=64k"),
        ("loops", "[a]\nrw=write\nsize=32k\nloops=3"),
        ("less", "[a]\nrw=read\nsize=64k\nio_size=16k\nloops=3"),
        ("more", "[a]\nrw=read\nsize=16k\nio_size=40k"),
        ("odd", "[a]\nrw=read\nsize=18k"),
        ("offset", "[a]\nrw=write\nbs=8k\nsize=64k\noffset=24k"),
        ("fsync", "[a]\nrw=write\nsize=64k\nfsync=3"),
        ("trim", "[a]\nrw=trim\nbs=,,64k\nsize=1m"),
        ("one", "[a]\nrw=rw\nrwmixread=100\nsize=64k"),
        (
            "deep",
            "[a]\nrw=read\nsize=256k\nioengine=libaio\niodepth=8",
        ),
        ("verify", "[a]\nrw=write\nverify=crc32c\nsize=64k\nloops=2"),
        ("hex", "[a]\nrw=read\nsize=64KB\nbs=0x4000"),
        ("ki", "[a]\nrw=read\nsize=512ki\nbs=4K"),
        ("kib", "[a]\nrw=read\nsize=512kib\nbs=4096b"),
        ("holes", "[a]\nrw=read:12k\nsize=64k\noffset=64k"),
        (
            "holestwice",
            "[a]\nrw=read:12k\nsize=64k\noffset=64k\nloops=2",
        ),
        (
            "holesmore",
            "[a]\nrw=read:12k\nsize=64k\noffset=64k\nio_size=64k",
        ),
        (
            "numberios",
            "[a]\nrw=write\nsize=64k\nnumber_ios=5\nloops=2",
        ),
        ("number", "[a]\nrw=read\nsize=64k\nnumber_ios=50"),
        ("fdatasync", "[a]\nrw=write\nsize=64k\nfsync=4\nfdatasync=3"),
        ("endfsync", "[a]\nrw=write\nsize=16k\nend_fsync=1\nloops=2"),
        (
            "sequential",
            "[a]\nrw=randread\npercentage_random=0\nsize=64k",
        ),
        ("sync", "[a]\nrw=write\nsize=64k\nsync=dsync\nramp_time=0"),
    ] {
        if let Some(fio) = by_fio(name, text) {
            assert_eq!(fio, here(text), "{name}");
        }
    }
}

/// fio's file has the size of the job, so the drive here has that size as well.
#[test]
fn holes_over_the_end_of_all_agree() {
    for (name, text) in [
        ("hole", "[a]\nrw=write:4k\nsize=64k"),
        ("wide", "[a]\nrw=write:12k\nsize=64k"),
        ("whole", "[a]\nrw=read:8k\nsize=64k\nio_size=64k"),
        ("wholeloops", "[a]\nrw=read:8k\nsize=64k\nloops=2"),
    ] {
        if let Some(fio) = by_fio(name, text) {
            assert_eq!(fio, on(text, 64 << 10), "{name}");
        }
    }
}

#[test]
fn a_sequential_mix_goes_on_in_each_operation() {
    for (name, text) in [
        ("mix", "[a]\nrw=rw\nsize=4m\nrwmixread=30"),
        ("mixbs", "[a]\nrw=rw\nbs=4k,8k\nsize=4m"),
        ("mixsplit", "[a]\nrw=rw\nbssplit=4k/50:16k/50\nsize=4m"),
    ] {
        let Some(fio) = by_fio(name, text) else {
            return;
        };
        let own = here(text);
        for all in [&fio, &own] {
            let mut ends = BTreeMap::new();
            for &(op, offset, len) in all {
                let end = ends.entry(op).or_insert(0);
                assert_eq!(*end, offset, "{name}");
                *end += len;
            }
            // It ends with the access that reaches the size.
            let bytes: u64 = ends.values().sum();
            let last = all.last().unwrap().2;
            assert!(
                (4 << 20..(4 << 20) + last).contains(&bytes),
                "{name}: {bytes}"
            );
        }
        alike_in_shares(name, &fio, &own);
    }
}

#[test]
fn the_random_map_covers_alike() {
    for (name, text) in [
        ("map", "[a]\nrw=randread\nsize=4m"),
        ("maptwice", "[a]\nrw=randwrite\nsize=2m\nloops=2"),
        ("mapmix", "[a]\nrw=randrw\nrwmixread=70\nsize=8m"),
        ("maptrim", "[a]\nrw=randtrim\nsize=1m"),
        ("mapverify", "[a]\nrw=randwrite\nverify=crc32c\nsize=1m"),
    ] {
        let Some(fio) = by_fio(name, text) else {
            return;
        };
        let own = here(text);
        assert_eq!(fio.len(), own.len(), "{name}");
        assert_eq!(heat(&fio), heat(&own), "{name}");
        alike_in_shares(name, &fio, &own);
    }
}

#[test]
fn the_random_map_cuts_blocks_alike() {
    for (name, text) in [
        ("cut", "[a]\nrw=randread\nsize=16m\nbssplit=4k/50:16k/50"),
        (
            "cutmore",
            "[a]\nrw=randwrite\nsize=16m\nbssplit=4k/20:8k/30:32k/40:64k/10",
        ),
    ] {
        let Some(fio) = by_fio(name, text) else {
            return;
        };
        let own = here(text);
        for all in [&fio, &own] {
            assert_eq!(all.iter().map(|did| did.2).sum::<u64>(), 16 << 20, "{name}");
            assert_eq!(heat(all)[0], 1, "{name}");
        }
        alike_in_shares(name, &fio, &own);
    }
}

#[test]
fn drawn_places_and_lengths_have_the_same_shares() {
    let server = include_str!("../../../examples/file-server.fio");
    let jobs = [
        ("server", server),
        (
            "drawn",
            "[a]\nrw=randread\nnorandommap\nsize=1m\nio_size=64m",
        ),
        (
            "drawnmix",
            "[a]\nrw=randrw\nnorandommap\nbssplit=4k/50:8k/50,16k/100\nsize=64m\nio_size=256m\nrwmixwrite=30",
        ),
        (
            "aligned",
            "[a]\nrw=randread\nba=512\nbs=8k\nsize=1m\nio_size=64m",
        ),
    ];
    for (name, text) in jobs {
        let Some(fio) = by_fio(name, text) else {
            return;
        };
        let own = here(text);
        alike_in_shares(name, &fio, &own);
        // The numbers of places that are accessed at all agree, and so do the shares of the lower half of the region.
        let half = own.iter().map(|did| did.1).max().unwrap() / 2;
        let low = |all: &[Did]| all.iter().filter(|did| did.1 < half).count();
        alike(name, (low(&fio), fio.len()), (low(&own), own.len()));
        let places = heat(&fio).len() as f64 / heat(&own).len() as f64;
        assert!((places - 1.0).abs() < 0.05, "{name}: {places}");
    }
}

/// Returns the number of accesses to the hottest places, and of all accesses.
fn hottest(all: &[Did], places: usize) -> (usize, usize) {
    (heat(all).iter().take(places).sum(), all.len())
}

#[test]
fn self_similar_places_have_the_same_heat() {
    // 4096 places, 65,536 accesses.
    for (name, h) in [("pareto20", 0.2), ("pareto40", 0.4)] {
        let text =
            format!("[a]\nrw=randread\nsize=16m\nio_size=256m\nrandom_distribution=pareto:{h}");
        let Some(fio) = by_fio(name, &text) else {
            return;
        };
        let own = here(&text);
        for places in [41, 410, 819] {
            let what = format!("{name}: the hottest {places}");
            alike(&what, hottest(&fio, places), hottest(&own, places));
        }
    }
}

#[test]
fn zipf_is_exact_here_and_an_approximation_in_fio() {
    const PLACES: i32 = 4096;
    const HOT: i32 = 41;
    for (name, theta) in [("zipf", 0.9), ("zipfsteep", 1.2)] {
        let text =
            format!("[a]\nrw=randread\nsize=16m\nio_size=256m\nrandom_distribution=zipf:{theta}");
        let Some(fio) = by_fio(name, &text) else {
            return;
        };
        let own = here(&text);
        let zeta = |ranks: i32| (1..=ranks).map(|k| f64::from(k).powf(-theta)).sum::<f64>();
        let exact = zeta(HOT) / zeta(PLACES);
        // fio uses the approximation of Gray et al. (SIGMOD 1994); this is the share that follows from it.
        let n = f64::from(PLACES);
        let eta = (1.0 - (2.0 / n).powf(1.0 - theta)) / (1.0 - zeta(2) / zeta(PLACES));
        let gray = ((f64::from(HOT) / n).powf(1.0 - theta) - 1.0 + eta) / eta;
        assert!(gray > exact + 0.009, "{name}: {gray}, exactly {exact}");
        for (who, all, share) in [("fio", &fio, gray), ("here", &own, exact)] {
            let (hits, count) = hottest(all, HOT as usize);
            let found = hits as f64 / count as f64;
            let sigma = (share * (1.0 - share) / count as f64).sqrt();
            assert!(
                (found - share).abs() <= 5.0 * sigma,
                "{name}, {who}: {found:.4}, not {share:.4} +- {sigma:.4}"
            );
        }
    }
}

/// Counts the accesses that start where the last one of their operation ended, and those that repeat its start. Each
/// count comes with the number of accesses.
fn followers(all: &[Did]) -> [(usize, usize); 2] {
    let mut last: BTreeMap<Op, (u64, u64)> = BTreeMap::new();
    let (mut behind, mut again) = (0, 0);
    for &(op, offset, len) in all {
        if let Some((start, end)) = last.insert(op, (offset, offset + len)) {
            behind += usize::from(offset == end);
            again += usize::from(offset == start);
        }
    }
    [(behind, all.len()), (again, all.len())]
}

#[test]
fn what_is_not_random_throughout_follows_alike() {
    for (name, text) in [
        (
            "percent30",
            "[a]\nrw=randread\nsize=16m\npercentage_random=30",
        ),
        (
            "percentmix",
            "[a]\nrw=randrw\nnorandommap\nsize=16m\nio_size=64m\npercentage_random=80,20",
        ),
        ("every4", "[a]\nrw=randread:4\nsize=16m"),
        ("every3mix", "[a]\nrw=randrw:3\nrwmixread=70\nsize=16m"),
        (
            "identical",
            "[a]\nrw=randwrite:3\nrw_sequencer=identical\nsize=16m",
        ),
        (
            "everylong",
            "[a]\nrw=randread:8\nbssplit=4k/50:16k/50\nnorandommap\nsize=16m\nio_size=64m",
        ),
    ] {
        let Some(fio) = by_fio(name, text) else {
            return;
        };
        let own = here(text);
        let pairs = followers(&fio).into_iter().zip(followers(&own));
        for (what, (one, other)) in ["behind", "again"].into_iter().zip(pairs) {
            alike(&format!("{name}: {what}"), one, other);
        }
        alike_in_shares(name, &fio, &own);
        let bytes = |all: &[Did]| all.iter().map(|did| did.2).sum::<u64>();
        assert!(bytes(&fio).abs_diff(bytes(&own)) < 16384, "{name}");
    }
}

#[test]
fn ranges_of_lengths_have_the_same_shares() {
    for (name, text) in [
        ("range", "[a]\nrw=write\nsize=64m\nbsrange=4k-16k"),
        (
            "rangemix",
            "[a]\nrw=randrw\nnorandommap\nsize=64m\nbsrange=1k-8k,4k:64k",
        ),
        ("rangemap", "[a]\nrw=randread\nsize=32m\nbsrange=4k-16k"),
    ] {
        let Some(fio) = by_fio(name, text) else {
            return;
        };
        alike_in_shares(name, &fio, &here(text));
    }
}

/// `fio --cmdhelp=all` lists all options of a job file except those of engines.
#[test]
fn every_option_of_fio_is_read_noted_or_refused() {
    let output = Command::new("fio").arg("--cmdhelp=all").output();
    let Ok(output) = output else {
        eprintln!("skipped: fio is not installed");
        return;
    };
    let version = Command::new("fio").arg("--version").output().unwrap();
    if !version.stdout.starts_with(b"fio-3.33") {
        eprintln!("skipped: fio is another version than 3.33");
        return;
    }
    let read = OPTIONS.iter().flat_map(|option| option.names).copied();
    let others = [IGNORED, REFUSED].into_iter().flatten();
    let fates: BTreeSet<&str> = read
        .chain(others.flat_map(|(names, _)| names.split(' ')))
        .collect();
    let listed = String::from_utf8(output.stdout).unwrap();
    let names = listed
        .lines()
        .filter_map(|line| line.split_whitespace().next());
    let open: Vec<&str> = names
        .map(|name| name.trim_end_matches(':'))
        .filter(|name| !fates.contains(name))
        .collect();
    assert_eq!(open, [] as [&str; 0]);
    assert!(listed.lines().count() > 200);
}

/// `fio --cmdhelp=OPTION` prints the default, if the option has one.
#[test]
fn what_is_harmless_is_the_default_of_fio() {
    let mut known = 0;
    for (name, value) in HARMLESS
        .iter()
        .flat_map(|(names, value)| names.split(' ').map(move |name| (name, value)))
    {
        let help = Command::new("fio")
            .arg(format!("--cmdhelp={name}"))
            .output();
        let Ok(help) = help else {
            eprintln!("skipped: fio is not installed");
            return;
        };
        let text = String::from_utf8(help.stdout).unwrap();
        let default = text
            .lines()
            .find_map(|line| line.trim().strip_prefix("default: "));
        match default {
            None | Some("no default") => {}
            Some(default) => {
                assert_eq!(default.trim(), *value, "{name}");
                known += 1;
            }
        }
    }
    assert!(known > 15, "{known}");
}
