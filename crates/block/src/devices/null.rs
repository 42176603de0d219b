//! The null device: completes everything after a fixed time and stores nothing.
//!
//! With a latency of zero, any time that a stack above it takes is the stack's own. A read returns no data. It checks
//! requests like every device, and completes an invalid one with the error after the same time.

use super::fixed::{Fixed, Serve, Served};
use crate::{IoErrorKind, Request};

/// Completes everything after a fixed time; stores no bytes.
pub type NullDevice = Fixed<Nothing>;

/// The store of the null device.
#[derive(Clone, Debug, Default)]
pub struct Nothing;

impl Serve for Nothing {
    fn serve(&mut self, _: &Request) -> Result<Served, IoErrorKind> {
        Ok(Served::default())
    }
}
