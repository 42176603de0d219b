//! The disk file: every number that makes a disk, with its unit.
//!
//! Unknown keys are refused. [`Spec::from_toml`] names line and key of what is wrong and says what is allowed;
//! [`Spec::check`] refuses what cannot be built. What the zones hold beyond `capacity` is spare and never used.

use crate::seek::SeekCurve;
pub use fathom_base::SpecError;
use fathom_base::{BadValue, want};
use fathom_base::{Bytes, Dur, Rate, SECTOR_BYTES};
use serde::{Deserialize, Serialize};

/// Fewest cylinders of a disk: fewer do not fix a seek curve.
const CYLINDERS_MIN: u64 = 10;
const CYLINDERS_MAX: u64 = 10_000_000;

fathom_base::drive_kind!(Hdd = "hdd");

/// A whole disk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// What the file describes.
    #[serde(default)]
    pub kind: Kind,
    /// A name for people.
    pub name: String,
    /// Bytes that the host can address, a multiple of 512.
    pub capacity: Bytes,
    /// The link to the host and the controller behind it.
    pub host: Host,
    /// Spindle and arm.
    pub mechanics: Mechanics,
    /// Zones of equal tracks, from the outer edge inwards; addresses begin at the outer edge.
    pub zones: Vec<Zone>,
    /// The segmented cache for reads, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_cache: Option<ReadCache>,
    /// The cache for writes; without it a write is complete when it is on the medium.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_cache: Option<WriteCache>,
    /// What makes two measurements differ.
    #[serde(default)]
    pub noise: Noise,
}

/// The link to the host: commands one after another through the controller, data both ways over one bus.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// What the link is; parallel ATA holds one command at a time.
    pub link: LinkKind,
    /// Payload bandwidth, shared by both directions.
    pub bandwidth: Rate,
    /// Time of the controller for one command; commands queue for it.
    pub command_overhead: Dur,
    /// Commands that may be in flight, 1 to 32 (native command queuing has 32 tags).
    pub queue_depth: u32,
    /// Which of the commands in the queue the arm serves next.
    pub scheduling: Scheduling,
    /// The longest command.
    #[serde(default = "max_request")]
    pub max_request: Bytes,
}

/// Kinds of link.
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
    /// Shortest positioning time first: the one whose first sector the head can reach soonest, seek and rotation
    /// together. Greedy; nothing ages.
    Sptf,
}

/// Spindle and arm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mechanics {
    /// Turns a minute, 1 to 100000.
    pub rpm: u32,
    /// Surfaces with a head each, 1 to 64.
    pub heads: u32,
    /// From one track to the next, ready to read.
    pub seek_single: Dur,
    /// Mean over all pairs of different cylinders, ready to read.
    pub seek_average: Dur,
    /// From the first cylinder to the last, ready to read.
    pub seek_full: Dur,
    /// From one head to another on the same cylinder, ready to read.
    pub head_switch: Dur,
    /// What a seek or a head switch takes longer before a write.
    pub write_settle: Dur,
    /// By how much the first sector of a track lies behind that of the track before, on the same cylinder.
    /// Defaults to the head switch and the settling before a write, so that neither loses a turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub track_skew: Option<Dur>,
    /// The same from one cylinder to the next. Defaults to the longer of seek and head switch, with settling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cylinder_skew: Option<Dur>,
}

/// Cylinders whose tracks hold the same number of sectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Zone {
    /// Cylinders, at least one.
    pub cylinders: u32,
    /// Sectors of 512 bytes on each track, 1 to 1000000.
    pub sectors_per_track: u32,
}

/// The cache for reads: segments, each of which holds one run of sectors, replaced in order of last use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadCache {
    /// Segments, 1 to 1024.
    pub segments: u32,
    /// Bytes of a segment.
    pub segment: Bytes,
    /// How far the head goes on reading behind a request while nothing else is to do; at most a segment.
    pub read_ahead: Bytes,
}

/// The cache for writes: acknowledged when in memory, on the medium later.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WriteCache {
    /// Bytes of data that it holds.
    pub capacity: Bytes,
    /// In which order it is written to the medium.
    pub destage: Destage,
}

/// The order in which the write cache is written to the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Destage {
    /// In the order in which the sectors became dirty.
    Fifo,
    /// By ascending address from where the last one ended, then again from the lowest.
    CScan,
}

/// What makes two measurements differ: drawn from the seed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Noise {
    /// Standard deviation of the command overhead, in percent of it.
    pub command_percent: f64,
}

fn max_request() -> Bytes {
    Bytes::mib(32)
}

impl Spec {
    /// Cylinders of all zones.
    pub fn cylinders(&self) -> u64 {
        self.zones.iter().map(|z| u64::from(z.cylinders)).sum()
    }

    /// The curve through the three times of a seek.
    pub(crate) fn seek_curve(&self) -> SeekCurve {
        let m = &self.mechanics;
        let cylinders = self.cylinders() as u32;
        SeekCurve::fit(m.seek_single, m.seek_average, m.seek_full, cylinders)
    }

    /// Whether such a disk can be built.
    ///
    /// # Errors
    /// [`BadValue`] for the first value that cannot be.
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
        let longest = host.max_request;
        want(
            sectors(longest) && longest.0 <= 1 << 30,
            "host.max_request",
            longest,
            || "a positive multiple of 512B, at most 1GiB".into(),
        )?;
        let noise = self.noise.command_percent;
        want(
            (0.0..=100.0).contains(&noise),
            "noise.command_percent",
            noise,
            || "0 to 100".into(),
        )
    }

    fn check_mechanics(&self) -> Result<(), BadValue> {
        let m = &self.mechanics;
        for (key, n, most) in [
            ("mechanics.rpm", m.rpm, 100_000),
            ("mechanics.heads", m.heads, 64),
        ] {
            want((1..=most).contains(&n), key, n, || format!("1 to {most}"))?;
        }
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
            want(
                (1..=1_000_000).contains(&n),
                "zones.sectors_per_track",
                n,
                || "1 to 1000000".into(),
            )?;
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
        // At most 64 heads x 10^7 cylinders x 10^6 sectors x 512 bytes: fits.
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
        let size = "a positive multiple of 512B, at most 1GiB";
        if let Some(cache) = &self.read_cache {
            want(
                (1..=1024).contains(&cache.segments),
                "read_cache.segments",
                cache.segments,
                || "1 to 1024".into(),
            )?;
            want(
                sectors(cache.segment) && cache.segment.0 <= 1 << 30,
                "read_cache.segment",
                cache.segment,
                || size.into(),
            )?;
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
            want(
                sectors(cache.capacity) && cache.capacity.0 <= 1 << 30,
                "write_cache.capacity",
                cache.capacity,
                || size.into(),
            )?;
        }
        Ok(())
    }
}

fn sectors(length: Bytes) -> bool {
    length.0 > 0 && length.0.is_multiple_of(SECTOR_BYTES)
}

/// Times of a disk are far below ten seconds; sums of them must not overflow.
fn short(key: &'static str, time: Dur) -> Result<(), BadValue> {
    want(time <= Dur::ms(10_000), key, time, || "at most 10s".into())
}
