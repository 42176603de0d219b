//! See `trace_detect` in src.

#![no_main]

use fathom_fuzz::trace_detect::try_one;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| try_one(bytes));
