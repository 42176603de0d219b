//! Tests of the job file parser and its errors.

use super::harness::info;
use fathom_base::Dur;
use fathom_block::Op;
use fathom_workload::program::fio::{
    Amount, Area, Distribution, Each, Ends, Engine, FioError, Flushes, Job, Jobs, Lengths, OPTIONS,
    Order, Pacing, Problem, Rw, Schedule, Split, parse,
};
use proptest::prelude::*;

fn one(options: &str) -> Job {
    let file = parse(&format!("[job]\n{options}\n")).unwrap_or_else(|error| panic!("{error}"));
    file.jobs.into_iter().next().unwrap()
}

fn refused(text: &str) -> FioError {
    match parse(text) {
        Ok(file) => panic!("{text:?} was read as {file:?}"),
        Err(error) => error,
    }
}

/// The limits are those of the integer types of `iodepth` and `loops`.
#[test]
fn a_count_that_is_too_large_is_told_the_largest() {
    for (line, most) in [
        ("iodepth=4294967296", "4294967295"),
        ("loops=18446744073709551616", "18446744073709551615"),
    ] {
        let error = parse(&format!("[j]\nrw=read\nsize=1m\n{line}\n")).unwrap_err();
        let limit = format!("a whole number from 1 to {most}");
        assert!(error.to_string().ends_with(&limit), "{error}");
    }
}

#[test]
fn sections_comments_and_names() {
    let file = parse(
        "; a comment\n[global]\nrw=randread # behind an option\nbs=8k\n\n[one]\niodepth=3\n\
         [global]\nbs=16k\n[two]\n  rw = write\n[one]\nname=three\n",
    )
    .unwrap();
    let said: Vec<_> = file
        .jobs
        .iter()
        .map(|job| (job.name.as_str(), job.rw, job.blocks.bs.read, job.iodepth))
        .collect();
    let wanted = [
        ("one", Rw::RandRead, 8192, 3),
        ("two", Rw::Write, 16384, 1),
        ("three", Rw::RandRead, 16384, 1),
    ];
    assert_eq!(said, wanted);
    assert_eq!(
        parse("[ x\t]").unwrap().jobs,
        [Job {
            name: "x".into(),
            ..Job::default()
        }]
    );
}

#[test]
fn numbers_have_the_suffixes_of_fio() {
    // HOWTO, "Parameter types", with kb_base=1024; `ki` and `kib` follow the behaviour of fio 3.33.
    for (text, bytes) in [
        ("4096", 4096),
        ("4k", 4096),
        ("4K", 4096),
        ("4kb", 4096),
        ("4kB", 4096),
        ("4096b", 4096),
        ("8ki", 8192),
        ("8kib", 8000),
        ("1m", 1 << 20),
        ("1mib", 1_000_000),
        ("1g", 1 << 30),
        ("2t", 2 << 40),
        ("1p", 1 << 50),
        ("0x1000", 4096),
    ] {
        assert_eq!(one(&format!("bs={text}")).blocks.bs.write, bytes, "{text}");
    }
    for (text, us) in [
        ("5", 5_000_000),
        ("5s", 5_000_000),
        ("5sec", 5_000_000),
        ("5ms", 5_000),
        ("5msec", 5_000),
        ("5us", 5),
        ("2m", 120_000_000),
        ("1h", 3_600_000_000),
        ("1D", 86_400_000_000),
    ] {
        let job = one(&format!("runtime={text}\nstartdelay={text}"));
        assert_eq!(job.ends.runtime, Some(Dur::us(us)), "{text}");
        assert_eq!(job.schedule.startdelay, Dur::us(us), "{text}");
    }
    assert_eq!(one("thinktime=7").pace.thinktime, Dur::us(7));
    assert_eq!(one("runtime=0").ends.runtime, None);
}

#[test]
fn one_value_for_each_operation() {
    // The examples of HOWTO, `blocksize`.
    for (text, read, write, trim) in [
        ("256k", 256 << 10, 256 << 10, 256 << 10),
        ("8k,32k", 8192, 32768, 32768),
        ("8k,32k,", 8192, 32768, 4096),
        (",8k", 4096, 8192, 8192),
        (",8k,", 4096, 8192, 4096),
    ] {
        let wanted = Each { read, write, trim };
        assert_eq!(one(&format!("bs={text}")).blocks.bs, wanted, "{text}");
    }
    let rate = |text: &str| one(&format!("rate={text}")).pace.rate;
    assert_eq!(
        (rate("1m,500k").read, rate("1m,500k").write),
        (1 << 20, 500 << 10)
    );
    assert_eq!((rate(",500k").read, rate(",500k").write), (0, 500 << 10));
    assert_eq!((rate("500k,").read, rate("500k,").write), (500 << 10, 0));
}

#[test]
fn splits_add_up() {
    let split = |text: &str| {
        let Lengths::Shares(sizes) = one(&format!("bssplit={text}")).lengths(Op::Read) else {
            panic!("{text}");
        };
        let pair = |split: &Split| (split.bytes, split.percent);
        sizes.iter().map(pair).collect::<Vec<_>>()
    };
    assert_eq!(
        split("4k/10:64k/50:32k/40"),
        [(4096, 10), (65536, 50), (32768, 40)]
    );
    // HOWTO: omitted percentages share the remainder.
    assert_eq!(
        split("4k/50:1k/:32k/"),
        [(4096, 50), (1024, 25), (32768, 25)]
    );
    assert_eq!(split("1k:2k:4k"), [(1024, 33), (2048, 33), (4096, 34)]);
    let job = one("bssplit=2k/50:4k/50,4k/90:8k/10");
    let Lengths::Shares(sizes) = job.lengths(Op::Write) else {
        panic!("{job:?}");
    };
    assert_eq!(sizes[1].percent, 10);
    assert_eq!(
        (job.shortest(Op::Read), job.shortest(Op::Write)),
        (2048, 4096)
    );
}

#[test]
fn the_other_options() {
    let job = one(
        "readwrite=randrw\nblocksize=4k\nrwmixread=10\nrwmixwrite=20\nsize=20%\nio_size=1g\noffset=50%\n\
         offset_increment=1m\nrandom_distribution=zipf:1.2\ntime_based\nruntime=3\nloops=4\nstonewall=1\n\
         ioengine=libaio\niodepth=32\nnumjobs=5\nprio=7\nrandseed=9\nfsync=8\nnorandommap\ndirect=1\nverify=0\n\
         thinktime=1ms\nthinktime_blocks=2\nrate_iops=5,6\ndo_verify=0",
    );
    let wanted = Job {
        name: "job".into(),
        rw: Rw::RandMixed,
        rwmixread: 80,
        area: Area {
            size: Some(Amount::Percent(20)),
            io_size: Some(1 << 30),
            offset: Amount::Percent(50),
            offset_increment: Amount::Bytes(1 << 20),
        },
        order: Order {
            random_distribution: Distribution::Zipf(1.2),
            norandommap: true,
            ..Order::default()
        },
        ends: Ends {
            time_based: true,
            runtime: Some(Dur::ms(3000)),
            loops: 4,
            ..Ends::default()
        },
        schedule: Schedule {
            stonewall: true,
            ..Schedule::default()
        },
        ioengine: Engine::Async,
        iodepth: 32,
        numjobs: 5,
        prio: Some(7),
        randseed: Some(9),
        flushes: Flushes {
            fsync: 8,
            ..Flushes::default()
        },
        pace: Pacing {
            thinktime: Dur::ms(1),
            thinktime_blocks: 2,
            rate_iops: Each {
                read: 5,
                write: 6,
                trim: 6,
            },
            ..Pacing::default()
        },
        do_verify: false,
        ..Job::default()
    };
    assert_eq!(job, wanted);
    assert_eq!(job.depth(), 32);
    assert_eq!(
        one("random_distribution=pareto").order.random_distribution,
        Distribution::Pareto(0.2)
    );
}

#[test]
fn what_changes_nothing_is_noted() {
    let text = "[a]\nfilename=/dev/sdx\ngroup_reporting\nrandrepeat=0\niodepth=8\n[b]\niodepth=8\nioengine=io_uring\n";
    let notes = parse(text).unwrap().notes;
    assert_eq!(notes.len(), 4, "{notes:?}");
    assert!(notes[0].starts_with("line 2: `filename`"), "{}", notes[0]);
    assert!(
        notes[3].contains("job `a`") && notes[3].contains("psync"),
        "{}",
        notes[3]
    );
    assert_eq!(parse(text).unwrap().jobs[0].depth(), 1);
}

/// A job file, the line that the error names, and a part of its message.
const REFUSED: &[(&str, usize, &str)] = &[
    ("rw=read\n[a]", 1, "`rw` stands before any section"),
    (
        "include glob.fio\n[a]",
        1,
        "`include glob.fio` stands before any section, where fio takes none either: write [global] above it",
    ),
    (
        "[a]\nrecover_zbd_write_error",
        2,
        "`recover_zbd_write_error` is not supported: a write that fails ends the run",
    ),
    ("[a]\n[b", 2, "[name]"),
    ("[a]\n\n[]", 3, "[name]"),
    ("[a]\n[ ]", 2, "[name]"),
    ("[a${B}]", 1, "without variables"),
    (
        "[a]\nrws=read",
        2,
        "fio has no option `rws`; supported here: name, rw, ",
    ),
    ("[a]\nRW=read", 2, "fio has no option `RW`"),
    (
        "[a]\nzonemode=strided",
        2,
        "`zonemode` is \"strided\", and it takes none or zbd: zones are those of a zoned drive",
    ),
    ("[a]\nbsrange=4k", 2, "such as 1k-4k"),
    ("[a]\nbsrange=0-4k", 2, "`bsrange`"),
    ("[a]\nbsrange=,", 2, "`bsrange`"),
    ("[a]\nsync=2", 2, "dsync"),
    ("[a]\nrw=randread:0", 2, "`rw`"),
    ("[a]\nrw=read:", 2, "`rw`"),
    ("[a]\nrw=read:-8k", 2, "`rw`"),
    ("[a]\npercentage_random=101", 2, "0..=100"),
    ("[a]\nrate_process=binomial", 2, "linear or poisson"),
    ("[a]\nexit_what=stonewall", 2, "group or all"),
    (
        "[a]\nrw=randomread",
        2,
        "\"randomread\", and it takes one of read, write",
    ),
    ("[a]\ndirect=0", 2, "there is no page cache"),
    ("[a]\nverify=md5", 2, "crc32c"),
    ("[a]\nbs=4k/8k", 2, "`bs` is \"4k/8k\""),
    ("[a]\nbs=0", 2, "`bs`"),
    ("[a]\nbs=,", 2, "`bs`"),
    ("[a]\nbs=1,2,3,4", 2, "`bs`"),
    ("[a]\nbs=10q", 2, "`bs`"),
    ("[a]\nbs=4bi", 2, "`bs`"),
    ("[a]\nbs=4kbb", 2, "`bs`"),
    ("[a]\nbs=4é", 2, "`bs`"),
    ("[a]\nbs=k", 2, "`bs`"),
    ("[a]\nbs=99999999999p", 2, "`bs`"),
    ("[a]\nbs=1.5k", 2, "`bs`"),
    ("[a]\nbs", 2, "`bs` is \"\""),
    ("[a]\nbssplit=4k/60:8k/60", 2, "add up to 100"),
    ("[a]\nbssplit=4k/30:8k/30", 2, "add up to 100"),
    ("[a]\nsize=101%", 2, "a percentage of the drive"),
    ("[a]\nsize=0%", 2, "`size`"),
    ("[a]\niodepth=0", 2, "from 1 to"),
    ("[a]\nnumjobs=5000", 2, "1..=4096"),
    ("[a]\nrwmixread=120", 2, "0..=100"),
    ("[a]\nprio=8", 2, "0..=7"),
    ("[a]\nrandom_distribution=zipf:1", 2, "not 1"),
    ("[a]\nrandom_distribution=zipf:nan", 2, "not 1"),
    ("[a]\nrandom_distribution=pareto:1", 2, "below 1"),
    (
        "[a]\nrandom_distribution=zoned:60/10:40/90",
        2,
        "zipf:THETA",
    ),
    ("[a]\nrandom_distribution=zipf:0.5:0.3", 2, "zipf:THETA"),
    ("[a]\nruntime=3parsecs", 2, "a time"),
    ("[a]\nstartdelay=1-3", 2, "a time"),
    ("[a]\ntime_based=2", 2, "0 or 1"),
    ("[a]\nioengine=mmap", 2, "libaio"),
    ("[a]\nname=", 2, "a name"),
];

/// Conflicts are detected at the end of a section, and reported with the line where it starts.
const CLASHES: &[(&str, usize, &str)] = &[
    ("[a]\n[b]\ntime_based\n[c]", 2, "needs a `runtime`"),
    ("[b]\nrate=1m\nrate_iops=10", 1, "exclude each other"),
    ("[b]\nbssplit=4k/50:6k/50", 1, "6144 bytes, no multiple"),
    (
        "[b]\nbsrange=4k-6k",
        1,
        "`bsrange` has blocks of 6144 bytes",
    ),
    (
        "[b]\nverify=crc32c\nrw=randwrite:4\nioengine=libaio\niodepth=2",
        1,
        "a number behind `rw`",
    ),
    ("[b]\nverify=crc32c", 1, "a job that writes"),
    (
        "[b]\nverify=crc32c\nrw=randwrite\nnorandommap\nioengine=libaio\niodepth=2",
        1,
        "random map",
    ),
    ("[b]\nverify=crc32c\nrw=write\nbs=32", 1, "40 bytes"),
    ("[b]\nverify=crc32c\nrw=write\nbs=65m", 1, "at most 64m"),
];

#[test]
fn every_error_names_its_line_and_what_to_do() {
    for &(text, line, words) in REFUSED.iter().chain(CLASHES) {
        let error = refused(text);
        assert_eq!(error.line, Some(line), "{text:?}: {error}");
        let said = error.to_string();
        assert!(said.starts_with(&format!("line {line}: ")), "{said}");
        assert!(said.contains(words), "{text:?}: {said}");
    }
    for text in ["", "[global]\nrw=read", "; nothing"] {
        assert_eq!(refused(text).problem, Problem::NoJobs);
    }
}

#[test]
fn a_job_must_fit_its_drive() {
    for (options, words) in [
        ("bs=1000", "logical block, 512 bytes"),
        ("rw=randread\nba=100", "logical block"),
        ("offset=100", "`offset` comes to 100"),
        ("offset=2m", "begin behind the end"),
        ("size=2m", "`size` is 2097152"),
        ("offset=512k\nsize=768k", "there are 524288"),
        (
            "numjobs=3\noffset_increment=512k",
            "process 2 would begin behind",
        ),
        ("bs=4m", "less than the smallest block, 4194304 bytes"),
        ("size=0", "do not fit"),
        (
            "rw=rw\nbs=4k,64k\nsize=16k",
            "writes of 65536 bytes do not fit",
        ),
    ] {
        let error = one(options).resolve(&info(1 << 20)).unwrap_err();
        assert!(error.to_string().starts_with("job `job`: "), "{error}");
        assert!(error.to_string().contains(words), "{options:?}: {error}");
    }
    // Percentages are of the whole drive, and the region ends with it. Offsets are rounded up to a block, sizes down.
    let regions = |options: &str| {
        let regions = one(options).resolve(&info(1_000_448)).unwrap();
        regions
            .iter()
            .map(|r| (r.offset, r.size))
            .collect::<Vec<_>>()
    };
    assert_eq!(regions("size=50%"), [(0, 499_712)]);
    assert_eq!(regions("offset=50%"), [(503_808, 495_616)]);
    assert_eq!(regions("offset=50%\nsize=90%"), [(503_808, 495_616)]);
    assert_eq!(
        regions("numjobs=3\noffset=64k\noffset_increment=25%\nsize=18k"),
        [(65_536, 16_384), (319_488, 16_384), (573_440, 16_384)]
    );
    let bytes = |options: &str| one(options).resolve(&info(1 << 20)).unwrap()[0].io_bytes;
    assert_eq!(bytes("size=64k\nloops=3"), Some(192 << 10));
    assert_eq!(bytes("size=64k\nio_size=10k\nloops=3"), Some(30 << 10));
    assert_eq!(bytes("time_based\nruntime=1"), None);
}

#[test]
fn maps_are_bounded() {
    let text = |numjobs: u32, size: &str| {
        format!("[a]\nrw=randread\nbssplit=512/50:1k/50\nsize={size}\nnumjobs={numjobs}")
    };
    let refused = |text: &str| {
        let jobs = parse(text).unwrap().jobs;
        Jobs::new(&jobs, &info(1 << 50), 1)
            .err()
            .map(|error| error.to_string())
    };
    // A map has a bit for each 512 bytes: half a gibibyte covers 2 TiB.
    assert!(refused(&text(1, "3t")).unwrap().contains("`norandommap`"));
    assert!(
        refused(&text(4096, "1t"))
            .unwrap()
            .contains("all processes")
    );
    assert_eq!(refused(&text(8, "1g")), None);
    // If all lengths are equal, there is no map.
    assert_eq!(refused("[a]\nrw=randread\nnumjobs=9"), None);
}

/// Generates an option with a value that may be valid, from the various kinds of values.
fn line() -> impl Strategy<Value = String> {
    let value = prop_oneof![
        "[0-9]{1,4}[kmgKMG]?i?b?",
        "[0-9]{1,3}%",
        "[0-9]{1,5}(us|ms|s|m|h|d)?",
        "(4k|8k|512)/[0-9]{1,2}:(64k|32k)/[0-9]{0,2}",
        "[0-9]{0,3}k?,[0-9]{0,3}k?,?",
        "(rand)?(read|write|rw|trim)(:[0-9]{1,2}k?)?",
        "[0-9]{1,2}k?-[0-9]{1,3}k,?",
        "(none|sync|linear|poisson|group|all|sequential|identical)",
        "(zipf|pareto):[0-9]\\.[0-9]{1,3}",
        "(libaio|psync|crc32c|random|0|1|)",
    ];
    (0..OPTIONS.len(), value).prop_map(|(index, value)| {
        let names = OPTIONS[index].names;
        format!("{}={value}", names[value.len() % names.len()])
    })
}

proptest! {
    #[test]
    fn parsing_never_panics(text in "\\PC*", lines in prop::collection::vec(".{0,30}", 0..10)) {
        let _ = parse(&text);
        let _ = parse(&format!("[a]\n{}", lines.join("\n")));
    }

    #[test]
    fn a_job_fits_a_drive_or_is_refused(
        lines in prop::collection::vec(line(), 0..12), name in "[a-z\\[\\]]{1,6}", capacity in 0u64..1 << 44
    ) {
        // Lines that are refused are left out.
        let mut text = format!("[job]\nname={name}\n");
        for line in lines {
            let more = format!("{text}{line}\n");
            if parse(&more).is_ok() {
                text = more;
            }
        }
        let job = parse(&text).unwrap().jobs.remove(0);
        if let Ok(regions) = job.resolve(&info(capacity)) {
            prop_assert_eq!(regions.len(), job.numjobs as usize);
            prop_assert!(regions.iter().all(|region| region.end() <= capacity && region.size > 0));
        }
    }
}

#[test]
fn the_options_are_told_apart() {
    let mut names: Vec<_> = OPTIONS.iter().flat_map(|option| option.names).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}
