//! Zones: what a device says of them, their states and the actions on them (NVMe Zoned Namespace Command Set
//! Specification, revision 1.1).
//!
//! The address space is divided into zones of [`Zoned::zone_bytes`], of which the first [`Zoned::zone_capacity_bytes`]
//! hold data. A zone is written in order, at its write pointer, by [`Op::Write`](crate::Op::Write) or
//! [`Op::Append`](crate::Op::Append), and reset as a whole. The rest of its bytes read as zero.
//!
//! Rules of the contract. The specification leaves the marked ones (*) to the device:
//!
//! - Requests change the states in order of submission, so several writes to a zone may be in flight.
//! - Errors are checked in this order: those of every request, the state of the zone, the write pointer, the capacity, the
//!   active zones, the open zones. (*)
//! - A write or an append to an empty or closed zone opens it implicitly. If that exceeds the open zones, the device closes
//!   the zone that has been implicitly open for the longest time; it fails only if none is. (*)
//! - [`ZoneAction::Finish`] needs neither an open nor an active zone. (*)
//! - A reset of the whole device resets all zones but those that are read-only or offline.
//! - After a power cut, open zones are closed, or empty if they hold nothing. The write pointer is then at or behind the end
//!   of everything durable and not past what was submitted.

/// The zones of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zoned {
    /// Size of a zone, in bytes of the address space: divides the capacity of the device.
    pub zone_bytes: u64,
    /// Bytes that a zone can hold: at most its size.
    pub zone_capacity_bytes: u64,
    /// Maximum number of open zones (Maximum Open Resources); 0 for no limit.
    pub max_open: u32,
    /// Maximum number of zones that are open or closed (Maximum Active Resources); 0 for no limit.
    pub max_active: u32,
    /// Maximum length of an append, in bytes (Zone Append Size Limit).
    pub max_append_bytes: u64,
    /// True if a read may cross the boundary of a zone (Read Across Zone Boundaries).
    pub reads_cross: bool,
}

/// What [`Op::Zone`](crate::Op::Zone) does to a zone (Zone Send Action).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
// As wide as the rest of an `Op`, so that an operation has no padding.
#[repr(u32)]
pub enum ZoneAction {
    /// Keep the zone open until it is closed, filled, finished or reset.
    Open,
    /// Release its open resource; it stays active.
    Close,
    /// Make it full: nothing more can be written to it.
    Finish,
    /// Make it empty: its data is lost. With the offset 0 and the capacity of the device as length, all zones.
    Reset,
}

impl ZoneAction {
    /// All actions.
    pub const ALL: [Self; 4] = [Self::Open, Self::Close, Self::Finish, Self::Reset];

    /// Returns its name, as a request.
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "zone open",
            Self::Close => "zone close",
            Self::Finish => "zone finish",
            Self::Reset => "zone reset",
        }
    }
}

/// The state of a zone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ZoneState {
    /// Holds nothing (ZSE).
    #[default]
    Empty,
    /// Opened by a write or an append (ZSIO).
    ImplicitlyOpen,
    /// Opened by [`ZoneAction::Open`] (ZSEO).
    ExplicitlyOpen,
    /// Partly written, and not open (ZSC).
    Closed,
    /// Nothing more can be written (ZSF).
    Full,
    /// Can be read and no longer be written or reset (ZSRO).
    ReadOnly,
    /// Can be neither read nor written (ZSO).
    Offline,
}

impl ZoneState {
    /// Returns true if the zone occupies an open resource.
    pub fn is_open(self) -> bool {
        matches!(self, Self::ImplicitlyOpen | Self::ExplicitlyOpen)
    }

    /// Returns true if the zone occupies an active resource: it is open or closed.
    pub fn is_active(self) -> bool {
        self.is_open() || self == Self::Closed
    }
}

/// A zone as a device reports it (Zone Descriptor).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zone {
    /// Its first byte.
    pub start: u64,
    /// Bytes that it can hold.
    pub capacity_bytes: u64,
    /// The next byte to write; meaningless for a zone that is full, read-only or offline.
    pub write_pointer: u64,
    /// Its state.
    pub state: ZoneState,
}

impl Zone {
    /// Returns the first byte after those that it can hold.
    pub fn end(&self) -> u64 {
        self.start + self.capacity_bytes
    }
}
