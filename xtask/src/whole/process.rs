//! A child process with its CPU time and its peak memory. Linux only.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::thread::park_timeout;
use std::time::Duration;

/// A shorter process is measured several times at once: CPU times are known to 0.01 s.
const LEAST_SECONDS: f64 = 0.5;
/// Maximum number of processes that are measured at once.
const AT_ONCE: usize = 10;
/// Clock ticks per second of the times in `/proc`; 100 on all of Linux's usual machines.
const TICKS_PER_SECOND: f64 = 100.0;
/// How often the memory of a process is looked at.
const LOOK: Duration = Duration::from_millis(5);

/// What a process has cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Cost {
    /// CPU time in user mode and in the kernel, in seconds.
    pub(super) user: f64,
    pub(super) system: f64,
    /// Peak resident memory, in KiB.
    pub(super) peak_kib: u64,
}

impl Cost {
    pub(super) fn seconds(&self) -> f64 {
        self.user + self.system
    }
}

/// Measures a command once, or the mean of several processes if one is too short to be measured.
///
/// # Errors
/// Those of [`run`].
pub(super) fn measured(of: impl Fn() -> Result<Command, String>) -> Result<Cost, String> {
    let first = run(1, &of)?;
    match (LEAST_SECONDS / first.seconds().max(0.01)) as usize {
        0 | 1 => Ok(first),
        more => run(more.min(AT_ONCE), &of),
    }
}

/// Runs a command to its end as often as it is told, without its output. Returns the mean cost and the highest peak.
///
/// # Errors
/// It cannot be started, or fails: its status, and what it wrote to standard error.
fn run(times: usize, of: impl Fn() -> Result<Command, String>) -> Result<Cost, String> {
    let before = children()?;
    let mut peak_kib = 0;
    for _ in 0..times {
        peak_kib = peak_kib.max(once(&mut of()?)?);
    }
    let after = children()?;
    Ok(Cost {
        user: (after[0] - before[0]) / times as f64,
        system: (after[1] - before[1]) / times as f64,
        peak_kib,
    })
}

/// Runs a command to its end. Returns its peak memory in KiB.
fn once(command: &mut Command) -> Result<u64, String> {
    let command = command.stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|e| format!("{command:?}: {e}"))?;
    let peak_kib = watch(&mut child);
    let output = child.wait_with_output().map_err(|e| e.to_string())?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{command:?}: {}\n{said}", output.status));
    }
    Ok(peak_kib)
}

/// Counts the instructions of a command with valgrind; `None` if that is not installed or the command fails.
pub(super) fn instructions(command: &Command) -> Option<u64> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(command.get_program())
        .args(command.get_args())
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stderr);
    let line = text.lines().find(|line| line.contains("Collected :"))?;
    line.rsplit(' ').next()?.parse().ok()
}

/// Waits for the end of a process, and returns the highest peak of its memory that was seen.
fn watch(child: &mut Child) -> u64 {
    let path = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    while let Ok(None) = child.try_wait() {
        let text = fs::read_to_string(&path).unwrap_or_default();
        peak = peak.max(peak_of(&text).unwrap_or(0));
        park_timeout(LOOK);
    }
    peak
}

fn peak_of(status: &str) -> Option<u64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Returns the CPU times of all children that have ended so far, in seconds: in user mode, and in the kernel.
fn children() -> Result<[f64; 2], String> {
    let text = fs::read_to_string("/proc/self/stat").map_err(|e| e.to_string())?;
    times_of(&text).ok_or_else(|| "no CPU times in /proc/self/stat".to_owned())
}

/// The fields `cutime` and `cstime` (proc(5)); the name of the program, in brackets, may have spaces.
fn times_of(stat: &str) -> Option<[f64; 2]> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(13);
    let mut next = || Some(fields.next()?.parse::<f64>().ok()? / TICKS_PER_SECOND);
    Some([next()?, next()?])
}

#[test]
fn the_times_of_children_follow_the_name() {
    let stat = "7 (a b) c) S 1 2 3 4 5 6 7 8 9 10 11 12 250 75 20 0";
    assert_eq!(times_of(stat), Some([2.5, 0.75]));
    assert_eq!(times_of("7 (a) S 1"), None);
}

#[cfg(test)]
fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

#[test]
fn a_process_costs_time_and_memory() {
    let counting = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done";
    let cost = run(2, || Ok(shell(counting)));
    assert!(cost.is_ok_and(|cost| cost.seconds() > 0.0 && cost.peak_kib > 0));
}

#[test]
fn a_process_that_fails_is_named_with_its_status() {
    let told = |script: &str| run(1, || Ok(shell(script))).unwrap_err();
    assert!(told("echo no >&2; exit 3").ends_with("exit status: 3\nno\n"));
    assert!(told("kill -SEGV $$").contains("signal: 11"));
}
