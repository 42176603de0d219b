//! The rule of drive tests: an empty drive is filled in sequence, and its fast cache ends where the speed of a window first
//! falls below 70 % of that of the first window.
//!
//! Our reading: windows of 128 MiB, or of a two-hundredth of the region, as the robust method's pieces are. Tests that take a
//! mean over a second see the same.

use super::fill::{purge, speeds, window};
use super::series::EMPTY;
use crate::{Answers, Estimate, Parameter, Probe, Record, Session, Space, Stop, Value};

const PARAMETER: Parameter = Parameter::FastCache;
const WINDOW_MAX: u64 = 128 << 20;
const WINDOWS: u64 = 200;
/// The share of the first speed below which a cache has ended.
const THRESHOLD: f64 = 0.7;

/// The first window below the threshold.
pub(crate) struct Cliff70;

fn window_bytes(space: &Space) -> u64 {
    let len = (space.bytes() / WINDOWS).min(WINDOW_MAX);
    (len / space.block_bytes * space.block_bytes).max(space.block_bytes)
}

impl Probe for Cliff70 {
    fn bound(&self, space: &Space) -> u64 {
        space.bytes()
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Stop> {
        let space = session.space();
        let len = window_bytes(&space);
        session.step(PARAMETER, "fill", |io| {
            purge(io)?;
            for rep in 0..space.bytes() / len {
                window(io, EMPTY, len, rep * len, rep as u32)?;
            }
            io.flush().map(|_| ())
        })
    }

    fn solve(&self, record: &Record, _: &Answers<'_>) -> Estimate {
        let windows = speeds(record, EMPTY);
        let first = windows.first().map_or(0.0, |(_, speed)| *speed);
        let answer = match cliff(&windows) {
            Some(bytes) => Estimate::identified(
                Value::Bytes(bytes),
                format!("the first window below 70 % of the first speed came after {bytes} bytes"),
            ),
            None => Estimate::absent("no window was below 70 % of the first speed"),
        };
        answer
            .figure("windows", windows.len() as f64)
            .figure("first_bytes_per_s", first)
    }
}

/// Returns the bytes written before the first window below the threshold. `windows` are the bytes written by the end of each
/// and its speed, in order.
fn cliff(windows: &[(u64, f64)]) -> Option<u64> {
    let (_, first) = windows.first()?;
    let slow = windows.windows(2).find(|two| two[1].1 < THRESHOLD * first);
    slow.map(|two| two[0].0)
}

#[cfg(test)]
mod tests {
    use super::cliff;

    fn of(speeds: &[f64]) -> Option<u64> {
        let ends = (1..).map(|n| 100 * n);
        let windows: Vec<(u64, f64)> = ends.zip(speeds.iter().copied()).collect();
        cliff(&windows)
    }

    #[test]
    fn the_first_window_below_70_percent_is_the_end() {
        assert_eq!(of(&[1000.0, 1000.0, 950.0, 400.0, 400.0]), Some(300));
        // Not below: exactly 70 %.
        assert_eq!(of(&[1000.0, 700.0, 700.0]), None);
        // A single slow window on a flat line counts as well, and a first window that was fast moves the threshold.
        assert_eq!(of(&[1000.0, 1000.0, 600.0, 1000.0, 1000.0]), Some(200));
        assert_eq!(of(&[2000.0, 1000.0, 1000.0, 1000.0]), Some(100));
        assert_eq!(of(&[]), None);
    }
}
