//! What a load is, and what the processors spent on it.

use super::route::Route;
use crate::layer::Layer;
use fathom_block::kernel::Tracepoint;

/// A load, and the time in which it is looked at.
#[derive(Clone, Debug, Default)]
pub struct Load {
    /// The threads that do I/O, as the kernel numbers them.
    pub threads: Vec<u32>,
    /// Its devices.
    pub route: Route,
    /// Begin of the time, on the clock of the records. Earlier records tell what the processors were doing then.
    pub from: u64,
    /// End of the time.
    pub to: u64,
    /// Number of processors.
    pub cpus: u16,
    /// The events that were not recorded.
    pub missing: Vec<Tracepoint>,
}

/// What a processor did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTime {
    /// Time by [`Layer::ALL`].
    pub time: [u64; Layer::ALL.len()],
    /// Number of recorded events whose cost is in that time.
    pub events: [u64; Layer::ALL.len()],
    /// Time that the events do not tell: where some were lost, and before the first of them.
    pub unattributed: u64,
}

/// What all processors did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clocks {
    /// By processor. The layers and what is unattributed sum to the length of the time.
    pub cpus: Vec<CpuTime>,
    /// Number of requests that completed on the devices.
    pub completions: u64,
    /// Number of switches between threads.
    pub switches: u64,
    /// Number of switches to or from a thread of the load.
    pub own_switches: u64,
    /// Number of switches that the kernel did not report.
    pub unseen_switches: u64,
    /// Number of recorded events while a thread that does I/O had a processor, interrupts included: those whose cost is in
    /// the processor time of these threads. Without those of the kernel's thread that submits.
    pub own_events: u64,
    /// The layers that the recording cannot tell.
    pub unseen: Vec<Layer>,
}

impl Clocks {
    /// Returns the time of a layer on all processors; `None` if the recording cannot tell it.
    pub fn of(&self, layer: Layer) -> Option<u64> {
        let sum = self.cpus.iter().map(|cpu| cpu.time[layer as usize]).sum();
        (!self.unseen.contains(&layer)).then_some(sum)
    }

    /// Returns the number of events in a layer on all processors.
    pub fn events(&self, layer: Layer) -> u64 {
        self.cpus.iter().map(|cpu| cpu.events[layer as usize]).sum()
    }

    /// Returns the unattributed time of all processors.
    pub fn unattributed(&self) -> u64 {
        self.cpus.iter().map(|cpu| cpu.unattributed).sum()
    }
}

/// Returns the layers that no recording tells, and those that this one lacks the events for.
pub(super) fn unseen(missing: &[Tracepoint]) -> Vec<Layer> {
    let mut layers = vec![Layer::Protocol, Layer::UncachedReads];
    for point in missing {
        layers.extend(match point {
            Tracepoint::Enter(_) | Tracepoint::Exit(_) => {
                &[Layer::Application, Layer::SystemCall][..]
            }
            Tracepoint::BioQueue => &[Layer::FileSystem, Layer::Block],
            Tracepoint::Issue => &[Layer::Driver],
            Tracepoint::Complete => &[Layer::Completion, Layer::Interrupt, Layer::Polling],
            Tracepoint::SoftEntry | Tracepoint::IrqEntry => &[Layer::Interrupt],
            Tracepoint::Switch => &[Layer::ContextSwitch, Layer::Idle],
            Tracepoint::PagesReady => &[Layer::Copy],
            _ => &[],
        });
    }
    layers.sort_unstable();
    layers.dedup();
    layers
}
