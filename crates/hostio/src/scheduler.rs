//! The kernel's own scheduler of a block device: switched while somebody measures, and put back as it was.
//!
//! `queue/scheduler` in sysfs lists what the kernel offers, with the active one in brackets; a name that is written to it
//! takes its place (Documentation/ABI/stable/sysfs-block). A switch throws away the settings of the scheduler before it
//! (`queue/iosched/*`) and sets `queue/nr_requests` anew (`elevator_switch`, block/elevator.c, 6.18), so that all of these
//! are put back, too. What cannot be: a process that is killed (SIGKILL) leaves the scheduler that was on then;
//! [`KernelScheduler::by_hand`] says how to put it back.

use crate::error::{HostError, os_error};
use crate::inspect::{Kind, Look};
use crate::node::{DeviceNumber, Node};
use crate::sysfs::{chosen, names_in, text};
use rustix::fs::{Access, access};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[derive(Debug)]
struct State {
    /// As the user names the device.
    device: PathBuf,
    /// Its `queue` in sysfs.
    queue: PathBuf,
    /// The scheduler that was on, which is put back.
    found: String,
    /// Attributes with what they said, in the order in which they are written.
    settings: Vec<(PathBuf, String)>,
    /// Another one may be on than was found.
    switched: bool,
    /// It was put back for good.
    over: bool,
}

/// The scheduler of a block device, which is put back as it was found when the last clone of this is dropped, also by a
/// panic. A clone may put it back from another thread, such as the one that sees a signal.
#[derive(Clone, Debug)]
pub struct KernelScheduler(Arc<Mutex<State>>);

impl KernelScheduler {
    /// That of a device, or of the drive that it is a partition of. Nothing is changed yet.
    ///
    /// # Errors
    /// [`HostError::Unsuitable`] for what is no block device or has no scheduler, [`HostError::NoPermission`] where this
    /// user may not switch it.
    pub fn of(path: &Path) -> Result<Self, HostError> {
        let look = Look::at(path)?.inspection;
        let unsuitable = |what: String, advice| HostError::Unsuitable {
            path: path.to_owned(),
            what,
            advice,
        };
        if look.kind != Kind::Block {
            return Err(unsuitable(
                format!("it is a {}, and the kernel schedules drives", look.kind),
                "name the block device itself, such as /dev/nvme0n1",
            ));
        }
        let none = || {
            unsuitable(
                "the kernel has no scheduler for it that could be switched".into(),
                "name the drive below it (`lsblk` shows it)",
            )
        };
        let number = fs::metadata(&look.path).map_err(|e| os_error(path, "look at it", e))?;
        let node = Node::find(DeviceNumber::of(std::os::unix::fs::MetadataExt::rdev(
            &number,
        )));
        let queue = node.ok_or_else(none)?.drive_dir().join("queue");
        let attribute = queue.join("scheduler");
        let found = text(&attribute).map(|t| chosen(&t)).ok_or_else(none)?;
        access(&attribute, Access::WRITE_OK)
            .map_err(|errno| os_error(&attribute, "switch the scheduler", errno.into()))?;
        let settings = settings(&queue);
        Ok(Self(Arc::new(Mutex::new(State {
            device: path.to_owned(),
            queue,
            found,
            settings,
            switched: false,
            over: false,
        }))))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // What a panic left is still what was found.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The one that was on.
    pub fn found(&self) -> String {
        self.state().found.clone()
    }

    /// What puts it back by hand, as a command.
    pub fn by_hand(&self) -> String {
        let state = self.state();
        let attribute = state.queue.join("scheduler");
        format!("echo {} > {}", state.found, attribute.display())
    }

    /// Whether the kernel offers a scheduler for the device now.
    ///
    /// # Errors
    /// [`HostError::NoScheduler`] with those that it does.
    pub fn check(&self, name: &str) -> Result<(), HostError> {
        self.state().check(name)
    }

    /// Switches to a scheduler; to the one that was found with all its settings. Requests in flight end first, in the kernel.
    ///
    /// # Errors
    /// [`HostError::NoScheduler`], or what the kernel says.
    pub fn switch(&self, name: &str) -> Result<(), HostError> {
        let mut state = self.state();
        if state.over {
            return Ok(());
        }
        state.check(name)?;
        if name == state.found {
            return state.put_back();
        }
        if state.active().as_deref() != Some(name) {
            state.switched = true;
            state.write(name)?;
        }
        Ok(())
    }

    /// What puts it back from anywhere, for as long as it is not dropped; it keeps nothing from being dropped.
    pub fn at_the_end(&self) -> impl Fn() + Send + Sync + use<> {
        let state = Arc::downgrade(&self.0);
        move || {
            if let Some(state) = state.upgrade() {
                let _the_process_ends = Self(state).restore();
            }
        }
    }

    /// Puts it back for good: later switches do nothing.
    ///
    /// # Errors
    /// What the kernel says; [`KernelScheduler::by_hand`] is left then.
    pub fn restore(&self) -> Result<(), HostError> {
        let mut state = self.state();
        state.over = true;
        state.put_back()
    }
}

/// What the user may have set and a switch changes: of the active scheduler, and of the queue.
fn settings(queue: &Path) -> Vec<(PathBuf, String)> {
    let iosched = queue.join("iosched");
    let own = names_in(&iosched).into_iter().map(|n| iosched.join(n));
    let paths = own.chain(["nr_requests", "wbt_lat_usec"].map(|n| queue.join(n)));
    paths
        .filter_map(|path| text(&path).map(|said| (path, said)))
        .collect()
}

impl State {
    fn attribute(&self) -> PathBuf {
        self.queue.join("scheduler")
    }

    fn active(&self) -> Option<String> {
        text(&self.attribute()).map(|text| chosen(&text))
    }

    fn check(&self, name: &str) -> Result<(), HostError> {
        let listed = text(&self.attribute()).unwrap_or_default();
        let offered: Vec<String> = listed
            .split_whitespace()
            .map(|word| word.trim_matches(['[', ']']).to_owned())
            .collect();
        if offered.iter().any(|offered| offered == name) {
            return Ok(());
        }
        Err(HostError::NoScheduler {
            path: self.device.clone(),
            name: name.to_owned(),
            offered: offered.join(", "),
        })
    }

    fn write(&self, name: &str) -> Result<(), HostError> {
        fs::write(self.attribute(), name)
            .map_err(|error| os_error(&self.attribute(), "switch the scheduler", error))
    }

    fn put_back(&mut self) -> Result<(), HostError> {
        if !self.switched {
            return Ok(());
        }
        self.write(&self.found)?;
        for (path, said) in &self.settings {
            if text(path).as_ref() != Some(said) {
                fs::write(path, said).map_err(|error| os_error(path, "put it back", error))?;
            }
        }
        self.switched = false;
        Ok(())
    }
}

impl Drop for State {
    fn drop(&mut self) {
        let _nobody_is_left_to_tell = self.put_back();
    }
}
