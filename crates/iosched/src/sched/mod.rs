//! The schedulers, one file each, and what they are built from.

mod fifo;
pub mod noop;
pub mod pai;

pub(crate) use fifo::Fifo;
