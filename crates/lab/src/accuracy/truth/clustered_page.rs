//! Ground truth of the clustered page, the unit of reads and writes.
//!
//! `parameter-aware-io` 4.1.1 defines the clustered page as "an internal unit of read or write operation", and 4.2.3 finds
//! it by the read that a partial write of a page costs. On the paper's drives both units have one size. Here they can
//! differ:
//!
//! - The *mapping unit* (`mapping.unit`) is read, modified and written when a write covers only a part of it. 4.2.3
//!   measures this unit, and it is the value that counts for `clustered_page`.
//! - The *read unit* (`flash.clustered_page`) is what the flash array reads and programs at once. If it is larger than the
//!   mapping unit, it is right by the wording of the definition, and so not wrong for `clustered_page`.
//!
//! A `bplru` buffer completes its data to a block of its own before it writes them. That block, too, is read, modified and
//! written as a whole, and so counts as not wrong.
//!
//! A unit of one logical block is never partly written: it cannot be detected.

use super::right::{Sight, Truth, sizes};
use super::speeds::{Speeds, beyond};
use fathom_ssd::Spec;
use fathom_ssd::spec::{MappingKind, Striping, WritePolicy};

pub(super) fn truth(spec: &Spec) -> Truth {
    let mut truth = mapping_unit(spec);
    let also = read_unit(spec);
    if also.sight != Sight::Missing {
        let new: Vec<_> = also
            .right
            .into_iter()
            .filter(|r| !truth.right.contains(r))
            .collect();
        truth.right.extend(new);
        if truth.sight == Sight::Missing {
            truth.why = "it is read and programmed at once, though mapped in smaller units";
        }
    }
    let padded = padded(spec).map(|pad| sizes(&[pad]));
    truth.right.extend(padded.into_iter().flatten());
    truth
}

/// Returns the size to which a buffer pads its data before it writes them, in bytes.
fn padded(spec: &Spec) -> Option<u64> {
    let buffer = spec.write_buffer.as_ref()?;
    let pad = buffer.block.unwrap_or(spec.flash.clustered_block).0;
    (buffer.policy == WritePolicy::Bplru).then_some(pad)
}

/// Truth of the mapping unit: what is read, modified and written when a write covers a part of it.
///
/// A write that is shifted by half of the unit has two parts to complete instead of none, and two units to program instead
/// of one. The latency shows it if a flush waits for it, or if there is no write buffer to hide it. The throughput shows
/// it, with battery-backed memory or without, once the flash array is the bottleneck. With log blocks two units also fill
/// the log twice as fast, and merges are twice as frequent.
pub fn mapping_unit(spec: &Spec) -> Truth {
    let unit = spec.unit();
    if unit <= spec.host.logical_block.0 {
        return Truth::missing();
    }
    let buffer = spec.write_buffer.as_ref();
    let right = sizes(&[unit]);
    let protected = buffer.is_some_and(|buffer| buffer.battery);
    if protected && buffer.is_some_and(|buffer| buffer.policy == WritePolicy::Bplru) {
        // `buffer/bplru.rs`: an eviction is padded to a block, however the data were written.
        return Truth::new(
            Sight::Faint,
            right,
            "whatever leaves the protected memory is padded to a block, aligned or not",
        );
    }
    let blockwise = buffer.is_some_and(|buffer| {
        buffer.policy == WritePolicy::LbClock && buffer.capacity.0 >= spec.flash.clustered_block.0
    });
    let own_log = matches!(
        spec.mapping.kind,
        MappingKind::Block | MappingKind::Replacement
    );
    if protected && blockwise && own_log {
        // `buffer/lb_clock.rs`: the writes of a block are evicted together, so that they share a merge.
        return Truth::new(
            Sight::Faint,
            right,
            "whole blocks leave the protected memory, and a merge takes as long for all units as for some",
        );
    }
    let effect = Shifted::of(spec).effect(spec);
    let why = "completing a unit takes less than a tenth of the time of what it runs beside";
    Truth::by_effect(effect, right, why)
}

/// Truth of the read unit: what the flash array reads and programs at once.
///
/// Two concurrent reads wait for each other within one such unit, but not in two units on different dies. On a drive of one
/// die a read that covers parts of two units takes tR twice. With queue depth 1 and several dies, only the transfer of a
/// large read shows the unit, if it is split between channels. A page of one logical block is never read in part.
pub fn read_unit(spec: &Spec) -> Truth {
    let (page, block) = (spec.flash.clustered_page.0, spec.host.logical_block.0);
    if page <= block {
        return Truth::missing();
    }
    let speeds = Speeds::of(spec);
    let dies = speeds.stations_in_order();
    let effect = if spec.host.queue_depth > 1 || dies < 2.0 {
        let both = 2.0 * (speeds.command() + speeds.link(block)) + speeds.bus(block);
        speeds.read / (both + speeds.read)
    } else if spec.flash.channels > 1 {
        let whole = speeds.command() + speeds.link(page) + speeds.read + speeds.bus(page);
        speeds.bus(page) / 2.0 / whole
    } else {
        0.0
    };
    let why = "reads of two pages take as long as reads of one";
    Truth::by_effect(effect, sizes(&[page]), why)
}

/// Flash time of an aligned write of one unit, and of one that is shifted by half a unit.
struct Shifted {
    aligned: f64,
    shifted: f64,
    /// Time that a single write waits for in both cases, without the link. `waited` is the additional time of a shifted
    /// write.
    usual: f64,
    waited: f64,
    stations: f64,
}

impl Shifted {
    fn of(spec: &Spec) -> Shifted {
        let speeds = Speeds::of(spec);
        let (unit, page) = (spec.unit(), speeds.page());
        let (paged, share) = (spec.mapping.kind.is_paged(), unit as f64 / page as f64);
        // A unit in the log is a unit to merge.
        let merged = if paged {
            0.0
        } else {
            share * speeds.copied_page()
        };
        let one = speeds.program + speeds.bus(unit);
        let (aligned, shifted) = if unit == page {
            (one, 2.0 * one)
        } else if paged && spec.write_buffer.is_some() {
            // Units that are evicted together are programmed together.
            (
                share * speeds.program_page(),
                2.0 * share * speeds.program_page(),
            )
        } else {
            // Neighbouring units share a program, except for those on either side of a page boundary.
            (one, one + speeds.bus(unit) + share * one)
        };
        let dynamic = paged && spec.mapping.striping == Striping::Dynamic;
        let rest = speeds.read + speeds.bus(unit / 2);
        let stations = match dynamic {
            true => speeds.stations,
            false => speeds.stations_of_block,
        };
        Shifted {
            aligned: aligned + merged,
            shifted: shifted + 2.0 * (rest + merged),
            usual: one + merged / stations,
            waited: rest + merged / stations,
            stations,
        }
    }

    fn effect(&self, spec: &Spec) -> f64 {
        self.latency(spec).max(self.throughput(spec))
    }

    /// The relative effect with one write at a time, followed by a flush if there is a write buffer.
    fn latency(&self, spec: &Spec) -> f64 {
        let speeds = Speeds::of(spec);
        let commands = match &spec.write_buffer {
            Some(buffer) if buffer.battery => return 0.0,
            Some(_) => 2.0,
            None => 1.0,
        };
        let host = commands * speeds.command() + speeds.link(spec.unit());
        self.waited / (host + self.usual)
    }

    /// The relative effect with as many writes in flight as the drive or its write buffer accepts.
    fn throughput(&self, spec: &Spec) -> f64 {
        let speeds = Speeds::of(spec);
        let buffer = spec.write_buffer.as_ref();
        let depth = f64::from(spec.host.queue_depth);
        if buffer.is_some_and(|buffer| buffer.policy == WritePolicy::Bplru) {
            return 0.0;
        }
        // Writes that wait for a limit in front of the drive leave the flash time to complete units.
        let host = speeds.host(spec.unit()).max(speeds.limited(spec.unit()));
        let each = |flash: f64| {
            let saturated = host.max(flash / self.stations);
            match buffer {
                Some(_) => saturated,
                // Without a write buffer, the queue depth limits the writes in progress.
                None => {
                    let alone = speeds.command() + speeds.link(spec.unit()) + flash;
                    saturated.max(alone / depth)
                }
            }
        };
        match (buffer, spec.host.queue_depth) {
            (None, 1) => 0.0,
            _ => beyond(each(self.shifted), each(self.aligned)),
        }
    }
}
