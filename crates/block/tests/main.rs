//! The tests of devices, layers and the conformance suite.
//!
//! They are one program, because each separate file would be linked on its own.

mod broken;
mod common;
mod conformance;
mod layers;
mod simulated;
