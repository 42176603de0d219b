//! An I/O on its way through the host, and its pieces at the drives.

use super::layout::Piece;
use crate::processors::Booking;
use fathom_base::Time;
use fathom_block::{IoErrorKind, Request};

/// What an I/O does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// The program computes, before a thread of the kernel takes over.
    Program,
    /// The way to the drive.
    Issue,
    /// At the adapter or the drive.
    Below,
    /// The way back.
    Return,
}

/// An I/O in flight.
#[derive(Debug)]
pub(super) struct Ticket {
    pub(super) request: Request,
    pub(super) submitted: Time,
    pub(super) stage: Stage,
    pub(super) booking: Booking,
    /// Number of its pieces, and of those whose completion the host has not taken.
    pub(super) pieces: u32,
    pub(super) missing: u32,
    pub(super) result: Result<(), IoErrorKind>,
    pub(super) data: Option<Box<[u8]>>,
    /// When the host had issued it, when its first piece left the adapter, and when its last was done.
    pub(super) sent: Time,
    pub(super) left: Time,
    pub(super) done: Time,
    /// When the interrupt of its last piece was handled, or its completion found.
    pub(super) handled: Time,
}

impl Ticket {
    pub(super) fn new(request: Request, pieces: u32, now: Time) -> Self {
        Self {
            request,
            submitted: now,
            stage: Stage::Program,
            booking: Booking::default(),
            pieces,
            missing: pieces,
            result: Ok(()),
            data: None,
            sent: now,
            left: now,
            done: now,
            handled: now,
        }
    }
}

/// A piece of an I/O at a drive.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) ticket: u32,
    pub(super) piece: Piece,
}
