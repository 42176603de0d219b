//! The threads of a load: whether they are in the kernel, and what their system call did before its way was known.

use super::doing::{Doing, settled, settled_of_submitter};
use crate::layer::Layer;
use fathom_block::kernel::Event;
use std::collections::BTreeMap;

/// Time and events on a CPU that belong to no layer yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pending {
    pub(super) cpu: u16,
    pub(super) time: u64,
    pub(super) events: u64,
}

/// A thread of the load.
#[derive(Clone, Debug, Default)]
pub(super) struct Thread {
    /// It is in a system call; `None` if unknown.
    in_call: Option<bool>,
    /// It works in the kernel for the load, and never leaves it.
    submitter: bool,
    /// The layer of what is pending, unless the next event tells otherwise.
    open: Option<Layer>,
    pub(super) pending: Vec<Pending>,
}

impl Thread {
    /// Returns what it does when it gets a processor back.
    pub(super) fn resumed(&self) -> Doing {
        match self.in_call {
            Some(false) => Doing::Layer(Layer::Application),
            _ if self.submitter => Doing::Open(Layer::Polling),
            Some(true) => Doing::Layer(Layer::ContextSwitch),
            None => Doing::Unknown,
        }
    }

    /// Returns true if an event of its tells nothing of what it did, as long as its state is unknown.
    pub(super) fn is_unknown(&self) -> bool {
        self.in_call.is_none() && !self.submitter
    }

    /// Learns from an event whether it is in a system call.
    pub(super) fn learn(&mut self, event: &Event) {
        match event {
            Event::Enter(_) => self.in_call = Some(true),
            Event::Exit(..) => self.in_call = Some(false),
            Event::BioQueue(_) | Event::GetRequest(_) | Event::Issue(_) | Event::UringSubmit => {
                self.in_call.get_or_insert(true);
            }
            _ => {}
        }
    }

    /// Returns the layer of what is pending, which the thread's next event tells.
    pub(super) fn settled(&self, next: Option<&Event>, polls: bool) -> Layer {
        let open = self.open.unwrap_or(Layer::SystemCall);
        match self.submitter {
            true => settled_of_submitter(open, next),
            false => settled(open, next, polls),
        }
    }

    pub(super) fn add(&mut self, open: Layer, more: Pending) {
        self.open = Some(open);
        match self
            .pending
            .iter_mut()
            .find(|pending| pending.cpu == more.cpu)
        {
            Some(pending) => {
                pending.time += more.time;
                pending.events += more.events;
            }
            None => self.pending.push(more),
        }
    }
}

/// The threads of the load, by their numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Threads(BTreeMap<u32, Thread>);

impl Threads {
    pub(super) fn new(callers: &[u32], submitter: Option<u32>) -> Self {
        let callers = callers.iter().map(|thread| (*thread, Thread::default()));
        let mut all: BTreeMap<u32, Thread> = callers.collect();
        if let Some(submitter) = submitter {
            all.entry(submitter).or_default().submitter = true;
        }
        Self(all)
    }

    pub(super) fn get(&self, thread: u32) -> Option<&Thread> {
        self.0.get(&thread)
    }

    pub(super) fn get_mut(&mut self, thread: u32) -> Option<&mut Thread> {
        self.0.get_mut(&thread)
    }

    pub(super) fn numbers(&self) -> Vec<u32> {
        self.0.keys().copied().collect()
    }

    /// Forgets where the threads are, but for those that run elsewhere.
    pub(super) fn forget(&mut self, running: &[u32]) {
        for (number, thread) in &mut self.0 {
            if !running.contains(number) {
                thread.in_call = None;
            }
        }
    }
}
