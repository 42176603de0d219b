//! Any bytes, read as the format that the first byte names, with the options of the second.

use fathom_base::{Bytes, Time};
use fathom_trace::{BlockEvent, Format, Options, Place, TraceError};
use std::io::Cursor;

/// Tries one input.
pub fn try_one(bytes: &[u8]) {
    let [format, switches, bytes @ ..] = bytes else {
        return;
    };
    let options = Options {
        format: Some(Format::ALL[usize::from(*format) % Format::ALL.len()]),
        lenient: false,
        block_event: if switches & 1 == 0 {
            BlockEvent::Dispatch
        } else {
            BlockEvent::Queue
        },
        disksim_size_unit: Bytes(1 << (switches >> 1 & 15)),
        reorder: (switches & 32 != 0).then_some(u32::from(switches >> 6)),
    };
    let (strict, _) = read(bytes, &options);
    let lenient = Options {
        lenient: true,
        ..options
    };
    let (kept, fatal) = read(bytes, &lenient);
    assert!(kept >= strict);
    assert!(!fatal.is_some_and(|error| error.is_skippable()));
}

/// Reads to the end or the first error.
fn read(bytes: &[u8], options: &Options) -> (usize, Option<TraceError>) {
    let trace = match fathom_trace::open(Box::new(Cursor::new(bytes.to_vec())), options) {
        Ok(trace) => trace,
        Err(error) => return (0, Some(error)),
    };
    let (mut count, mut last) = (0, Time::ZERO);
    for access in trace.take(100_000) {
        match access {
            Ok(access) => {
                assert!(last <= access.at);
                assert!(access.offset.checked_add(access.len).is_some());
                last = access.at;
                count += 1;
            }
            Err(error) => {
                assert!(!error.to_string().is_empty() && !error.help().is_empty());
                assert_ne!(error.place, Place::Input);
                return (count, Some(error));
            }
        }
    }
    (count, None)
}
