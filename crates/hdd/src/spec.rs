//! The disk file: all parameters of a disk, with their units.
//!
//! Unknown keys are refused. [`Spec::from_toml`] reports the line and key of an error and the allowed values;
//! [`Spec::check`] refuses specs that cannot be built. Sectors of the zones beyond `capacity` are spare and never used.

use crate::seek::SeekCurve;
pub use fathom_base::SpecError;
use fathom_base::{BadValue, want};
use fathom_base::{Bytes, Dur, Rate, SECTOR_BYTES};
use serde::{Deserialize, Serialize};
use std::fmt::Display;
use std::ops::RangeInclusive;

/// Minimum number of cylinders; fewer do not determine a seek curve.
const CYLINDERS_MIN: u64 = 10;
const CYLINDERS_MAX: u64 = 10_000_000;

fathom_base::drive_kind!(Hdd = "hdd");

/// The parameters of a disk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// The kind of drive that the file describes.
    #[serde(default)]
    pub kind: Kind,
    /// Name of the disk, for people.
    pub name: String,
    /// Bytes that the host can address; a multiple of 512.
    pub capacity: Bytes,
    /// The link to the host and the controller behind it.
    pub host: Host,
    /// Spindle and arm.
    pub mechanics: Mechanics,
    /// Zones of equal tracks, from the outer edge inwards; addresses start at the outer edge.
    pub zones: Vec<Zone>,
    /// The segmented read cache, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_cache: Option<ReadCache>,
    /// The write cache; without one a write is complete when it is on the medium.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_cache: Option<WriteCache>,
    /// Random variation between measurements.
    #[serde(default)]
    pub noise: Noise,
}

/// The link to the host: the controller processes commands one after another; one bus carries data in both directions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// Type of the link; parallel ATA holds one command at a time.
    pub link: LinkKind,
    /// Payload bandwidth, shared by both directions.
    pub bandwidth: Rate,
    /// Controller time per command; commands queue for it.
    pub command_overhead: Dur,
    /// Maximum number of commands in flight, 1 to 32 (native command queuing has 32 tags).
    pub queue_depth: u32,
    /// Order in which the arm serves the queued commands.
    pub scheduling: Scheduling,
    /// Maximum length of a command.
    #[serde(default = "max_request")]
    pub max_request: Bytes,
}

/// Types of link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LinkKind {
    /// Parallel ATA: no command queuing.
    Pata,
    /// Serial ATA, half duplex.
    Sata,
}

/// The order in which the arm serves the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scheduling {
    /// First come, first served.
    Fcfs,
    /// Shortest positioning time first: the request whose first sector the head can reach soonest, counting seek and
    /// rotation. Greedy, without ageing.
    Sptf,
}

/// Spindle and arm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mechanics {
    /// Revolutions per minute, 1 to 100000.
    pub rpm: u32,
    /// Surfaces with one head each, 1 to 64.
    pub heads: u32,
    /// Seek time to the adjacent cylinder, until ready to read.
    pub seek_single: Dur,
    /// Mean seek time over all pairs of different cylinders, until ready to read.
    pub seek_average: Dur,
    /// Seek time from the first cylinder to the last, until ready to read.
    pub seek_full: Dur,
    /// Time of a switch to another head on the same cylinder, until ready to read.
    pub head_switch: Dur,
    /// Additional settling time of a seek or head switch before a write.
    pub write_settle: Dur,
    /// Track skew: delay of the first sector of a track relative to the previous track of the same cylinder. Defaults to
    /// the head switch time plus the write settling time, so that neither costs a turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub track_skew: Option<Dur>,
    /// Cylinder skew: the same from one cylinder to the next. Defaults to the longer of the seek and head switch times,
    /// plus the write settling time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cylinder_skew: Option<Dur>,
}

/// A zone: cylinders whose tracks hold the same number of sectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Zone {
    /// Number of cylinders, at least one.
    pub cylinders: u32,
    /// Sectors of 512 bytes per track, 1 to 1000000.
    pub sectors_per_track: u32,
}

/// The read cache: segments that each hold one run of sectors; the least recently used one is replaced.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadCache {
    /// Number of segments, 1 to 1024.
    pub segments: u32,
    /// Size of a segment.
    pub segment: Bytes,
    /// Maximum read-ahead behind a request while the disk is otherwise idle; at most one segment.
    pub read_ahead: Bytes,
}

/// The write cache: writes are acknowledged when in memory and written to the medium later.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WriteCache {
    /// Capacity in bytes of data.
    pub capacity: Bytes,
    /// Order of writes to the medium.
    pub destage: Destage,
}

/// The order in which the write cache is written to the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Destage {
    /// The order in which the sectors became dirty.
    Fifo,
    /// Ascending addresses from the end of the last write, then again from the lowest.
    CScan,
}

/// Random variation between measurements, drawn from the seed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Noise {
    /// Standard deviation of the command overhead, in percent of its mean.
    pub command_percent: f64,
}

fn max_request() -> Bytes {
    Bytes::mib(32)
}

impl Spec {
    /// Returns the number of cylinders of all zones.
    pub fn cylinders(&self) -> u64 {
        self.zones.iter().map(|z| u64::from(z.cylinders)).sum()
    }

    /// Returns the curve fitted to the three seek times.
    pub(crate) fn seek_curve(&self) -> SeekCurve {
        let m = &self.mechanics;
        let cylinders = self.cylinders() as u32;
        SeekCurve::fit(m.seek_single, m.seek_average, m.seek_full, cylinders)
    }

    /// Checks that such a disk can be built.
    ///
    /// # Errors
    /// Returns [`BadValue`] for the first invalid value.
    pub fn check(&self) -> Result<(), BadValue> {
        self.check_host()?;
        self.check_mechanics()?;
        self.check_zones()?;
        self.check_seeks()?;
        self.check_caches()
    }

    fn check_host(&self) -> Result<(), BadValue> {
        let host = &self.host;
        let deepest = match host.link {
            LinkKind::Pata => 1,
            LinkKind::Sata => 32,
        };
        want(
            (1..=deepest).contains(&host.queue_depth),
            "host.queue_depth",
            host.queue_depth,
            || format!("1 to {deepest} on this link"),
        )?;
        short("host.command_overhead", host.command_overhead)?;
        size("host.max_request", host.max_request)?;
        let noise = self.noise.command_percent;
        within("noise.command_percent", noise, 0.0..=100.0)
    }

    fn check_mechanics(&self) -> Result<(), BadValue> {
        let m = &self.mechanics;
        within("mechanics.rpm", m.rpm, 1..=100_000)?;
        within("mechanics.heads", m.heads, 1..=64)?;
        for (key, time) in [
            ("mechanics.seek_full", m.seek_full),
            ("mechanics.head_switch", m.head_switch),
            ("mechanics.write_settle", m.write_settle),
            ("mechanics.track_skew", m.track_skew.unwrap_or_default()),
            (
                "mechanics.cylinder_skew",
                m.cylinder_skew.unwrap_or_default(),
            ),
        ] {
            short(key, time)?;
        }
        Ok(())
    }

    fn check_zones(&self) -> Result<(), BadValue> {
        for zone in &self.zones {
            let n = zone.sectors_per_track;
            within("zones.sectors_per_track", n, 1..=1_000_000)?;
            want(
                zone.cylinders > 0,
                "zones.cylinders",
                zone.cylinders,
                || "at least 1".into(),
            )?;
        }
        let cylinders = self.cylinders();
        want(
            (CYLINDERS_MIN..=CYLINDERS_MAX).contains(&cylinders),
            "zones",
            format!("{cylinders} cylinders in all"),
            || format!("{CYLINDERS_MIN} to {CYLINDERS_MAX} cylinders"),
        )?;
        // No overflow: at most 64 heads x 10^7 cylinders x 10^6 sectors x 512 bytes.
        let tracks = |zone: &Zone| u64::from(zone.cylinders) * u64::from(self.mechanics.heads);
        let held: u64 = self
            .zones
            .iter()
            .map(|zone| tracks(zone) * u64::from(zone.sectors_per_track) * SECTOR_BYTES)
            .sum();
        let fits = sectors(self.capacity) && self.capacity.0 <= held;
        want(fits, "capacity", self.capacity, || {
            format!(
                "a positive multiple of 512B, at most the {} of the zones",
                Bytes(held)
            )
        })
    }

    fn check_seeks(&self) -> Result<(), BadValue> {
        let m = &self.mechanics;
        want(
            m.seek_single <= m.seek_full,
            "mechanics.seek_single",
            m.seek_single,
            || format!("at most the full stroke of {}", m.seek_full),
        )?;
        let curve = self.seek_curve();
        want(
            curve.never_falls(),
            "mechanics.seek_average",
            m.seek_average,
            || {
                let (low, high) = curve.averages();
                format!("{low} to {high}, or a longer seek would be the faster one")
            },
        )
    }

    fn check_caches(&self) -> Result<(), BadValue> {
        if let Some(cache) = &self.read_cache {
            within("read_cache.segments", cache.segments, 1..=1024)?;
            size("read_cache.segment", cache.segment)?;
            let ahead = cache.read_ahead;
            want(
                ahead.0.is_multiple_of(SECTOR_BYTES) && ahead <= cache.segment,
                "read_cache.read_ahead",
                ahead,
                || {
                    format!(
                        "a multiple of 512B, at most the segment of {}",
                        cache.segment
                    )
                },
            )?;
        }
        if let Some(cache) = &self.write_cache {
            size("write_cache.capacity", cache.capacity)?;
        }
        Ok(())
    }
}

fn sectors(length: Bytes) -> bool {
    length.0 > 0 && length.0.is_multiple_of(SECTOR_BYTES)
}

/// Checks the size of a request or of a memory.
fn size(key: &'static str, size: Bytes) -> Result<(), BadValue> {
    want(sectors(size) && size.0 <= 1 << 30, key, size, || {
        "a positive multiple of 512B, at most 1GiB".into()
    })
}

/// Checks that a number is in a range.
fn within<T: PartialOrd + Display>(
    key: &'static str,
    n: T,
    range: RangeInclusive<T>,
) -> Result<(), BadValue> {
    want(range.contains(&n), key, &n, || {
        format!("{} to {}", range.start(), range.end())
    })
}

/// Checks a time against the limit of 10 s. Times of a disk are far below it, and sums of them must not overflow.
fn short(key: &'static str, time: Dur) -> Result<(), BadValue> {
    want(time <= Dur::ms(10_000), key, time, || "at most 10s".into())
}
