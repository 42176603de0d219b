//! A drive as the rules see it, and the quantities that several rules need.

use super::advice::Undecided;
use super::measured::{Known, Measured};
use crate::words::{bytes, duration};
use fathom_probe::Reported;

/// What is known of a drive.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// What it reports.
    pub reported: &'a Reported,
    /// What was measured.
    pub measured: &'a Measured,
}

/// A length that follows from measurements, with its derivation.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Length {
    pub(super) parameter: &'static str,
    /// The length in bytes.
    pub(super) bytes: u64,
    /// How it follows, in words: `a stripe of 8 × 64 KiB = 512 KiB`.
    pub(super) said: String,
}

/// A latency that reads stay below, with its derivation.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Target {
    pub(super) parameter: &'static str,
    /// The latency in nanoseconds.
    pub(super) ns: f64,
    /// How it follows, in words.
    pub(super) said: String,
}

/// A larger unit is a unit of parallel work, not of mapping: a file system or a pool aligned to it would waste space.
const SMALL_UNIT_MAX: u64 = 16 << 10;
/// The ends of the interval of a depth that says something are at most so many times apart.
const DEPTH_WIDTH: u64 = 4;
/// Units beyond this are no units of a request.
const UNIT_MAX: u64 = 64 << 20;

impl Case<'_> {
    /// Returns the unit below which a write makes the drive read first: the indirection unit, or a clustered page that is
    /// no longer than one.
    pub(super) fn write_unit(&self) -> Result<Known, Undecided> {
        let unit = self.measured.known("indirection_unit");
        unit.or_else(|why| {
            let page = self.measured.known("clustered_page");
            let page = page.ok().filter(|page| page.high <= SMALL_UNIT_MAX);
            page.ok_or(why)
        })
        .and_then(
            |unit| match unit.high.is_power_of_two() && unit.high <= UNIT_MAX {
                true => Ok(unit),
                false => Err(Undecided::identified(
                    unit.parameter,
                    format!(
                        "a unit of {} is no power of two, which every one of these is",
                        unit.said
                    ),
                )),
            },
        )
    }

    /// Returns the unit at whose multiples a request should begin and be cut: the stripe unit, the clustered page, or the
    /// indirection unit.
    pub(super) fn request_unit(&self) -> Result<Known, Undecided> {
        let names = ["stripe_unit", "clustered_page", "indirection_unit"];
        let unit = self.measured.first(&names)?;
        match unit.value.is_multiple_of(512) && (1..=UNIT_MAX).contains(&unit.value) {
            true => Ok(unit),
            false => Err(Undecided::identified(
                unit.parameter,
                format!("{} is no length of a request", unit.said),
            )),
        }
    }

    /// Returns the length of a request that occupies every parallel part of the drive once.
    pub(super) fn stripe(&self) -> Result<Length, Undecided> {
        let parts = self.measured.known("parallelism")?;
        let unit = self.measured.known("stripe_unit");
        let unit = unit.or_else(|why| self.measured.known("read_unit").map_err(|_| why))?;
        let length = unit.value.saturating_mul(parts.value);
        match (1..=UNIT_MAX).contains(&length) {
            true => Ok(Length {
                parameter: parts.parameter,
                bytes: length,
                said: format!(
                    "{} parallel parts × {} = {}",
                    parts.said,
                    unit.said,
                    bytes(length)
                ),
            }),
            false => Err(Undecided::identified(
                parts.parameter,
                format!(
                    "{} parts of {} are no length of a request",
                    parts.said, unit.said
                ),
            )),
        }
    }

    /// Returns the time that a read of a drive that is not overloaded stays below, for settings that slow others down when
    /// reads take longer. It is the 99 % quantile at the queue knee; where the drive itself delays one read in a hundred or
    /// more, it is at least the length of such a stall, because slowing others down does not shorten it.
    pub(super) fn read_target(&self) -> Result<Target, Undecided> {
        let knee = self.measured.known("queue_knee")?;
        let Some(p99) = self.measured.figure(knee.parameter, "p99_ns") else {
            let why = "the queue knee has no 99 % quantile beside it";
            return Err(Undecided::identified(knee.parameter, why));
        };
        let said = format!(
            "99 % of reads take at most {} with {} in flight",
            duration(p99 as u64),
            knee.value
        );
        let share = self.measured.figure("stalls", "slow_percent");
        let stall = self.measured.known("stalls").ok().zip(share);
        Ok(match stall {
            Some((stall, percent)) if percent >= 1.0 && stall.value as f64 > p99 => Target {
                parameter: stall.parameter,
                ns: stall.value as f64,
                said: format!(
                    "{said}, but the drive itself delays {percent:.1} % of reads by {}",
                    stall.said
                ),
            },
            Some((stall, percent)) => Target {
                parameter: knee.parameter,
                ns: p99,
                said: format!(
                    "{said}, and the drive's own stalls of {} are rare ({percent:.2} % of reads)",
                    stall.said
                ),
            },
            None => Target {
                parameter: knee.parameter,
                ns: p99,
                said,
            },
        })
    }

    /// Returns the unit of erasure as the host sees it: the reclaim unit, or the clustered block.
    pub(super) fn erase_unit(&self) -> Result<Known, Undecided> {
        self.measured.first(&["reclaim_unit", "clustered_block"])
    }

    /// Returns the depth beyond which only the latency grows, if it is known to a factor of [`DEPTH_WIDTH`].
    pub(super) fn depth(&self) -> Result<Known, Undecided> {
        let knee = self.measured.known("queue_knee")?;
        match knee.high <= DEPTH_WIDTH.saturating_mul(knee.low) {
            true => Ok(knee),
            false => Err(Undecided::identified(
                knee.parameter,
                format!("no depth follows from so wide an interval: {}", knee.said),
            )),
        }
    }

    /// Returns the unit of erasure if it is known exactly. Multiples of any other value fall anywhere in units.
    pub(super) fn exact_erase_unit(&self) -> Result<Known, Undecided> {
        let unit = self.erase_unit()?;
        match unit.low == unit.high {
            true => Ok(unit),
            false => Err(Undecided::identified(
                unit.parameter,
                format!(
                    "nothing can be aligned to a unit that is not known exactly: {}",
                    unit.said
                ),
            )),
        }
    }
}
