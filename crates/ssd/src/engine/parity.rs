//! Parity over dies (`flash.parity_stripe`): one page of each stripe of N is the exclusive or of the others, as in RAID 5, so
//! that a page that cannot be read or programmed is rebuilt from them (called RAIN by Micron, RAISE by SandForce).
//!
//! Pages form stripes in the order in which their programs end. The parity of N - 1 pages is programmed on the station after
//! that of the last one. A flush ends a stripe early. Parity lies in 1 of N blocks, which are taken from over-provisioning
//! and have no numbers; they are erased with the blocks that they protect, and these erases are not modelled. A read whose
//! last repetition has failed, and the data of a failed program, are rebuilt by reads on N - 1 other stations at once. Not
//! modelled: the memory of open stripes, and stripes that lose two pages.

use crate::spec::Spec;

/// The stripe that is being filled.
#[derive(Clone, Debug)]
pub(super) struct Parity {
    /// Pages of a stripe, parity included; 0 without parity.
    pub(super) stripe: u32,
    /// Pages of data in the open stripe, and the station of the last one.
    pub(super) filled: u32,
    pub(super) last: u32,
    /// Pages of parity programmed, and pages rebuilt.
    pub(super) programs: u64,
    pub(super) rebuilds: u64,
}

impl Parity {
    pub(super) fn new(spec: &Spec) -> Self {
        Self {
            stripe: spec.flash.parity_stripe,
            filled: 0,
            last: 0,
            programs: 0,
            rebuilds: 0,
        }
    }

    /// Returns true if pages are protected.
    #[inline]
    pub(super) fn is_on(&self) -> bool {
        self.stripe > 0
    }

    /// Counts the parity of clustered pages that are filled in no time. Returns its pages.
    pub(super) fn fill(&mut self, cpages: u32) -> u64 {
        if !self.is_on() {
            return 0;
        }
        let programs = u64::from(cpages / (self.stripe - 1));
        self.programs += programs;
        programs
    }

    /// Forgets the open stripe.
    pub(super) fn clear(&mut self) {
        self.filled = 0;
    }
}
