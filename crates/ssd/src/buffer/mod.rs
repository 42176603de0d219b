//! Write buffer and read buffer of the drive. They are state machines without time and data; the engine moves the data.
//!
//! For writes, [`lines`] holds the dirty sectors and accounts for the room, and a [`policy`] chooses what to evict.
//! Each policy has a file of its own. Both are used inside the drive and, page by page, in front of a drive
//! ([`reshape`]).

mod bplru;
mod epo;
mod fifo;
mod groups;
mod lb_clock;
pub(crate) mod lines;
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

/// Lists the policies, one per line: the name in a drive file and the module, which has the description (`ABOUT`) and
/// the state (`Order`). Generates the enum of names and an enum of states that needs no dynamic dispatch.
macro_rules! buffers {
    ($($policy:ident = $name:literal, $file:ident;)+) => {
        names! {
            /// Eviction policy of the write buffer: the order of its pages, and which of them leave when it is full.
            pub enum WritePolicy of BUFFER in POLICIES {
                $($policy = $name, $file::ABOUT.example(concat!($name, ",capacity=8MiB"));)+
            }
        }

        /// A policy with its state. It is an enum, so that no page pays for dynamic dispatch.
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
    /// Returns true if a second write to a page replaces the first, even if other pages were written in between.
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
