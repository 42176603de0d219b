//! Targets, run records on disk, campaigns: the only crate that knows every layer.
