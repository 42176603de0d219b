//! Loads that are not based on a trace: one pattern each, with every other parameter at a default.

use super::load::generator;
use super::{Load, Pacing, Pattern, Range, Side, Sizes};
use fathom_base::registry::table_of;
use fathom_base::{About, Bytes};

/// Accesses of 4 KiB, half of them reads, in 1 GiB, as fast as the drive serves them. All of these are assumptions.
fn plain(pattern: Pattern) -> Load {
    let side = Side::of(Sizes::One(Bytes::kib(4)));
    Load {
        accesses: 1_000_000,
        read_percent: 50.0,
        reads: side.clone(),
        writes: side,
        range: Range::from_zero(Bytes::gib(1)),
        align: Bytes::kib(4),
        pattern,
        run_depth: 64,
        repeat_depth: 1024,
        pacing: Pacing::Closed,
    }
}

pub(super) const UNIFORM: About = generator(
    "uniformly random addresses",
    || table_of(&uniform()),
    "\
Reads and writes to equally likely places, as fio's `rw=randrw` with `random_distribution=random`, but with \
replacement: fio by default visits every block once before it repeats one. By default 1,000,000 accesses of 4 KiB, \
half of them reads, in 1 GiB, all at time zero.",
);

pub(super) fn uniform() -> Load {
    plain(Pattern::Uniform)
}

pub(super) const SEQUENTIAL: About = generator(
    "each access follows the one before, and wraps around",
    || table_of(&sequential()),
    "\
Each access, read or write, starts where the one before it ended (rounded up to `align`), and at the start of the \
range again when it would not fit. Other defaults are those of `uniform`.",
);

pub(super) fn sequential() -> Load {
    plain(Pattern::Sequential)
}

pub(super) const ZIPF: About = generator(
    "Zipf-distributed addresses: a power law",
    || table_of(&zipf()),
    "\
The place of rank k is drawn in proportion to k^-theta, exactly and in constant time by rejection-inversion \
(Hoermann and Derflinger, ACM TOMACS 6(3), 1996), for any theta of at least 0. A bijection scatters ranks over the \
range unless `scatter = false`. By default theta = 0.99, as in YCSB. Other defaults are those of `uniform`.",
);

pub(super) fn zipf() -> Load {
    plain(Pattern::Zipf {
        theta: 0.99,
        scatter: true,
    })
}

pub(super) const HOT_COLD: About = generator(
    "a hot share of the space and a cold rest",
    || table_of(&hot_cold()),
    "\
A share of the space is hot and gets a share of the accesses; places within each part are equally likely. By \
default 80 % of the accesses go to 20 % of the places, scattered over the range. Other defaults are those of \
`uniform`. This is the model of many analyses of garbage collection (Rosenblum and Ousterhout, ACM TOCS 10(1), \
1992, use 90 % to 10 %).",
);

pub(super) fn hot_cold() -> Load {
    plain(Pattern::HotCold {
        accesses_percent: 80.0,
        space_percent: 20.0,
        scatter: true,
    })
}

pub(super) const PARETO: About = generator(
    "self-similar: 20 % of the space takes 80 % of the accesses, recursively",
    || table_of(&pareto()),
    "\
Self-similar skew: a share h of the space takes 1 - h of the accesses, and the same within that share (Gray et al., \
SIGMOD 1994; fio's `random_distribution=pareto:h`). By default h = 20 %, scattered over the range. Other defaults \
are those of `uniform`.",
);

pub(super) fn pareto() -> Load {
    plain(Pattern::Pareto {
        space_percent: 20.0,
        scatter: true,
    })
}
