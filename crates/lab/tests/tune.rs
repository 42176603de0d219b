//! A trial of settings on a device whose speed follows an attribute of a loop device: what is better stays, and everything
//! else goes back.

#![allow(clippy::print_stdout, reason = "a skipped test says why")]

use fathom_base::{Bytes, Dur, Time};
use fathom_block::{Busy, Completion, Device, DeviceInfo, IoErrorKind, Request, Subject};
use fathom_hostio::{DriveQueue, QueueChange, Setting};
use fathom_lab::replay::{Plan, RunError, Watch};
use fathom_lab::source::Workload;
use fathom_lab::tune::{Trial, try_settings};
use fathom_report::tune::Applied;
use fathom_run::Precondition;
use fathom_workload::generate::{Config, Name, Range};
use fathom_workload::step::Arrival;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const ATTRIBUTE: &str = "nr_requests";

/// A loop device; detached on drop.
struct Loop {
    path: PathBuf,
    _dir: tempfile::TempDir,
}

impl Loop {
    fn attach() -> Option<Self> {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("disk");
        fs::File::create(&file).unwrap().set_len(1 << 20).unwrap();
        let attached = Command::new("losetup")
            .args(["--find", "--show"])
            .arg(&file)
            .output();
        match attached.ok().filter(|out| out.status.success()) {
            Some(out) => Some(Self {
                path: PathBuf::from(String::from_utf8(out.stdout).unwrap().trim()),
                _dir: dir,
            }),
            None => {
                println!("skipped: no loop device (root is needed)");
                None
            }
        }
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("-d").arg(&self.path).status();
    }
}

/// Serves one request at a time, in a time that depends on the text of a file, and fails one of them.
struct Follows {
    info: DeviceInfo,
    file: PathBuf,
    /// What the file says while the device is fast.
    fast: String,
    now: Time,
    held: Option<Completion>,
    served: u64,
    fails_at: u64,
}

impl Device for Follows {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn now(&self) -> Time {
        self.now
    }

    fn submit(&mut self, request: Request) -> Result<(), Busy> {
        if self.held.is_some() {
            return Err(Busy(request));
        }
        self.served += 1;
        let fast = fs::read_to_string(&self.file).is_ok_and(|text| text.trim() == self.fast);
        // Some variation, so that an interval has a width.
        let base = if fast { 100_000 } else { 120_000 };
        let took = Dur(base + self.served * 7919 % 10_007);
        let result = match self.served == self.fails_at {
            true => Err(request.error(IoErrorKind::Gone)),
            false => Ok(()),
        };
        let times = self.now..self.now + took;
        self.held = Some(Completion::of(&request, times, result, None));
        Ok(())
    }

    fn wait(&mut self, until: Time, done: &mut Vec<Completion>) {
        match self.held.take_if(|held| held.completed <= until) {
            Some(held) => {
                self.now = held.completed;
                done.push(held);
            }
            None if until != Time::MAX => self.now = self.now.max(until),
            None => {}
        }
    }
}

impl Subject for Follows {}

fn plan() -> Plan {
    let config = Config {
        accesses: Some(100),
        read_percent: Some(100.0),
        range: Some(Range {
            start: Bytes(0),
            len: Bytes::mib(1),
        }),
        ..Config::of(Name::Uniform)
    };
    Plan {
        target: "loop".into(),
        workload: Workload::of_generator(config),
        arrival: Arrival::Closed {
            outstanding: 1.try_into().unwrap(),
        },
        precondition: Precondition::Filled,
        seed: 7,
        queue: None,
        depth: None,
        platform: None,
    }
}

/// Tries the value 8 on a device that is fast while the attribute has the value `fast`. Returns the result and the value
/// afterwards.
fn tried(
    disk: &Loop,
    fast: &str,
    figure: &str,
    fails_at: u64,
    stop: fn() -> bool,
) -> (Result<Applied, RunError>, String) {
    let drive = DriveQueue::of(&disk.path).unwrap();
    let journals = tempfile::tempdir().unwrap();
    let wanted = [Setting {
        attribute: ATTRIBUTE.into(),
        value: "8".into(),
    }];
    let change = QueueChange::prepare(&drive, &wanted, journals.path()).unwrap();
    let file = drive.path_of(ATTRIBUTE);
    let mut device = Follows {
        info: DeviceInfo::default(),
        file: file.clone(),
        fast: fast.into(),
        now: Time::ZERO,
        held: None,
        served: 0,
        fails_at,
    };
    let plan = plan();
    let trial = Trial {
        drive: &drive,
        change: &change,
        plan: &plan,
        rounds: 4,
        figure,
    };
    let watch = Watch { stop, seen: None };
    let applied = try_settings(&mut device, trial, watch);
    let left = fs::read_dir(journals.path()).unwrap().count();
    assert_eq!(left, 0, "the journal is gone");
    (applied, value(&file))
}

fn value(file: &Path) -> String {
    fs::read_to_string(file).unwrap().trim().to_owned()
}

#[test]
fn only_what_is_better_stays() {
    let Some(disk) = Loop::attach() else {
        return;
    };
    let found = value(&DriveQueue::of(&disk.path).unwrap().path_of(ATTRIBUTE));
    if found == "8" {
        println!("skipped: the loop device has 8 requests already");
        return;
    }
    let go_on: fn() -> bool = || false;
    // Worse: the rate falls, the response time grows.
    for figure in ["accesses a second", "mean response of reads"] {
        let (applied, now) = tried(&disk, &found, figure, 0, go_on);
        let applied = applied.unwrap();
        assert!(
            !applied.kept && applied.gain_percent.unwrap() < -10.0,
            "{applied:?}"
        );
        assert_eq!(now, found, "{figure}");
    }
    // Neither: the value makes no difference.
    let (applied, now) = tried(&disk, "neither", "accesses a second", 0, go_on);
    let applied = applied.unwrap();
    assert!(
        !applied.kept && applied.gain_percent.unwrap().abs() < 5.0,
        "{applied:?}"
    );
    assert_eq!(now, found);
    // A figure that the job does not have.
    let (applied, now) = tried(&disk, "8", "99 % of writes", 0, go_on);
    assert!(!applied.unwrap().kept);
    assert_eq!(now, found);
    // A drive that goes away, and Ctrl-C.
    let (failed, now) = tried(&disk, "8", "accesses a second", 250, go_on);
    assert!(matches!(failed, Err(RunError::CutShort(_))), "{failed:?}");
    assert_eq!(now, found);
    let (ended, now) = tried(&disk, "8", "accesses a second", 0, || true);
    assert!(matches!(ended, Err(RunError::Interrupted)), "{ended:?}");
    assert_eq!(now, found);
    // Better: it takes 5/6 of the time.
    for figure in ["mean response of reads", "accesses a second"] {
        let (applied, now) = tried(&disk, "8", figure, 0, go_on);
        let applied = applied.unwrap();
        let [low, high] = applied.gain_interval.unwrap();
        assert!(applied.kept && 0.0 < low && low < high, "{applied:?}");
        assert_eq!(now, "8", "{figure}");
        fs::write(&applied.set[0].path, &found).unwrap();
    }
}
