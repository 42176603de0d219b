//! Tests of the rules on drives made by hand. Expected values follow from the documentation of each setting.

use super::*;
use crate::screen::Screen;
use fathom_probe::{Estimate, Reported, Value, Verdict};

const KIB: u64 = 1 << 10;
pub(super) const MIB: u64 = 1 << 20;

pub(super) fn bytes(value: u64) -> Estimate {
    Estimate::identified(Value::Bytes(value), "seen")
}

pub(super) fn counted(value: u64) -> Estimate {
    Estimate::identified(Value::Count(value), "seen")
}

pub(super) fn reported(queue: &[(&str, &str)]) -> Reported {
    let queue = queue.iter();
    Reported {
        name: Some("nvme0n1".into()),
        number: Some("259:0".into()),
        model: Some("DISK 9000".into()),
        serial: Some("SER42".into()),
        firmware: Some("1.2".into()),
        queue: queue.map(|(k, v)| (k.to_string(), v.to_string())).collect(),
        ..Reported::default()
    }
}

pub(super) fn tuned(reported: &Reported, measured: &Measured) -> Tuning {
    let case = Case { reported, measured };
    let (advice, open) = rules::all(&case);
    Tuning {
        fathom: "1".into(),
        profile: "/dev/nvme0n1".into(),
        identity: "DISK 9000".into(),
        drive: reported.clone(),
        compared: compare::all(&case),
        advice,
        open,
        notes: Vec::new(),
    }
}

pub(super) fn value<'a>(found: &'a Tuning, family: &str, setting: &str) -> Option<&'a str> {
    let mut advice = found.advice.iter();
    let found = advice.find(|a| a.family == family && a.setting == setting);
    found.map(|advice| advice.value.as_str())
}

/// Everything of a fast drive with an indirection unit of 16 KiB that it does not report.
pub(super) fn fast() -> Measured {
    let knee = counted(64)
        .between(Value::Count(48), Value::Count(96))
        .figure("iops", 400_000.0)
        .figure("p99_ns", 750_200.0);
    Measured::default()
        .with("indirection_unit", bytes(16 * KIB))
        .with("read_unit", bytes(16 * KIB))
        .with("stripe_unit", bytes(64 * KIB))
        .with("parallelism", counted(16))
        .with("queue_knee", knee)
        .with("reclaim_unit", bytes(96 * MIB))
        .with(
            "fast_cache",
            bytes(40 << 30).figure("slow_bytes_per_s", 3e8),
        )
        .with(
            "flush",
            Estimate::identified(Value::Nanoseconds(20_000), "seen")
                .figure("dirty1_ns", 3_000_000.0),
        )
}

#[test]
fn nothing_follows_from_nothing_and_every_setting_has_its_reason() {
    let found = tuned(&reported(&[]), &Measured::default());
    assert_eq!(found.advice, []);
    assert!(found.open.len() > 25, "{}", found.open.len());
    for open in &found.open {
        assert!(
            open.why.contains("not measured") || open.why.contains("no lasting rate"),
            "{open:?}"
        );
        assert_eq!(open.verdict, None);
    }
}

/// An answer without *identified* is no basis, whatever it says.
#[test]
fn only_what_is_identified_is_advice() {
    for verdict in [
        Verdict::Absent,
        Verdict::NotIdentifiable,
        Verdict::Inconclusive,
    ] {
        let mut measured = fast();
        for name in [
            "indirection_unit",
            "stripe_unit",
            "queue_knee",
            "parallelism",
            "flush",
        ] {
            measured = measured.with(name, Estimate::without_value(verdict, "too noisy."));
        }
        let found = tuned(&reported(&[]), &measured);
        let by: Vec<&str> = found.advice.iter().map(|a| a.parameter.as_str()).collect();
        assert!(
            by.iter()
                .all(|p| ["reclaim_unit", "fast_cache", "read_unit"].contains(p)),
            "{by:?}"
        );
        let ashift = found
            .open
            .iter()
            .find(|o| o.setting == "-o ashift")
            .unwrap();
        assert_eq!(ashift.verdict, Some(verdict));
        assert_eq!(
            ashift.why,
            format!("the indirection unit is {verdict}: too noisy")
        );
    }
}

#[test]
fn a_unit_that_the_drive_hides_moves_every_alignment() {
    let drive = reported(&[
        ("physical_block_size", "4096"),
        ("logical_block_size", "512"),
    ]);
    let found = tuned(&drive, &fast());
    let cases = [
        ("zpool", "-o ashift", "14"),
        ("ext4", "-b", "4096"),
        // 64 KiB and 1 MiB in blocks of 4 KiB (mke2fs(8)).
        ("ext4", "-E", "stride=16,stripe_width=256"),
        ("xfs", "-s", "size=4096"),
        ("xfs", "-d", "su=65536,sw=16"),
        ("btrfs", "--nodesize", "16384"),
        // 96 MiB in segments of 2 MiB.
        ("f2fs", "-s", "48"),
        ("partition", "start", "100663296B"),
        ("pvcreate", "--dataalignment", "100663296b"),
        ("luksFormat", "--sector-size", "4096"),
        ("luksFormat", "--offset", "196608"),
        ("mdadm", "--chunk", "512"),
        ("seastar", "physical_block_size", "16384"),
        ("rocksdb", "block_size", "16384"),
        ("rocksdb", "compaction_readahead_size", "2097152"),
        ("rocksdb", "rate_bytes_per_sec", "300000000"),
        ("postgresql", "effective_io_concurrency", "64"),
        // Half of 3 ms, in microseconds (PostgreSQL, commit_delay).
        ("postgresql", "commit_delay", "1500"),
    ];
    for (family, setting, expected) in cases {
        assert_eq!(
            value(&found, family, setting),
            Some(expected),
            "{family} {setting}"
        );
    }
    let differs = |property: &str| {
        let one = found
            .compared
            .iter()
            .find(|c| c.property == property)
            .unwrap();
        (one.relation, one.measured.clone())
    };
    let measured = Some("16 KiB".to_owned());
    assert_eq!(
        differs("physical block"),
        (Relation::Differs, measured.clone())
    );
    assert_eq!(differs("logical block"), (Relation::Differs, measured));
}

/// A pool's block cannot be changed later: the larger of the drive's report and the measurement, and never below 4 KiB.
#[test]
fn a_pool_takes_the_larger_unit() {
    let ashift = |physical: &str, unit: u64| {
        let drive = reported(&[("physical_block_size", physical)]);
        let measured = Measured::default().with("indirection_unit", bytes(unit));
        let found = tuned(&drive, &measured);
        value(&found, "zpool", "-o ashift").map(str::to_owned)
    };
    let said = |value: u32| Some(value.to_string());
    assert_eq!(ashift("512", 512), said(12));
    assert_eq!(ashift("4096", 4096), said(12));
    assert_eq!(ashift("8192", 4096), said(13));
    assert_eq!(ashift("512", 65_536), said(16));
    assert_eq!(ashift("512", 131_072), None);
    assert_eq!(ashift("512", 12_288), None);
    // A nonsensical report does not count.
    assert_eq!(ashift("33553920", 4096), said(12));
}

/// The upper end of an interval is aligned with everything below it.
#[test]
fn an_interval_counts_with_its_upper_end() {
    let unit = bytes(8 * KIB).between(Value::Bytes(4 * KIB), Value::Bytes(16 * KIB));
    let found = tuned(
        &reported(&[]),
        &Measured::default().with("indirection_unit", unit),
    );
    assert_eq!(value(&found, "zpool", "-o ashift"), Some("14"));
    assert!(
        found
            .advice
            .iter()
            .any(|a| a.reason.contains("8 KiB (4–16 KiB)"))
    );
}

/// A clustered page of many dies is no unit of a pool's blocks.
#[test]
fn a_long_clustered_page_aligns_requests_and_no_blocks() {
    let found = tuned(
        &reported(&[]),
        &Measured::default().with("clustered_page", bytes(256 * KIB)),
    );
    assert_eq!(value(&found, "zpool", "-o ashift"), None);
    assert_eq!(
        value(&found, "ext4", "-E"),
        Some("stride=64,stripe_width=64")
    );
    let found = tuned(
        &reported(&[]),
        &Measured::default().with("clustered_page", bytes(16 * KIB)),
    );
    assert_eq!(value(&found, "zpool", "-o ashift"), Some("14"));
}

#[test]
fn the_queue_follows_the_knee() {
    let drive = reported(&[
        ("scheduler", "none [mq-deadline] kyber"),
        ("nr_requests", "256"),
        ("max_sectors_kb", "1280"),
        ("max_hw_sectors_kb", "2048"),
        ("read_ahead_kb", "8192"),
        ("optimal_io_size", "33553920"),
    ]);
    let found = tuned(&drive, &fast());
    let queue = |setting: &str| value(&found, "queue", setting);
    assert_eq!(queue("scheduler"), Some("none"));
    // Twice the upper end of the interval, 96, as a power of two.
    assert_eq!(queue("nr_requests"), Some("256"));
    // 16 parts of 64 KiB.
    assert_eq!(queue("max_sectors_kb"), Some("1024"));
    assert_eq!(queue("read_ahead_kb"), Some("2048"));
    assert_eq!(queue("rq_affinity"), Some("2"));
    // 750.2 µs, rounded up.
    assert_eq!(queue("wbt_lat_usec"), Some("751"));
    let ahead = found
        .advice
        .iter()
        .find(|a| a.setting == "read_ahead_kb")
        .unwrap();
    assert!(ahead.reason.contains("does not fit"), "{}", ahead.reason);
    let requests = found
        .advice
        .iter()
        .find(|a| a.setting == "nr_requests")
        .unwrap();
    assert!(requests.is_set());
    let scheduler = found
        .advice
        .iter()
        .find(|a| a.setting == "scheduler")
        .unwrap();
    assert_eq!(scheduler.now.as_deref(), Some("mq-deadline"));
}

#[test]
fn a_slow_drive_has_time_for_a_scheduler_that_must_be_there() {
    let slow = Measured::default().with("queue_knee", counted(4).figure("iops", 9000.0));
    let scheduler = |offered: &str| {
        let found = tuned(&reported(&[("scheduler", offered)]), &slow);
        value(&found, "queue", "scheduler").map(str::to_owned)
    };
    assert_eq!(
        scheduler("[none] mq-deadline").as_deref(),
        Some("mq-deadline")
    );
    assert_eq!(scheduler("[none] bfq"), None);
    let found = tuned(&reported(&[]), &slow);
    assert_eq!(value(&found, "queue", "nr_requests"), Some("8"));
    assert_eq!(value(&found, "queue", "wbt_lat_usec"), None);
}

/// Whatever is measured: a cut of a request is at a multiple of the unit, and no request exceeds the hardware.
#[test]
fn requests_are_cut_between_units() {
    for unit in [
        KIB,
        3 * KIB,
        24 * KIB,
        64 * KIB,
        96 * KIB,
        768 * KIB,
        5 * MIB,
    ] {
        for hard in [4_u64, 128, 1280, 4096, 2_147_483_647] {
            for parts in [0, 1, 7, 16, 4096] {
                let drive = reported(&[
                    ("max_sectors_kb", &hard.min(1280).to_string()),
                    ("max_hw_sectors_kb", &hard.to_string()),
                ]);
                let measured = Measured::default()
                    .with("stripe_unit", bytes(unit))
                    .with("parallelism", counted(parts));
                let found = tuned(&drive, &measured);
                let length = value(&found, "queue", "max_sectors_kb");
                if let Some(length) = length.map(|n| n.parse::<u64>().unwrap()) {
                    assert!(
                        (length * KIB).is_multiple_of(unit),
                        "{unit} {hard} {parts}: {length}"
                    );
                    assert!(
                        (1..=hard).contains(&length),
                        "{unit} {hard} {parts}: {length}"
                    );
                } else {
                    assert!(
                        unit > hard.min(1280) * KIB || unit > hard * KIB,
                        "{unit} {hard} {parts}"
                    );
                }
            }
        }
    }
}

/// No value, however large, breaks a rule.
#[test]
fn extreme_answers_break_nothing() {
    for n in [0, 1, 2, 3, 511, 513, u64::from(u32::MAX), 1 << 62, u64::MAX] {
        let mut measured = Measured::default();
        for name in [
            "indirection_unit",
            "read_unit",
            "stripe_unit",
            "clustered_page",
            "clustered_block",
            "reclaim_unit",
            "write_buffer",
        ] {
            measured = measured.with(name, bytes(n));
        }
        let ns = Estimate::identified(Value::Nanoseconds(n), "seen");
        let knee = counted(n)
            .figure("iops", n as f64)
            .figure("p99_ns", n as f64);
        let limit = Estimate::identified(Value::PerSecond(n as f64), "seen");
        measured = measured
            .with("parallelism", counted(n))
            .with("queue_knee", knee)
            .with("flush", ns)
            .with("rate_limit", limit)
            .with(
                "bandwidth_limit",
                Estimate::identified(Value::BytesPerSecond(n), "seen"),
            );
        let size = n.to_string();
        let drive = reported(&[
            ("physical_block_size", &size),
            ("max_sectors_kb", &size),
            ("max_hw_sectors_kb", &size),
            ("optimal_io_size", &size),
            ("discard_granularity", &size),
        ]);
        let found = tuned(&drive, &measured);
        assert!(!text(&found, Screen::default()).is_empty());
        for format in FORMATS {
            let _ = (format.render)(&found);
        }
    }
}

#[test]
fn a_cost_model_is_whole_or_not_there() {
    let part = tuned(&reported(&[]), &fast());
    assert_eq!(value(&part, "iocost", "io.cost.model"), None);
    assert_eq!(value(&part, "iocost", "io.cost.qos"), None);
    assert_eq!(value(&part, "seastar", "read_iops"), None);
    let why = part
        .open
        .iter()
        .find(|o| o.setting == "io.cost.model")
        .unwrap();
    // Random reads and long writes are known; the others are named.
    assert!(
        why.why
            .contains("long reads, sequential reads, sequential writes, random writes,"),
        "{}",
        why.why
    );
    // A provider's limit binds every load.
    let limit = Estimate::identified(Value::PerSecond(16_000.0), "seen");
    let whole = tuned(
        &reported(&[]),
        &fast()
            .with("rate_limit", limit)
            .with("bandwidth_limit", bandwidth()),
    );
    assert_eq!(
        value(&whole, "iocost", "io.cost.model"),
        Some(
            "rbps=125000000 rseqiops=16000 rrandiops=16000 wbps=125000000 wseqiops=16000 wrandiops=16000"
        )
    );
    let model = whole
        .advice
        .iter()
        .find(|advice| advice.setting == "io.cost.model");
    let reason = &model.unwrap().reason;
    // Each once, though the loads take turns.
    assert!(
        reason.contains("(from bandwidth limit, rate limit)"),
        "{reason}"
    );
    assert_eq!(
        value(&whole, "iocost", "io.cost.qos"),
        Some("rpct=99.00 rlat=751 wpct=0.00 wlat=751 min=50.00 max=100.00")
    );
    assert_eq!(
        value(&whole, "seastar", "write_bandwidth"),
        Some("125000000")
    );
    // 15,258 pages in order and 16,000 at random: no random page costs less than one in order.
    assert_eq!(value(&whole, "postgresql", "random_page_cost"), Some("1.0"));
}

/// A provider's limit of 125 MB/s.
fn bandwidth() -> Estimate {
    Estimate::identified(Value::BytesPerSecond(125_000_000), "seen")
}

#[test]
fn nothing_advises_against_the_safety_of_data() {
    let limit = Estimate::identified(Value::PerSecond(16_000.0), "seen");
    let drive = reported(&[
        ("write_cache", "write back"),
        ("physical_block_size", "4096"),
    ]);
    let found = tuned(
        &drive,
        &fast()
            .with("rate_limit", limit)
            .with("bandwidth_limit", bandwidth()),
    );
    for advice in &found.advice {
        let setting = advice.setting.as_str();
        let harmful = [
            "write_cache",
            "fsync",
            "full_page_writes",
            "synchronous_commit",
            "wal_sync_method",
            "nobarrier",
        ];
        assert!(!harmful.contains(&setting), "{setting}");
        assert!(!advice.reason.is_empty() && !advice.parameter.is_empty());
        assert_eq!(advice.verdict, Verdict::Identified);
    }
    for format in FORMATS {
        let text = (format.render)(&found);
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        for line in lines {
            assert!(
                !line.contains("discard") && !line.contains("/dev/nvme"),
                "{line}"
            );
        }
    }
}

#[test]
fn reports_are_judged_by_their_multiples() {
    let relation = |source: &str, reported_bytes: &str, unit: u64| {
        let drive = reported(&[(source, reported_bytes)]);
        let measured = Measured::default().with("indirection_unit", bytes(unit));
        let found = tuned(&drive, &measured);
        found
            .compared
            .iter()
            .find(|c| c.source == source)
            .unwrap()
            .relation
    };
    assert_eq!(relation("minimum_io_size", "4096", 4096), Relation::Agrees);
    assert_eq!(relation("minimum_io_size", "16384", 4096), Relation::Agrees);
    assert_eq!(
        relation("minimum_io_size", "4096", 16_384),
        Relation::Differs
    );
    // 65,535 sectors: the bogus report of util-linux#1221.
    assert_eq!(
        relation("optimal_io_size", "33553920", 4096),
        Relation::Differs
    );
    assert_eq!(relation("optimal_io_size", "0", 4096), Relation::CannotTell);
    assert_eq!(relation("logical_block_size", "512", 512), Relation::Agrees);
    assert_eq!(
        relation("logical_block_size", "512", 4096),
        Relation::Differs
    );
    let mut drive = reported(&[]);
    drive.namespace.insert("NPWG".into(), 32_768);
    let found = tuned(&drive, &fast());
    let npwg = found.compared.iter().find(|c| c.source == "NPWG").unwrap();
    assert_eq!(
        (npwg.relation, npwg.reported.as_deref()),
        (Relation::Agrees, Some("32 KiB"))
    );
}

#[test]
fn every_form_carries_its_settings_and_their_reasons() {
    let limit = Estimate::identified(Value::PerSecond(16_000.0), "seen");
    let drive = reported(&[("scheduler", "none [mq-deadline]"), ("nr_requests", "64")]);
    let found = tuned(
        &drive,
        &fast()
            .with("rate_limit", limit)
            .with("bandwidth_limit", bandwidth()),
    );
    let form = |name: &str| {
        let form = FORMATS.iter().find(|form| form.name == name).unwrap();
        (form.render)(&found)
    };
    let udev = form("udev");
    let rule = udev.lines().find(|line| !line.starts_with('#')).unwrap();
    assert!(rule.starts_with("ACTION==\"add|change\", SUBSYSTEM==\"block\", ENV{DEVTYPE}==\"disk\", ENV{ID_SERIAL_SHORT}==\"SER42\", ATTR{queue/scheduler}=\"none\", ATTR{queue/nr_requests}=\"256\""), "{rule}");
    let tuned = form("tuned");
    assert!(
        tuned.contains("\n[sysfs]\n")
            && tuned.contains("\n/sys/block/nvme0n1/queue/nr_requests=256\n"),
        "{tuned}"
    );
    let mkfs = form("mkfs");
    assert!(
        mkfs.contains("\nmkfs.ext4 -b 4096 -E stride=16,stripe_width=256 DEVICE\n"),
        "{mkfs}"
    );
    assert!(
        mkfs.contains("\nzpool create -o ashift=14 POOL DEVICE\n"),
        "{mkfs}"
    );
    let iocost = form("iocost");
    assert!(
        iocost.contains("\necho '259:0 ctrl=user model=linear rbps=125000000 "),
        "{iocost}"
    );
    assert!(
        iocost.contains("\necho '259:0 enable=1 ctrl=user rpct=99.00 "),
        "{iocost}"
    );
    let hwdb = form("hwdb");
    assert!(hwdb.contains("\nblock:*:name:DISK 9000:fwrev:1.2:\n IOCOST_SOLUTIONS=fathom\n IOCOST_MODEL_FATHOM=rbps="), "{hwdb}");
    let seastar = form("seastar");
    assert!(
        seastar.contains("\ndisks:\n  - mountpoint: MOUNTPOINT\n    read_iops: 16000\n"),
        "{seastar}"
    );
    assert!(form("rocksdb").contains("\n[DBOptions]\n"));
    assert!(form("postgresql").contains("\neffective_io_concurrency = 64\n"));
    for format in FORMATS {
        let text = (format.render)(&found);
        assert!(
            text.starts_with("# Fathom 1: for nvme0n1, DISK 9000, from the profile of"),
            "{text}"
        );
    }
}

/// The identity of a drive is its own choice.
#[test]
fn an_identity_cannot_end_a_comment_or_a_match() {
    let mut drive = reported(&[]);
    drive.model = Some("evil\nRUN+=\"/bin/sh\"".into());
    drive.serial = Some("a\", RUN+=\"/bin/sh".into());
    let found = tuned(&drive, &fast());
    for format in FORMATS {
        let text = (format.render)(&found);
        let run = |line: &str| line.contains("RUN") && !line.starts_with('#');
        assert!(!text.lines().any(run), "{}: {text}", format.name);
    }
}
