//! The schedulers, one file each, and the data structures that they share.

pub mod anticipatory;
pub mod bfq;
mod bundles;
pub mod cfq;
pub mod deadline;
mod fifo;
#[cfg(test)]
pub(crate) mod hand;
mod irbw;
pub mod irbw_fifo;
pub mod irbw_fifo_rp;
pub mod kyber;
pub mod mq_deadline;
pub mod mq_none;
pub mod noop;
pub mod pai;
mod seek;
mod sorted_queue;
mod wf2q;

pub(crate) use fifo::Fifo;
pub(crate) use sorted_queue::{Place, Pool, SortedQueue, place};
