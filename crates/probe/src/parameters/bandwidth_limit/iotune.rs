//! iotune's four numbers (`apps/iotune/iotune.cc`): 1 MiB writes in order, four in flight, for 70 % of two minutes after a
//! warm-up of 6 s; the same reads for 10 % of it; random writes and reads of the drive's smallest request, up to 128 in
//! flight, for 10 % each. A scheduler takes them as the limits of the drive.
//!
//! The tool does not ask whether something limits the rate, so there is no verdict; its numbers are the figures. Our
//! reading: one file of half of the region; random requests of 4 KiB, which most systems report as the smallest. A run also
//! ends after the region is written twice, or read once.

use crate::elsewhere::{Loop, part, per_second, thinned};
use crate::{Answers, Estimate, Parameter, Probe, Record, Series, Session, Space, Stop};
use fathom_base::Dur;
use fathom_block::Op;

const PARAMETER: Parameter = Parameter::BandwidthLimit;
/// The four numbers; `x` is the length of a request.
const WRITE_IN_ORDER: Series = Series::new("write_in_order");
const READ_IN_ORDER: Series = Series::new("read_in_order");
const WRITE_RANDOM: Series = Series::new("write_random");
const READ_RANDOM: Series = Series::new("read_random");
const WARM_UP: Dur = Dur::ms(6_000);
const WRITE_TIME: Dur = Dur::ms(84_000);
const TIME: Dur = Dur::ms(12_000);
const LONG: u64 = 1 << 20;
const SMALL: u64 = 4096;
const IN_ORDER_DEPTH: u32 = 4;
const RANDOM_DEPTH: u32 = 128;

/// iotune's rates, as figures of a limit.
pub(crate) struct Rates;

fn measure(session: &mut Session<'_>, run: Run) -> Result<(), Stop> {
    let space = session.space();
    let len = run.len;
    session.step(PARAMETER, run.series.name(), |io| {
        let mut load = Loop {
            op: run.op,
            len,
            depth: run.depth,
            area: part(&space, space.bytes() / 2, len),
            next: run.in_order.then_some(0),
            bit: None,
            time: thinned(&space, WARM_UP),
            bytes_max: space.bytes() / 3,
        };
        load.run(io)?;
        (load.time, load.bytes_max) = (thinned(&space, run.time), space.bytes());
        load.sample(io, run.series, len, 0)?;
        match run.op {
            Op::Write => io.flush().map(|_| ()),
            _ => Ok(()),
        }
    })
}

/// One of the four runs.
#[derive(Clone, Copy)]
struct Run {
    op: Op,
    series: Series,
    len: u64,
    depth: u32,
    in_order: bool,
    time: Dur,
}

impl Probe for Rates {
    fn bound(&self, space: &Space) -> u64 {
        // Two runs write: each may end a request after its share.
        let run = space.bytes().saturating_mul(2);
        run.saturating_mul(2)
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Stop> {
        let space = session.space();
        let longest = session.info().max_request_bytes / space.block_bytes * space.block_bytes;
        let long = LONG
            .min(longest)
            .min(space.bytes() / 8)
            .max(space.block_bytes);
        let long = long / space.block_bytes * space.block_bytes;
        let small = space.round_up(SMALL);
        let in_order = |op, series, time| Run {
            op,
            series,
            len: long,
            depth: IN_ORDER_DEPTH,
            in_order: true,
            time,
        };
        let random = |op, series| Run {
            op,
            series,
            len: small,
            depth: RANDOM_DEPTH,
            in_order: false,
            time: TIME,
        };
        measure(session, in_order(Op::Write, WRITE_IN_ORDER, WRITE_TIME))?;
        measure(session, in_order(Op::Read, READ_IN_ORDER, TIME))?;
        measure(session, random(Op::Write, WRITE_RANDOM))?;
        measure(session, random(Op::Read, READ_RANDOM))
    }

    fn solve(&self, record: &Record, _: &Answers<'_>) -> Estimate {
        let rate = |series| {
            let mut samples = record.series(PARAMETER, series);
            samples.next().map_or((0.0, 1.0), |s| {
                (per_second(s.bytes, s.ns), s.x.max(1) as f64)
            })
        };
        let bytes = |series| rate(series).0;
        let requests = |series| rate(series).0 / rate(series).1;
        Estimate::inconclusive(
            "iotune measures what the drive gives, and does not ask whether something limits it",
        )
        .figure("write_bandwidth_bytes_per_s", bytes(WRITE_IN_ORDER))
        .figure("read_bandwidth_bytes_per_s", bytes(READ_IN_ORDER))
        .figure("write_iops", requests(WRITE_RANDOM))
        .figure("read_iops", requests(READ_RANDOM))
    }
}
