//! Tests that the attributes of a loop device's request queue are changed, refused and restored by the kernel as
//! documented (Documentation/ABI/stable/sysfs-block).

#![allow(clippy::unwrap_used, clippy::print_stdout)] // A helper that fails is a failed test; a skipped one says why.

mod common;

use common::{Loop, directory, run};
use fathom_hostio::{DriveQueue, Left, Outcome, QueueChange, Setting, restore_left};
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

fn wanted(all: &[(&str, &str)]) -> Vec<Setting> {
    let all = all.iter();
    all.map(|(attribute, value)| Setting {
        attribute: attribute.to_string(),
        value: value.to_string(),
    })
    .collect()
}

fn says(drive: &DriveQueue, attribute: &str) -> String {
    let text = fs::read_to_string(drive.path_of(attribute)).unwrap();
    text.trim().to_owned()
}

/// The attributes that are looked at, in an order in which they can be written.
const NAMES: [&str; 5] = [
    "scheduler",
    "max_sectors_kb",
    "read_ahead_kb",
    "wbt_lat_usec",
    "nr_requests",
];

/// A loop device with known values. Loop devices keep their attributes, so the ones before are restored on drop.
struct Bench {
    drive: DriveQueue,
    before: Vec<String>,
    disk: Loop,
}

impl Bench {
    /// Returns `None` and prints the reason if there is no loop device, or not with these values.
    fn new(values: [&str; 5]) -> Option<Self> {
        let disk = Loop::attach(1 << 20)?;
        let drive = DriveQueue::of(Path::new(disk.path())).unwrap();
        assert_eq!(drive.name, disk.name());
        let mut bench = Self {
            before: Vec::new(),
            drive,
            disk,
        };
        bench.before = NAMES.map(|name| bench.says(name)).to_vec();
        for (name, value) in NAMES.iter().zip(values) {
            bench.set(name, value);
            if bench.says(name) != value {
                println!("skipped: this kernel has no {name} = {value} for a loop device");
                return None;
            }
        }
        Some(bench)
    }

    fn set(&self, name: &str, value: &str) {
        let _it_is_read_again = fs::write(self.drive.path_of(name), value);
    }

    /// Returns a value; of the scheduler the active one.
    fn says(&self, name: &str) -> String {
        let text = fs::read_to_string(self.drive.path_of(name)).unwrap_or_default();
        let inside = text.split_once('[').and_then(|(_, t)| t.split_once(']'));
        inside.map_or(text.trim(), |(word, _)| word).to_owned()
    }

    fn all(&self) -> [String; 5] {
        NAMES.map(|name| self.says(name))
    }

    fn change(&self, all: &[(&str, &str)], journals: &Path) -> QueueChange {
        QueueChange::prepare(&self.drive, &wanted(all), journals).unwrap()
    }

    /// Applies a change in a process that is killed then: returns the directory with the journal that nobody holds any more.
    fn killed(&self, all: &[(&str, &str)]) -> tempfile::TempDir {
        let journals = directory();
        let all = all.iter().map(|(name, value)| format!("{name}={value}"));
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", HELPER, "--ignored", "--nocapture"])
            .env(HELPER_DISK, self.disk.path())
            .env(HELPER_JOURNALS, journals.path())
            .env(HELPER_VALUES, all.collect::<Vec<_>>().join(" "))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut lines = output.lines().map_while(Result::ok);
        let changed = lines.any(|line| line.contains("changed"));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(changed, "the helper ended before it changed anything");
        journals
    }
}

const HELPER: &str = "changes_a_queue_until_it_is_killed";
const HELPER_DISK: &str = "FATHOM_TEST_DISK";
const HELPER_JOURNALS: &str = "FATHOM_TEST_JOURNALS";
const HELPER_VALUES: &str = "FATHOM_TEST_VALUES";

/// Not a test of its own: this is the process that others kill.
#[test]
#[ignore = "started by the tests that kill it"]
fn changes_a_queue_until_it_is_killed() {
    let Some(disk) = std::env::var_os(HELPER_DISK) else {
        return;
    };
    let [journals, values] = [HELPER_JOURNALS, HELPER_VALUES]
        .map(|name| std::env::var_os(name).unwrap().into_string().unwrap());
    let all: Vec<(&str, &str)> = values
        .split(' ')
        .map(|one| one.split_once('=').unwrap())
        .collect();
    let drive = DriveQueue::of(Path::new(&disk)).unwrap();
    let change = QueueChange::prepare(&drive, &wanted(&all), Path::new(&journals)).unwrap();
    assert!(change.apply().unwrap().is_empty());
    println!("changed");
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
}

impl Drop for Bench {
    fn drop(&mut self) {
        for (name, value) in NAMES.iter().zip(&self.before) {
            self.set(name, value);
        }
    }
}

/// Returns the attributes of somebody else, each with the value that was set and the value now.
fn since(left: &Left) -> Vec<[&str; 3]> {
    let all = left.since.iter();
    all.map(|since| {
        let [set, now] = [&since.set, &since.now].map(|v| v.as_deref().unwrap_or("none"));
        [&since.attribute, set, now]
    })
    .collect()
}

const FOUND: [&str; 5] = ["none", "1280", "128", "75000", "100"];

#[test]
fn a_loop_device_gets_its_old_values_back() {
    let bench = or_skip!(Bench::new(FOUND));
    let journals = directory();
    let all = [
        ("read_ahead_kb", "512"),
        ("nr_requests", "8"),
        ("scheduler", "mq-deadline"),
    ];
    let change = bench.change(&all, journals.path());
    let refused = change.apply().unwrap();
    assert!(refused.is_empty(), "{refused:?}");
    let new = ["mq-deadline", "1280", "512", "75000", "8"];
    assert_eq!(bench.all(), new);
    change.undo().unwrap();
    assert_eq!(bench.all(), FOUND);
    change.apply_only("scheduler").unwrap();
    assert_eq!(
        bench.all(),
        ["mq-deadline", "1280", "128", "75000", "100"],
        "a switch alone does not change the number of requests"
    );
    change.undo().unwrap();
    change.apply().unwrap();
    drop(change);
    assert_eq!(bench.all(), FOUND);
    assert_eq!(fs::read_dir(journals.path()).unwrap().count(), 0);
}

/// The kernel computes the read-ahead anew when the longest request is written (`blk_apply_bdi_limits`): neither the trial
/// nor the restored drive has that value.
#[test]
fn an_attribute_that_the_kernel_changes_with_another_keeps_its_value() {
    let bench = or_skip!(Bench::new(FOUND));
    bench.set("max_sectors_kb", "768");
    if bench.says("read_ahead_kb") == "128" {
        println!("skipped: this kernel does not change read_ahead_kb with max_sectors_kb");
        return;
    }
    bench.set("max_sectors_kb", "1280");
    bench.set("read_ahead_kb", "128");
    let journals = directory();
    let change = bench.change(&[("max_sectors_kb", "768")], journals.path());
    let kept = change.kept();
    assert!(
        kept.contains(&["read_ahead_kb", "128"].map(str::to_owned)),
        "{kept:?}"
    );
    for _ in 0..2 {
        assert!(change.apply().unwrap().is_empty());
        assert_eq!(bench.all(), ["none", "768", "128", "75000", "100"]);
        change.undo().unwrap();
        assert_eq!(bench.all(), FOUND);
    }
    // By hand as well.
    let by_hand = change.by_hand();
    let names: Vec<&str> = by_hand.iter().map(|[name, _]| name.as_str()).collect();
    assert_eq!(names, ["max_sectors_kb", "read_ahead_kb"]);
    change.apply().unwrap();
    change.keep().unwrap();
    assert_eq!(bench.all(), ["none", "768", "128", "75000", "100"]);
    for [name, old] in &by_hand {
        bench.set(name, old);
    }
    assert_eq!(bench.all(), FOUND);
    // And after SIGKILL.
    let left = bench.killed(&[("max_sectors_kb", "768")]);
    let all = restore_left(left.path());
    assert!(
        matches!(&all[0].outcome, Outcome::Restored(back) if back.len() == 1),
        "{all:?}"
    );
    assert_eq!(
        (bench.all(), all[0].since.len()),
        (FOUND.map(str::to_owned), 0)
    );
}

/// A switch resets the number of requests and drops the scheduler's own attributes. What the kernel cannot keep is said.
#[test]
fn what_a_scheduler_resets_comes_back_with_it() {
    let found = ["mq-deadline", "1280", "128", "75000", "200"];
    let bench = or_skip!(Bench::new(found));
    bench.set("iosched/read_expire", "1000");
    let depth = bench.says("iosched/async_depth");
    let journals = directory();
    let change = bench.change(&[("scheduler", "none")], journals.path());
    assert!(change.apply().unwrap().is_empty());
    // A loop device has 128 tags.
    assert_eq!(bench.all(), ["none", "1280", "128", "75000", "128"]);
    let follows = change.follows();
    assert_eq!(follows, [["nr_requests", "200", "128"].map(str::to_owned)]);
    change.undo().unwrap();
    let own = ["iosched/read_expire", "iosched/async_depth"].map(|name| bench.says(name));
    assert_eq!(bench.all(), found);
    assert_eq!(own, ["1000".to_owned(), depth.clone()]);
    drop(change);
    // The value that the kernel made was seen, so it goes back after SIGKILL.
    let left = bench.killed(&[("scheduler", "none")]);
    let all = restore_left(left.path());
    assert!(matches!(all[0].outcome, Outcome::Restored(_)), "{all:?}");
    assert_eq!(
        (bench.all(), since(&all[0]).len()),
        (found.map(str::to_owned), 0)
    );
    let own = ["iosched/read_expire", "iosched/async_depth"].map(|name| bench.says(name));
    assert_eq!(own, ["1000".to_owned(), depth]);
}

/// Somebody else has switched the scheduler after the kill: it stays, with what that switch has reset. The rest goes back.
#[test]
fn what_somebody_else_has_switched_stays_and_the_rest_goes_back() {
    let bench = or_skip!(Bench::new(FOUND));
    let left = bench.killed(&[
        ("scheduler", "mq-deadline"),
        ("max_sectors_kb", "768"),
        ("wbt_lat_usec", "714"),
    ]);
    assert_eq!(bench.all(), ["mq-deadline", "768", "128", "714", "100"]);
    bench.set("scheduler", "kyber");
    bench.set("read_ahead_kb", "777");
    let [.., ahead, _, requests] = bench.all();
    assert_eq!(
        (bench.says("scheduler").as_str(), ahead.as_str()),
        ("kyber", "776")
    );
    let all = restore_left(left.path());
    assert_eq!(
        bench.all(),
        ["kyber", "1280", "776", "75000", requests.as_str()]
    );
    let Outcome::Restored(back) = &all[0].outcome else {
        panic!("{all:?}");
    };
    let back: Vec<&str> = back.iter().map(|[name, _]| name.as_str()).collect();
    assert_eq!(back, ["max_sectors_kb", "wbt_lat_usec"]);
    assert_eq!(
        since(&all[0]),
        [
            ["scheduler", "kyber", "kyber"],
            ["read_ahead_kb", "776", "776"],
            ["nr_requests", &requests, &requests],
        ]
    );
}

/// A number of requests that somebody else has set after the kill stays, although the scheduler is put back.
#[test]
fn a_value_of_somebody_else_stays_when_the_scheduler_goes_back() {
    let bench = or_skip!(Bench::new(FOUND));
    let left = bench.killed(&[("scheduler", "mq-deadline"), ("nr_requests", "8")]);
    bench.set("nr_requests", "64");
    bench.set("iosched/read_expire", "1000");
    let all = restore_left(left.path());
    assert_eq!(bench.all(), ["none", "1280", "128", "75000", "64"]);
    // The kernel sets the depth of the scheduler with the number of requests.
    let depth = ["iosched/async_depth", "64", "none"];
    let mut others = since(&all[0]);
    others.retain(|other| *other != depth);
    assert_eq!(
        others,
        [
            ["nr_requests", "64", "64"],
            ["iosched/read_expire", "1000", "none"],
        ]
    );
    // One that the old scheduler does not take is said with what the kernel made of it.
    let left = bench.killed(&[("scheduler", "mq-deadline")]);
    bench.set("nr_requests", "200");
    let all = restore_left(left.path());
    assert_eq!(since(&all[0])[0], ["nr_requests", "200", "128"]);
    assert!(matches!(all[0].outcome, Outcome::Restored(_)), "{all:?}");
    assert_eq!(bench.all(), ["none", "1280", "128", "75000", "128"]);
}

/// A loop device keeps its attributes when another file is attached, so they are put back.
#[test]
fn a_loop_device_with_another_file_gets_its_old_values_back() {
    let bench = or_skip!(Bench::new(FOUND));
    let left = bench.killed(&[("max_sectors_kb", "768"), ("nr_requests", "8")]);
    let other = left.path().join("other");
    fs::File::create(&other)
        .and_then(|f| f.set_len(1 << 20))
        .unwrap();
    let device = bench.disk.path();
    run("losetup", &["-d", device]).unwrap();
    if let Err(error) = run("losetup", &[device, &other.display().to_string()]) {
        println!("skipped: another test has taken the device ({error})");
        return;
    }
    assert_eq!(
        [bench.says("max_sectors_kb"), bench.says("nr_requests")],
        ["768", "8"]
    );
    let all = restore_left(left.path());
    assert!(matches!(all[0].outcome, Outcome::Restored(_)), "{all:?}");
    assert_eq!(
        [bench.says("max_sectors_kb"), bench.says("nr_requests")],
        ["1280", "100"]
    );
}

/// A value that the kernel refuses is named with what can be done, and the others are set.
#[test]
fn what_the_kernel_refuses_is_told_and_the_rest_is_set() {
    let Some(disk) = Loop::attach(1 << 20) else {
        return;
    };
    let drive = DriveQueue::of(Path::new(disk.path())).unwrap();
    let journals = directory();
    let before = says(&drive, "read_ahead_kb");
    let ahead = if before == "512" { "256" } else { "512" };
    // No loop device has so many tags, and no request is so long.
    let all = wanted(&[
        ("scheduler", "none-such"),
        ("nr_requests", "99999999"),
        ("max_sectors_kb", "2147483647"),
        ("read_ahead_kb", ahead),
    ]);
    let change = QueueChange::prepare(&drive, &all, journals.path()).unwrap();
    let refused = change.apply().unwrap();
    let names: Vec<&str> = refused.iter().map(|r| r.attribute.as_str()).collect();
    assert_eq!(
        names,
        ["scheduler", "max_sectors_kb", "nr_requests"],
        "{refused:?}"
    );
    // The kernel says nothing about some of them, and keeps the old value.
    let told =
        |error: &str| error.contains("Invalid argument") || error.contains("the attribute is");
    assert!(
        refused.iter().all(|r| !r.help.is_empty() && told(&r.error)),
        "{refused:?}"
    );
    let set = change.changes();
    assert_eq!(set.len(), 1);
    assert_eq!(set[0], ["read_ahead_kb", &before, ahead].map(str::to_owned));
    assert!(change.apply().unwrap().is_empty(), "it is not tried again");
    change.restore().unwrap();
    assert_eq!(says(&drive, "read_ahead_kb"), before);
}

#[test]
fn the_drive_under_a_file_is_found_or_said_to_be_unseen() {
    let dir = directory();
    match DriveQueue::of(dir.path()) {
        Ok(drive) => assert!(drive.path_of("").is_dir(), "{drive:?}"),
        Err(error) => assert!(
            error.to_string().contains("sysfs shows no drive"),
            "{error}"
        ),
    }
    assert!(DriveQueue::of(Path::new("/nonexistent/fathom")).is_err());
    assert!(DriveQueue::of(Path::new("/dev/null")).is_err());
}

/// Killed between writing the longest request and reading it again: the read-ahead that the kernel has computed goes back.
#[test]
fn what_the_kernel_computed_unseen_goes_back() {
    let bench = or_skip!(Bench::new(FOUND));
    let journals = directory();
    let change = bench.change(&[("max_sectors_kb", "768")], journals.path());
    let name = format!("{}.journal", bench.drive.name);
    let begun = fs::read_to_string(journals.path().join(&name)).unwrap();
    drop(change);
    for (set, now) in [(None, "128"), (Some("776"), "776")] {
        fs::write(
            journals.path().join(&name),
            begun.clone() + "writing\tmax_sectors_kb\n",
        )
        .unwrap();
        bench.set("max_sectors_kb", "768");
        if let Some(set) = set {
            bench.set("read_ahead_kb", set);
        }
        let all = restore_left(journals.path());
        assert_eq!(bench.all(), ["none", "1280", now, "75000", "100"]);
        assert_eq!(all[0].since.len(), usize::from(set.is_some()), "{all:?}");
    }
}
