//! The schedulers, one file each, and what they are built from.

pub mod deadline;
mod fifo;
#[cfg(test)]
mod hand;
mod line;
pub mod irbw_fifo;
pub mod irbw_fifo_rp;
mod bundles;
pub mod mq_deadline;
pub mod kyber;
pub mod noop;
pub mod pai;

pub(crate) use fifo::Fifo;
pub(crate) use line::{Line, Place, Pool, place};
