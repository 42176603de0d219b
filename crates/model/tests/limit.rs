//! The limits of a drive file act on the drive that is built from it.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use fathom_base::Time;
use fathom_block::{Completion, Device, Op, Request, Subject};
use fathom_model::{Drive, Model, find};

const LIMIT: &str = "\n[limit]\noperations_per_second = 1000\noperations_burst = 8\n";

fn model(more: &str) -> Model {
    let text = format!("{}{more}", find("ssd-a").unwrap().text);
    let mut model = Model::from_toml(&text).unwrap();
    if let Model::Ssd(spec) = &mut model {
        spec.noise = fathom_ssd::spec::Noise::default();
    }
    model
}

/// Reads `count` times from a drive that was never written. Returns the time of the last completion, in nanoseconds.
fn reads(drive: &mut Drive, count: u64) -> u64 {
    let (mut next, mut done): (u64, Vec<Completion>) = (0, Vec::new());
    while (done.len() as u64) < count {
        while next < count && drive.submit(Request::new(next, Op::Read, 0, 4096)).is_ok() {
            next += 1;
        }
        drive.wait(Time::MAX, &mut done);
    }
    assert!(done.iter().all(|c| c.result.is_ok()));
    done.last().unwrap().completed.0
}

#[test]
fn a_limited_drive_keeps_its_limit_and_its_statistics() {
    let (free, limited) = (model(""), model(LIMIT));
    let mut drive = limited.build(1).unwrap();
    let alone = reads(&mut free.build(1).unwrap(), 1);
    // The burst of 8, and one operation each millisecond.
    assert_eq!(reads(&mut drive, 2008), 2_000_000_000 + alone);
    assert!(reads(&mut free.build(1).unwrap(), 2008) < 1_000_000_000);
    assert_eq!(drive.stats().unwrap().host_bytes_written, 0);
    assert!(drive.fill() > 0 && drive.wear().is_some());
    // A fork has the same level of its buckets.
    let mut fork = drive.clone();
    assert_eq!(reads(&mut drive, 50), reads(&mut fork, 50));
}

#[test]
fn a_limit_is_written_only_where_there_is_one() {
    assert!(!model("").to_toml().contains("[limit]"));
    let limited = model(LIMIT);
    let text = limited.to_toml();
    assert!(text.contains("[limit]"), "{text}");
    assert_eq!(Model::from_toml(&text).unwrap(), limited);
    let text = format!("{}\n[limit]\n", find("ssd-a").unwrap().text);
    let refused = Model::from_toml(&text).unwrap_err().to_string();
    assert!(refused.contains("operations_per_second"), "{refused}");
}

#[test]
fn the_log_of_a_drive_file_is_shown_through_its_layers() {
    let log = |drive: &mut dyn Device| drive.log().map(|log| log.host_bytes_read);
    for (more, want) in [("none", None), ("host", Some(Some(512_000)))] {
        let text = find("nvme").unwrap().text;
        let text = text.replace("[host]\n", &format!("[host]\nlog = \"{more}\"\n"));
        let model = Model::from_toml(&format!("{text}{LIMIT}")).unwrap();
        let mut drive = model.build(1).unwrap();
        reads(&mut drive, 3);
        assert_eq!(log(&mut drive), want);
        let narrow = std::num::NonZeroU32::MIN;
        assert_eq!(log(&mut fathom_block::Narrow::new(drive, narrow)), want);
    }
}
