//! Tests of a change and of its journal over a directory in the form of sysfs, whose attributes accept every value.

use super::entry::Entry;
use super::journal::Journal;
use super::lock::DriveLock;
use super::written::parse;
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

    /// Adds lines to the journal.
    fn add(&self, text: &str) {
        let path = self.journals().join("sdx.journal");
        let before = fs::read_to_string(&path).unwrap();
        fs::write(path, before + text).unwrap();
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
    // It was killed while it wrote, so these are the kernel's.
    fake.add("writing\tscheduler\n");
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

/// After its process had read every attribute again, another value is somebody else's, also of an attribute that was to
/// keep its value, and of one that a switch of the scheduler resets.
#[test]
fn a_value_that_was_not_seen_is_of_somebody_else() {
    for (name, line) in [
        ("nr_requests", ""),
        ("read_ahead_kb", ""),
        // The kernel does not change it with this one.
        ("read_ahead_kb", "writing\tscheduler\n"),
        // With this one it does, but not to this value.
        ("read_ahead_kb", "writing\tmax_sectors_kb\n"),
    ] {
        let fake = Fake::new();
        let change = fake.change(&WANTED).unwrap();
        change.apply().unwrap();
        killed(change, &fake);
        fake.add(line);
        fake.set(&format!("queue/{name}"), "64");
        let left = restore_left(&fake.journals());
        let [since] = &left[0].since[..] else {
            panic!("{left:?}");
        };
        let value = |value: &Option<String>| value.clone().unwrap();
        assert_eq!(since.attribute, name);
        assert_eq!([value(&since.set), value(&since.now)], ["64", "64"]);
        assert_eq!(fake.says(name), "64");
        assert_eq!(fake.says("scheduler"), "mq-deadline");
    }
}

/// What somebody else sets during a trial ends it, and stays.
#[test]
fn a_trial_ends_when_somebody_else_sets_an_attribute() {
    let fake = Fake::new();
    let change = fake.change(&WANTED).unwrap();
    change.apply().unwrap();
    fake.set("queue/nr_requests", "64");
    let error = change.undo().unwrap_err().to_string();
    assert!(error.contains("nr_requests was 77"), "{error}");
    assert_eq!(fake.all(), ["mq-deadline", "64", "128", "1000"]);
    change.restore().unwrap();
    assert_eq!(fake.journal(), None);
    let change = fake.change(&WANTED).unwrap();
    change.apply().unwrap();
    change.undo().unwrap();
    fake.set("queue/read_ahead_kb", "96");
    let error = change.apply().unwrap_err().to_string();
    assert!(
        error.contains("read_ahead_kb is 96, and was left at 128"),
        "{error}"
    );
    drop(change);
    assert_eq!(fake.all(), ["mq-deadline", "64", "96", "1000"]);
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

/// Cut at every byte, a journal is either whole or damaged: then it stays, and so do the values.
#[test]
fn a_journal_that_was_cut_short_is_kept_and_named() {
    let fake = Fake::new();
    let change = fake.change(&WANTED).unwrap();
    let whole = fake.journal().unwrap();
    drop(change);
    let path = fake.journals().join("sdx.journal");
    for len in 0..=whole.len() {
        fake.set("queue/read_ahead_kb", "512");
        fs::write(&path, &whole[..len]).unwrap();
        let left = restore_left(&fake.journals());
        assert_eq!((left.len(), &left[0].journal), (1, &path), "{len}");
        let done = len == whole.len();
        let damaged = matches!(&left[0].outcome, Outcome::Damaged(why) if !why.is_empty());
        assert_eq!(damaged, !done, "{len}: {left:?}");
        assert_eq!(
            fake.says("read_ahead_kb"),
            if done { "128" } else { "512" },
            "{len}"
        );
        assert_eq!(path.exists(), !done, "{len}");
    }
}

/// None of these says what to restore, and none is deleted.
#[test]
fn a_journal_that_is_none_is_kept_and_named() {
    let fake = Fake::new();
    let change = fake.change(&WANTED).unwrap();
    let whole = fake.journal().unwrap();
    drop(change);
    let path = fake.journals().join("sdx.journal");
    let foreign = whole.replace("journal 2", "journal 1").into_bytes();
    let changed = whole.replace("keep\t", "kept\t").into_bytes();
    let more = (whole.clone() + "seen\tnone_such\t1\n").into_bytes();
    let outside = whole.replace("read_ahead_kb", "../other").into_bytes();
    for text in [vec![0xff, 0xfe, b'\n'], foreign, changed, more, outside] {
        fs::write(&path, &text).unwrap();
        let left = restore_left(&fake.journals());
        let Outcome::Damaged(why) = &left[0].outcome else {
            panic!("{left:?}");
        };
        assert!(why.starts_with("it"), "{why}");
        assert_eq!(fs::read(&path).unwrap(), text);
        assert!(fake.change(&WANTED).is_err(), "it is not overwritten");
    }
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    let left = restore_left(&fake.journals());
    assert!(matches!(&left[0].outcome, Outcome::Damaged(why) if why == "it is no file"));
    assert!(path.is_dir());
    assert!(fake.change(&WANTED).is_err());
}

/// A process that was killed before its journal was complete had changed nothing.
#[test]
fn a_journal_has_its_name_when_it_is_complete() {
    let fake = Fake::new();
    fs::create_dir_all(fake.journals()).unwrap();
    let begun = fake.journals().join("sdx.journal.begun");
    fs::write(&begun, "fathom queue jour").unwrap();
    assert!(restore_left(&fake.journals()).is_empty());
    let change = fake.change(&WANTED).unwrap();
    assert!(fake.journal().unwrap().ends_with("end\n") && !begun.exists());
    drop(change);
    assert_eq!(fs::read_dir(fake.journals()).unwrap().count(), 0);
}

#[test]
fn a_place_for_no_journal_is_told() {
    let fake = Fake::new();
    for place in ["/dev/full", "/etc/passwd", "/proc/none-such"] {
        let wanted = Setting {
            attribute: "read_ahead_kb".into(),
            value: "512".into(),
        };
        let change = QueueChange::prepare(&fake.drive(), &[wanted], Path::new(place));
        let error = change.unwrap_err().to_string();
        assert!(
            error.starts_with(place) && error.contains("`--journal`"),
            "{error}"
        );
    }
    assert_eq!(fake.all(), FOUND);
}

/// The switch of somebody else has reset what a switch resets; the rest goes back.
#[test]
fn what_somebody_else_has_set_since_is_left_alone() {
    let fake = Fake::new();
    fake.set("queue/wbt_lat_usec", "75000");
    let wanted = [WANTED[0], WANTED[1], ("wbt_lat_usec", "714")];
    let change = fake.change(&wanted).unwrap();
    change.apply().unwrap();
    killed(change, &fake);
    fake.set("queue/read_ahead_kb", "4096");
    fake.set("queue/scheduler", "bfq");
    fake.set("queue/nr_requests", "256");
    fs::remove_file(fake.dir().join("queue/iosched/read_expire")).unwrap();
    let left = restore_left(&fake.journals());
    let since = left[0].since.iter();
    let since: Vec<_> = since
        .map(|s| (s.attribute.as_str(), s.set.as_deref(), s.now.as_deref()))
        .collect();
    let same = |name, value| (name, Some(value), Some(value));
    assert_eq!(
        since,
        [
            same("scheduler", "bfq"),
            same("read_ahead_kb", "4096"),
            same("nr_requests", "256"),
            ("iosched/read_expire", None, None),
        ]
    );
    assert_eq!(fake.says("wbt_lat_usec"), "75000", "it is no scheduler's");
    assert_eq!(fake.says("nr_requests"), "256");
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
    let told = |error: HostError| {
        let error = error.to_string();
        assert!(error.contains("another process is changing"), "{error}");
    };
    told(fake.change(&WANTED).unwrap_err());
    told(QueueChange::check(&fake.drive()).unwrap_err());
    // With the journal elsewhere, it would take the values of the trial for the old ones.
    change.apply().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let other = [Setting {
        attribute: "nr_requests".to_owned(),
        value: "4".to_owned(),
    }];
    told(QueueChange::prepare(&fake.drive(), &other, elsewhere.path()).unwrap_err());
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    // What another process has left is not put back into a trial.
    fs::copy(
        fake.journals().join("sdx.journal"),
        elsewhere.path().join("sdx.journal"),
    )
    .unwrap();
    let left = restore_left(elsewhere.path());
    assert!(matches!(left[0].outcome, Outcome::InUse), "{left:?}");
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 1);
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
        "fathom queue journal 2\ndrive\tsdx\t8:16\t7\t{}\nset\t../other\t5\t1\nend\n",
        fake.dir().display()
    );
    fs::write(fake.journals().join("sdx.journal"), text).unwrap();
    restore_left(&fake.journals());
    assert_eq!(fs::read_to_string(fake.dir().join("other")).unwrap(), "1");
}

#[test]
fn values_survive_their_journal() {
    let fake = Fake::new();
    let entry = |attribute: &str, old: &str, new: Option<&str>| Entry {
        new: new.map(str::to_owned),
        ..Entry::kept(attribute.into(), old.into())
    };
    let mut entries = vec![
        entry("scheduler", "mq-deadline", Some("none")),
        entry("iosched/read_expire", "1000", None),
        entry("wbt_lat_usec", "-1", Some("")),
    ];
    let mut journal = Journal::begin(
        &fake.journals(),
        &fake.drive(),
        &entries,
        DriveLock::take(&fake.drive()).unwrap(),
    )
    .unwrap();
    let writing = |journal: &mut Journal| parse(&journal.read().unwrap()).unwrap().writing;
    assert_eq!(writing(&mut journal), None);
    journal.writing("scheduler").unwrap();
    assert_eq!(writing(&mut journal).as_deref(), Some("scheduler"));
    let seen = ["wbt_lat_usec", "2000"].map(str::to_owned);
    let own = [["iosched/fifo_batch", "16"].map(str::to_owned)];
    journal.read_again(&[seen], &own).unwrap();
    entries[2].seen.push("2000".into());
    let written = parse(&journal.read().unwrap()).unwrap();
    assert_eq!(written.writing, None);
    assert_eq!(written.entries, entries);
    assert_eq!(written.own, own);
    assert_eq!((written.name.as_str(), written.sequence), ("sdx", Some(7)));
    assert_eq!(written.dir, fake.dir());
    journal.remove().unwrap();
    assert!(!Path::new(&fake.journals().join("sdx.journal")).exists());
}
