//! What a processor does between two events.

use super::route::Route;
use crate::layer::Layer;
use fathom_block::kernel::{Event, Interrupt};

/// What a processor does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Doing {
    /// The events do not say.
    #[default]
    Unknown,
    /// A layer's work.
    Layer(Layer),
    /// Work of a thread of the load whose layer the thread's next event tells: this one, unless it tells otherwise.
    Open(Layer),
}

/// Who runs, when nothing interrupts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    /// A thread of the load, or one that submits for it.
    Load,
    /// Any other thread; the idle thread while it is not idle.
    Other,
}

/// Returns what an event of a thread of the load, or of an interrupt, begins; `None` if it does not change what is done.
pub(super) fn begins(event: &Event, now: Doing, who: Who, route: &Route) -> Option<Doing> {
    let layer = |layer| Some(Doing::Layer(layer));
    let ours = |dev| route.is_issued(dev) || route.is_queued(dev);
    match *event {
        Event::BioQueue(span) | Event::GetRequest(span) | Event::Insert(span)
            if ours(span.dev) || who == Who::Load =>
        {
            layer(Layer::Block)
        }
        Event::BioSplit(span) | Event::Requeue(span) if ours(span.dev) => layer(Layer::Block),
        Event::Enter(_) if who == Who::Load => Some(Doing::Open(Layer::SystemCall)),
        Event::Exit(..) if who == Who::Load => layer(Layer::Application),
        Event::Issue(_) if who == Who::Load => Some(Doing::Open(Layer::Driver)),
        Event::Issue(span) if ours(span.dev) => layer(Layer::Driver),
        Event::Complete(span) | Event::BioComplete(span) if ours(span.dev) => {
            layer(Layer::Completion)
        }
        // What wakes the caller is part of the completion, and of what else wakes, of the scheduler.
        Event::Waking(_) | Event::Woken(_) => match now {
            Doing::Layer(Layer::Completion | Layer::Interrupt) => None,
            _ if who == Who::Load => layer(Layer::ContextSwitch),
            _ => None,
        },
        Event::UringComplete if who == Who::Load => layer(Layer::Completion),
        Event::UringSubmit if who == Who::Load => Some(Doing::Open(Layer::SystemCall)),
        Event::DirectDone if who == Who::Load => layer(Layer::FileSystem),
        Event::PagesReady if who == Who::Load => layer(Layer::Copy),
        _ => None,
    }
}

/// Returns what an interrupt does at first.
pub(super) fn interrupt(kind: Interrupt, completing: bool) -> Doing {
    Doing::Layer(match kind {
        _ if completing => Layer::Interrupt,
        Interrupt::Reschedule => Layer::ContextSwitch,
        _ => Layer::Other,
    })
}

/// Returns the layer of what a thread of the load did before an event, if it would be this one otherwise. If it looks for
/// completions, that was before one; otherwise the driver has completed the request at once.
pub(super) fn settled(open: Layer, next: Option<&Event>, polls: bool) -> Layer {
    match (open, next) {
        (_, Some(Event::Complete(_))) if polls => Layer::Polling,
        (Layer::SystemCall | Layer::Polling, Some(Event::BioQueue(_))) => Layer::FileSystem,
        (Layer::SystemCall, Some(Event::PagesReady | Event::DirectDone)) => Layer::FileSystem,
        _ => open,
    }
}

/// The same for a submission thread. It polls whenever it has nothing else to do, but not between two requests that it issues,
/// or posts, at once.
pub(super) fn settled_of_submitter(open: Layer, next: Option<&Event>) -> Layer {
    match (open, next) {
        (Layer::Driver, Some(Event::Issue(_))) => Layer::Driver,
        (Layer::Completion, Some(Event::UringComplete)) => Layer::Completion,
        (_, Some(Event::BioQueue(_))) => Layer::FileSystem,
        _ => Layer::Polling,
    }
}
