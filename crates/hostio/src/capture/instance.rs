//! A private instance of the kernel's tracing: a directory in tracefs with buffers and settings of its own, so that the
//! settings and buffers of other users of tracing are not touched (Documentation/trace/ftrace.rst, *Instances*).
//!
//! The instance is named after the process. A process that is killed (SIGKILL) leaves it; the next one removes it. The
//! kernel itself refuses to remove an instance whose files are open.

use super::layout::{Layout, find};
use crate::error::{HostError, os_error};
use crate::sysfs::{names_in, text};
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

const PREFIX: &str = "fathom-";

/// What an instance records.
pub(super) struct Wish<'a> {
    /// Name of the event in the group `block`.
    pub(super) event: &'a str,
    /// Condition on the event's fields; empty for all.
    pub(super) filter: String,
    /// Size of the buffer of each CPU, in bytes.
    pub(super) buffer_bytes: u64,
}

/// An instance that records. It is removed when it is dropped.
#[derive(Debug)]
pub(super) struct Instance {
    dir: PathBuf,
    /// The buffer of each CPU.
    pipes: Vec<File>,
    page: Vec<u8>,
    /// Offset of the events in a page.
    data: usize,
}

/// Returns where tracefs is mounted.
fn tracefs() -> Result<PathBuf, HostError> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let mounted = mounts.lines().find_map(|line| {
        let (place, kind) = line.split_once(" - ")?;
        let place = place.split(' ').nth(4)?;
        kind.starts_with("tracefs ").then(|| PathBuf::from(place))
    });
    mounted.ok_or(HostError::NoTracefs)
}

/// Reads a description in large pieces: `header_page` gives nothing after the first piece, however short that was.
fn read(path: &Path) -> Result<String, HostError> {
    let wrong = |error| os_error(path, "read it", error);
    let mut file = File::open(path).map_err(wrong)?;
    let (mut text, mut piece) = (String::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut piece).map_err(wrong)? {
            0 => return Ok(text),
            read => text += &String::from_utf8_lossy(&piece[..read]),
        }
    }
}

fn write(path: &Path, value: &str) -> Result<(), HostError> {
    fs::write(path, value).map_err(|error| os_error(path, "write a trace setting to it", error))
}

/// Removes the instances of processes that have ended.
fn remove_leftovers(instances: &Path) {
    for name in names_in(instances) {
        let process = name.strip_prefix(PREFIX).and_then(|n| n.parse().ok());
        let ended = |process: u32| !Path::new(&format!("/proc/{process}")).exists();
        if process.is_some_and(ended) {
            // One that is in use, by a process that is not visible from here, is refused by the kernel.
            let _still_in_use = fs::remove_dir(instances.join(name));
        }
    }
}

impl Instance {
    /// Creates an instance that records already, and returns it with the layout of its event.
    pub(super) fn new(wish: &Wish<'_>) -> Result<(Self, Layout), HostError> {
        let instances = tracefs()?.join("instances");
        remove_leftovers(&instances);
        let dir = instances.join(format!("{PREFIX}{}", std::process::id()));
        fs::create_dir(&dir).map_err(|error| {
            let at = if dir.exists() { &dir } else { &instances };
            os_error(at, "create a trace instance", error)
        })?;
        let mut instance = Self {
            dir,
            pipes: Vec::new(),
            page: Vec::new(),
            data: 0,
        };
        let layout = instance.set_up(wish)?;
        Ok((instance, layout))
    }

    fn set_up(&mut self, wish: &Wish<'_>) -> Result<Layout, HostError> {
        let dir = &self.dir;
        let header = dir.join("events/header_page");
        let data = find(&read(&header)?, "data").ok_or_else(|| unknown(&header, "no data"))?;
        self.page = vec![0; data.end];
        self.data = data.start;
        let event = dir.join("events/block").join(wish.event);
        let format = event.join("format");
        let layout = Layout::parse(&read(&format)?);
        let layout = layout.ok_or_else(|| unknown(&format, "a field is missing"))?;
        let kib = wish.buffer_bytes.div_ceil(1024).max(64);
        write(&dir.join("buffer_size_kb"), &kib.to_string())?;
        write(&dir.join("trace_clock"), "mono")?;
        // Otherwise the kernel also keeps the names of all processes, for all users of tracing.
        let _older_kernels_lack_it = fs::write(dir.join("options/record-cmd"), "0");
        for cpu in names_in(&dir.join("per_cpu")) {
            let path = dir.join("per_cpu").join(cpu).join("trace_pipe_raw");
            let mut options = OpenOptions::new();
            options.read(true).custom_flags(libc::O_NONBLOCK);
            let pipe = options.open(&path);
            self.pipes
                .push(pipe.map_err(|error| os_error(&path, "read it", error))?);
        }
        if !wish.filter.is_empty() {
            write(&event.join("filter"), &wish.filter)?;
        }
        write(&event.join("enable"), "1")?;
        Ok(layout)
    }

    /// Passes every page of events recorded so far to `each`, with the offset of the events in it. Pages of one CPU come in
    /// order of time.
    pub(super) fn drain(&mut self, mut each: impl FnMut(&[u8], usize)) -> Result<(), HostError> {
        for pipe in &mut self.pipes {
            loop {
                match pipe.read(&mut self.page) {
                    Ok(0) => break,
                    Ok(read) => each(&self.page[..read], self.data),
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) => return Err(os_error(&self.dir, "read its buffers", error)),
                }
            }
        }
        Ok(())
    }

    /// Ends the recording. What is in the buffers can still be read.
    pub(super) fn stop(&self) -> Result<(), HostError> {
        write(&self.dir.join("tracing_on"), "0")
    }

    /// Returns the number of events that the buffers had no room for, by the kernel's counters.
    pub(super) fn lost(&self) -> u64 {
        let cpus = names_in(&self.dir.join("per_cpu"));
        let stats = cpus.iter().filter_map(|cpu| {
            let said = text(&self.dir.join("per_cpu").join(cpu).join("stats"))?;
            Some(lost_of(&said))
        });
        stats.sum()
    }

    /// Removes the instance.
    pub(super) fn remove(&mut self) -> Result<(), HostError> {
        // The kernel does not remove an instance with open files.
        self.pipes.clear();
        fs::remove_dir(&self.dir).map_err(|error| os_error(&self.dir, "remove it", error))
    }
}

fn unknown(path: &Path, what: &'static str) -> HostError {
    let path = path.to_owned();
    HostError::UnknownTracing { path, what }
}

/// Returns the number of lost events in a `stats` file.
fn lost_of(stats: &str) -> u64 {
    let lost = |line: &str| {
        let (name, count) = line.split_once(": ")?;
        let counts = ["overrun", "commit overrun", "dropped events"].contains(&name);
        count.trim().parse::<u64>().ok().filter(|_| counts)
    };
    stats.lines().filter_map(lost).sum()
}

impl Drop for Instance {
    fn drop(&mut self) {
        if self.dir.exists() {
            let _nobody_is_left_to_tell = self.remove();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_lose_an_event_counts() {
        let stats = "entries: 5\noverrun: 3\ncommit overrun: 1\nbytes: 900\noldest event ts:     1.5\n\
                     now ts: 9.0\ndropped events: 20\nread events: 7\n";
        assert_eq!(lost_of(stats), 24);
        assert_eq!(lost_of(""), 0);
    }
}
