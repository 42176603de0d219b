//! The drive's memory: for writes and for reads. State machines without time; the engine moves the data.

mod read;
mod write;

pub(crate) use read::ReadLines;
pub(crate) use write::{LineView, Piece, WriteLines};
