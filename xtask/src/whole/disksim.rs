//! DiskSim 4.0 with its SSD extension, on the traces that `fathom` reads.
//!
//! It replays a trace at its times and ends without an error when it has served only a part: when 10,000 requests wait at
//! once, it stops. Its own figures say how many requests it has completed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The name of the figures of all requests in DiskSim's output.
const OVERALL: &str = "Overall I/O System";

/// The program and its parameter file.
#[derive(Clone, Debug)]
pub(super) struct DiskSim {
    program: String,
    parameters: String,
}

impl DiskSim {
    pub(super) fn new(program: &str, parameters: &str) -> Self {
        Self {
            program: program.to_owned(),
            parameters: parameters.to_owned(),
        }
    }

    /// Returns the command that replays a trace. Its output lies beside the trace.
    pub(super) fn command(&self, trace: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command.arg(&self.parameters).arg(output_of(trace));
        command.arg("ascii").arg(trace).arg("0");
        command
    }
}

/// What DiskSim says of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Served {
    completed: u64,
    /// Requests that were under way as the trace ended, when DiskSim ends too.
    under_way: u64,
    mean_ms: f64,
}

impl Served {
    /// Reads what DiskSim has written of its run of a trace.
    ///
    /// # Errors
    /// There are no such figures, or it has not read the trace to its end.
    pub(super) fn of(trace: &Path, requests: u64) -> Result<Self, String> {
        let path = output_of(trace);
        let text = fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let text = String::from_utf8_lossy(&text);
        let served = Self::parse(&text).ok_or("DiskSim has written no figures of its requests")?;
        match served.completed + served.under_way == requests && !text.contains("saturation") {
            true => Ok(served),
            false => Err(format!(
                "DiskSim has given up: {} of {requests} requests completed, and {} wait",
                served.completed, served.under_way
            )),
        }
    }

    fn parse(text: &str) -> Option<Self> {
        Some(Self {
            completed: figure(text, "Total Requests handled:")?,
            under_way: figure(text, "End # requests:")?,
            mean_ms: figure(text, "Response time average:")?,
        })
    }
}

impl std::fmt::Display for Served {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            completed,
            under_way,
            mean_ms,
        } = self;
        write!(
            f,
            "{completed} requests completed and {under_way} under way at the end of the trace, mean response time {mean_ms} ms"
        )
    }
}

fn output_of(trace: &Path) -> PathBuf {
    trace.with_extension("disksim")
}

/// Returns a figure of all requests.
fn figure<T: std::str::FromStr>(text: &str, name: &str) -> Option<T> {
    let mut of_all = text.lines().filter_map(|line| line.strip_prefix(OVERALL));
    let value = of_all.find_map(|line| line.trim_start().strip_prefix(name))?;
    value.trim().parse().ok()
}

#[cfg(test)]
const OUTPUT: &str = "Overall I/O System Total Requests handled:\t98
Overall I/O System Response time average: \t0.330141
Overall I/O System End # requests:          2
System logorg #0 ssd Total Requests handled:\t98
";

#[test]
fn the_figures_of_all_requests_are_read() {
    let served = Served::parse(OUTPUT);
    assert!(served.is_some_and(|s| [s.completed, s.under_way] == [98, 2] && s.mean_ms == 0.330141));
    assert_eq!(Served::parse(""), None);
}

#[test]
fn a_run_that_ended_early_is_no_measurement() {
    let trace = std::env::temp_dir().join(format!("fathom-served-{}.trace", std::process::id()));
    fs::write(output_of(&trace), OUTPUT).unwrap();
    assert!(Served::of(&trace, 100).is_ok());
    assert!(Served::of(&trace, 1000).is_err_and(|e| e.contains("98 of 1000")));
    fs::remove_file(output_of(&trace)).unwrap();
}
