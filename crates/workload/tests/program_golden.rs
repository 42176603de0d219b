//! PostMark's operations against those that the program itself performed.

use crate::recorded::recorded;
use fathom_workload::program::postmark::{self, Settings};

fn agrees(settings: &Settings, name: &str) {
    let Some(expected) = recorded(name) else {
        return;
    };
    let mut made = settings.operations(0).unwrap();
    let mut lines = expected.lines().enumerate();
    for (number, line) in &mut lines {
        let found = made.next().map(|operation| operation.to_string());
        assert_eq!(found.as_deref(), Some(line), "{name}, line {}", number + 1);
    }
    assert_eq!(made.next(), None, "{name}");
}

fn synced(every: u64, settings: Settings) -> Settings {
    Settings {
        sync_every: every,
        ..settings
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let of = |change: fn(&mut Settings)| {
        let mut settings = postmark::cvfs();
        change(&mut settings);
        settings.operations(0).map(|_| ()).unwrap_err().key
    };
    assert_eq!(of(|settings| settings.files = 0), "files");
    assert_eq!(of(|settings| settings.files = u64::MAX), "files");
    assert_eq!(of(|settings| settings.sizes.max.0 = 1), "sizes");
}

#[test]
fn the_sets_of_the_survey_are_postmarks_to_the_byte() {
    agrees(
        &synced(1000, postmark::cvfs()),
        "postmark_cvfs.sync1000.ops.xz",
    );
    agrees(
        &synced(1000, postmark::cvfs_large()),
        "postmark_cvfsl.sync1000.ops.xz",
    );
    agrees(
        &synced(1000, postmark::fsl()),
        "postmark_fsl.sync1000.ops.xz",
    );
}

/// The program itself never syncs: the recordings had their `S` lines inserted.
#[test]
fn without_syncs_the_rest_is_the_same() {
    let Some(expected) = recorded("postmark_cvfs.sync1000.ops.xz") else {
        return;
    };
    let expected: Vec<&str> = expected.lines().filter(|&line| line != "S").collect();
    assert_eq!(expected.len(), 50_018);
    let made = postmark::cvfs().operations(0).unwrap();
    let made: Vec<String> = made.map(|operation| operation.to_string()).collect();
    assert_eq!(made, expected);
}
