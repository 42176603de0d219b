//! What is told of I/Os and processors from the events of a kernel: examples by hand, random sequences, and damaged ones.

mod clocks;
mod damaged;
mod latency;

use fathom_block::kernel::{Call, Event, Record, Span};
use fathom_platform::measured::{Io, Route};

/// The thread that does I/O, and others.
const CALLER: u32 = 100;
const KSOFTIRQD: u32 = 14;
const KWORKER: u32 = 23;
const DEV: u32 = 7 << 20;

fn route() -> Route {
    Route {
        queued: vec![DEV],
        issued: vec![DEV],
        ..Route::default()
    }
}

fn span(sector: u64) -> Span {
    Span {
        dev: DEV,
        sector,
        sectors: 8,
    }
}

fn record(at: u64, cpu: u16, thread: u32, event: Event) -> Record {
    Record {
        at,
        thread,
        cpu,
        event,
    }
}

fn sleep(to: u32) -> Event {
    Event::Switch {
        to,
        preempted: false,
    }
}

/// An I/O through `pread` that sleeps and is completed on another processor, from its caller's stamp 0 to 100.
fn sleeping() -> (Io, Vec<Record>) {
    let records = vec![
        record(3, 0, CALLER, Event::Enter(Call::Pread)),
        record(10, 0, CALLER, Event::BioQueue(span(64))),
        record(12, 0, CALLER, Event::GetRequest(span(64))),
        record(15, 0, CALLER, Event::Issue(span(64))),
        record(20, 0, CALLER, sleep(0)),
        record(60, 1, KSOFTIRQD, Event::Complete(span(64))),
        record(65, 1, KSOFTIRQD, Event::Waking(CALLER)),
        record(72, 0, 0, sleep(CALLER)),
        record(90, 0, CALLER, Event::Exit(Call::Pread, 4096)),
    ];
    let io = Io {
        thread: CALLER,
        before: 0,
        after: 100,
    };
    (io, records)
}
