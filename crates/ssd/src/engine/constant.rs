//! Compression (`[compression]`): mapped units whose whole content is zeros, or repeats, are recorded instead of
//! programmed.
//!
//! A controller that compresses, such as those of the SF-1000 and SF-2000 series, programs fewer bytes than the host
//! writes, so that its write amplification falls below 1. The contract knows content that does not shrink and content that
//! shrinks nearly completely ([`Payload`]), so the model has two cases as well. A unit that shrinks nearly completely needs
//! no physical unit: the map records that it is constant, as it records that a unit was trimmed. The map stays one to one,
//! every mapping can do it, and a read of such a unit comes from the controller without a flash operation, as with the
//! drives that detect zeros. Its record (`zero_percent` of a unit) goes into a log of the controller, which takes a
//! program on the stations in turn for each unit of records. The blocks of that log are not part of the capacity, and
//! their erases are not modelled.
//!
//! A record is durable at once: it is gathered in memory that survives a power cut, unlike the record of a TRIM. The
//! content of a write with bytes is taken from its bytes, that of any other from its tag. A unit shrinks if the buffer
//! holds all of it, or what it holds not was never written. A partly constant unit does not shrink, nor does padding.

use crate::buffer::lines::Piece;
use crate::spec::{Compression, Spec};
use fathom_base::SECTOR_BYTES;
use fathom_block::Payload;

/// What the controller knows about the content of the write memory. Empty on a drive that does not compress.
#[derive(Clone, Debug)]
pub(super) struct Shrinking {
    settings: Option<Compression>,
    /// One bit for each sector of each line: its content shrinks. Valid for dirty sectors.
    marks: Vec<u64>,
    words: usize,
    /// Bytes of records that are not programmed yet.
    records: f64,
    /// Stations take the programs of records in turn.
    pub(super) next_station: u32,
}

impl Shrinking {
    pub(super) fn new(spec: &Spec, sectors_per_line: u32) -> Self {
        Self {
            settings: spec.compression.clone(),
            marks: Vec::new(),
            words: sectors_per_line.div_ceil(64) as usize,
            records: 0.0,
            next_station: 0,
        }
    }

    /// Returns true if the drive compresses.
    #[inline]
    pub(super) fn is_on(&self) -> bool {
        self.settings.is_some()
    }

    /// Returns true if a sector of a write with this tag and these bytes shrinks.
    fn shrinks(&self, payload: Payload, bytes: Option<&[u8]>) -> bool {
        match (bytes, payload) {
            (Some(bytes), _) => bytes.iter().all(|&b| b == 0),
            (None, Payload::Zero) => true,
            (None, Payload::Repeated) => self.settings.as_ref().is_some_and(|s| s.deduplicates),
            (None, Payload::Unique) => false,
        }
    }

    /// Notes the content of a piece that has been inserted into a line.
    pub(super) fn note(&mut self, line: u32, piece: Piece, payload: Payload, data: Option<&[u8]>) {
        if !self.is_on() {
            return;
        }
        let base = line as usize * self.words;
        if self.marks.len() < base + self.words {
            self.marks.resize(base + self.words, 0);
        }
        let size = SECTOR_BYTES as usize;
        for i in 0..piece.sectors as usize {
            let bytes = data.and_then(|data| data.get(i * size..(i + 1) * size));
            let sector = piece.first as usize + i;
            let (word, bit) = (base + sector / 64, 1 << (sector % 64));
            match self.shrinks(payload, bytes) {
                true => self.marks[word] |= bit,
                false => self.marks[word] &= !bit,
            }
        }
    }

    /// Returns true if a dirty sector of a line shrinks.
    pub(super) fn holds(&self, line: u32, sector: u32) -> bool {
        let word = line as usize * self.words + sector as usize / 64;
        let marks = self.marks.get(word).copied().unwrap_or(0);
        self.is_on() && marks >> (sector % 64) & 1 == 1
    }

    /// Adds the records of units. Returns the number of units of records that must be programmed.
    pub(super) fn record(&mut self, units: u32, unit_bytes: f64) -> u32 {
        let percent = self.settings.as_ref().map_or(0.0, |s| s.zero_percent);
        self.records += f64::from(units) * unit_bytes * percent / 100.0;
        let full = (self.records / unit_bytes).floor();
        self.records -= full * unit_bytes;
        full as u32
    }
}
