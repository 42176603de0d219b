//! The tests of devices, layers and the conformance suite.
//!
//! They are one program, because a program for each file would be linked for each file.

mod broken;
mod common;
mod conformance;
mod layers;
mod simulated;
