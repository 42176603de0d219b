//! The memories of a drive: write buffer, read buffer with read-ahead, and fast cache.

use super::parts::{Assumptions, dur};
use super::times::Times;
use crate::twin::figures::programmed;
use crate::twin::seen::Seen;
use crate::twin::series;
use fathom_base::{Bytes, Dur};
use fathom_probe::{Parameter, Value};
use fathom_ssd::spec::{
    Drain, FastCache, Fold, Prefetch, ReadBuffer, WhenFull, WriteBuffer, WritePolicy,
};

const MIB: u64 = 1 << 20;
/// The capacity of a write buffer that is larger than what was tried, and one that shows only by its flush.
const LARGE: Bytes = Bytes::mib(256);
const SOME: Bytes = Bytes::mib(1);
/// The capacity of memory that survives a power cut, if it does not show.
const PROTECTED: Bytes = Bytes::mib(8);
const IDLE_DELAY: Dur = Dur::ms(2);
/// The idle time before a fast cache is emptied, if a pause of a second gives some of it back, and if it does not.
const FOLDS_SOON: Dur = Dur::ms(300);
const FOLDS_LATE: Dur = Dur::ms(2000);
/// The bits of a cell, and those of one whose program takes longer than this: data sheets have 0.4 to 1.0 ms for three bits,
/// and 1.4 to 2.6 ms for four.
const BITS_PER_CELL: u32 = 3;
const BITS_MANY: u32 = 4;
const MANY_NS: f64 = 1.2e6;
/// The free share of a nearly full drive and of a half full one.
const NEARLY: f64 = 0.1;
const HALF: f64 = 0.5;
/// The usual static part of a fast cache, as a share of the capacity.
const STATIC: f64 = 0.015;

pub(super) fn write_buffer(seen: &Seen<'_>, assumed: &mut Assumptions) -> Option<WriteBuffer> {
    let of = Parameter::WriteBuffer;
    // A flush that costs something has emptied volatile memory.
    let volatile = seen.value(Parameter::Flush).is_some();
    let known = seen.value(of).and_then(Value::bytes).map(Bytes);
    let capacity = match known {
        Some(capacity) => capacity,
        None if !volatile && takes_writes(seen) => {
            let why = format!(
                "{}; small writes wait for no program, and no flush does: memory that survives a power cut",
                seen.why_not(of)
            );
            assumed.add("write_buffer.capacity", PROTECTED, why);
            PROTECTED
        }
        None if seen.is_absent(of) || !volatile => return None,
        None => {
            let larger = seen.why_not(of).contains("not identifiable");
            let capacity = if larger { LARGE } else { SOME };
            assumed.add("write_buffer.capacity", capacity, seen.why_not(of));
            capacity
        }
    };
    let policy = match seen.value(Parameter::WritePolicy) {
        Some(Value::Word(word)) if word == "buffer" => WritePolicy::Fifo,
        Some(_) => WritePolicy::Lru,
        None => {
            let why = seen.why_not(Parameter::WritePolicy);
            assumed.add("write_buffer.policy", "lru", why);
            WritePolicy::Lru
        }
    };
    let idle_delay = match programmed(seen) {
        Some(ns) => dur(ns),
        None => {
            let why = "when an idle drive empties its buffer does not show";
            assumed.add("write_buffer.idle_delay", IDLE_DELAY, why);
            IDLE_DELAY
        }
    };
    assumed.add(
        "write_buffer.drain",
        "idle",
        "when a buffer is emptied is chosen by fills, loops and reads during writes",
    );
    Some(WriteBuffer {
        drain: Drain::Idle,
        idle_delay,
        battery: !volatile,
        ..WriteBuffer::new(policy, capacity)
    })
}

/// Small writes that take longer than a command without data by less than this share of a read of the flash end in memory: a
/// program takes much longer than a read.
const MEMORY: f64 = 0.5;

/// Returns true if memory takes small writes.
fn takes_writes(seen: &Seen<'_>) -> bool {
    let of = |series| seen.median(Parameter::Flush, series);
    let write = of(series::PLAIN)
        .zip(of(series::CLEAN))
        .map(|(plain, clean)| plain - clean);
    let solo = |series| seen.median(Parameter::Parallelism, series);
    let read = solo(series::SOLO)
        .zip(solo(series::NOTHING))
        .map(|(data, nothing)| data - nothing);
    write
        .zip(read)
        .is_some_and(|(write, read)| write < MEMORY * read)
}

pub(super) fn read_buffer(seen: &Seen<'_>, assumed: &mut Assumptions) -> Option<ReadBuffer> {
    let capacity = seen.value(Parameter::ReadBuffer)?.bytes()?;
    let block = u64::from(seen.record.meta.target.logical_block_bytes);
    let line = (4 * 1024).max(block);
    let reads_ahead = seen.value(Parameter::Prefetch).and_then(Value::bytes);
    let prefetch = reads_ahead.map(|depth| {
        assumed.add(
            "read_buffer.prefetch.after",
            2,
            "the length of a stream does not show",
        );
        Prefetch {
            after: 2,
            depth: Bytes(depth.max(line)),
        }
    });
    assumed.add(
        "read_buffer.line",
        Bytes(line),
        "the length of a line does not show",
    );
    Some(ReadBuffer {
        capacity: Bytes((capacity / line).max(1) * line),
        line: Bytes(line),
        min_request: Bytes(block),
        prefetch,
    })
}

/// Returns the fast cache. Its static part is what is left of it on a fuller drive.
pub(super) fn fast_cache(
    seen: &Seen<'_>,
    times: &Times,
    assumed: &mut Assumptions,
) -> Option<FastCache> {
    let of = Parameter::FastCache;
    let size = seen.value(of)?.bytes()? as f64;
    let capacity = seen.record.meta.target.capacity_bytes as f64;
    let recovery = seen.figure(of, "recovery_s");
    let pieces = seen.series(of, series::EMPTY);
    let piece = pieces.first().map_or(0.0, |sample| sample.bytes as f64);
    // Nothing on a fuller drive says something if the cache has got room in the pause before.
    let left = |name| {
        let left = seen.figure(of, name);
        left.filter(|size| *size > 0.0 || recovery.is_some())
    };
    let fixed = left("size_nearly_full_bytes")
        .map(|left| fixed_bytes(size, left, NEARLY, piece))
        .or_else(|| left("size_half_full_bytes").map(|left| fixed_bytes(size, left, HALF, piece)));
    let fixed = match fixed {
        Some(fixed) => fixed,
        None => {
            let why = "it was not seen on a fuller drive";
            let fixed = (STATIC * capacity).min(size);
            assumed.add(
                "fast_cache.static_capacity",
                Bytes(fixed as u64 / MIB * MIB),
                why,
            );
            fixed
        }
    };
    let fixed = (fixed / MIB as f64).round() * MIB as f64;
    let bits = match times.program {
        program if program > MANY_NS => BITS_MANY,
        _ => BITS_PER_CELL,
    };
    let dynamic = (size - fixed).max(0.0) * f64::from(bits) / capacity * 100.0;
    assumed.add(
        "fast_cache.bits_per_cell",
        bits,
        "the cells do not show; a long program is that of four bits",
    );
    assumed.add(
        "fast_cache.when_full",
        "bypass",
        "what a full cache does is not asked; what fits best",
    );
    Some(FastCache {
        bits_per_cell: bits,
        static_capacity: Bytes(fixed as u64),
        dynamic_percent: dynamic.clamp(0.0, 100.0).round(),
        read: dur(times.fast_read),
        program: dur(times.fast_program),
        erase: dur(times.erase),
        fold: if recovery.is_some() {
            Fold::Idle
        } else {
            Fold::Pressure
        },
        idle_delay: match soon(seen) {
            true => FOLDS_SOON,
            false => FOLDS_LATE,
        },
        when_full: WhenFull::Bypass,
    })
}

/// Returns the static part of a fast cache of `size` bytes of which `left` are left on a drive whose free share is `free`: of
/// the dynamic part that share is left. `piece` is the step in which the sizes were measured.
fn fixed_bytes(size: f64, left: f64, free: f64, piece: f64) -> f64 {
    match left + piece >= size {
        // A dynamic part that is smaller than a piece does not show.
        true => size,
        // The piece during which a cache ended may count or not.
        false => ((left - piece / 2.0 - free * size) / (1.0 - free)).clamp(0.0, size),
    }
}

/// Returns true if some of a fast cache is back after a second, which is the shortest pause that the probe makes.
fn soon(seen: &Seen<'_>) -> bool {
    let of = Parameter::FastCache;
    let rate = |name| seen.figure(of, name);
    let Some((fast, slow)) = rate("fast_bytes_per_s").zip(rate("slow_bytes_per_s")) else {
        return false;
    };
    let mut pieces = seen.series(of, series::AFTER_SHORT).iter();
    pieces.any(|s| s.bytes as f64 / s.ns.max(1) as f64 * 1e9 > (fast * slow).sqrt())
}

#[cfg(test)]
mod tests {
    use super::{HALF, NEARLY, fixed_bytes};

    #[test]
    fn what_a_fuller_drive_keeps_of_its_fast_cache_is_static() {
        for free in [HALF, NEARLY] {
            assert!((fixed_bytes(336.0, 330.0, free, 10.0) - 336.0).abs() < 1e-9);
            // 100 static and 400 dynamic, of which a share is left.
            let fixed = fixed_bytes(500.0, 100.0 + 400.0 * free, free, 1.0);
            assert!((fixed - 100.0).abs() < 2.0, "{fixed}");
            // None is static.
            assert!(fixed_bytes(500.0, 500.0 * free, free, 1.0) < 1.0);
        }
    }
}
