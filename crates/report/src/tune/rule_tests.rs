//! Tests of the rules for discards, content, placement and stalls, and of reports that a measurement refutes.

use super::tests::{MIB, bytes, counted, fast, reported, tuned, value};
use super::*;
use fathom_probe::{Estimate, Value, Verdict};

/// The rules of discards: 5 ms for a GiB bound nothing below the drive's own 2 GiB, 400 ms for a GiB do.
#[test]
fn a_slow_trim_is_bounded_and_batched() {
    let drive = reported(&[
        ("discard_max_bytes", "2147450880"),
        ("discard_max_hw_bytes", "2147450880"),
    ]);
    let trim = |ns: u64, per_gib: f64, during: f64| {
        let trim = Estimate::identified(Value::Nanoseconds(ns), "seen")
            .figure("ns_per_gib", per_gib)
            .figure("read_quiet_ns", 80_000.0)
            .figure("read_during_ns", during);
        tuned(&drive, &Measured::default().with("trim", trim))
    };
    let cheap = trim(60_000, 5e6, 82_000.0);
    assert_eq!(value(&cheap, "discard", "discard_max_bytes"), None);
    assert_eq!(value(&cheap, "discard", "when"), Some("mount -o discard"));
    let dear = trim(900_000, 4e8, 90_000.0);
    // 10 of 400 ms are 25.6 MiB; the power of two below is 16 MiB.
    assert_eq!(
        value(&dear, "discard", "discard_max_bytes"),
        Some("16777216")
    );
    let now = dear
        .advice
        .iter()
        .find(|a| a.setting == "discard_max_bytes");
    assert_eq!(now.unwrap().now.as_deref(), Some("2147450880"));
    assert_eq!(value(&dear, "discard", "when"), Some("mount -o discard"));
    let disturbing = trim(900_000, 4e8, 200_000.0);
    assert_eq!(value(&disturbing, "discard", "when"), Some("fstrim.timer"));
    // 10 ms would be 2 TiB where nothing is known of the drive's longest: the kernel sends none of 4 GiB.
    let nearly_free =
        Estimate::identified(Value::Nanoseconds(7_000), "seen").figure("ns_per_gib", 5_000.0);
    let free = tuned(
        &reported(&[]),
        &Measured::default().with("trim", nearly_free),
    );
    assert_eq!(value(&free, "discard", "discard_max_bytes"), None);
    let slow = trim(5_000_000, 1e12, 80_000.0);
    assert_eq!(
        value(&slow, "discard", "discard_max_bytes"),
        Some("1048576")
    );
    assert_eq!(value(&slow, "discard", "when"), Some("fstrim.timer"));
}

/// The interval of a card whose flushes now and then wait for a merge: 1.1 to 205 ms tell no delay.
#[test]
fn a_flush_of_a_wide_interval_tells_no_delay() {
    let ns = Value::Nanoseconds;
    let delay = |low, high| {
        let flush = Estimate::identified(ns(4_000_000), "seen").between(ns(low), ns(high));
        let tuning = tuned(&reported(&[]), &Measured::default().with("flush", flush));
        value(&tuning, "postgresql", "commit_delay").map(str::to_owned)
    };
    assert_eq!(delay(1_100_000, 205_000_000), None);
    assert_eq!(delay(2_000_000, 8_000_000).as_deref(), Some("2000"));
}

#[test]
fn content_placement_and_room_follow_what_was_measured() {
    let word = |word: &str| Estimate::identified(Value::Word(word.to_owned()), "seen");
    let mut drive = reported(&[]);
    drive.namespace.insert("HMPRE".into(), 200 * MIB);
    let measured = Measured::default()
        .with("compression", word("repeats"))
        .with(
            "map_reach",
            bytes(64 << 30).figure("hit_ns", 8e4).figure("miss_ns", 6e4),
        )
        .with(
            "over_provisioning",
            Estimate::identified(Value::Ratio(0.07), "seen"),
        );
    let found = tuned(&drive, &measured);
    assert_eq!(
        value(&found, "content", "file system compression"),
        Some("off")
    );
    assert!(value(&found, "content", "benchmark data").is_some());
    assert_eq!(
        value(&found, "placement", "span of hot data"),
        Some("64 GiB")
    );
    assert_eq!(
        value(&found, "placement", "nvme.max_host_mem_size_mb"),
        Some("200")
    );
    // 1/2 * (1 + p) / p <= 3 from p = 0.2 on: 1.07 / 0.89 - 1 = 0.202, and 1.07 / 0.90 - 1 = 0.189.
    assert_eq!(value(&found, "placement", "unpartitioned"), Some("11%"));
    let zeros = Measured::default().with("compression", word("zeros")).with(
        "over_provisioning",
        Estimate::identified(Value::Ratio(0.28), "seen"),
    );
    let found = tuned(&reported(&[]), &zeros);
    assert_eq!(value(&found, "content", "file system compression"), None);
    assert!(value(&found, "content", "benchmark data").is_some());
    assert_eq!(value(&found, "placement", "unpartitioned"), None);
}

/// A stall of the drive that hits one read in a hundred is no overload; one that is rare does not count.
#[test]
fn a_target_is_longer_than_frequent_stalls() {
    let with = |percent: f64| {
        let stalls = Estimate::identified(Value::Nanoseconds(3_000_000), "seen")
            .figure("slow_percent", percent);
        tuned(&reported(&[]), &fast().with("stalls", stalls))
    };
    assert_eq!(value(&with(2.0), "queue", "wbt_lat_usec"), Some("3000"));
    assert_eq!(value(&with(0.1), "queue", "wbt_lat_usec"), Some("751"));
}

#[test]
fn a_flush_that_costs_nothing_refutes_a_volatile_cache() {
    let drive = reported(&[("write_cache", "write back")]);
    let absent = Estimate::without_value(Verdict::Absent, "as fast");
    let found = tuned(&drive, &Measured::default().with("flush", absent));
    let cache = found
        .compared
        .iter()
        .find(|one| one.source == "write_cache");
    assert_eq!(cache.unwrap().relation, Relation::Differs);
}

/// A disk with a head reads one place at a time.
#[test]
fn parallel_reads_refute_a_rotating_disk() {
    let relation = |measured: &Measured| {
        let found = tuned(&reported(&[("rotational", "1")]), measured);
        let one = found.compared.iter().find(|one| one.source == "rotational");
        one.unwrap().relation
    };
    let parts = |count| Measured::default().with("parallelism", counted(count));
    assert_eq!(relation(&parts(9)), Relation::Differs);
    assert_eq!(relation(&parts(1)), Relation::CannotTell);
    assert_eq!(relation(&Measured::default()), Relation::CannotTell);
}

/// Multiples of a unit that is known to 2 % fall anywhere in units, and a knee between 2 and 127 is none.
#[test]
fn nothing_is_aligned_to_a_wide_interval_and_no_depth_follows_from_one() {
    let drive = reported(&[("logical_block_size", "512")]);
    let unit = bytes(96 * MIB).between(Value::Bytes(95 * MIB), Value::Bytes(98 * MIB));
    let found = tuned(&drive, &fast().with("reclaim_unit", unit.clone()));
    // The stripes of the request unit are what is left: 1 MiB is a multiple of 64 KiB.
    assert_eq!(value(&found, "partition", "start"), Some("1048576B"));
    assert_eq!(
        value(&found, "pvcreate", "--dataalignment"),
        Some("1048576b")
    );
    assert_eq!(value(&found, "luksFormat", "--offset"), None);
    let open = found.open.iter().find(|o| o.setting == "--offset").unwrap();
    assert!(open.why.contains("not known exactly"), "{}", open.why);
    let knee = counted(2)
        .between(Value::Count(2), Value::Count(127))
        .figure("iops", 6000.0);
    let found = tuned(&drive, &fast().with("queue_knee", knee));
    assert_eq!(value(&found, "queue", "nr_requests"), None);
    // Sixteen dies are known.
    assert_eq!(
        value(&found, "postgresql", "effective_io_concurrency"),
        Some("16")
    );
}
