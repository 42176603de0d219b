//! The drive's memory: for writes and for reads. State machines without time and bytes; the engine moves the data.
//!
//! Writes: [`lines`] holds what is dirty and how much room there is, a [`policy`] what leaves when room is needed,
//! one file for each. The same two run inside the drive and, page by page, in front of one ([`reshape`]).

mod bplru;
mod epo;
mod fifo;
mod groups;
mod lb_clock;
mod lines;
mod links;
mod lru;
mod masks;
mod no_cache;
mod pages;
mod policy;
mod read;
mod requests;
pub mod reshape;
mod streams;

pub use pages::{Age, Evicted, PageBuffer, PageBufferError, Setup, Stored};

pub(crate) use lines::{LineSetup, LineView, Out, Piece, WriteLines};
pub(crate) use policy::{Elements, Shape};
pub(crate) use read::ReadLines;

use crate::spec::Listed;
use policy::{Leaving, Policy};
use serde::{Deserialize, Serialize};

/// One line for each policy: the enum of the drive file, its name there, the way to it without dynamic dispatch,
/// what it is in one line, and its longer explanation, `ABOUT` of its file.
macro_rules! buffers {
    ($($policy:ident $name:literal $file:ident: $help:literal),+ $(,)?) => {
        /// How the memory for writes keeps order, and what leaves it when it is full.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum WritePolicy {
            $(
                #[doc = $help]
                #[serde(rename = $name)]
                $policy,
            )+
        }

        impl WritePolicy {
            /// All of them.
            pub const ALL: &[WritePolicy] = &[$(WritePolicy::$policy),+];

            /// The name in a drive file.
            pub fn name(self) -> &'static str {
                match self {
                    $(WritePolicy::$policy => $name),+
                }
            }
        }

        /// Write buffers: values of `write_buffer.policy`, and `no-cache`.
        pub const BUFFERS: &[Listed] = &[$(
            Listed {
                name: $name,
                summary: $help,
                explanation: $file::ABOUT,
            }
        ),+];

        /// A policy with its state. An enum, so that no page pays for dynamic dispatch.
        #[derive(Clone, Debug)]
        pub(crate) enum AnyPolicy {
            $($policy($file::Order)),+
        }

        impl AnyPolicy {
            fn new(policy: WritePolicy, shape: &Shape) -> Self {
                match policy {
                    $(WritePolicy::$policy => AnyPolicy::$policy(Policy::new(shape))),+
                }
            }
        }

        macro_rules! each {
            ($self:ident, $any:ident => $call:expr) => {
                match $self {
                    $(AnyPolicy::$policy($any) => $call),+
                }
            };
        }
    };
}

buffers! {
    NoCache "no-cache" no_cache: "no buffer: every request goes to the drive as it came",
    Fifo "fifo" fifo: "evicts the oldest page; a rewrite takes new room",
    Lru "lru" lru: "evicts the page written longest ago; a rewrite replaces the page",
    Bplru "bplru" bplru: "evicts the block written longest ago, padded to a whole block",
    Epo "epo" epo: "evicts one page from the queue of every flash element at once",
    LbClock "lb-clock" lb_clock: "evicts the fullest of the blocks that were not written lately",
    Streams "streams" streams: "evicts whole sequential streams first, the rest in order of last use",
}

impl WritePolicy {
    /// The policy of that name.
    pub fn from_name(name: &str) -> Option<WritePolicy> {
        Self::ALL.iter().copied().find(|p| p.name() == name)
    }

    /// Whether a second write to a page replaces the first, whatever came between them.
    pub fn is_cache(self) -> bool {
        !matches!(self, WritePolicy::NoCache | WritePolicy::Fifo)
    }
}

impl AnyPolicy {
    #[inline]
    fn insert(&mut self, slot: u32, page: u32, request: u64) {
        each!(self, policy => policy.insert(slot, page, request));
    }
    #[inline]
    fn touch(&mut self, slot: u32, page: u32, request: u64) {
        each!(self, policy => policy.touch(slot, page, request));
    }
    #[inline]
    fn remove(&mut self, slot: u32) {
        each!(self, policy => policy.remove(slot));
    }
    fn choose(&mut self, leaving: &mut Leaving) {
        each!(self, policy => policy.choose(leaving));
    }
}
