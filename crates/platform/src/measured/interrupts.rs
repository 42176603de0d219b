//! Which interrupts carry completions of the devices that are looked at.

use super::route::Route;
use fathom_block::kernel::{Event, Interrupt, Record};
use std::collections::BTreeMap;

/// The interrupts in progress on a CPU, by the index of their records.
#[derive(Default)]
struct Nest {
    open: Vec<usize>,
    /// Interrupts of devices that ended, with nothing but interrupts since.
    ended: Vec<usize>,
}

/// Returns for each record whether it begins an interrupt in which a request of the devices completes. The interrupt of
/// a device often leaves the completion to a softirq right behind it: then it is one as well.
pub(super) fn completing(records: &[Record], route: &Route) -> Vec<bool> {
    let mut found = vec![false; records.len()];
    let mut nests: BTreeMap<u16, Nest> = BTreeMap::new();
    for (index, record) in records.iter().enumerate() {
        let nest = nests.entry(record.cpu).or_default();
        match record.event {
            Event::Interrupt(_) => nest.open.push(index),
            Event::InterruptEnd(kind) => nest.end(kind, records),
            Event::Complete(span) if route.is_issued(span.dev) => {
                for open in nest.open.iter().chain(&nest.ended) {
                    found[*open] = true;
                }
                nest.ended.clear();
            }
            Event::Lost { .. } | Event::Switch { .. } => *nest = Nest::default(),
            _ if nest.open.is_empty() => nest.ended.clear(),
            _ => {}
        }
    }
    found
}

impl Nest {
    fn end(&mut self, kind: Interrupt, records: &[Record]) {
        let begins = |index: &usize| records[*index].event == Event::Interrupt(kind);
        let Some(at) = self.open.iter().rposition(begins) else {
            return;
        };
        let index = self.open[at];
        self.open.truncate(at);
        if matches!(kind, Interrupt::Device(_) | Interrupt::Call) {
            self.ended.push(index);
        }
    }
}
