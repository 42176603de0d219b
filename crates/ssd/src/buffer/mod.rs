//! The drive's memory: for writes and for reads. State machines without time and bytes; the engine moves the data.
//!
//! Writes: [`lines`] holds what is dirty and how much room there is, a [`policy`] what leaves when room is needed,
//! one file for each. The same two run inside the drive and, page by page, in front of one ([`reshape`]).

mod bplru;
mod epo;
mod fifo;
mod groups;
mod lb_clock;
pub(crate) mod lines;
mod links;
mod lru;
mod masks;
mod no_cache;
pub(crate) mod pages;
pub(crate) mod policy;
pub(crate) mod read;
mod requests;
pub mod reshape;
mod streams;

use fathom_base::registry::Text;
use fathom_base::{Kind, names};
use policy::{Leaving, Policy, Shape};

/// Write buffers: values of `write_buffer.policy`, and `no-cache`.
const BUFFER: Kind = Kind {
    one: "write buffer",
    list: "buffers",
    summary: "Write buffers",
    prefix: "",
    option: "--buffer",
    text: Text::Prose,
};

/// One line for each policy: its name in a drive file, its entry (`ABOUT` of its file), and the way to it without dynamic
/// dispatch.
macro_rules! buffers {
    ($($policy:ident = $name:literal, $file:ident;)+) => {
        names! {
            /// How the memory for writes keeps order, and what leaves it when it is full.
            pub enum WritePolicy of BUFFER in POLICIES {
                $($policy = $name, $file::ABOUT.example(concat!($name, ",capacity=8MiB"));)+
            }
        }

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
    NoCache = "no-cache", no_cache;
    Fifo = "fifo", fifo;
    Lru = "lru", lru;
    Bplru = "bplru", bplru;
    Epo = "epo", epo;
    LbClock = "lb-clock", lb_clock;
    Streams = "streams", streams;
}

impl WritePolicy {
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
