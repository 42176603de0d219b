//! Loads that resemble known traces in figures that were published, or measured on freely usable parts of the traces.
//!
//! The sources, by the short names used below:
//! - *RelStorage*: `zodb/relstorage` on GitHub, `src/relstorage/cache/micro_benchmark_results.rst`, the table of the
//!   UMass storage traces under "Simulations". It counts whole traces: Financial1 has 5,334,987 requests (1,235,633 reads,
//!   4,099,354 writes, 24 units), Financial2 3,699,194 (3,046,112 and 653,082, 19 units), WebSearch1 1,055,448
//!   (1,055,236 and 212, 6 units).
//! - *first 10,000 of Financial1*: measured on the first 10,000 requests of that trace. They are not typical of the
//!   whole trace: 59 % of them are writes, against 77 %, and they include a scan with 8 KiB reads.
//! - *1,501 of Financial2*: two fragments of 750 and 751 requests that are believed to come from Financial2.
//! - *first 24,783 of WebSearch1*, and *6,999 of TPC-C*: the first requests of these traces, 60 s and 0.14 s of them.
//! - *`epo` IV.A*: what that paper says about Financial1, Financial2 and TPC-C.
//!
//! Definition of *repeats* and *runs*: a request is a repeat if it starts where one of the 1024 requests before it started.
//! Otherwise it continues a run if it starts where one of the last 64 requests of the same operation on the same unit
//! ended. All other requests are new.
//!
//! These traces have properties that the loads do not model: reads and writes come in groups (of the first 10,000 of
//! Financial1, 79 % have the operation of the previous request; independent draws give 64 % at 77 % writes); reads are
//! followed by a write to the same place; requests arrive at exactly the same time (45 % of the first 10,000 of
//! Financial1); bursts last seconds (the variance of the requests per second is 22 times their mean there, and about 10
//! times here); there are phases, and units of different character.

use super::load::generator;
use super::{Load, Pacing, Pattern, Range, Side, Sizes};
use fathom_base::registry::table_of;
use fathom_base::{About, Bytes, Dur};

/// In all of these traces, lengths are multiples of a sector.
const SECTOR: Bytes = Bytes(512);

/// With this pattern a tenth of the places receives 45 % of the draws, and a fifth 57 %. This is an assumption: in the first
/// 10,000 of Financial1, a tenth of the 4-KiB pages receives 43 % of the writes and 45 % of the reads, and a fifth 56 % and
/// 55 %, but with repeats and runs included. Where the frequent places lie is not known, so they are scattered.
const OLTP_PATTERN: Pattern = Pattern::Zipf {
    theta: 0.65,
    scatter: true,
};

/// Log-uniform distances up to 512 have the deciles and quartiles (10, 25, 50, 75, 90 %) 2, 5, 23, 108, 275. The
/// first 10,000 of Financial1 have 3, 8, 28, 67, 221, and the fragments of Financial2 4, 7, 33, 203, 359.
const OLTP_REPEAT_DEPTH: u32 = 512;

pub(super) const FINANCIAL1: About = generator(
    "OLTP, write-dominant, like Financial1 in its published figures",
    || table_of(&financial1()),
    "\
OLTP at a financial institution, mostly writes; resembles Financial1 (UMass, SPC) in these figures only. Whole \
trace (RelStorage's table): 5,334,987 requests, 76.84 % writes. First 10,000 requests: lengths (those with at \
least 1 %; writes mostly 0.5 to 3.5 KiB with some of 48 KiB, reads mostly 8 KiB), 52.2 % of writes and 44.2 % of \
reads repeat a recent start, 34.7 % and 43.9 % go on where a recent one ended, 38.5 requests per second with a \
squared coefficient of variation of 10.3 between arrivals, 5.9 GB over 22 units. Assumptions: bursts take a \
quarter of the time; new places follow Zipf's law with theta 0.65 over the range; distances of repeats are \
log-uniform to 512; reads and writes are independent of each other.",
);

/// Parameters of [`FINANCIAL1`].
pub(super) fn financial1() -> Load {
    // Number of requests among the first 10,000 by length, for lengths with at least 1 % of the reads or writes.
    let reads = Sizes::weighted(&[
        (8192, 2903.0),
        (512, 609.0),
        (3072, 236.0),
        (1024, 192.0),
        (2048, 43.0),
        (4096, 42.0),
    ]);
    let writes = Sizes::weighted(&[
        (3072, 1760.0),
        (1024, 1019.0),
        (512, 772.0),
        (3584, 756.0),
        (8192, 272.0),
        (2560, 253.0),
        (49152, 220.0),
        (1536, 192.0),
        (4096, 98.0),
        (2048, 94.0),
        (12288, 84.0),
        (6656, 83.0),
        (7680, 65.0),
    ]);
    Load {
        // RelStorage.
        accesses: 5_334_987,
        read_percent: 100.0 * 1_235_633.0 / 5_334_987.0,
        // First 10,000 of Financial1.
        reads: Side {
            sizes: reads,
            sequential_percent: 43.9,
            repeat_percent: 44.2,
        },
        writes: Side {
            sizes: writes,
            sequential_percent: 34.7,
            repeat_percent: 52.2,
        },
        // Sum of the ends of the 22 units of the first 10,000: 5,888,026,112 bytes, rounded up to a mebibyte.
        range: Range::from_zero(Bytes::mib(5616)),
        align: SECTOR,
        pattern: OLTP_PATTERN,
        // Runs were measured among the last 64.
        run_depth: 64,
        repeat_depth: OLTP_REPEAT_DEPTH,
        // Bursts take a quarter of the time (an assumption). The mean rate, 38.5/s, and the squared coefficient of
        // variation, 10.3, of the first 10,000 fix the rest: with a mean rate r, a share p of the time and a relaxation time
        // T = on * off / (on + off), the latter is 1 + 2 r T (1 - p) / p (Kuczura, Bell System Technical Journal 52, 1973,
        // for the interrupted Poisson process), so that T = 40.3 ms, on = T / (1 - p), off = T / p.
        pacing: Pacing::Bursts {
            per_second: 154.0,
            on: Dur::us(53_700),
            off: Dur::us(161_100),
        },
    }
}

pub(super) const FINANCIAL2: About = generator(
    "OLTP, read-dominant, like Financial2 in its published figures",
    || table_of(&financial2()),
    "\
OLTP at a financial institution, mostly reads; resembles Financial2 (UMass, SPC) in these figures only. Whole \
trace (RelStorage's table): 3,699,194 requests, 17.65 % writes. Two fragments believed to be of it, 1,501 \
requests: lengths (those with at least 1 % of a side, in writes at least 2 of 167), 65.9 % of writes and 13.2 % of \
reads repeat a recent start, 10.2 % and 18.1 % go on where a recent one ended, 62.8 requests per second at which \
arrivals are about as irregular as a Poisson process (0.7 and 1.2 against 1), places below 620 MB. Assumptions: \
that the fragments are of it and typical of it; Poisson arrivals; places and distances as in financial1-like.",
);

/// Parameters of [`FINANCIAL2`].
pub(super) fn financial2() -> Load {
    // Number of requests among the 1,501 by length, for lengths with at least 1 % of the reads or writes.
    let reads = Sizes::weighted(&[
        (3072, 713.0),
        (512, 273.0),
        (1024, 131.0),
        (1536, 76.0),
        (2560, 44.0),
        (2048, 24.0),
    ]);
    let writes = Sizes::weighted(&[
        (512, 115.0),
        (1536, 17.0),
        (1024, 12.0),
        (2560, 8.0),
        (32768, 3.0),
        (2048, 3.0),
        (8192, 2.0),
        (16896, 2.0),
        (13824, 2.0),
    ]);
    Load {
        // RelStorage.
        accesses: 3_699_194,
        read_percent: 100.0 * 3_046_112.0 / 3_699_194.0,
        // 1,501 of Financial2.
        reads: Side {
            sizes: reads,
            sequential_percent: 18.1,
            repeat_percent: 13.2,
        },
        writes: Side {
            sizes: writes,
            sequential_percent: 10.2,
            repeat_percent: 65.9,
        },
        // The requests end below 619,939,840 bytes: 592 MiB. The whole trace may extend further.
        range: Range::from_zero(Bytes::mib(592)),
        align: SECTOR,
        // An assumption, see the constant. RelStorage's simulated caches have more hits than with Financial1.
        pattern: OLTP_PATTERN,
        run_depth: 64,
        repeat_depth: OLTP_REPEAT_DEPTH,
        // The mean of the two fragments, 63.7 and 61.9 per second.
        pacing: Pacing::Poisson { per_second: 62.8 },
    }
}

pub(super) const TPCC: About = generator(
    "TPC-C on a large array: random, mostly 8 KiB",
    || table_of(&tpcc()),
    "\
TPC-C on SQL Server and a large array; resembles it in these figures only. epo IV.A: completely random, the mean \
write longer than 10 KB. First 6,999 requests (0.14 s) of such a trace: 37.4 % writes, reads of 8 KiB (99.8 %), \
90.7 % of writes of 8 KiB and 3.9 % of 16 KiB, 4.3 % of writes and 0.05 % of reads go on where a recent one ended, \
no start repeats, 51,272 requests per second, close to a Poisson process (1.14 against 1), 16 disks of 3.1 TB \
together. Assumptions: the remaining 5.4 % of writes are of 60 KiB, the longest seen, which makes the mean 11.4 KB \
(in those 0.14 s it is 8.9 KB, below what the paper says of the whole); every place is equally likely; 1,000,000 \
accesses.",
);

/// Parameters of [`TPCC`].
pub(super) fn tpcc() -> Load {
    let reads = Sizes::weighted(&[(8192, 4373.0), (61440, 8.0)]);
    // The last entry is an assumption: all remaining writes, at the longest length seen.
    let writes = Sizes::weighted(&[(8192, 2375.0), (16384, 102.0), (61440, 141.0)]);
    Load {
        accesses: 1_000_000,
        // 6,999 of TPC-C, as are all figures below: 2,618 writes.
        read_percent: 100.0 * 4381.0 / 6999.0,
        reads: Side {
            sizes: reads,
            sequential_percent: 0.05,
            repeat_percent: 0.0,
        },
        writes: Side {
            sizes: writes,
            sequential_percent: 4.3,
            repeat_percent: 0.0,
        },
        // Sum of the ends of the 16 disks: 3,132,508,855,296 bytes, rounded up to a gibibyte.
        range: Range::from_zero(Bytes::gib(2918)),
        align: SECTOR,
        // `epo` IV.A: completely random.
        pattern: Pattern::Uniform,
        run_depth: 64,
        repeat_depth: 1,
        pacing: Pacing::Poisson {
            per_second: 51_272.0,
        },
    }
}

pub(super) const WEBSEARCH: About = generator(
    "a search engine's reads, like WebSearch1 in its published figures",
    || table_of(&websearch()),
    "\
The reads of a search engine; resembles WebSearch1 (UMass, SPC) in these figures only. Whole trace (RelStorage's \
table): 1,055,448 requests, 212 of them writes (0.02 %). First 24,783 requests (60 s): reads of 8 (60.1 %), 32 \
(19.8 %), 16 (12.2 %) and 24 KiB (7.8 %), the few writes of 8 KiB, 32.0 % of reads go on where a recent one ended, \
starts hardly repeat, 412.7 requests per second, 94.7 GB over 6 units. Assumptions: every place is equally likely; \
Poisson arrivals (measured, they are somewhat more irregular: a squared coefficient of variation of 1.8).",
);

/// Parameters of [`WEBSEARCH`].
pub(super) fn websearch() -> Load {
    // Number of requests among the first 24,783 by length, for lengths with at least 1 %.
    let reads = Sizes::weighted(&[
        (8192, 14886.0),
        (32768, 4909.0),
        (16384, 3034.0),
        (24576, 1924.0),
    ]);
    Load {
        // RelStorage.
        accesses: 1_055_448,
        read_percent: 100.0 * 1_055_236.0 / 1_055_448.0,
        // First 24,783 of WebSearch1.
        reads: Side {
            sizes: reads,
            sequential_percent: 32.0,
            repeat_percent: 0.0,
        },
        writes: Side::of(Sizes::One(Bytes::kib(8))),
        // Sum of the ends of the 6 units: 94,668,718,080 bytes, rounded up to a gibibyte.
        range: Range::from_zero(Bytes::gib(89)),
        // All starts among the first 24,783 are multiples of it.
        align: Bytes::kib(4),
        pattern: Pattern::Uniform,
        run_depth: 64,
        repeat_depth: 1,
        pacing: Pacing::Poisson { per_second: 412.7 },
    }
}
