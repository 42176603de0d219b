//! What a batch costs on the simulator's drive, worked out from the drive's numbers alone and held against the runs.
//!
//! The arithmetic is that of an idle drive: pages cross the channel to the host one after another, each goes to an
//! element of its own, and the driver has so many of them at the drive at a time. It leaves out that elements are busy
//! with other batches, and the summary that the last page of a block brings (one write of 63 takes a second program).

use super::cell::Cell;
use crate::study::Finished;
use fathom_disksim as ms;
use fathom_model::Model;
use serde::Serialize;
use std::collections::BTreeMap;

/// Bytes of a sector, and with its spare bytes on an element's pins.
const SECTOR: (u64, u64) = (512, 528);

/// What one page write costs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PageWrite {
    /// On the one channel to the host, in nanoseconds.
    pub channel_ns: f64,
    /// Over the element's pins.
    pub pins_ns: f64,
    /// The program.
    pub program_ns: f64,
}

impl PageWrite {
    /// On an idle drive: the least that any write takes.
    pub fn total_ns(self) -> f64 {
        self.channel_ns + self.pins_ns + self.program_ns
    }

    fn of(spec: &ms::Spec) -> PageWrite {
        let page = spec.element.page.0;
        let on_pins = page / SECTOR.0 * SECTOR.1;
        PageWrite {
            channel_ns: seconds(page, spec.timing.host.bytes_per_second()),
            pins_ns: seconds(on_pins, spec.timing.pins.bytes_per_second()),
            program_ns: spec.timing.program.0 as f64,
        }
    }
}

fn seconds(bytes: u64, bytes_per_second: u64) -> f64 {
    bytes as f64 * 1e9 / bytes_per_second as f64
}

/// EPO's batches on one workload at the default setting.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Why {
    /// The workload.
    pub workload: String,
    /// A page write of this drive.
    pub page_write: PageWrite,
    /// Requests that the driver has at the drive at a time.
    pub queue: u32,
    /// Pages of most batches.
    pub batch: u32,
    /// The mean response time that the arithmetic gives for all batches, in nanoseconds.
    pub reckoned_ns: f64,
    /// The same with a driver that holds nothing back.
    pub reckoned_without_queue_ns: f64,
    /// What was measured.
    pub measured_ns: f64,
}

/// Of a run of EPO on the simulator's drive; `None` for any other, and where nothing left the buffer.
pub(super) fn why(finished: &Finished) -> Option<Why> {
    let Model::Disksim(spec) = &finished.run.model else {
        return None;
    };
    let cell = Cell::of(finished);
    let batches = &cell.reshaped.batch_pages;
    let of_epo = cell.point("scheme") == Some("epo") && cell.point("setting") == Some("default");
    let (&batch, _) = batches.iter().max_by_key(|(_, count)| **count)?;
    let page_write = PageWrite::of(spec);
    let queue = spec.driver.queue_length;
    of_epo.then_some(())?;
    Some(Why {
        workload: cell.workload.clone(),
        page_write,
        queue,
        batch,
        reckoned_ns: mean_of(batches, page_write, queue),
        reckoned_without_queue_ns: mean_of(batches, page_write, u32::MAX),
        measured_ns: cell.mean_ns?.mean,
    })
}

/// The mean over all pages of all batches.
fn mean_of(batches: &BTreeMap<u32, u64>, cost: PageWrite, queue: u32) -> f64 {
    let sums = batches
        .iter()
        .fold((0.0, 0.0), |(sum, pages), (&n, &count)| {
            let these = f64::from(n) * count as f64;
            (sum + these * batch_mean(n, queue, cost), pages + these)
        });
    sums.0 / sums.1
}

/// The mean response time of `pages` writes that come at one instant, to as many idle elements.
fn batch_mean(pages: u32, queue: u32, cost: PageWrite) -> f64 {
    let mut done: Vec<f64> = Vec::new();
    let mut channel_free = 0.0_f64;
    for index in 0..pages as usize {
        // A request goes to the drive when an earlier one comes back; they come back in order.
        let released = index.checked_sub(queue as usize);
        let released = released.and_then(|at| done.get(at)).copied();
        channel_free = channel_free.max(released.unwrap_or(0.0)) + cost.channel_ns;
        done.push(channel_free + cost.pins_ns + cost.program_ns);
    }
    done.iter().sum::<f64>() / f64::from(pages.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    const COST: PageWrite = PageWrite {
        channel_ns: 2.0,
        pins_ns: 100.0,
        program_ns: 200.0,
    };

    #[test]
    fn a_batch_by_hand() {
        // 302 alone; 302 and 304 together; one at a time 302, 604, 906.
        assert_eq!(batch_mean(1, 20, COST), 302.0);
        assert_eq!(batch_mean(2, 20, COST), 303.0);
        assert_eq!(batch_mean(3, 1, COST), 604.0);
        // Two at a time: 302, 304, then 604 and 606.
        assert_eq!(batch_mean(4, 2, COST), 454.0);
    }

    #[test]
    fn batches_count_by_their_pages() {
        let batches = BTreeMap::from([(1, 3), (3, 1)]);
        // Three pages of 302, and three of 302, 604 and 906.
        assert_eq!(mean_of(&batches, COST, 1), (3.0 * 302.0 + 1812.0) / 6.0);
    }

    #[test]
    fn a_page_write_of_the_papers_drive() {
        let cost = PageWrite::of(&ms::Spec::default());
        // 8 sectors in 238.4 ns each; 8 x 528 bytes in 25 ns each (Table I: 0.025 us a byte); 200 us.
        assert!((cost.channel_ns - 1907.2).abs() < 0.1, "{cost:?}");
        assert_eq!(cost.pins_ns, 105_600.0);
        assert_eq!(cost.program_ns, 200_000.0);
    }
}
