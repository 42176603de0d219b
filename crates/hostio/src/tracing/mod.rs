//! The kernel's tracing, through tracefs: a private instance, the format of its events, and the pages of its buffers.
//!
//! Shared by the capture of block requests and by the recorder of what an I/O passes.

mod format;
mod instance;
mod page;
mod refused;
mod shared;

pub(crate) use format::{field, id, number, text_of};
pub(crate) use instance::{Instance, Lost};
pub(crate) use page::{Seen, events};
pub(crate) use shared::Shared;
