//! Random requests checked against the shadow, with several in flight.

use super::Breach;
use super::driver::{Driver, Expect};
use crate::{Device, Op, Request};
use fathom_base::{Dur, Rng};

/// Number of blocks that most requests address, so that they overlap.
const HOT_BLOCKS: u64 = 96;
/// Maximum length of the longer requests, in blocks.
const LONG_BLOCKS: u64 = 64;

/// Random reads, writes, trims and flushes. Overlapping requests are in flight together only if both are reads.
pub(super) fn random<D: Device>(driver: &mut Driver<'_, D>) -> Result<(), Breach> {
    let mut rng = Rng::new(driver.options.seed, 0);
    let depth = u64::from(driver.info.queue_depth.clamp(1, 16));
    let mut deepest = depth;
    for n in 0..driver.options.operations {
        if n % 64 == 0 {
            deepest = 1 + rng.below(depth);
        }
        let request = draw(driver, &mut rng);
        while driver.conflicts(&request) || driver.in_flight() as u64 >= deepest {
            driver.wait_some()?;
        }
        driver.offer(request, Expect::Success)?;
        if rng.chance(0.1) {
            let until = driver.after(Dur(rng.below(200_000)))?;
            driver.wait(until)?;
        }
    }
    driver.verify()
}

fn draw<D: Device>(driver: &mut Driver<'_, D>, rng: &mut Rng) -> Request {
    let op = match rng.below(100) {
        0..5 => return driver.raw(Op::Flush, 0, 0),
        5..50 if !driver.info.read_only => Op::Write,
        50..58 if !driver.info.read_only && driver.info.trim => Op::Trim,
        _ => Op::Read,
    };
    let all = driver.region_blocks();
    let span = match rng.below(4) {
        0 => all,
        _ => all.min(HOT_BLOCKS),
    };
    let longest = match rng.below(16) {
        0 => LONG_BLOCKS,
        _ => 8,
    };
    let block = rng.below(span);
    let most = longest.min(driver.request_blocks_max()).min(all - block);
    let blocks = 1 + rng.below(most);
    driver.request(op, block, blocks)
}
