//! The units of reading and writing.
//!
//! `parameter-aware-io` 4.1.1 defines the clustered page as "an internal unit of read or write operation", and 4.2.3 finds
//! it by the read that a partly written one costs. On the paper's drives both are one size. Here they can differ:
//!
//! - The *mapping unit* (`mapping.unit`) is what is read, modified and written where a write covers part of it. It is
//!   what 4.2.3 measures, and the value that counts for `clustered_page`.
//! - The *read unit* (`flash.clustered_page`) is what the flash array reads and programs at once. Where it is larger than
//!   the mapping unit it is right by the definition's words, and so not wrong for `clustered_page`.
//!
//! A `bplru` buffer completes what it holds of a block of its own before it writes it. That block, too, is read, modified and
//! written as a whole, and so not wrong.
//!
//! A unit of one logical block is never partly written: there is nothing to find.

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

/// What a buffer completes before it is written, in bytes.
fn padded(spec: &Spec) -> Option<u64> {
    let buffer = spec.write_buffer.as_ref()?;
    let pad = buffer.block.unwrap_or(spec.flash.clustered_block).0;
    (buffer.policy == WritePolicy::Bplru).then_some(pad)
}

/// What is read, modified and written where a write covers part of it.
///
/// A write that is shifted by half of the unit has two parts to complete instead of none, and two units to program instead
/// of one. That shows in the latency where a flush waits for it, or where there is no memory to hide it, and in the
/// throughput, protected memory or not, once the flash array is what limits it. With log blocks two units also fill
/// the log twice as fast, and merges come twice as often.
pub fn mapping_unit(spec: &Spec) -> Truth {
    let unit = spec.unit();
    if unit <= spec.host.logical_block.0 {
        return Truth::missing();
    }
    let buffer = spec.write_buffer.as_ref();
    let right = sizes(&[unit]);
    let protected = buffer.is_some_and(|buffer| buffer.battery);
    if protected && buffer.is_some_and(|buffer| buffer.policy == WritePolicy::Bplru) {
        // `buffer/bplru.rs`: what leaves is padded to a block, however it was written.
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
        // `buffer/lb_clock.rs`: the writes of a block leave together, so that they share a merge.
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

/// What the flash array reads and programs at once.
///
/// Two reads at a time wait for each other within one of them, and not in two that lie on different dies. On a drive of
/// one die a read that covers parts of two takes tR twice. With one request at a time and several dies, only the
/// transfer of a large read tells, where it is parted between channels. A page of one logical block is never read in part.
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

/// The time that the flash array takes for an aligned write of one unit, and for one that is shifted by half.
struct Shifted {
    aligned: f64,
    shifted: f64,
    /// What a write that comes by itself waits for in either case, beside the link, and what it waits for in addition.
    usual: f64,
    waited: f64,
    stations: f64,
}

impl Shifted {
    fn of(spec: &Spec) -> Shifted {
        let speeds = Speeds::of(spec);
        let (unit, page) = (spec.unit(), speeds.page());
        let (paged, share) = (spec.mapping.kind.is_paged(), unit as f64 / page as f64);
        // A unit of the log is a unit to merge.
        let merged = if paged {
            0.0
        } else {
            share * speeds.copied_page()
        };
        let one = speeds.program + speeds.bus(unit);
        let (aligned, shifted) = if unit == page {
            (one, 2.0 * one)
        } else if paged && spec.write_buffer.is_some() {
            // Units that leave the memory together fill a page together.
            (
                share * speeds.program_page(),
                2.0 * share * speeds.program_page(),
            )
        } else {
            // Neighbours share a program, but for those on either side of a page's end.
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

    /// One write at a time, with a flush where memory is in between.
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

    /// As many writes at a time as the drive takes, or its memory.
    fn throughput(&self, spec: &Spec) -> f64 {
        let speeds = Speeds::of(spec);
        let buffer = spec.write_buffer.as_ref();
        let depth = f64::from(spec.host.queue_depth);
        if buffer.is_some_and(|buffer| buffer.policy == WritePolicy::Bplru) {
            return 0.0;
        }
        let host = speeds.host(spec.unit());
        let each = |flash: f64| {
            let saturated = host.max(flash / self.stations);
            match buffer {
                Some(_) => saturated,
                // Without memory, no more are under way than were asked for.
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
