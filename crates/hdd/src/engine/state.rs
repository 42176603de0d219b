//! State of the requests in flight, of the piece under the head, and of the arm.

use crate::geometry::{Phase, Place, TURN, Track};
use crate::seek::SeekCurve;
use crate::spec::{Scheduling, Spec};
use fathom_base::{Dur, SECTOR_BYTES, Time};
use fathom_block::{Op, Request};

/// A request in flight.
#[derive(Clone, Debug)]
pub(super) struct Active {
    pub(super) request: Request,
    pub(super) submitted: Time,
    /// Sequence number, in order of submission.
    pub(super) sequence: u64,
    /// First sector that it needs from the medium, or still has to write to it.
    pub(super) wanted: u64,
    /// Sectors whose transfer over the link is booked.
    pub(super) booked: u64,
    /// Sectors of a cached write that have crossed the link.
    pub(super) arrived: u64,
    /// Earliest phase at which an uncached write may start on the medium without running out of data.
    pub(super) ready: Phase,
}

impl Active {
    pub(super) fn first(&self) -> u64 {
        self.request.offset / SECTOR_BYTES
    }

    pub(super) fn end(&self) -> u64 {
        self.request.end() / SECTOR_BYTES
    }

    pub(super) fn sectors(&self) -> u64 {
        self.request.len / SECTOR_BYTES
    }

    /// Returns true if the requests overlap and at least one of them is a write.
    pub(super) fn meets(&self, other: &Active) -> bool {
        let (a, b) = (&self.request, &other.request);
        let touch = a.offset < b.end() && b.offset < a.end();
        touch && (a.op == Op::Write || b.op == Op::Write)
    }
}

/// The reason for passing over sectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A read of the request with this index.
    Read(u32),
    /// An uncached write of the request with this index.
    Write(u32),
    /// Read-ahead.
    Ahead,
    /// Destaging of the write cache.
    Destage,
}

/// Sectors of one track that the head seeks to and passes over.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) purpose: Purpose,
    pub(super) first: u64,
    pub(super) end: u64,
    pub(super) place: Place,
    /// Phase at which the arm has settled on the track.
    pub(super) arrive: Phase,
    /// Phase at which the first sector starts.
    pub(super) start: Phase,
}

impl Piece {
    /// Returns the phase at which its last sector has passed.
    pub(super) fn over(&self) -> Phase {
        self.start + self.place.span(self.end - self.first)
    }

    /// Returns the end of the sectors that have passed by a phase.
    pub(super) fn passed_by(&self, phase: Phase) -> u64 {
        let elapsed = phase.saturating_sub(self.start).min(Phase::from(TURN) * 2);
        let rate = Phase::from(self.place.sectors_per_track);
        let about = (elapsed * rate / Phase::from(TURN)) as u64;
        let mut sectors = (about + 1).min(self.end - self.first);
        while sectors > 0 && self.place.span(sectors) > elapsed {
            sectors -= 1;
        }
        self.first + sectors
    }
}

/// A run of sectors being read into a segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stream {
    pub(super) segment: usize,
    /// Next sector.
    pub(super) at: u64,
    /// End of the read-ahead.
    pub(super) limit: u64,
}

/// The arm: its parameters, position and current work.
#[derive(Clone, Debug)]
pub(super) struct Arm {
    pub(super) curve: SeekCurve,
    pub(super) head_switch: Dur,
    pub(super) write_settle: Dur,
    pub(super) scheduling: Scheduling,
    /// Track of the head, or its target.
    pub(super) track: Track,
    /// Phase at which the arm became free.
    pub(super) free: Phase,
    /// True if the write cache used the arm before the requests.
    pub(super) destaged_last: bool,
    pub(super) piece: Option<Piece>,
    /// Number of the latest piece; the ends of earlier pieces are ignored.
    pub(super) piece_number: u32,
    pub(super) stream: Option<Stream>,
}

impl Arm {
    /// Creates an arm at rest on the outermost track.
    pub(super) fn new(spec: &Spec, start: Phase) -> Self {
        Self {
            curve: spec.seek_curve(),
            head_switch: spec.mechanics.head_switch,
            write_settle: spec.mechanics.write_settle,
            scheduling: spec.host.scheduling,
            track: Track::default(),
            free: start,
            destaged_last: false,
            piece: None,
            piece_number: 0,
            stream: None,
        }
    }

    /// Returns the time of the movement to another track.
    pub(super) fn movement(&self, to: &Place, write: bool) -> Dur {
        let (from, to) = (self.track, to.track);
        if from == to {
            return Dur::ZERO;
        }
        let settle = if write { self.write_settle } else { Dur::ZERO };
        let switch = match from.head == to.head {
            true => Dur::ZERO,
            false => self.head_switch,
        };
        let seek = self.curve.time(from.cylinder.abs_diff(to.cylinder));
        seek.max(switch) + settle
    }
}
