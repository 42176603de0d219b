//! Progress of one run, with the estimated time left.

use super::Display;
use fathom_lab::replay::Seen;
use fathom_report::text::{human_bytes, human_duration};
use std::time::Duration;

/// Shows the progress of one run.
pub(crate) struct Playing(Display);

impl Playing {
    /// Creates a display for a run that begins now.
    pub(crate) fn new() -> Self {
        Self(Display::new(false))
    }

    /// Shows the number of accesses done.
    pub(crate) fn seen(&self, seen: Seen) {
        self.draw("", seen.part, |seconds| {
            let rate = seen.accesses as f64 / seconds;
            format!("{} accesses, {rate:.0}/s", seen.accesses)
        });
    }

    /// Shows the number of bytes that fill the drive so far, out of `of`.
    pub(crate) fn filling(&self, bytes: u64, of: u64) {
        let part = bytes as f64 / of.max(1) as f64;
        self.draw("filling: ", Some(part), |seconds| {
            let rate = (bytes as f64 / seconds) as u64;
            format!("{} written, {}/s", human_bytes(bytes), human_bytes(rate))
        });
    }

    fn draw(&self, phase: &str, part: Option<f64>, done: impl FnOnce(f64) -> String) {
        self.0.show(|| {
            let seconds = seconds(self.0.elapsed());
            line(phase, seconds, part, &done(seconds))
        });
    }
}

/// Returns the elapsed seconds, at least 1 ms so that rates are finite.
fn seconds(elapsed: Duration) -> f64 {
    elapsed.as_secs_f64().max(1e-3)
}

/// Formats a line such as `42 %, about 3.2 s left, 420000 accesses, 180000/s` after the name of the phase. The least important part is last, where a
/// narrow terminal cuts it off.
fn line(phase: &str, seconds: f64, part: Option<f64>, done: &str) -> String {
    let Some(part) = part.filter(|&part| part > 0.0) else {
        return format!("{phase}{done}");
    };
    let left = human_duration((seconds * (1.0 - part) / part * 1e9) as u64);
    format!("{phase}{:.0} %, about {left} left, {done}", 100.0 * part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_tells_its_estimate_first() {
        // A quarter took 10 s, so the other three take 30 s.
        let quarter = "25 %, about 30 s left, 5000 accesses, 500/s";
        let done = "5000 accesses, 500/s";
        assert_eq!(line("", 10.0, Some(0.25), done), quarter);
        assert_eq!(line("", 10.0, None, done), done);
        assert_eq!(line("", 10.0, Some(0.0), done), done);
        let filling = format!("filling: {quarter}");
        assert_eq!(line("filling: ", 10.0, Some(0.25), done), filling);
    }
}
