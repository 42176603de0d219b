//! A private instance of the kernel's tracing: a directory in tracefs with buffers and settings of its own, so that the
//! settings and buffers of other users of tracing are not touched (Documentation/trace/ftrace.rst, *Instances*).
//!
//! The instance is named after the process. A process that is killed (SIGKILL) leaves it; the next one removes it. The
//! kernel itself refuses to remove an instance whose files are open.

use super::format::field;
use super::refused::explained;
use crate::clock::pause;
use crate::error::{HostError, os_error};
use crate::sysfs::{names_in, text};
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Attempts to remove an instance that is busy, and the time between two of them in milliseconds.
const REMOVALS: u32 = 20;
const REMOVAL_MS: u32 = 5;
const PREFIX: &str = "fathom-";
/// Number of the next instance of this process.
static NEXT: AtomicU32 = AtomicU32::new(0);

/// An instance. It is removed when it is dropped.
#[derive(Debug)]
pub(crate) struct Instance {
    dir: PathBuf,
    /// The buffer of each CPU.
    pipes: Vec<Pipe>,
    page: Vec<u8>,
    /// Offset of the events in a page.
    data: usize,
}

#[derive(Debug)]
struct Pipe {
    cpu: u16,
    file: File,
}

/// A number of events that the buffer of a CPU had no room for, by the kernel's counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lost {
    pub(crate) cpu: u16,
    pub(crate) events: u64,
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
        let process = name.strip_prefix(PREFIX).and_then(process_of);
        let ended = |process: u32| !Path::new(&format!("/proc/{process}")).exists();
        if process.is_some_and(ended) {
            // One that is in use, by a process that is not visible from here, is refused by the kernel.
            let _still_in_use = fs::remove_dir(instances.join(name));
        }
    }
}

/// Returns the process in the name of an instance, without the prefix.
fn process_of(name: &str) -> Option<u32> {
    let (process, number) = name.split_once('-').unwrap_or((name, "0"));
    number.parse::<u32>().ok()?;
    process.parse().ok()
}

/// Returns the name of a new instance: that of the process, with a number from the second one on.
fn next_name() -> String {
    let process = std::process::id();
    match NEXT.fetch_add(1, Ordering::Relaxed) {
        0 => format!("{PREFIX}{process}"),
        number => format!("{PREFIX}{process}-{number}"),
    }
}

impl Instance {
    /// Creates an instance that does not record yet.
    pub(crate) fn new(buffer_bytes: u64) -> Result<Self, HostError> {
        let instances = tracefs()?.join("instances");
        let lockdown = text(Path::new("/sys/kernel/security/lockdown"));
        Self::create(&instances, buffer_bytes)
            .map_err(|error| explained(error, &instances, lockdown.as_deref()))
    }

    fn create(instances: &Path, buffer_bytes: u64) -> Result<Self, HostError> {
        remove_leftovers(instances);
        let dir = instances.join(next_name());
        fs::create_dir(&dir).map_err(|error| {
            let at = if dir.exists() { &dir } else { instances };
            os_error(at, "create a trace instance", error)
        })?;
        let mut instance = Self {
            dir,
            pipes: Vec::new(),
            page: Vec::new(),
            data: 0,
        };
        instance.set_up(buffer_bytes)?;
        Ok(instance)
    }

    fn set_up(&mut self, buffer_bytes: u64) -> Result<(), HostError> {
        let dir = &self.dir;
        let header = dir.join("events/header_page");
        let data = field(&read(&header)?, "data").ok_or_else(|| unknown(&header, "no data"))?;
        self.page = vec![0; data.end];
        self.data = data.start;
        write(&dir.join("tracing_on"), "0")?;
        let kib = buffer_bytes.div_ceil(1024).max(64);
        write(&dir.join("buffer_size_kb"), &kib.to_string())?;
        // Otherwise the kernel also keeps the names of all processes, for all users of tracing.
        let _older_kernels_lack_it = fs::write(dir.join("options/record-cmd"), "0");
        for name in names_in(&dir.join("per_cpu")) {
            let Some(cpu) = name.strip_prefix("cpu").and_then(|cpu| cpu.parse().ok()) else {
                continue;
            };
            let path = dir.join("per_cpu").join(name).join("trace_pipe_raw");
            let mut options = OpenOptions::new();
            options.read(true).custom_flags(libc::O_NONBLOCK);
            let file = options.open(&path);
            let file = file.map_err(|error| os_error(&path, "read it", error))?;
            self.pipes.push(Pipe { cpu, file });
        }
        self.pipes.sort_by_key(|pipe| pipe.cpu);
        Ok(())
    }

    /// Returns true if the kernel has this trace clock.
    pub(crate) fn has_clock(&self, name: &str) -> bool {
        let clocks = text(&self.dir.join("trace_clock")).unwrap_or_default();
        let mut clocks = clocks.split_whitespace();
        clocks.any(|clock| clock.trim_matches(['[', ']']) == name)
    }

    /// Sets the clock of the events, which empties the buffers.
    pub(crate) fn set_clock(&self, name: &str) -> Result<(), HostError> {
        write(&self.dir.join("trace_clock"), name)
    }

    fn event(&self, group: &str, name: &str) -> PathBuf {
        self.dir.join("events").join(group).join(name)
    }

    /// Returns the description of an event; `None` if the kernel does not have it.
    pub(crate) fn format(&self, group: &str, name: &str) -> Result<Option<String>, HostError> {
        match read(&self.event(group, name).join("format")) {
            Ok(text) => Ok(Some(text)),
            Err(HostError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the error for a description that lacks something.
    pub(crate) fn unknown(&self, group: &str, name: &str, what: &'static str) -> HostError {
        unknown(&self.event(group, name).join("format"), what)
    }

    /// Enables an event, if the condition on its fields holds; an empty condition always holds.
    pub(crate) fn enable(&self, group: &str, name: &str, filter: &str) -> Result<(), HostError> {
        let event = self.event(group, name);
        if !filter.is_empty() {
            write(&event.join("filter"), filter)?;
        }
        write(&event.join("enable"), "1")
    }

    /// Begins the recording.
    pub(crate) fn start(&self) -> Result<(), HostError> {
        write(&self.dir.join("tracing_on"), "1")
    }

    /// Returns the CPUs.
    pub(crate) fn cpus(&self) -> impl Iterator<Item = u16> {
        self.pipes.iter().map(|pipe| pipe.cpu)
    }

    /// Offset of the events in a page.
    pub(crate) fn data(&self) -> usize {
        self.data
    }

    /// Length of a page in bytes.
    pub(crate) fn page_bytes(&self) -> usize {
        self.page.len()
    }

    /// Passes every page of events recorded so far to `each`, with its CPU. Pages of one CPU come in order of time.
    pub(crate) fn drain(&mut self, mut each: impl FnMut(u16, &[u8])) -> Result<(), HostError> {
        for Pipe { cpu, file } in &mut self.pipes {
            loop {
                match file.read(&mut self.page) {
                    Ok(0) => break,
                    Ok(read) => each(*cpu, &self.page[..read]),
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) => return Err(os_error(&self.dir, "read its buffers", error)),
                }
            }
        }
        Ok(())
    }

    /// Ends the recording. What is in the buffers can still be read.
    pub(crate) fn stop(&self) -> Result<(), HostError> {
        write(&self.dir.join("tracing_on"), "0")
    }

    /// Returns the CPUs whose buffers had no room for all events.
    pub(crate) fn lost(&self) -> Vec<Lost> {
        let lost = self.pipes.iter().filter_map(|Pipe { cpu, .. }| {
            let said = text(&self.dir.join(format!("per_cpu/cpu{cpu}/stats")))?;
            let events = lost_of(&said);
            (events > 0).then_some(Lost { cpu: *cpu, events })
        });
        lost.collect()
    }

    /// Removes the instance.
    pub(crate) fn remove(&mut self) -> Result<(), HostError> {
        // The kernel does not remove an instance with open files.
        self.pipes.clear();
        // Who looks at it has files of it open for a moment, and so has a child process until it becomes its program.
        for _ in 0..REMOVALS {
            match fs::remove_dir(&self.dir) {
                Err(error) if error.kind() == ErrorKind::ResourceBusy => pause(REMOVAL_MS),
                done => return done.map_err(|error| os_error(&self.dir, "remove it", error)),
            }
        }
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

    #[test]
    fn instances_of_this_program_have_their_process_in_their_names() {
        assert_eq!(process_of("4711"), Some(4711));
        assert_eq!(process_of("4711-2"), Some(4711));
        assert_eq!(process_of("4711-mine"), None);
        assert_eq!(process_of("notes"), None);
        assert_ne!(next_name(), next_name());
    }
}
