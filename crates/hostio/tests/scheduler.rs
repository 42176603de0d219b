//! Tests that the kernel's scheduler of a loop device is switched and restored, including the settings that a switch drops.
//!
//! According to Documentation/ABI/stable/sysfs-block (`queue/scheduler`, `queue/nr_requests`) and to what Linux 6.18 does to
//! `queue/iosched` (block/elevator.c, `elevator_switch`).

#![allow(clippy::unwrap_used, clippy::print_stdout)] // A helper that fails is a failed test; a skipped one says why.

mod common;

use common::{Loop, directory};
use fathom_hostio::{HostError, KernelScheduler};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

/// A loop device with mq-deadline, a read deadline of 1 s and 77 requests; restored on drop.
struct Tuned {
    queue: PathBuf,
    disk: Loop,
    before: String,
}

impl Tuned {
    /// Returns `None` and prints the reason if there is no loop device or these schedulers are missing.
    fn new() -> Option<Self> {
        let disk = Loop::attach(1 << 20)?;
        let queue = PathBuf::from(format!("/sys/block/{}/queue", disk.name()));
        let listed = fs::read_to_string(queue.join("scheduler")).unwrap();
        for needed in ["none", "mq-deadline", "bfq"] {
            if !listed.contains(needed) {
                println!("skipped: this kernel has no {needed}: {listed}");
                return None;
            }
        }
        let tuned = Self {
            before: active(&listed),
            queue,
            disk,
        };
        tuned.set("scheduler", "mq-deadline");
        tuned.set("iosched/read_expire", "1000");
        tuned.set("nr_requests", "77");
        Some(tuned)
    }

    fn set(&self, name: &str, value: &str) {
        fs::write(self.queue.join(name), value).unwrap();
    }

    fn says(&self, name: &str) -> String {
        let text = fs::read_to_string(self.queue.join(name)).unwrap();
        text.trim().to_owned()
    }

    fn scheduler(&self) -> String {
        active(&self.says("scheduler"))
    }

    fn is_as_it_was(&self) {
        let said = ["iosched/read_expire", "nr_requests"].map(|name| self.says(name));
        assert_eq!(self.scheduler(), "mq-deadline");
        assert_eq!(said, ["1000", "77"]);
    }
}

impl Drop for Tuned {
    fn drop(&mut self) {
        let _ = fs::write(self.queue.join("scheduler"), &self.before);
    }
}

fn active(listed: &str) -> String {
    let inside = listed.split('[').nth(1).and_then(|t| t.split(']').next());
    inside.unwrap().to_owned()
}

#[test]
fn it_is_put_back_with_its_settings() {
    let tuned = or_skip!(Tuned::new());
    let kernel = KernelScheduler::of(&tuned.disk.device).unwrap();
    assert_eq!(kernel.found(), "mq-deadline");
    for name in ["none", "bfq", "none"] {
        kernel.switch(name).unwrap();
        assert_eq!(tuned.scheduler(), name);
    }
    // Switching to the original scheduler must also restore its settings.
    kernel.switch("mq-deadline").unwrap();
    tuned.is_as_it_was();
    kernel.switch("none").unwrap();
    assert!(kernel.by_hand().starts_with("echo mq-deadline > /sys/"));
    drop(kernel);
    tuned.is_as_it_was();
}

#[test]
fn a_panic_puts_it_back_and_a_clone_does_for_good() {
    let tuned = or_skip!(Tuned::new());
    let kernel = KernelScheduler::of(&tuned.disk.device).unwrap();
    // The function for a signal handler must not keep the state from being dropped.
    let signal = kernel.at_the_end();
    let panics = catch_unwind(AssertUnwindSafe(move || {
        kernel.switch("bfq").unwrap();
        panic!("on purpose");
    }));
    assert!(panics.is_err());
    tuned.is_as_it_was();
    signal();
    let kernel = KernelScheduler::of(&tuned.disk.device).unwrap();
    kernel.switch("none").unwrap();
    kernel.at_the_end()();
    tuned.is_as_it_was();
    // A switch after the final restore does nothing.
    kernel.switch("none").unwrap();
    tuned.is_as_it_was();
}

#[test]
fn what_cannot_be_switched_is_told_with_what_to_do() {
    let told = |error: HostError| error.to_string();
    let directory = directory();
    let file = directory.path().join("file");
    fs::write(&file, [1]).unwrap();
    for path in [directory.path(), &file] {
        let error = KernelScheduler::of(path).unwrap_err();
        assert!(matches!(error, HostError::Unsuitable { .. }), "{error}");
        assert!(told(error).contains("name the block device itself"));
    }
    let tuned = or_skip!(Tuned::new());
    let kernel = KernelScheduler::of(&tuned.disk.device).unwrap();
    for name in ["nonesuch", "", "[none]", "none mq-deadline"] {
        let error = kernel.switch(name).unwrap_err();
        assert!(matches!(error, HostError::NoScheduler { .. }), "{error}");
        assert!(told(error).contains("it offers none, mq-deadline"));
    }
    tuned.is_as_it_was();
}
