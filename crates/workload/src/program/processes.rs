//! Several processes, each a closed loop over its own stream of accesses.

use super::Stream;
use fathom_base::Time;
use fathom_block::program::{Done, Next, Program, Request};
use fathom_block::{Access, Tag};

/// Closed loops that run side by side. The index of an actor is the index of its process.
#[derive(Debug)]
pub struct Processes<S> {
    loops: Vec<Stream<S>>,
}

impl<S> Processes<S> {
    /// Makes one process per source. Each keeps `outstanding` of its own accesses in flight, and waits for reads and
    /// writes alike.
    pub fn new(sources: impl IntoIterator<Item = S>, outstanding: u32) -> Self {
        let closed = |source| Stream::closed(source, outstanding);
        Self {
            loops: sources.into_iter().map(closed).collect(),
        }
    }
}

impl<S, E> Program for Processes<S>
where
    S: Iterator<Item = Result<Access, E>>,
    E: std::error::Error,
{
    type Error = E;

    fn actors(&self) -> usize {
        self.loops.len()
    }

    fn next(&mut self, actor: usize, now: Time) -> Result<Next, E> {
        let next = self.loops[actor].next(0, now)?;
        let tag = Tag {
            process: actor as u32,
            sync: true,
            ..Tag::default()
        };
        Ok(match next {
            Next::Request(request) => Next::Request(Request { tag, ..request }),
            wait => wait,
        })
    }

    fn done(&mut self, actor: usize, done: Done<'_>) -> Result<(), E> {
        self.loops[actor].done(0, done)
    }
}
