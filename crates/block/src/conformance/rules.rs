//! The fixed parts of the suite, one function each.

use super::Breach;
use super::driver::{Driver, Expect};
use crate::{Completion, Device, DeviceInfo, IoErrorKind, Op, Request, ZoneAction};
use fathom_base::{Dur, Time};

type Check = Result<(), Breach>;

/// Time passes only in `wait`, only forwards, and never past the requested end.
pub(super) fn clock<D: Device>(driver: &mut Driver<'_, D>) -> Check {
    driver.wait(Time::ZERO)?;
    for step in [Dur(0), Dur(1), Dur::us(100)] {
        let until = driver.after(step)?;
        driver.wait(until)?;
    }
    driver.wait(Time::MAX)?;
    let read = driver.request(Op::Read, 0, 1);
    driver.offer(read.clone(), Expect::Success)?;
    driver.wait(Time::ZERO)?;
    if driver.in_flight() > 0 {
        driver.wait(Time::MAX)?;
    }
    driver.drain()?;
    // An identifier may be reused once its request is done.
    driver.offer(read, Expect::Success)?;
    let mut step = Dur(1);
    while driver.in_flight() > 0 && step < driver.options.patience {
        let until = driver.after(step)?;
        driver.wait(until)?;
        step = step * 2;
    }
    driver.drain()?;
    driver.wait(Time::MAX)?;
    Ok(())
}

/// The queue accepts as many requests as its depth, returns the next one unchanged, and accepts it after a completion.
pub(super) fn queue<D: Device>(driver: &mut Driver<'_, D>) -> Check {
    let depth = u64::from(driver.info.queue_depth);
    if depth > driver.options.operations {
        driver.skip("queue", "the queue is deeper than Options::operations");
        return Ok(());
    }
    for _ in 0..2 {
        for n in 0..depth {
            // Avoids the block of the write below: a real drive does not order a read and a write in flight.
            let block = 1 + n % (driver.region_blocks() - 1);
            let read = driver.request(Op::Read, block, 1);
            driver.offer(read, Expect::Success)?;
        }
        // The driver reports either fault: accepting this request, or returning a different one.
        let op = if driver.overwrites() {
            Op::Write
        } else {
            Op::Read
        };
        let one_more = driver.request(op, 0, 1);
        driver.offer(one_more.clone(), Expect::Success)?;
        driver.wait_some()?;
        driver.offer(one_more, Expect::Success)?;
        driver.drain()?;
    }
    driver.verify()
}

/// An invalid request is accepted, completes with the right error, changes nothing and does not occupy the queue
/// afterwards.
pub(super) fn refusals<D: Device>(driver: &mut Driver<'_, D>) -> Check {
    if driver.overwrites() {
        driver.serve(Op::Write, 0, 16)?;
    }
    for (request, expect) in wrong(driver) {
        // Repeated as often as the queue is deep: it would fill up if each request left something behind.
        for _ in 0..u64::from(driver.info.queue_depth).clamp(1, 64) {
            driver.offer(request.clone(), expect)?;
            driver.drain()?;
        }
        driver.verify()?;
    }
    // Mixed with valid requests.
    let mix = wrong(driver);
    for (n, (mut request, expect)) in (0..).zip(mix) {
        while !driver.has_room(2) {
            driver.wait_some()?;
        }
        request.id = driver.request(Op::Read, 0, 1).id;
        driver.offer(request, expect)?;
        let read = driver.request(Op::Read, n % 16, 1);
        driver.insist(read)?;
    }
    driver.drain()?;
    queue(driver)
}

/// Returns requests that must fail. None of them writes outside of the region, even if it is executed by mistake.
fn wrong<D: Device>(driver: &mut Driver<'_, D>) -> Vec<(Request, Expect)> {
    use IoErrorKind::{Misaligned, OutOfRange, ReadOnly, Unsupported};
    let block = driver.block_bytes();
    let (start, capacity) = (driver.offset(0), driver.info.capacity_bytes);
    let max = driver.info.max_request_bytes;
    let past = capacity.div_ceil(block).saturating_mul(block);
    let far = u64::MAX - u64::MAX % block - block;
    let mut list = vec![
        (Op::Read, start, 0, Misaligned),
        (Op::Read, past, block, OutOfRange),
        (Op::Read, far, block, OutOfRange),
    ];
    if max < capacity - start {
        let too_long = (max / block + 1).saturating_mul(block);
        list.push((Op::Read, start, too_long, Misaligned));
    }
    if max >= block * 2 {
        // The end of this request exceeds 64 bits.
        list.push((Op::Read, far, block * 2, OutOfRange));
        list.push((Op::Read, past - block, block * 2, OutOfRange));
    }
    if block > 1 {
        list.push((Op::Read, start + 1, block, Misaligned));
        list.push((Op::Read, start, block - 1, Misaligned));
    }
    list.extend(wrong_in_zones(&driver.info, start));
    if driver.info.read_only {
        list.push((Op::Write, start, block, ReadOnly));
        list.push((Op::Trim, start, block, ReadOnly));
    } else {
        list.push((Op::Write, start, 0, Misaligned));
        list.push((Op::Write, past, block, OutOfRange));
        if block > 1 {
            list.push((Op::Write, start + block / 2, block, Misaligned));
            list.push((Op::Write, start, block / 2, Misaligned));
        }
        if driver.info.trim && driver.info.zoned.is_none() {
            list.push((Op::Trim, start, 0, Misaligned));
            list.push((Op::Trim, past, block, OutOfRange));
        } else {
            list.push((Op::Trim, start, block, Unsupported));
        }
    }
    // The largest possible device leaves no offsets past its end.
    list.retain(|&(_, offset, len, kind)| {
        let on_device = offset.checked_add(len).is_some_and(|end| end <= capacity);
        kind != OutOfRange || !(on_device || offset % block > 0)
    });
    let mut wrong = Vec::new();
    for (op, offset, len, kind) in list {
        wrong.push((driver.raw(op, offset, len), Expect::Error(kind)));
    }
    // Data that is shorter than the request: the device must not read past its end.
    if driver.options.keeps_bytes && !driver.info.read_only && max >= block * 2 {
        let mut short = driver.raw(Op::Write, start, block);
        short.len = block * 2;
        wrong.push((short, Expect::AnyError));
    }
    wrong
}

/// Returns requests of zoned devices that must fail: all of them on an ordinary device. `start` is the first byte of the
/// region.
fn wrong_in_zones(info: &DeviceInfo, start: u64) -> Vec<(Op, u64, u64, IoErrorKind)> {
    use IoErrorKind::{Misaligned, NotAZone, OutOfRange, ReadOnly, Unsupported, ZoneBoundary};
    let block = u64::from(info.logical_block_bytes).max(1);
    let (max, capacity) = (info.max_request_bytes, info.capacity_bytes);
    let mut list = Vec::new();
    let open = Op::Zone(ZoneAction::Open);
    match info.zoned {
        None => {
            list.push((Op::Append, start, block, Unsupported));
            list.extend(
                ZoneAction::ALL.map(|action| (Op::Zone(action), start, block, Unsupported)),
            );
        }
        Some(_) if info.read_only => list.push((open, start, block, ReadOnly)),
        Some(zoned) => {
            let (zone, size) = (start.next_multiple_of(zoned.zone_bytes), zoned.zone_bytes);
            let append = zoned.max_append_bytes / block * block;
            list.extend([
                (open, zone + block, size, NotAZone),
                (open, zone, block, NotAZone),
                (open, capacity.next_multiple_of(size), size, OutOfRange),
                (Op::Append, zone + block, block, NotAZone),
                (Op::Append, zone, 0, Misaligned),
                (Op::Append, zone, append.saturating_add(block), Misaligned),
            ]);
            if !zoned.reads_cross && max >= 2 * block && zone + size < capacity {
                list.push((Op::Read, zone + size - block, 2 * block, ZoneBoundary));
            }
        }
    }
    list
}

/// Identical requests of one instant are served in order of submission.
pub(super) fn order<D: Device>(driver: &mut Driver<'_, D>) -> Check {
    let depth = driver.info.queue_depth.clamp(1, 16);
    let mut in_order: Vec<Completion> = Vec::new();
    for _ in 0..depth {
        // All of one process: a layer may be fair to several processes.
        let mut read = driver.request(Op::Read, 1, 1);
        read.tag.process = 0;
        driver.offer(read, Expect::Success)?;
    }
    while driver.in_flight() > 0 {
        in_order.extend(driver.wait_some()?);
    }
    for pair in in_order.windows(2) {
        let same = pair[0].completed == pair[1].completed
            && pair[0].submitted == pair[1].submitted
            && pair[0].result == pair[1].result;
        if same && pair[1].id < pair[0].id {
            let (first, second) = (pair[1].id, pair[0].id);
            return Err(Breach::Overtaken { first, second });
        }
    }
    if !driver.info.modelled || !driver.overwrites() || driver.options.may_fail {
        let why = "the last of two writes of one instant is known of modelled devices only";
        driver.skip("order: writes", why);
        return Ok(());
    }
    // A real drive does not order two writes in flight; in a model the last one wins, and a read must see it.
    for n in 0..depth / 2 {
        let write = driver.request(Op::Write, u64::from(n) % 3, 2);
        driver.offer(write, Expect::Success)?;
        let read = driver.request(Op::Read, 0, 4);
        driver.offer(read, Expect::Success)?;
    }
    driver.verify()
}

/// A block reads as it was written last, regardless of the lengths and boundaries of the requests.
pub(super) fn bytes<D: Device>(driver: &mut Driver<'_, D>) -> Check {
    if driver.info.read_only {
        driver.skip("bytes", "the device is read-only");
        let read = driver.request(Op::Read, 0, u64::MAX);
        return driver.run(read);
    }
    // All blocks, the middle, the boundaries, one block; then ranges across these boundaries.
    let writes = [(0, 16), (4, 8), (0, 1), (15, 1), (7, 1), (3, 2), (11, 3)];
    for (block, blocks) in writes {
        driver.serve(Op::Write, block, blocks)?;
        driver.verify()?;
    }
    for (block, blocks) in writes {
        driver.serve(Op::Read, block, blocks)?;
    }
    // The longest request and the last block of the region are valid, too.
    for op in [Op::Write, Op::Read] {
        driver.serve(op, 0, u64::MAX)?;
        driver.serve(op, driver.region_blocks() - 1, 1)?;
    }
    Ok(())
}

/// A flush completes if no write preceded it, after writes, and between writes.
pub(super) fn flush<D: Device>(driver: &mut Driver<'_, D>) -> Check {
    let flush = |driver: &mut Driver<'_, D>| driver.raw(Op::Flush, 0, 0);
    for _ in 0..2 {
        let request = flush(driver);
        driver.run(request)?;
    }
    let op = if driver.overwrites() {
        Op::Write
    } else {
        Op::Read
    };
    for block in 0..16 {
        while !driver.has_room(2) {
            driver.wait_some()?;
        }
        let write = driver.request(op, block, 1);
        driver.offer(write, Expect::Success)?;
        let request = flush(driver);
        driver.insist(request)?;
    }
    driver.drain()?;
    let request = flush(driver);
    driver.run(request)?;
    driver.verify()
}

/// A trim succeeds and leaves neighbouring blocks unchanged; trimmed blocks can be written again.
pub(super) fn trim<D: Device>(driver: &mut Driver<'_, D>) -> Check {
    if driver.info.read_only || !driver.info.trim {
        driver.skip("trim", "the device does not trim");
        return Ok(());
    }
    for block in 0..16 {
        driver.serve(Op::Write, block, 1)?;
    }
    for (block, blocks) in [(5, 1), (6, 4), (0, 2), (15, 1)] {
        driver.serve(Op::Trim, block, blocks)?;
        driver.serve(Op::Read, block, 1)?;
        driver.verify()?;
    }
    for block in [0, 6, 15] {
        driver.serve(Op::Write, block, 1)?;
    }
    driver.verify()
}
