//! Access specifications of Iometer: a distribution of sizes, a percentage of reads, random offsets.
//!
//! The file server pattern is the one that came with Iometer ("File Server Access Pattern (as defined by Intel)"), the
//! one that `irbw` 5.1 runs. An Iometer worker keeps a fixed number of requests in flight, regardless of time: replay
//! it with the arrival `closed:N`.

use super::load::generator;
use super::{Load, Pacing, Pattern, Range, Side, Sizes};
use fathom_base::registry::table_of;
use fathom_base::{About, Bytes};

/// Lengths in bytes, and the percentage of accesses that have them.
const LENGTHS: [(u64, f64); 8] = [
    (512, 10.0),
    (1 << 10, 5.0),
    (2 << 10, 5.0),
    (4 << 10, 60.0),
    (8 << 10, 2.0),
    (16 << 10, 4.0),
    (32 << 10, 4.0),
    (64 << 10, 10.0),
];

pub(super) const FILE_SERVER: About = generator(
    "Iometer's file server: small and large, mostly reads, all at random",
    || table_of(&file_server()),
    "\
Iometer's file server access pattern: 80 % reads, all at random and aligned to sectors; 512 B 10 %, 1 KiB 5 %, 2 KiB 5 %, \
4 KiB 60 %, 8 KiB 2 %, 16 KiB 4 %, 32 KiB 4 %, 64 KiB 10 %, reads and writes alike. `irbw` 5.1 (Figure 10) runs it. \
Iometer has no timestamps and keeps a number of accesses in flight: `--arrival closed:N`. By default 1,000,000 \
accesses in 1 GiB.",
);

/// Parameters of [`FILE_SERVER`].
pub(super) fn file_server() -> Load {
    let side = Side::of(Sizes::weighted(&LENGTHS));
    Load {
        accesses: 1_000_000,
        read_percent: 80.0,
        reads: side.clone(),
        writes: side,
        range: Range::from_zero(Bytes::gib(1)),
        align: Bytes(512),
        pattern: Pattern::Uniform,
        run_depth: 64,
        repeat_depth: 1024,
        pacing: Pacing::Closed,
    }
}
