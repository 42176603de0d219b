//! See `trace_parquet` in src.

#![no_main]

use fathom_fuzz::trace_parquet::try_one;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| try_one(bytes));
