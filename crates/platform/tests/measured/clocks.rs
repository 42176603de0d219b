//! The layers of the processors' time, by hand.

use super::{CALLER, KSOFTIRQD, KWORKER, record, route, sleep, span};
use fathom_block::kernel::{Call, Event, Interrupt, Record, Tracepoint};
use fathom_platform::Layer;
use fathom_platform::measured::{Clocks, Load, Route, clocks};

fn load(route: Route, to: u64) -> Load {
    Load {
        threads: vec![CALLER],
        route,
        from: 0,
        to,
        cpus: 1,
        missing: Vec::new(),
    }
}

fn on_one(events: &[(u64, u32, Event)]) -> Vec<Record> {
    let record = |(at, thread, event): &(u64, u32, Event)| record(*at, 0, *thread, *event);
    events.iter().map(record).collect()
}

/// Returns the layers with any time, and what is unattributed.
fn layers(found: &Clocks) -> (Vec<(Layer, u64, u64)>, u64) {
    let of = |layer: Layer| Some((layer, found.of(layer)?, found.events(layer)));
    let all = Layer::ALL.into_iter().filter_map(of);
    (
        all.filter(|(_, time, _)| *time > 0).collect(),
        found.unattributed(),
    )
}

#[test]
fn a_synchronous_read_of_a_loop_device() {
    let block = Interrupt::Soft(4);
    let records = on_one(&[
        (10, CALLER, Event::Enter(Call::Pread)),
        (14, CALLER, Event::BioQueue(span(0))),
        (15, CALLER, Event::GetRequest(span(0))),
        (17, CALLER, Event::Issue(span(0))),
        (20, CALLER, Event::Waking(KWORKER)),
        (26, CALLER, sleep(KWORKER)),
        (30, KWORKER, Event::Waking(KSOFTIRQD)),
        (34, KWORKER, sleep(KSOFTIRQD)),
        (35, KSOFTIRQD, Event::Interrupt(block)),
        (37, KSOFTIRQD, Event::Complete(span(0))),
        (38, KSOFTIRQD, Event::Waking(CALLER)),
        (42, KSOFTIRQD, Event::InterruptEnd(block)),
        (45, KSOFTIRQD, sleep(CALLER)),
        (53, CALLER, Event::Exit(Call::Pread, 4096)),
    ]);
    let found = clocks(&records, &load(route(), 60));
    let expected = vec![
        (Layer::Application, 7, 1),
        (Layer::FileSystem, 4, 1),
        (Layer::Block, 3, 2),
        (Layer::Driver, 3, 1),
        (Layer::Interrupt, 2, 1),
        (Layer::Completion, 5, 2),
        // From the waking of the worker to the switch, and from the switch back to the end of the call.
        (Layer::ContextSwitch, 6 + 8, 2),
        (Layer::Other, 4 + 4 + 1 + 3, 4),
    ];
    // The events do not say what was before the first of them.
    assert_eq!(layers(&found), (expected, 10));
    assert_eq!(
        (found.completions, found.switches, found.own_switches),
        (1, 3, 2)
    );
    assert_eq!(found.of(Layer::Protocol), None);
    assert_eq!(found.of(Layer::Copy), Some(0));
}

#[test]
fn an_interrupt_of_the_device_is_known_by_the_completion_behind_it() {
    let (irq, soft, timer) = (Interrupt::Device(36), Interrupt::Soft(4), Interrupt::Timer);
    let other = Interrupt::Device(9);
    let records = on_one(&[
        (0, 0, Event::Interrupt(other)),
        (3, 0, Event::InterruptEnd(other)),
        (4, 0, sleep(KWORKER)),
        (5, KWORKER, sleep(0)),
        (10, 0, Event::Interrupt(irq)),
        (14, 0, Event::InterruptEnd(irq)),
        (15, 0, Event::Interrupt(soft)),
        (17, 0, Event::Complete(span(0))),
        (20, 0, Event::Interrupt(timer)),
        (26, 0, Event::InterruptEnd(timer)),
        (29, 0, Event::InterruptEnd(soft)),
    ]);
    let found = clocks(&records, &load(route(), 40));
    let expected = vec![
        (Layer::Interrupt, 4 + 2, 2),
        (Layer::Completion, 3 + 3, 2),
        (Layer::Other, 3 + 1 + 6, 3),
        (Layer::Idle, 1 + 5 + 1 + 11, 4),
    ];
    assert_eq!(layers(&found), (expected, 0));
}

#[test]
fn polling_is_what_ends_with_a_completion_of_the_callers_own() {
    let records = on_one(&[
        (0, CALLER, Event::Enter(Call::UringEnter)),
        (1, CALLER, Event::UringSubmit),
        (4, CALLER, Event::BioQueue(span(0))),
        (6, CALLER, Event::Issue(span(0))),
        (10, CALLER, Event::UringSubmit),
        (12, CALLER, Event::BioQueue(span(8))),
        (13, CALLER, Event::Issue(span(8))),
        (40, CALLER, Event::Complete(span(0))),
        (42, CALLER, Event::UringComplete),
        (45, CALLER, Event::Exit(Call::UringEnter, 1)),
        (50, CALLER, Event::Enter(Call::UringEnter)),
        (70, CALLER, Event::Complete(span(8))),
        (71, CALLER, Event::Exit(Call::UringEnter, 1)),
    ]);
    let polls = Route {
        polls: true,
        ..route()
    };
    let found = clocks(&records, &load(polls, 75));
    // A driver may also complete a request within its issue.
    let at_once = clocks(&records, &load(route(), 75));
    assert_eq!(at_once.of(Layer::Polling), Some(0));
    assert_eq!(at_once.of(Layer::Driver), Some(4 + 27));
    let expected = vec![
        (Layer::Application, 5 + 4, 2),
        (Layer::SystemCall, 1, 1),
        (Layer::FileSystem, 3 + 2, 2),
        (Layer::Block, 2 + 1, 2),
        (Layer::Driver, 4, 1),
        (Layer::Completion, 2 + 3 + 1, 3),
        (Layer::Polling, 27 + 20, 2),
    ];
    assert_eq!(layers(&found), (expected, 0));
}

#[test]
fn a_submission_thread_polls_when_it_does_not_submit() {
    let with = Route {
        submitter: Some(KWORKER),
        ..route()
    };
    let records = on_one(&[
        (0, KWORKER, Event::UringSubmit),
        (3, KWORKER, Event::BioQueue(span(0))),
        (5, KWORKER, Event::Issue(span(0))),
        (30, KWORKER, Event::UringSubmit),
        (33, KWORKER, Event::BioQueue(span(8))),
        (35, KWORKER, Event::Issue(span(8))),
    ]);
    let found = clocks(&records, &load(with, 40));
    let expected = vec![
        (Layer::FileSystem, 3 + 3, 2),
        (Layer::Block, 2 + 2, 2),
        (Layer::Polling, 25 + 5, 2),
    ];
    assert_eq!(layers(&found), (expected, 0));
}

#[test]
fn a_submission_thread_does_not_poll_within_a_batch() {
    let with = Route {
        submitter: Some(KWORKER),
        ..route()
    };
    let timer = Interrupt::Timer;
    let records = on_one(&[
        (0, KWORKER, Event::GetRequest(span(0))),
        (2, KWORKER, Event::Issue(span(0))),
        (12, KWORKER, Event::Issue(span(8))),
        (21, KWORKER, Event::Interrupt(timer)),
        (22, KWORKER, Event::Complete(span(0))),
        (26, KWORKER, Event::InterruptEnd(timer)),
        (27, KWORKER, Event::Issue(span(16))),
        (40, KWORKER, Event::UringComplete),
        (42, KWORKER, Event::UringComplete),
        (45, KWORKER, Event::UringSubmit),
    ]);
    let found = clocks(&records, &load(with, 46));
    let expected = [
        (Layer::Block, 2),
        (Layer::Driver, 10 + 9 + 1),
        (Layer::Interrupt, 1),
        (Layer::Completion, 4 + 2),
        // What follows the last one of a batch may be either: it is polling.
        (Layer::Polling, 13 + 3 + 1),
    ];
    let (layers, unattributed) = layers(&found);
    let of = |layer: Layer| layers.iter().find(|found| found.0 == layer);
    assert_eq!(unattributed, 0);
    for (layer, time) in expected {
        assert_eq!(of(layer).map(|found| found.1), Some(time), "{layer:?}");
    }
}

#[test]
fn a_buffered_read_copies_after_its_pages_are_there() {
    let records = on_one(&[
        (0, CALLER, Event::Enter(Call::Pread)),
        (5, CALLER, Event::PagesReady),
        (12, CALLER, Event::Exit(Call::Pread, 4096)),
    ]);
    let found = clocks(&records, &load(route(), 15));
    let expected = vec![
        (Layer::Application, 3, 1),
        (Layer::FileSystem, 5, 1),
        (Layer::Copy, 7, 1),
    ];
    assert_eq!(layers(&found), (expected, 0));
    let mut without = load(route(), 15);
    without.missing = vec![Tracepoint::PagesReady];
    assert_eq!(clocks(&records, &without).of(Layer::Copy), None);
}

#[test]
fn a_thread_preempted_in_its_program_goes_on_there() {
    let away = Event::Switch {
        to: KWORKER,
        preempted: true,
    };
    let records = on_one(&[
        (0, CALLER, Event::Exit(Call::Pread, 4096)),
        (5, CALLER, away),
        (9, KWORKER, sleep(CALLER)),
        (20, CALLER, Event::Enter(Call::Pread)),
    ]);
    let found = clocks(&records, &load(route(), 25));
    let expected = vec![
        (Layer::Application, 5 + 11, 2),
        (Layer::SystemCall, 5, 1),
        (Layer::Other, 4, 1),
    ];
    assert_eq!(layers(&found), (expected, 0));
}

#[test]
fn a_switch_that_the_kernel_does_not_report_is_found() {
    let call = Interrupt::Call;
    let records = on_one(&[
        (0, KWORKER, sleep(0)),
        (10, 0, Event::Interrupt(call)),
        (12, 0, Event::InterruptEnd(call)),
        (16, KWORKER, sleep(0)),
        // Woken without an interrupt: where idling ends is unknown.
        (30, KWORKER, sleep(0)),
    ]);
    let found = clocks(&records, &load(route(), 40));
    let expected = vec![
        (Layer::ContextSwitch, 4, 0),
        (Layer::Other, 2, 1),
        (Layer::Idle, 10 + 10, 4),
    ];
    assert_eq!(layers(&found), (expected, 14));
    assert_eq!(found.unseen_switches, 2);
}

#[test]
fn lost_events_leave_their_time_unattributed() {
    let lost = Event::Lost {
        since: 10,
        count: Some(3),
    };
    let mut records = on_one(&[
        (0, CALLER, Event::Exit(Call::Pread, 4096)),
        (10, CALLER, Event::Enter(Call::Pread)),
        (30, CALLER, lost),
        (30, CALLER, Event::BioQueue(span(0))),
    ]);
    let found = clocks(&records, &load(route(), 40));
    assert_eq!(found.unattributed(), 20);
    assert_eq!(found.of(Layer::Block), Some(10));
    // Lost at an unknown time.
    let lost = Event::Lost {
        since: 0,
        count: Some(3),
    };
    records.push(record(u64::MAX, 0, 0, lost));
    assert_eq!(clocks(&records, &load(route(), 40)).unattributed(), 40);
}

#[test]
fn a_time_that_ends_before_it_begins_has_nothing() {
    let records = on_one(&[
        (0, CALLER, Event::Enter(Call::Pread)),
        (30, CALLER, Event::Exit(Call::Pread, 1)),
    ]);
    let backwards = Load {
        from: 20,
        ..load(route(), 10)
    };
    let found = clocks(&records, &backwards);
    assert_eq!(layers(&found), (Vec::new(), 0));
}
