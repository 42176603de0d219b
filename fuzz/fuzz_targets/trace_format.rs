//! See `trace_format` in src.

#![no_main]

use fathom_fuzz::trace_format::try_one;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| try_one(bytes));
