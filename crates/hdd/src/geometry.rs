//! The layout of the disk: the zone, cylinder, head and angle of each sector.
//!
//! Addresses fill a track, then the next head of the cylinder, then the next cylinder inwards. Each track starts later in
//! the turn than the one before, by the skew in whole sectors; skews restart in each zone. Angles and rotation are exact:
//! a turn has [`TURN`] parts, of which `rpm` pass per nanosecond, and every sector starts at a whole part. Spare sectors,
//! defects and servo wedges are not modelled.

use crate::spec::Spec;
use fathom_base::{Dur, SECTOR_BYTES, Time};

/// Parts of a turn: 60 s in nanoseconds, so that `rpm` parts pass per nanosecond.
pub(crate) const TURN: u64 = 60_000_000_000;

/// A time in parts of a turn since the disk's start, plus the angle at the start.
pub(crate) type Phase = u128;

/// A track.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Track {
    /// Cylinder, from 0 at the outer edge.
    pub cylinder: u32,
    /// Head, from 0.
    pub head: u32,
}

/// The position of a sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its track.
    pub track: Track,
    /// Zone, from 0 at the outer edge.
    pub zone: u32,
    /// Index on the track in order of addresses, from 0.
    pub sector: u32,
    /// Index on the track in order of angles, from 0.
    pub slot: u32,
    /// Sectors on the track.
    pub sectors_per_track: u32,
}

/// The layout of a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZoneLayout {
    /// First sector.
    pub first_sector: u64,
    /// First cylinder.
    pub first_cylinder: u32,
    /// Sectors per track.
    pub sectors_per_track: u32,
    /// Skew from one head to the next, in sectors.
    pub track_skew: u32,
    /// Skew from one cylinder to the next, in sectors.
    pub cylinder_skew: u32,
}

/// The layout of a disk.
#[derive(Clone, Debug)]
pub struct Geometry {
    zones: Vec<ZoneLayout>,
    heads: u32,
    rpm: u32,
    sectors: u64,
    /// Angle at time zero, in parts of a turn.
    start: u64,
}

impl Geometry {
    /// Derives the layout from a checked spec. `start` is the angle at time zero, in parts of a turn.
    pub(crate) fn new(spec: &Spec, start: u64) -> Self {
        let m = &spec.mechanics;
        let track_skew = m.track_skew.unwrap_or(m.head_switch + m.write_settle);
        let switch = m.seek_single.max(m.head_switch);
        let cylinder_skew = m.cylinder_skew.unwrap_or(switch + m.write_settle);
        let (mut first_sector, mut first_cylinder) = (0, 0);
        let mut zones = Vec::with_capacity(spec.zones.len());
        for zone in &spec.zones {
            let n = zone.sectors_per_track;
            let skew = |time: Dur| {
                let parts = u128::from(time.0) * u128::from(m.rpm) * u128::from(n);
                (parts.div_ceil(u128::from(TURN)) % u128::from(n)) as u32
            };
            zones.push(ZoneLayout {
                first_sector,
                first_cylinder,
                sectors_per_track: n,
                track_skew: skew(track_skew),
                cylinder_skew: skew(cylinder_skew),
            });
            first_sector += u64::from(zone.cylinders) * u64::from(m.heads) * u64::from(n);
            first_cylinder += zone.cylinders;
        }
        Self {
            zones,
            heads: m.heads,
            rpm: m.rpm,
            sectors: spec.capacity.0 / SECTOR_BYTES,
            start,
        }
    }

    /// Returns the zones, from the outer edge inwards.
    pub fn zones(&self) -> &[ZoneLayout] {
        &self.zones
    }

    /// Returns the number of sectors that the host can address.
    pub fn sectors(&self) -> u64 {
        self.sectors
    }

    /// Returns the position of a sector. A sector past the end is treated as if the innermost zone continued.
    pub fn locate(&self, sector: u64) -> Place {
        let index = self.zones.partition_point(|z| z.first_sector <= sector);
        let zone_number = index.saturating_sub(1);
        let zone = &self.zones[zone_number];
        let n = u64::from(zone.sectors_per_track);
        let (track, within) = (
            (sector - zone.first_sector) / n,
            (sector - zone.first_sector) % n,
        );
        let heads = u64::from(self.heads);
        let (cylinder, head) = (track / heads, track % heads);
        let per_cylinder = u64::from(zone.track_skew) * (heads - 1) + u64::from(zone.cylinder_skew);
        let skew = cylinder * per_cylinder + head * u64::from(zone.track_skew);
        Place {
            track: Track {
                cylinder: zone.first_cylinder + cylinder as u32,
                head: head as u32,
            },
            zone: zone_number as u32,
            sector: within as u32,
            slot: ((within + skew) % n) as u32,
            sectors_per_track: zone.sectors_per_track,
        }
    }

    /// Returns the phase at a time.
    #[inline]
    pub(crate) fn phase(&self, time: Time) -> Phase {
        Phase::from(time.0) * Phase::from(self.rpm) + Phase::from(self.start)
    }

    /// Returns the first nanosecond at or after a phase; [`Time::MAX`] if it exceeds 64 bits.
    #[inline]
    pub(crate) fn time(&self, phase: Phase) -> Time {
        let parts = phase.saturating_sub(Phase::from(self.start));
        let ns = parts.div_ceil(Phase::from(self.rpm));
        u64::try_from(ns).map_or(Time::MAX, Time)
    }

    /// Returns the parts of a turn that pass in a duration.
    #[inline]
    pub(crate) fn parts(&self, time: Dur) -> Phase {
        Phase::from(time.0) * Phase::from(self.rpm)
    }

    /// Returns the duration in which the given parts of a turn pass, rounded down.
    pub(crate) fn duration(&self, parts: Phase) -> Dur {
        Dur((parts / Phase::from(self.rpm)) as u64)
    }
}

/// Returns the start of slot `slot` of a track, in parts of a turn. Slots beyond the track continue into the next turn.
#[inline]
pub(crate) fn slot_start(slot: u64, sectors_per_track: u32) -> u64 {
    (u128::from(slot) * u128::from(TURN)).div_ceil(u128::from(sectors_per_track)) as u64
}

impl Place {
    /// Returns the number of sectors of the track from this one on.
    pub(crate) fn left(&self) -> u32 {
        self.sectors_per_track - self.sector
    }

    /// Returns the first phase at or after `from` at which this sector starts under the head.
    #[inline]
    pub(crate) fn next_start(&self, from: Phase) -> Phase {
        let turn = Phase::from(TURN);
        let angle = Phase::from(slot_start(u64::from(self.slot), self.sectors_per_track));
        from + (turn + angle - from % turn) % turn
    }

    /// Returns the parts of a turn that `sectors` sectors take on the track, starting with this one.
    #[inline]
    pub(crate) fn span(&self, sectors: u64) -> Phase {
        let slot = u64::from(self.slot);
        let n = self.sectors_per_track;
        Phase::from(slot_start(slot + sectors, n) - slot_start(slot, n))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::presets;
    use fathom_base::Rng;

    /// 7200 revolutions per minute: a turn takes 8333333 1/3 ns.
    fn geometry() -> Geometry {
        let text = presets::PRESETS.first().unwrap().text;
        Geometry::new(&Spec::from_toml(text).unwrap(), 12_345)
    }

    #[test]
    fn a_phase_has_passed_at_its_time_and_not_a_nanosecond_before() {
        let (g, mut rng) = (geometry(), Rng::new(1, 0));
        for _ in 0..1000 {
            let phase = g.phase(Time(rng.below(1 << 60))) + Phase::from(rng.below(TURN));
            let Time(at) = g.time(phase);
            assert!(g.phase(Time(at)) >= phase && g.phase(Time(at - 1)) < phase);
        }
    }

    #[test]
    fn sectors_of_a_track_follow_one_another_for_ever_and_fill_the_turn() {
        let (g, mut rng) = (geometry(), Rng::new(2, 0));
        for _ in 0..200 {
            let first = rng.below(g.sectors() - 2000);
            let place = g.locate(first);
            let start = place.next_start(Phase::from(rng.next_u64()));
            for next in 1..u64::from(place.left()) {
                let begins = start + place.span(next);
                assert_eq!(g.locate(first + next).next_start(begins), begins);
            }
            let all = u64::from(place.sectors_per_track);
            assert_eq!(place.span(all), Phase::from(TURN));
        }
    }
}
