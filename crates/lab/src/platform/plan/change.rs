//! What one change of the platform would do.

use fathom_base::Dur;
use fathom_platform::{Interface, Platform};
use fathom_report::platform::interface;

/// Coalescing that is tried.
const COALESCED: (u32, Dur) = (8, Dur::us(50));
/// Larger blocks that are tried.
const LARGER: u64 = 4;

/// A platform with one change.
pub(super) struct Changed {
    pub(super) what: String,
    pub(super) platform: Platform,
    /// Factor of the block.
    pub(super) larger: u64,
}

/// The changes of a platform that may help. `block_max` is the longest I/O that the drive takes.
pub(super) fn changes(platform: &Platform, block: u64, block_max: u64) -> Vec<Changed> {
    let others = Interface::ALL.into_iter();
    let others = others.filter(|to| *to != platform.interface);
    let mut all: Vec<Changed> = others.map(|to| with_interface(platform, to)).collect();
    if platform.interrupts.count == 1 && platform.interface != Interface::IoUringPolled {
        let mut changed = platform.clone();
        (changed.interrupts.count, changed.interrupts.time) = COALESCED;
        let (count, time) = COALESCED;
        all.push(Changed {
            what: format!("{count} completions an interrupt, {time} at most"),
            platform: changed,
            larger: 1,
        });
    }
    if block * LARGER <= block_max {
        all.push(Changed {
            what: format!("blocks {LARGER} times as large, the same bytes a second"),
            platform: platform.clone(),
            larger: LARGER,
        });
    }
    all
}

fn with_interface(platform: &Platform, to: Interface) -> Changed {
    Changed {
        what: interface(to).to_owned(),
        platform: Platform {
            interface: to,
            ..platform.clone()
        },
        larger: 1,
    }
}
