//! The tests of devices, layers and the conformance suite.
//!
//! They are one program, because each separate file would be linked on its own.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod broken;
mod common;
mod conformance;
mod layers;
mod limited;
mod placement;
mod simulated;
mod zone_torture;
mod zoned;
