//! What a sync wrote.

use crate::log::Wrote;
use fathom_fs::Extent;

/// What a sync wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// The blocks of data, in order of place.
    pub data: Vec<Extent>,
    /// Number of blocks written into the journal.
    pub journal: u64,
    /// Number of blocks of metadata written to their places.
    pub metadata: u64,
    /// Number of transactions.
    pub transactions: u64,
}

impl Written {
    pub(crate) fn add(&mut self, wrote: Wrote) {
        self.journal += wrote.log;
        self.metadata += wrote.places;
    }
}
