//! What each subcommand says of a zoned drive and of one with placement handles: what happened, and what still can be done.

use crate::common;
use crate::hints::tells;
use std::path::Path;

/// A job that writes all zones once.
const JOB: &str = "[w]\nzonemode=zbd\nrw=write\nbs=128k\nsize=2z\n";

fn write(dir: &Path, name: &str, text: &str) {
    std::fs::write(dir.join(name), text).unwrap();
}

/// Returns what a command that succeeds prints.
fn done(dir: &Path, args: &[&str]) -> String {
    let out = common::fathom(dir).args(args).output().unwrap();
    assert_eq!(out.status.code(), Some(0), "{args:?}: {out:?}");
    let both = [out.stdout, out.stderr].concat();
    String::from_utf8(both).unwrap()
}

#[test]
fn what_writes_anywhere_refuses_a_zoned_drive_and_names_what_measures_it() {
    let dir = tempfile::tempdir().unwrap();
    let zoned = [
        "model:zns is a zoned drive",
        "zonemode=zbd",
        "--read-only",
        "zone_capacity",
    ];
    tells(dir.path(), "probe model:zns", &zoned);
    let zoned = ["zns is a zoned drive", "zonemode=zbd"];
    tells(dir.path(), "write-cost model:zns", &zoned);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    write(
        dir.path(),
        "write.csv",
        "at_us,op,offset,len\n0,write,0,131072\n",
    );
    tells(
        dir.path(),
        "run write.csv --on model:zns",
        &[
            "access 1",
            "the zone is full",
            "--precondition fresh",
            "zonemode=zbd",
            "--step reads-only",
        ],
    );
}

/// Reads alone measure a zoned drive whose zones hold all of their size.
#[test]
fn a_zoned_drive_is_filled_for_reads() {
    let dir = tempfile::tempdir().unwrap();
    let preset = include_str!("../../ssd/presets/zns.toml");
    let whole: Vec<&str> = preset
        .lines()
        .filter(|line| !line.starts_with("zone_capacity"))
        .collect();
    write(dir.path(), "whole.toml", &whole.join("\n"));
    tells(
        dir.path(),
        "probe model:./whole.toml",
        &["`fathom probe model:./whole.toml --read-only`"],
    );
    let read = |target: &str| {
        done(
            dir.path(),
            &["probe", target, "--read-only", "--only", "map_reach"],
        )
    };
    let text = read("model:./whole.toml");
    assert!(
        text.contains("The zones are full") && text.contains("absent"),
        "{text}"
    );
    let text = read("model:zns");
    assert!(text.contains("They hold 17 MiB of 32 MiB each"), "{text}");
}

#[test]
fn what_stands_above_a_drive_refuses_zones() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "w.fio", JOB);
    let refused: [(&str, &[&str]); 9] = [
        (
            "run w.fio --on model:zns --sched mq-deadline",
            &[
                "block layer: `drive` is zns, a zoned drive",
                "The kernel's `mq-deadline`",
            ],
        ),
        (
            "run w.fio --on model:zns --split nopas",
            &["block layer: `drive` is zns", "`--split`"],
        ),
        (
            "run w.fio --on model:zns --precondition random:0.1",
            &["writes at any place", "`--precondition filled`"],
        ),
        (
            "run w.fio --on model:zns --sched noop",
            &["`drive` is zns", "no write pointers", "`--sched none`"],
        ),
        (
            "run w.fio --on model:zns --ab none,noop",
            &["no write pointers", "`--sched none`"],
        ),
        (
            "run w.fio --on model:zns --platform nvme-2022",
            &["`drive` is zns", "`--platform` out"],
        ),
        (
            "platform --model nvme-2022 --drive model:zns",
            &["zns is a zoned drive", "fathom list drives"],
        ),
        (
            "run program:postmark-fixed --on model:zns",
            &["on a zoned drive", "zonemode=zbd"],
        ),
        (
            "plan --iops 10k --platform nvme-2022 --drive model:zns",
            &["zns is a zoned drive"],
        ),
    ];
    for (args, parts) in refused {
        tells(dir.path(), args, parts);
    }
}

/// A trace that is written from zones is read again, and plays on zones alone.
#[test]
fn a_trace_of_zones_comes_back() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "w.fio", JOB);
    let said = |args: &str| done(dir.path(), &args.split(' ').collect::<Vec<_>>());
    let converted = said("convert w.fio w.parquet --on model:zns");
    // The zones are full at first: 2 resets, and 136 writes of 128 KiB to each.
    assert!(converted.contains("274 accesses"), "{converted}");
    let played = said("run w.parquet --on model:zns");
    assert!(
        played.contains("274 accesses, of which 2 zone resets"),
        "{played}"
    );
    tells(
        dir.path(),
        "run w.parquet --on model:nvme",
        &[
            "zone reset",
            "the drive has no zones",
            "model:zns",
            "--step reads-only",
        ],
    );
    tells(
        dir.path(),
        "convert w.fio w.trace --on model:zns",
        &["zone reset", "FILE.parquet"],
    );
}

#[test]
fn handles_that_a_drive_does_not_have_are_told() {
    let dir = tempfile::tempdir().unwrap();
    write(
        dir.path(),
        "h.fio",
        "[a]\nrw=write\nfdp=1\nplids=0,9\nsize=1m\nbs=16k\n",
    );
    for (on, has) in [
        ("fdp", "8 of them, from 0"),
        ("zns", "no placement handles"),
        ("nvme", "no placement handles"),
    ] {
        tells(
            dir.path(),
            &format!("run h.fio --on model:{on}"),
            &["h.fio:1", has, "model:fdp"],
        );
    }
}

/// The size that was given is named, and the least one.
#[test]
fn a_scratch_file_that_is_too_small_is_told_the_least_size() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    for size in ["1B", "64KiB", "4000KiB"] {
        let with = format!("`--size {size}`");
        let args = format!("probe . --size {size} --yes");
        tells(
            dir.path(),
            &args,
            &[&with, "at least 4MiB", "`--size 4MiB` or more"],
        );
    }
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}
