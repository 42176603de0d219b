//! Switches the kernel's scheduler of a block device for a measurement and restores it afterwards.
//!
//! `queue/scheduler` in sysfs lists the schedulers that the kernel offers, with the active one in brackets; writing a name
//! to it switches (Documentation/ABI/stable/sysfs-block). A switch drops the settings of the previous scheduler
//! (`queue/iosched/*`) and resets `queue/nr_requests` (`elevator_switch`, block/elevator.c, 6.18), so these are restored,
//! too. A process that is killed (SIGKILL) cannot restore anything and leaves its scheduler active;
//! [`KernelScheduler::by_hand`] returns the command that restores the original one.

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
    /// Device path as given by the user.
    device: PathBuf,
    /// Its `queue` directory in sysfs.
    queue: PathBuf,
    /// The original scheduler, to be restored.
    found: String,
    /// Attributes with their original values, in the order of writing.
    settings: Vec<(PathBuf, String)>,
    /// Another scheduler than the original may be active.
    switched: bool,
    /// Restored for good; later switches do nothing.
    over: bool,
}

/// The scheduler of a block device. The original scheduler is restored when the last clone is dropped, also during a panic.
/// A clone can restore it from another thread, such as the one that handles signals.
#[derive(Clone, Debug)]
pub struct KernelScheduler(Arc<Mutex<State>>);

impl KernelScheduler {
    /// Opens the scheduler of a device, or of a partition's drive. Changes nothing yet.
    ///
    /// # Errors
    /// [`HostError::Unsuitable`] if the path is no block device or has no scheduler; [`HostError::NoPermission`] if this
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
        // A panic does not invalidate the state: it still holds the original values.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the name of the original scheduler.
    pub fn found(&self) -> String {
        self.state().found.clone()
    }

    /// Returns the shell command that restores the original scheduler.
    pub fn by_hand(&self) -> String {
        let state = self.state();
        let attribute = state.queue.join("scheduler");
        format!("echo {} > {}", state.found, attribute.display())
    }

    /// Checks that the kernel currently offers a scheduler for the device.
    ///
    /// # Errors
    /// [`HostError::NoScheduler`] with the names that it offers.
    pub fn check(&self, name: &str) -> Result<(), HostError> {
        self.state().check(name)
    }

    /// Switches to a scheduler; switching to the original one also restores its settings. The kernel completes the requests
    /// in flight first.
    ///
    /// # Errors
    /// [`HostError::NoScheduler`], or the error from the kernel.
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

    /// Returns a function that restores the scheduler from any thread, as long as it is not dropped. It holds a weak
    /// reference and does not delay the drop.
    pub fn at_the_end(&self) -> impl Fn() + Send + Sync + use<> {
        let state = Arc::downgrade(&self.0);
        move || {
            if let Some(state) = state.upgrade() {
                let _the_process_ends = Self(state).restore();
            }
        }
    }

    /// Restores the original scheduler for good: later switches do nothing.
    ///
    /// # Errors
    /// The error from the kernel; the command of [`KernelScheduler::by_hand`] still applies then.
    pub fn restore(&self) -> Result<(), HostError> {
        let mut state = self.state();
        state.over = true;
        state.put_back()
    }
}

/// Reads the settings that the user may have made and that a switch changes: those of the active scheduler and of the queue.
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
