//! See `filebench_file` in src.

#![no_main]

use fathom_fuzz::filebench_file::try_one;

libfuzzer_sys::fuzz_target!(|text: &str| try_one(text));
