//! Splits a recording into a smooth model and the residuals.
//!
//! The model is linear in the length for reads and for writes, and constant for flushes, so that no size stands out. A
//! residual is the logarithm of a latency over the model's. The residuals keep the order and the bursts of the recorded
//! disk, but none of its sizes.

use super::{Recorded, Recording, RecordingError};
use fathom_block::Op;
use std::collections::BTreeMap;

/// A linear function from bytes to nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Line {
    pub(super) base_ns: f64,
    pub(super) ns_per_byte: f64,
}

impl Line {
    pub(super) fn at(&self, bytes: u64) -> f64 {
        self.base_ns + self.ns_per_byte * bytes as f64
    }
}

/// The smooth part of a recording.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Smooth {
    pub(super) read: Line,
    pub(super) write: Line,
    pub(super) flush: Line,
}

impl Smooth {
    /// Returns the latency of a request. A trim takes as long as a write of no bytes.
    pub(super) fn latency_ns(&self, op: Op, bytes: u64) -> f64 {
        match op {
            Op::Read => self.read.at(bytes),
            Op::Write | Op::Append => self.write.at(bytes),
            Op::Flush => self.flush.at(0),
            Op::Trim | Op::Zone(_) => self.write.at(0),
        }
    }
}

/// A decomposed recording.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Parts {
    pub(super) smooth: Smooth,
    /// Operation and logarithm of its latency over the model's, in recorded order.
    pub(super) rest: Vec<(Op, f64)>,
}

impl Parts {
    /// Decomposes a recording.
    pub(super) fn of(recording: &Recording) -> Result<Parts, RecordingError> {
        let line = |op| fit(op, &recording.requests);
        let smooth = Smooth {
            read: line(Op::Read)?,
            write: line(Op::Write)?,
            flush: line(Op::Flush)?,
        };
        let rest = recording.requests.iter().map(|r| {
            let ratio = r.latency_ns.max(1) as f64 / smooth.latency_ns(r.op, r.bytes);
            (r.op, ratio.ln())
        });
        let rest = rest.collect();
        Ok(Parts { smooth, rest })
    }
}

/// Fits a line through the median latency of each length. Weights are one over the square of the latency, so that all
/// lengths count alike on a logarithmic scale. An operation with a single length gets a constant.
fn fit(op: Op, requests: &[Recorded]) -> Result<Line, RecordingError> {
    let mut by_bytes: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for request in requests.iter().filter(|r| r.op == op) {
        let of_size = by_bytes.entry(request.bytes).or_default();
        of_size.push(request.latency_ns);
    }
    if by_bytes.is_empty() {
        return Err(RecordingError(format!("it holds no {op}")));
    }
    let medians: Vec<(f64, f64)> = by_bytes
        .into_iter()
        .map(|(bytes, latencies)| (bytes as f64, median(latencies)))
        .collect();
    let sum = |of: &dyn Fn(f64, f64) -> f64| -> f64 {
        medians.iter().map(|(x, y)| of(*x, *y) / (y * y)).sum()
    };
    let (w, x, y) = (sum(&|_, _| 1.0), sum(&|x, _| x), sum(&|_, y| y));
    let (xx, xy) = (sum(&|x, _| x * x), sum(&|x, y| x * y));
    let spread = w * xx - x * x;
    let ns_per_byte = if medians.len() < 2 || spread <= 0.0 {
        0.0
    } else {
        ((w * xy - x * y) / spread).max(0.0)
    };
    let base_ns = (y - ns_per_byte * x) / w;
    // A line must not start below zero: that would not be a latency.
    let least = medians.iter().map(|(_, y)| *y).fold(f64::MAX, f64::min);
    Ok(Line {
        base_ns: base_ns.max(least / 10.0),
        ns_per_byte,
    })
}

fn median(mut values: Vec<u64>) -> f64 {
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or(1).max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recording(latency_ns: impl Fn(Op, u64, u64) -> u64) -> Recording {
        let mut requests = Vec::new();
        for round in 0..99 {
            for bytes in [4096, 8192, 65_536, 1 << 20] {
                for op in [Op::Read, Op::Write] {
                    let latency_ns = latency_ns(op, bytes, round);
                    requests.push(Recorded {
                        op,
                        bytes,
                        latency_ns,
                    });
                }
            }
            let (op, bytes) = (Op::Flush, 0);
            let latency_ns = latency_ns(op, bytes, round);
            requests.push(Recorded {
                op,
                bytes,
                latency_ns,
            });
        }
        let recorded = "test".into();
        Recording { recorded, requests }
    }

    #[test]
    fn a_line_is_found_beside_outliers_and_the_rest_is_what_is_off_it() {
        let base = |op| match op {
            Op::Read => 50_000,
            Op::Write => 30_000,
            _ => 90_000,
        };
        let parts = Parts::of(&recording(|op, bytes, round| {
            let burst = if round % 10 == 3 { 20 } else { 1 };
            (base(op) + bytes / 2) * burst
        }));
        let parts = parts.unwrap();
        let near = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-6, "{a} {b}");
        near(parts.smooth.read.base_ns, 50_000.0);
        near(parts.smooth.read.ns_per_byte, 0.5);
        near(parts.smooth.write.base_ns, 30_000.0);
        near(parts.smooth.flush.base_ns, 90_000.0);
        near(parts.smooth.latency_ns(Op::Trim, 1 << 20), 30_000.0);
        for (index, (_, rest)) in parts.rest.iter().enumerate() {
            let expected = if index / 9 % 10 == 3 { 20f64.ln() } else { 0.0 };
            assert!((rest - expected).abs() < 1e-4, "{index}: {rest}");
        }
    }

    #[test]
    fn a_disk_that_is_no_faster_for_less_has_a_constant() {
        let parts = Parts::of(&recording(|_, bytes, _| 2_000_000 - bytes / 4)).unwrap();
        assert_eq!(parts.smooth.read.ns_per_byte, 0.0);
        let none = Recording {
            recorded: String::new(),
            requests: Vec::new(),
        };
        assert!(Parts::of(&none).is_err());
    }
}
