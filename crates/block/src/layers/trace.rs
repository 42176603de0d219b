//! Trace: a record of every request and every completion that passes.
//!
//! Changes nothing. A request that the device was too busy for is not recorded; it will be when it is taken. Bytes are
//! not kept.

use crate::{
    Busy, Completion, Contents, Device, DeviceInfo, IoError, IoErrorKind, Op, Request, RequestId,
    Tag,
};
use fathom_base::Time;

/// Something that passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The device took a request.
    Submitted {
        /// When, on the device's clock.
        at: Time,
        /// Which.
        id: RequestId,
        /// What.
        op: Op,
        /// Where, in bytes.
        offset: u64,
        /// How much, in bytes.
        len: u64,
        /// Who and how.
        tag: Tag,
    },
    /// The device completed one.
    Completed {
        /// When it was done, on the device's clock.
        at: Time,
        /// Which.
        id: RequestId,
        /// What.
        op: Op,
        /// When it was submitted.
        submitted: Time,
        /// Why it failed, if it did.
        error: Option<IoErrorKind>,
    },
}

/// What takes events: a list that keeps them, or anything else.
pub trait Sink {
    /// Takes one, in the order in which they happened.
    fn take(&mut self, event: Event);
}

impl Sink for Vec<Event> {
    fn take(&mut self, event: Event) {
        self.push(event);
    }
}

impl<S: Sink + ?Sized> Sink for &mut S {
    fn take(&mut self, event: Event) {
        (**self).take(event);
    }
}

impl<S: Sink + ?Sized> Sink for Box<S> {
    fn take(&mut self, event: Event) {
        (**self).take(event);
    }
}

/// A device whose requests are recorded.
#[derive(Clone, Debug)]
pub struct Traced<D, S = Vec<Event>> {
    inner: D,
    sink: S,
}

impl<D: Device, S: Sink> Traced<D, S> {
    /// Hands every event of `inner` to `sink`; `Vec::new()` keeps them.
    pub fn new(inner: D, sink: S) -> Self {
        Self { inner, sink }
    }

    /// The device below.
    pub fn inner(&self) -> &D {
        &self.inner
    }

    /// Where the events went.
    pub fn sink(&self) -> &S {
        &self.sink
    }

    /// Where the events go, to change: to take a list out, for one.
    pub fn sink_mut(&mut self) -> &mut S {
        &mut self.sink
    }
}

impl<D: Device, S: Sink> Device for Traced<D, S> {
    fn info(&self) -> &DeviceInfo {
        self.inner.info()
    }

    fn now(&self) -> Time {
        self.inner.now()
    }

    fn contents(&mut self, offset: u64, len: u64) -> Result<Contents, IoError> {
        self.inner.contents(offset, len)
    }

    fn submit(&mut self, request: Request) -> Result<(), Busy> {
        let event = Event::Submitted {
            at: self.inner.now(),
            id: request.id,
            op: request.op,
            offset: request.offset,
            len: request.len,
            tag: request.tag,
        };
        self.inner.submit(request)?;
        self.sink.take(event);
        Ok(())
    }

    fn wait(&mut self, until: Time, done: &mut Vec<Completion>) {
        let start = done.len();
        self.inner.wait(until, done);
        for completion in done.get(start..).unwrap_or_default() {
            self.sink.take(Event::Completed {
                at: completion.completed,
                id: completion.id,
                op: completion.op,
                submitted: completion.submitted,
                error: completion.result.err().map(|error| error.kind),
            });
        }
    }
}
