//! Any bytes, as a stream whose format is to be told, plain or compressed.

use fathom_trace::Options;
use std::io::Cursor;

/// Tries one input.
pub fn try_one(bytes: &[u8]) {
    for lenient in [false, true] {
        let options = Options {
            lenient,
            ..Options::default()
        };
        let Ok(trace) = fathom_trace::open(Box::new(Cursor::new(bytes.to_vec())), &options) else {
            return;
        };
        // A small input may unpack to a large one.
        for access in trace.take(100_000) {
            if let Err(error) = access {
                assert!(!error.to_string().is_empty());
                assert!(!(lenient && error.is_skippable()));
            }
        }
    }
}
