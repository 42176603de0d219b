//! Shared helpers of the tests on real files and loop devices.
#![allow(dead_code, clippy::unwrap_used, clippy::print_stdout)] // Every test file uses its own part of it; what cannot be set up is a failed test.

use fathom_base::Time;
use fathom_block::{Completion, Device, Op, Request};
use fathom_hostio::{Finding, HostConfig, HostDevice, HostError, open};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Unwraps an option, or ends a test that has printed why it is skipped.
#[macro_export]
macro_rules! or_skip {
    ($what:expr) => {
        match $what {
            Some(it) => it,
            None => return,
        }
    };
}

/// Returns a directory on the file system of the build, which is not in memory.
pub(crate) fn directory() -> TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// Returns the output of a command, or why it failed.
pub(crate) fn run(program: &str, args: &[&str]) -> Result<String, String> {
    let output = Command::new(program).args(args).output();
    let output = output.map_err(|e| format!("{program}: {e}"))?;
    let text = |bytes| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() {
        Ok(text(&output.stdout))
    } else {
        Err(format!("{program}: {}", text(&output.stderr)))
    }
}

/// A loop device over a file of its own; detached on drop.
pub(crate) struct Loop {
    pub(crate) device: PathBuf,
    pub(crate) file: PathBuf,
    _directory: TempDir,
}

impl Loop {
    /// Attaches a device of this size. Returns `None` and prints the reason if that fails: it needs root and the loop
    /// module.
    pub(crate) fn attach(bytes: u64) -> Option<Self> {
        let directory = directory();
        let file = directory.path().join("disk");
        std::fs::File::create(&file)
            .and_then(|f| f.set_len(bytes))
            .unwrap();
        Self::set_up(directory, &file, &["-P"])
    }

    /// Attaches a loop device over an existing device or file, with further arguments for losetup.
    pub(crate) fn over(backing: &Path, more: &[&str]) -> Option<Self> {
        Self::set_up(directory(), backing, more)
    }

    fn set_up(directory: TempDir, backing: &Path, more: &[&str]) -> Option<Self> {
        let backing_name = backing.display().to_string();
        let args = [more, &["-f", "--show", &backing_name]].concat();
        let mut last = String::new();
        // Two tests may be offered the same free device, so a failed attempt is repeated.
        for _ in 0..10 {
            match run("losetup", &args) {
                Ok(device) => {
                    return Some(Self {
                        device: device.into(),
                        file: backing.into(),
                        _directory: directory,
                    });
                }
                Err(error) => last = error,
            }
        }
        println!("skipped: no loop device ({last})");
        None
    }

    pub(crate) fn path(&self) -> &str {
        self.device.to_str().unwrap()
    }

    /// Returns the kernel name.
    pub(crate) fn name(&self) -> &str {
        self.device.file_name().unwrap().to_str().unwrap()
    }

    /// Writes to the backing file and makes sure that the device shows the data.
    pub(crate) fn plant(&self, offset: u64, bytes: &[u8]) {
        use std::os::unix::fs::FileExt;
        let disk = std::fs::OpenOptions::new().write(true).open(&self.device);
        let disk = disk.unwrap();
        disk.write_all_at(bytes, offset).unwrap();
        disk.sync_all().unwrap();
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        if let Err(error) = run("losetup", &["-d", self.path()]) {
            println!("{error}");
        }
    }
}

/// A mount; unmounted on drop.
pub(crate) struct Mounted {
    at: TempDir,
}

impl Mounted {
    /// Mounts a device, or prints why it cannot.
    pub(crate) fn mount(device: &str) -> Option<Self> {
        let at = directory();
        match run("mount", &[device, at.path().to_str().unwrap()]) {
            Ok(_) => Some(Self { at }),
            Err(error) => {
                println!("skipped: {error}");
                None
            }
        }
    }

    /// Creates an ext4 on a device and mounts it.
    pub(crate) fn ext4(device: &str) -> Option<Self> {
        if let Err(error) = run("mkfs.ext4", &["-q", "-F", "-m", "0", device]) {
            println!("skipped: {error}");
            return None;
        }
        Self::mount(device)
    }

    pub(crate) fn at(&self) -> &Path {
        self.at.path()
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        if let Err(error) = run("umount", &[self.at.path().to_str().unwrap()]) {
            println!("{error}");
        }
    }
}

/// Returns the defaults for a path, changed.
pub(crate) fn config(path: impl Into<PathBuf>, change: impl FnOnce(&mut HostConfig)) -> HostConfig {
    let mut config = HostConfig::new(path);
    change(&mut config);
    config
}

/// Returns a configuration that names its target in `destroy`.
pub(crate) fn destroying(path: &Path) -> HostConfig {
    HostConfig {
        destroy: Some(path.display().to_string()),
        ..HostConfig::new(path)
    }
}

/// Returns the error of an opening that must fail.
pub(crate) fn refusal(config: &HostConfig) -> HostError {
    match open(config) {
        Ok(_) => panic!("{} was opened", config.path.display()),
        Err(error) => error,
    }
}

/// Returns the findings of the safety lock.
pub(crate) fn found(error: HostError) -> Vec<Finding> {
    match error {
        HostError::Refused(refused) => refused.found,
        other => panic!("not the lock: {other}"),
    }
}

/// Runs a single request.
pub(crate) fn one(device: &mut HostDevice, request: Request) -> Completion {
    device.submit(request).unwrap();
    let mut done = Vec::new();
    device.wait(Time::MAX, &mut done);
    assert_eq!(done.len(), 1);
    done.remove(0)
}

/// Returns a write of the given data.
pub(crate) fn write_of(id: u64, offset: u64, data: Vec<u8>) -> Request {
    let mut request = Request::new(id, Op::Write, offset, data.len() as u64);
    request.data = Some(data.into());
    request
}
