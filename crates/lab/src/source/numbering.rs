//! Numbers the processes of a trace from 0, in order of their first access, as schedulers and figures count them.
//!
//! The number of processes is bounded, because each has figures of its own. The processes beyond share the last number.

use fathom_workload::step::PROCESSES_MAX;
use std::collections::BTreeMap;

/// The processes found so far.
#[derive(Default)]
pub(super) struct Numbering {
    numbers: BTreeMap<u32, u32>,
    /// The number in the trace of each process.
    found: Vec<u32>,
    /// Number of processes without a number of their own. One that comes back is counted again.
    beyond: u64,
    /// The last process looked up, and its number: accesses of a process often follow each other.
    last: Option<(u32, u32)>,
}

impl Numbering {
    /// Returns the number of a process of the trace.
    #[inline]
    pub(super) fn number(&mut self, process: u32) -> u32 {
        if let Some((last, number)) = self.last
            && last == process
        {
            return number;
        }
        let next = self.found.len() as u32;
        let number = match self.numbers.get(&process) {
            Some(number) => *number,
            None if next >= PROCESSES_MAX => {
                self.beyond += 1;
                PROCESSES_MAX - 1
            }
            None => {
                self.numbers.insert(process, next);
                self.found.push(process);
                next
            }
        };
        self.last = Some((process, number));
        number
    }

    /// Returns the number in the trace of each process.
    pub(super) fn found(&self) -> &[u32] {
        &self.found
    }

    /// Describes what the bound changed.
    pub(super) fn note(&self) -> Option<String> {
        (self.beyond > 0).then(|| {
            format!(
                "the trace has more than {PROCESSES_MAX} processes: those that came later count as process {}",
                PROCESSES_MAX - 1
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_are_numbered_by_first_access() {
        let mut numbering = Numbering::default();
        let numbers = [4711, 12, 4711, 0, 12].map(|process| numbering.number(process));
        assert_eq!(numbers, [0, 1, 0, 2, 1]);
        assert_eq!(numbering.found(), [4711, 12, 0]);
        assert_eq!(numbering.note(), None);
    }

    #[test]
    fn processes_beyond_the_bound_share_the_last_number() {
        let mut numbering = Numbering::default();
        for process in 0..PROCESSES_MAX {
            assert_eq!(numbering.number(process + 100), process);
        }
        assert_eq!(numbering.note(), None);
        assert_eq!(numbering.number(7), PROCESSES_MAX - 1);
        assert_eq!(numbering.number(100), 0);
        assert_eq!(numbering.found().len(), PROCESSES_MAX as usize);
        assert!(numbering.note().is_some());
    }
}
