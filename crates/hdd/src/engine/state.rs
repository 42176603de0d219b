//! What the disk keeps of a request in flight, of the piece under the head and of its arm.

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
    /// In order of submission.
    pub(super) sequence: u64,
    /// The first sector that it needs from the medium, or has not written there.
    pub(super) wanted: u64,
    /// Sectors for which the link is booked.
    pub(super) booked: u64,
    /// Sectors of a cached write that have crossed the link.
    pub(super) arrived: u64,
    /// The earliest that the first sector of an uncached write may meet the medium, so that none comes too late.
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

    /// Whether it matters which of the two comes first.
    pub(super) fn meets(&self, other: &Active) -> bool {
        let (a, b) = (&self.request, &other.request);
        let touch = a.offset < b.end() && b.offset < a.end();
        touch && (a.op == Op::Write || b.op == Op::Write)
    }
}

/// Why the head passes over sectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// For the request of this number.
    Read(u32),
    /// For the uncached write of this number.
    Write(u32),
    /// For a read that may come.
    Ahead,
    /// For the write cache.
    Destage,
}

/// Sectors of one track that the head goes to and passes over.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) purpose: Purpose,
    pub(super) first: u64,
    pub(super) end: u64,
    pub(super) place: Place,
    /// When the arm is on the track, settled.
    pub(super) arrive: Phase,
    /// When the first sector begins.
    pub(super) start: Phase,
}

impl Piece {
    /// When its last sector has passed.
    pub(super) fn over(&self) -> Phase {
        self.start + self.place.span(self.end - self.first)
    }

    /// The end of what has passed by then.
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

/// A run of sectors that is read into a segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stream {
    pub(super) segment: usize,
    /// The next sector.
    pub(super) at: u64,
    /// Where reading ahead ends.
    pub(super) limit: u64,
}

/// The arm: what it can do, where it is and what it does.
#[derive(Clone, Debug)]
pub(super) struct Arm {
    pub(super) curve: SeekCurve,
    pub(super) head_switch: Dur,
    pub(super) write_settle: Dur,
    pub(super) scheduling: Scheduling,
    /// Where the head is, or is going.
    pub(super) track: Track,
    /// When the arm became free.
    pub(super) free: Phase,
    /// The write cache had the arm before the requests.
    pub(super) destaged_last: bool,
    pub(super) piece: Option<Piece>,
    /// The number of the latest piece; the end of an earlier one means nothing.
    pub(super) piece_number: u32,
    pub(super) stream: Option<Stream>,
}

impl Arm {
    /// At rest on the outermost track.
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

    /// How long it takes to another track.
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
