//! The read and write buffers of a random drive.

use crate::accuracy::dice::{log_whole, pick, whole};
use crate::accuracy::draw::units::{KIB, MIB};
use fathom_base::{Bytes, Dur, Rng};
use fathom_ssd::spec::{Drain, Flash, Prefetch, ReadBuffer, WriteBuffer, WritePolicy};

pub(super) fn read_buffer(rng: &mut Rng) -> Option<ReadBuffer> {
    let line = pick(rng, &[512, KIB, 4 * KIB, 4 * KIB, 16 * KIB, 64 * KIB]);
    let capacity = size(rng, 8 * KIB, 64 * MIB).next_multiple_of(line);
    let selective = rng.chance(0.25);
    let least = log_whole(rng, 2, 512) * 512;
    let ahead = rng.chance(1.0 / 3.0);
    let prefetch = Prefetch {
        after: whole(rng, 1, 8) as u32,
        depth: Bytes(log_whole(rng, 8, 8192) * 512),
    };
    let buffer = ReadBuffer {
        capacity: Bytes(capacity),
        line: Bytes(line),
        min_request: Bytes(if selective { least } else { 512 }),
        prefetch: ahead.then_some(prefetch),
    };
    rng.chance(0.65).then_some(buffer)
}

pub(super) fn write_buffer(rng: &mut Rng, flash: &Flash) -> Option<WriteBuffer> {
    let policy = pick(
        rng,
        &[
            WritePolicy::Fifo,
            WritePolicy::Lru,
            WritePolicy::Bplru,
            WritePolicy::Epo,
            WritePolicy::LbClock,
            WritePolicy::Streams,
        ],
    );
    let capacity = size(rng, 4 * KIB, 64 * MIB);
    let by_block = matches!(policy, WritePolicy::Bplru | WritePolicy::LbClock);
    let block = block(rng, capacity, flash);
    let idle = rng.chance(0.5);
    let delay = match rng.chance(0.1) {
        true => Dur::ZERO,
        false => Dur::us(log_whole(rng, 100, 1_000_000)),
    };
    let buffer = WriteBuffer {
        block: block.filter(|_| by_block),
        drain: if idle { Drain::Idle } else { Drain::OnFull },
        idle_delay: if idle { delay } else { Dur::ZERO },
        battery: rng.chance(0.3),
        ..WriteBuffer::new(policy, Bytes(capacity))
    };
    rng.chance(0.65).then_some(buffer)
}

/// Draws the block size of an eviction policy: `None` for the clustered block, provided that the buffer can hold one, or
/// another size that the buffer can hold. A policy that pads to more than the buffer holds would write the whole buffer for
/// every page.
fn block(rng: &mut Rng, capacity: u64, flash: &Flash) -> Option<Bytes> {
    let own = rng.chance(0.5);
    let pages = (capacity / flash.clustered_page.0).clamp(1, 1 << 16);
    let pages = log_whole(rng, 1, pages);
    let holds = capacity >= flash.clustered_block.0;
    (own || !holds).then(|| Bytes(pages * flash.clustered_page.0))
}

/// Draws a power of two, a little less than one, or any number of sectors, with probability one third each.
fn size(rng: &mut Rng, least: u64, most: u64) -> u64 {
    let any = log_whole(rng, least / 512, most / 512) * 512;
    let power = any.next_power_of_two().min(most);
    let kept_back = 512 * whole(rng, 1, 8);
    match rng.below(3) {
        0 => power,
        1 => power - kept_back.min(power / 2),
        _ => any,
    }
}
