//! Tests of a change and of its journal over a directory in the form of sysfs, whose attributes accept every value.

use super::entry::Entry;
use super::journal::Journal;
use super::*;
use crate::error::HostError;
use std::fs;
use std::path::{Path, PathBuf};

/// A drive in a directory of its own, and a place for journals.
struct Fake {
    root: tempfile::TempDir,
}

impl Fake {
    fn new() -> Self {
        let fake = Self {
            root: tempfile::tempdir().unwrap(),
        };
        for (name, value) in [
            ("dev", "8:16\n"),
            ("diskseq", "7\n"),
            ("queue/scheduler", "mq-deadline\n"),
            ("queue/nr_requests", "77\n"),
            ("queue/read_ahead_kb", "128\n"),
            ("queue/iosched/read_expire", "1000\n"),
        ] {
            fake.set(name, value);
        }
        fake
    }

    fn dir(&self) -> PathBuf {
        self.root.path().join("sdx")
    }

    fn journals(&self) -> PathBuf {
        self.root.path().join("run/fathom")
    }

    fn set(&self, name: &str, value: &str) {
        let path = self.dir().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, value).unwrap();
    }

    fn says(&self, name: &str) -> String {
        let text = fs::read_to_string(self.dir().join("queue").join(name)).unwrap();
        text.trim().to_owned()
    }

    fn all(&self) -> [String; 4] {
        [
            "scheduler",
            "nr_requests",
            "read_ahead_kb",
            "iosched/read_expire",
        ]
        .map(|n| self.says(n))
    }

    fn drive(&self) -> DriveQueue {
        DriveQueue::at(&self.dir()).unwrap()
    }

    fn change(&self, wanted: &[(&str, &str)]) -> Result<QueueChange, HostError> {
        let wanted: Vec<Setting> = wanted
            .iter()
            .map(|(attribute, value)| Setting {
                attribute: attribute.to_string(),
                value: value.to_string(),
            })
            .collect();
        QueueChange::prepare(&self.drive(), &wanted, &self.journals())
    }

    fn journal(&self) -> Option<String> {
        fs::read_to_string(self.journals().join("sdx.journal")).ok()
    }
}

const FOUND: [&str; 4] = ["mq-deadline", "77", "128", "1000"];
const WANTED: [(&str, &str); 2] = [("read_ahead_kb", "512"), ("scheduler", "none")];

/// Ends the process of a change as SIGKILL does: nothing is restored, and the lock is gone.
fn killed(change: QueueChange, fake: &Fake) {
    let text = fake.journal().unwrap();
    let values = fake.all();
    drop(change);
    let names = [
        "scheduler",
        "nr_requests",
        "read_ahead_kb",
        "iosched/read_expire",
    ];
    for (name, value) in names.into_iter().zip(values) {
        fake.set(&format!("queue/{name}"), &value);
    }
    fs::write(fake.journals().join("sdx.journal"), text).unwrap();
}

#[test]
fn what_is_changed_is_put_back_and_the_journal_goes() {
    let fake = Fake::new();
    let change = fake.change(&WANTED).unwrap();
    assert_eq!(fake.all(), FOUND, "preparing changes nothing");
    assert!(fake.journal().unwrap().ends_with("end\n"));
    assert!(change.apply().unwrap().is_empty());
    assert_eq!(fake.all(), ["none", "77", "512", "1000"]);
    change.undo().unwrap();
    assert_eq!(fake.all(), FOUND);
    assert!(fake.journal().is_some(), "it may be applied again");
    change.apply().unwrap();
    // A switch of the scheduler resets these.
    fake.set("queue/nr_requests", "256");
    change.restore().unwrap();
    assert_eq!(fake.all(), FOUND);
    assert_eq!(fake.journal(), None);
    change.apply().unwrap();
    assert_eq!(fake.all(), FOUND, "it is over");
}

#[test]
fn a_dropped_change_is_put_back_and_a_kept_one_stays() {
    let fake = Fake::new();
    let change = fake.change(&WANTED).unwrap();
    change.apply().unwrap();
    let end = change.at_the_end();
    drop(change);
    end();
    assert_eq!(
        (fake.all(), fake.journal()),
        (FOUND.map(str::to_owned), None)
    );
    let change = fake.change(&WANTED).unwrap();
    change.apply().unwrap();
    change.keep().unwrap();
    drop(change);
    assert_eq!(fake.says("read_ahead_kb"), "512");
    assert_eq!(fake.journal(), None);
    assert!(restore_left(&fake.journals()).is_empty());
}

#[test]
fn the_journal_of_a_killed_process_restores_everything() {
    let fake = Fake::new();
    let change = fake.change(&WANTED).unwrap();
    change.apply().unwrap();
    fake.set("queue/nr_requests", "256");
    fake.set("queue/iosched/read_expire", "500");
    killed(change, &fake);
    assert_eq!(fake.all(), ["none", "256", "512", "500"]);
    let left = restore_left(&fake.journals());
    assert_eq!(left.len(), 1);
    assert!(
        matches!(&left[0].outcome, Outcome::Restored(back) if back.len() == 4),
        "{left:?}"
    );
    assert_eq!(
        (fake.all(), fake.journal()),
        (FOUND.map(str::to_owned), None)
    );
    assert!(restore_left(&fake.journals()).is_empty(), "once");
}

/// The process may have been killed before or between the changes.
#[test]
fn a_process_that_was_killed_before_it_changed_anything_leaves_nothing_to_do() {
    let fake = Fake::new();
    let change = fake.change(&WANTED).unwrap();
    killed(change, &fake);
    let left = restore_left(&fake.journals());
    assert!(
        matches!(&left[0].outcome, Outcome::Restored(back) if back.is_empty()),
        "{left:?}"
    );
    let change = fake.change(&WANTED).unwrap();
    fake.set("queue/scheduler", "none");
    killed(change, &fake);
    restore_left(&fake.journals());
    assert_eq!(fake.all(), FOUND);
}

/// Cut at every byte, a journal is either whole or of a process that had changed nothing.
#[test]
fn a_journal_that_was_cut_short_is_of_no_change() {
    let fake = Fake::new();
    let change = fake.change(&WANTED).unwrap();
    let whole = fake.journal().unwrap();
    drop(change);
    let path = fake.journals().join("sdx.journal");
    for len in 0..=whole.len() {
        fake.set("queue/read_ahead_kb", "512");
        fs::write(&path, &whole[..len]).unwrap();
        let left = restore_left(&fake.journals());
        let done = len == whole.len();
        assert_eq!(left.len(), usize::from(done), "{len}");
        assert_eq!(
            fake.says("read_ahead_kb"),
            if done { "128" } else { "512" },
            "{len}"
        );
        assert!(!path.exists(), "{len}");
    }
}

#[test]
fn what_somebody_else_has_set_since_is_left_alone() {
    let fake = Fake::new();
    let change = fake.change(&WANTED).unwrap();
    change.apply().unwrap();
    killed(change, &fake);
    fake.set("queue/read_ahead_kb", "4096");
    fake.set("queue/scheduler", "bfq");
    let left = restore_left(&fake.journals());
    let since = &left[0].changed_since;
    assert_eq!(
        since[0],
        ["scheduler", "bfq", "mq-deadline"].map(str::to_owned)
    );
    assert_eq!(
        since[1],
        ["read_ahead_kb", "4096", "128"].map(str::to_owned)
    );
    assert_eq!(fake.all(), ["bfq", "77", "4096", "1000"]);
    assert_eq!(fake.journal(), None);
}

#[test]
fn a_drive_that_is_gone_or_another_one_has_nothing_to_restore() {
    let fake = Fake::new();
    let change = fake.change(&WANTED).unwrap();
    change.apply().unwrap();
    killed(change, &fake);
    fake.set("diskseq", "8");
    let left = restore_left(&fake.journals());
    assert!(matches!(left[0].outcome, Outcome::Gone), "{left:?}");
    assert_eq!(
        fake.says("read_ahead_kb"),
        "512",
        "it is another drive's value"
    );
    let change = fake.change(&[("nr_requests", "4")]).unwrap();
    change.apply().unwrap();
    fs::remove_dir_all(fake.dir()).unwrap();
    assert!(matches!(change.apply(), Err(HostError::NotFound { .. })));
    change.restore().unwrap();
    assert_eq!(fake.journal(), None);
}

#[test]
fn one_process_changes_a_drive_at_a_time() {
    let fake = Fake::new();
    let change = fake.change(&WANTED).unwrap();
    let error = fake.change(&WANTED).unwrap_err().to_string();
    assert!(error.contains("another process is changing"), "{error}");
    let left = restore_left(&fake.journals());
    assert!(matches!(left[0].outcome, Outcome::InUse), "{left:?}");
    killed(change, &fake);
    let error = fake.change(&WANTED).unwrap_err().to_string();
    assert!(error.contains("--restore"), "{error}");
}

#[test]
fn only_attributes_of_the_queue_are_changed() {
    let fake = Fake::new();
    fake.set("other", "1");
    for name in [
        "../other",
        "none_such",
        "",
        "iosched",
        "iosched/../../other",
        "/etc/passwd",
    ] {
        let error = fake.change(&[(name, "2")]).unwrap_err();
        assert!(
            matches!(error, HostError::NotFound { .. }),
            "{name}: {error}"
        );
    }
    assert_eq!(fake.journal(), None);
    // Neither does a journal that somebody has written.
    fs::create_dir_all(fake.journals()).unwrap();
    let text = format!(
        "fathom queue journal 1\ndrive\tsdx\t8:16\t7\t{}\nset\t../other\t5\t1\nend\n",
        fake.dir().display()
    );
    fs::write(fake.journals().join("sdx.journal"), text).unwrap();
    assert!(restore_left(&fake.journals()).is_empty());
    assert_eq!(fs::read_to_string(fake.dir().join("other")).unwrap(), "1");
}

#[test]
fn values_survive_their_journal() {
    let fake = Fake::new();
    let entry = |attribute: &str, old: &str, new: Option<&str>| Entry {
        attribute: attribute.into(),
        old: old.into(),
        new: new.map(str::to_owned),
        seen: None,
    };
    let mut entries = vec![
        entry("scheduler", "mq-deadline", Some("none")),
        entry("iosched/read_expire", "1000", None),
        entry("wbt_lat_usec", "-1", Some("")),
    ];
    let mut journal = Journal::begin(&fake.journals(), &fake.drive(), &entries).unwrap();
    entries[0].seen = Some("kyber".into());
    journal.seen(&entries[0]).unwrap();
    let written = journal.read().unwrap().unwrap();
    assert_eq!(written.entries, entries);
    assert_eq!((written.name.as_str(), written.sequence), ("sdx", Some(7)));
    assert_eq!(written.dir, fake.dir());
    journal.remove().unwrap();
    assert!(!Path::new(&fake.journals().join("sdx.journal")).exists());
}
