//! What a platform has done: clocks by layer, time by phase, and counts.

use crate::{Layer, Phase};
use fathom_base::{Dur, Frequency};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The work of a platform since it was made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostWork {
    /// Number of I/Os done.
    pub ios: u64,
    /// Number of system calls.
    pub system_calls: u64,
    /// Number of interrupts.
    pub interrupts: u64,
    /// Number of times that a thread slept and was woken.
    pub sleeps: u64,
    /// Clocks of all processors, by layer; those without any are left out.
    pub clocks: BTreeMap<Layer, u64>,
    /// Time of all I/Os, by phase; those without any are left out.
    pub phases: BTreeMap<Phase, Dur>,
    /// Time for which each processor computed.
    pub busy: Vec<Dur>,
    /// Time since the platform was made.
    pub time: Dur,
}

impl HostWork {
    /// Clocks of all layers for each I/O, without idle time and polling; `None` without an I/O.
    pub fn clocks_per_io(&self) -> Option<f64> {
        let waits = |layer: &Layer| matches!(layer, Layer::Idle | Layer::Polling);
        let spent = self.clocks.iter().filter(|(layer, _)| !waits(layer));
        let sum: u64 = spent.map(|(_, clocks)| clocks).sum();
        (self.ios > 0).then(|| sum as f64 / self.ios as f64)
    }

    /// Mean latency of an I/O in nanoseconds, from the program's request to its continuation; `None` without an I/O.
    pub fn latency_ns(&self) -> Option<f64> {
        let sum: f64 = self.phases.values().map(|time| time.0 as f64).sum();
        (self.ios > 0).then(|| sum / self.ios as f64)
    }

    /// Mean time of an I/O outside of the drive in nanoseconds: all phases but [`Phase::Device`].
    pub fn platform_ns(&self) -> Option<f64> {
        let device = self.phases.get(&Phase::Device).copied().unwrap_or_default();
        Some(self.latency_ns()? - device.0 as f64 / self.ios as f64)
    }

    /// Mean share of the processors' time in which they compute, from 0 to 1.
    pub fn utilisation(&self) -> f64 {
        let busy: f64 = self.busy.iter().map(|busy| busy.0 as f64).sum();
        let all = self.busy.len() as f64 * self.time.0 as f64;
        if all > 0.0 { busy / all } else { 0.0 }
    }
}

/// Clocks by layer and time by phase, as they are counted.
#[derive(Clone, Debug, Default)]
pub(super) struct Spent {
    clocks: [u64; Layer::ALL.len()],
    phases: [Dur; Phase::ALL.len()],
}

impl Spent {
    pub(super) fn spend(&mut self, layer: Layer, clocks: u64) {
        self.clocks[layer as usize] += clocks;
    }

    pub(super) fn take(&mut self, phase: Phase, time: Dur) {
        self.phases[phase as usize] += time;
    }

    /// Adds to a work, with the time in which nothing computes.
    pub(super) fn add_to(mut self, work: HostWork, clock: Frequency) -> HostWork {
        let spent: u64 = self.clocks.iter().sum();
        let all = clock
            .clocks_in(work.time)
            .saturating_mul(work.busy.len() as u64);
        self.spend(Layer::Idle, all.saturating_sub(spent));
        let of = |layer: Layer| (layer, self.clocks[layer as usize]);
        let took = |phase: Phase| (phase, self.phases[phase as usize]);
        let (layers, phases) = (Layer::ALL.map(of), Phase::ALL.map(took));
        HostWork {
            clocks: layers.into_iter().filter(|(_, n)| *n > 0).collect(),
            phases: phases.into_iter().filter(|(_, t)| t.0 > 0).collect(),
            ..work
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_spent_is_told_under_its_name() {
        for (number, layer) in Layer::ALL.into_iter().enumerate() {
            assert_eq!(layer as usize, number, "{layer:?}");
        }
        for (number, phase) in Phase::ALL.into_iter().enumerate() {
            assert_eq!(phase as usize, number, "{phase:?}");
        }
        let mut spent = Spent::default();
        spent.spend(Layer::Driver, 300);
        spent.take(Phase::Wake, Dur(7));
        let work = HostWork {
            busy: vec![Dur(300); 2],
            time: Dur(1_000),
            ..HostWork::default()
        };
        let work = spent.add_to(work, Frequency::new(1_000_000_000).unwrap());
        let clocks = [(Layer::Driver, 300), (Layer::Idle, 1_700)];
        assert_eq!(work.clocks, clocks.into());
        assert_eq!(work.phases, [(Phase::Wake, Dur(7))].into());
    }
}
