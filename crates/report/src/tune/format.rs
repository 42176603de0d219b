//! The forms in which programs read the settings. Each has a file in this directory, a `mod` line and a line in the list.
//!
//! Every form states the reason of a line in a comment, and at its end why a setting is missing. Nothing in them runs by
//! itself: a command that formats a drive names `DEVICE`.

mod comment;
mod form;
mod hwdb;
mod iocost;
mod mkfs;
mod postgresql;
mod rocksdb;
mod seastar;
mod tuned;
mod udev;

pub use form::Format;

/// All forms.
pub const FORMATS: [&Format; 8] = [
    &udev::FORMAT,
    &tuned::FORMAT,
    &mkfs::FORMAT,
    &iocost::FORMAT,
    &hwdb::FORMAT,
    &seastar::FORMAT,
    &rocksdb::FORMAT,
    &postgresql::FORMAT,
];
