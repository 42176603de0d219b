//! The phases of single I/Os, by hand.

use super::{CALLER, DEV, KSOFTIRQD, KWORKER, record, route, sleep, sleeping, span};
use fathom_block::kernel::{Call, Event, Record, Span};
use fathom_platform::Phase;
use fathom_platform::measured::{Io, Parts, Rejection, Route, latencies};

fn parts(io: Io, records: &[Record], route: &Route) -> Result<Parts, Rejection> {
    let found = latencies(records, &[io], route);
    match found.ios.first() {
        Some(parts) => Ok(*parts),
        None => Err(*found.rejected.keys().next().unwrap()),
    }
}

fn rejected(change: impl Fn(&mut Vec<Record>)) -> Option<Rejection> {
    let (io, mut records) = sleeping();
    change(&mut records);
    parts(io, &records, &route()).err()
}

fn phases(parts: &Parts) -> Vec<(Phase, u64, u32)> {
    let all = Phase::ALL.into_iter().zip(parts.events);
    all.filter_map(|(phase, events)| Some((phase, parts.of(phase)?, events)))
        .collect()
}

#[test]
fn an_io_that_sleeps_has_all_phases() {
    let (io, records) = sleeping();
    let found = parts(io, &records, &route()).unwrap();
    let expected = [
        (Phase::Entry, 3, 0),
        (Phase::FileSystem, 7, 1),
        (Phase::Block, 5, 2),
        (Phase::Device, 45, 2),
        (Phase::Completion, 5, 1),
        (Phase::Wake, 7, 1),
        (Phase::Return, 28, 2),
    ];
    assert_eq!(phases(&found), expected);
    assert_eq!(found.all_events(), 9);
}

#[test]
fn an_io_that_is_polled_for_does_not_wake() {
    let (io, mut records) = sleeping();
    records.retain(|r| !matches!(r.event, Event::Switch { .. } | Event::Waking(_)));
    records[4] = record(60, 0, CALLER, Event::Complete(span(64)));
    let found = parts(io, &records, &route()).unwrap();
    let last = [(Phase::Device, 45, 1), (Phase::Return, 40, 2)];
    assert_eq!(phases(&found)[3..], last);
}

#[test]
fn an_unreported_switch_is_part_of_the_return() {
    let (io, mut records) = sleeping();
    records.remove(7);
    let found = parts(io, &records, &route()).unwrap();
    let last = [(Phase::Completion, 5, 1), (Phase::Return, 35, 1)];
    assert_eq!(phases(&found)[4..], last);
}

#[test]
fn two_calls_of_an_asynchronous_interface_are_one_io() {
    let (io, mut records) = sleeping();
    records[0].event = Event::Enter(Call::Submit);
    records.insert(4, record(16, 0, CALLER, Event::Exit(Call::Submit, 1)));
    records.insert(5, record(18, 0, CALLER, Event::Enter(Call::GetEvents)));
    let found = parts(io, &records, &route()).unwrap();
    assert_eq!(found.of(Phase::Device), Some(45));
    // It may also find the completion without a second call.
    let found = parts(io, &[&records[..5], &records[7..8]].concat(), &route()).unwrap();
    assert_eq!(phases(&found).last(), Some(&(Phase::Return, 40, 0)));
}

#[test]
fn a_submission_thread_leaves_entry_and_file_system_together() {
    let (io, mut records) = sleeping();
    for record in &mut records[1..4] {
        record.thread = KWORKER;
    }
    records.retain(|r| !matches!(r.event, Event::Enter(_) | Event::Exit(..)));
    let with = Route {
        submitter: Some(KWORKER),
        ..route()
    };
    let found = parts(io, &records, &with).unwrap();
    assert_eq!(phases(&found)[0].0, Phase::FileSystem);
    assert_eq!(found.of(Phase::FileSystem), Some(10));
    assert_eq!(
        parts(io, &records, &route()).err(),
        Some(Rejection::OtherThread)
    );
}

#[test]
fn a_kernel_without_system_calls_leaves_entry_and_file_system_together() {
    let (io, mut records) = sleeping();
    records.retain(|r| !matches!(r.event, Event::Enter(_) | Event::Exit(..)));
    assert_eq!(parts(io, &records, &route()).err(), Some(Rejection::Call));
    let without = Route {
        without_calls: true,
        ..route()
    };
    let found = parts(io, &records, &without).unwrap();
    assert_eq!(
        (found.of(Phase::Entry), found.of(Phase::FileSystem)),
        (None, Some(10))
    );
}

#[test]
fn the_drive_under_a_mapped_device_gets_the_request() {
    let (io, mut records) = sleeping();
    for r in &mut records {
        if let Event::Issue(span) | Event::Complete(span) = &mut r.event {
            (span.dev, span.sector) = (8 << 20, 2048);
        }
    }
    let lower = Span {
        dev: 8 << 20,
        ..span(2048)
    };
    records.insert(2, record(11, 0, CALLER, Event::BioQueue(lower)));
    let mapped = Route {
        queued: vec![DEV],
        issued: vec![8 << 20],
        ..Route::default()
    };
    assert_eq!(
        parts(io, &records, &mapped).unwrap().of(Phase::Block),
        Some(5)
    );
}

#[test]
fn the_io_of_others_does_not_matter() {
    let none = rejected(|records| {
        let other = Span { dev: 1, ..span(0) };
        // The backing drive of a loop device, and a wake-up before the completion.
        records.insert(5, record(30, 1, KWORKER, Event::BioQueue(other)));
        records.insert(6, record(31, 1, KWORKER, Event::Issue(other)));
        records.insert(7, record(40, 0, 0, Event::Complete(other)));
        records.insert(8, record(41, 0, 0, Event::Waking(CALLER)));
        records.insert(9, record(42, 0, 0, sleep(CALLER)));
        records.insert(10, record(44, 0, CALLER, sleep(0)));
    });
    assert_eq!(none, None);
}

/// An I/O behind a scheduler on Linux 6.1, as recorded on virtio-blk with one processor: a worker preempts the caller, issues
/// the request, and is interrupted by its completion.
fn issued_by_a_worker() -> (Io, Vec<Record>) {
    let to_worker = Event::Switch {
        to: KWORKER,
        preempted: true,
    };
    let records = vec![
        record(3, 0, CALLER, Event::Enter(Call::Pread)),
        record(8, 0, CALLER, Event::BioQueue(span(64))),
        record(13, 0, CALLER, Event::Insert(span(64))),
        record(16, 0, CALLER, Event::Waking(KWORKER)),
        record(24, 0, CALLER, to_worker),
        record(29, 0, KWORKER, Event::Issue(span(64))),
        record(35, 0, KWORKER, Event::Complete(span(64))),
        record(45, 0, KWORKER, sleep(CALLER)),
        record(48, 0, CALLER, Event::Exit(Call::Pread, 4096)),
    ];
    let io = Io {
        thread: CALLER,
        before: 0,
        after: 50,
    };
    (io, records)
}

#[test]
fn a_worker_that_issues_the_request_may_preempt_its_caller() {
    let (io, records) = issued_by_a_worker();
    let found = parts(io, &records, &route()).unwrap();
    let expected = [
        (Phase::Entry, 3, 0),
        (Phase::FileSystem, 5, 1),
        (Phase::Block, 21, 4),
        (Phase::Device, 6, 1),
        (Phase::Return, 15, 3),
    ];
    assert_eq!(phases(&found), expected);
    // The caller runs again before the completion, and sleeps.
    let mut slept = records.clone();
    slept[6..].copy_from_slice(&[
        record(31, 0, KWORKER, sleep(CALLER)),
        record(33, 0, CALLER, sleep(0)),
        record(40, 0, 0, Event::Complete(span(64))),
    ]);
    slept.extend([
        record(41, 0, 0, Event::Waking(CALLER)),
        record(44, 0, 0, sleep(CALLER)),
        record(48, 0, CALLER, Event::Exit(Call::Pread, 4096)),
    ]);
    let found = parts(io, &slept, &route()).unwrap();
    let last = [
        (Phase::Device, 11, 3),
        (Phase::Completion, 1, 1),
        (Phase::Wake, 3, 1),
        (Phase::Return, 6, 2),
    ];
    assert_eq!(phases(&found)[3..], last);
}

#[test]
fn another_thread_that_preempts_the_caller_of_a_workers_io_is_rejected() {
    let (io, records) = issued_by_a_worker();
    let to_other = Event::Switch {
        to: KSOFTIRQD,
        preempted: true,
    };
    let mut before = records.clone();
    before[4].event = to_other;
    before.insert(5, record(25, 0, KSOFTIRQD, sleep(KWORKER)));
    let rejected = |records: &[Record]| parts(io, records, &route()).err();
    assert_eq!(rejected(&before), Some(Rejection::Preempted));
    let mut after = records;
    after.insert(8, record(46, 0, CALLER, to_other));
    after.insert(9, record(47, 0, KSOFTIRQD, sleep(CALLER)));
    assert_eq!(rejected(&after), Some(Rejection::Preempted));
}

#[test]
fn what_is_ambiguous_or_incomplete_has_its_reason() {
    use Rejection as R;
    let without = |index: usize| {
        rejected(|records| {
            records.remove(index);
        })
    };
    assert_eq!(without(0), Some(R::Call));
    assert_eq!(without(1), Some(R::NoBio));
    assert_eq!(without(3), Some(R::NoIssue));
    assert_eq!(without(5), Some(R::NoCompletion));
    assert_eq!(without(6), Some(R::NoWaking));
    assert_eq!(without(8), Some(R::NoExit));
    let with = |event: Event| rejected(|records| records.insert(4, record(17, 1, KWORKER, event)));
    assert_eq!(with(Event::BioQueue(span(0))), Some(R::SeveralBios));
    assert_eq!(with(Event::Issue(span(0))), Some(R::SeveralRequests));
    assert_eq!(with(Event::Complete(span(0))), Some(R::SeveralRequests));
    assert_eq!(with(Event::BioSplit(span(0))), Some(R::Split));
    assert_eq!(with(Event::Requeue(span(0))), Some(R::Requeued));
    let lost = Event::Lost {
        since: 16,
        count: None,
    };
    assert_eq!(with(lost), Some(R::Lost));
    let set = |index: usize, event: Event| rejected(|records| records[index].event = event);
    assert_eq!(set(8, Event::Exit(Call::Pread, -5)), Some(R::Failed));
    assert_eq!(set(5, Event::Complete(span(0))), Some(R::OtherRequest));
    let short = Span {
        sectors: 4,
        ..span(64)
    };
    assert_eq!(set(3, Event::Issue(short)), Some(R::Split));
    let preempted = Event::Switch {
        to: KWORKER,
        preempted: true,
    };
    let at = |at, event| {
        rejected(|records| {
            let place = records.partition_point(|r| r.at <= at);
            records.insert(place, record(at, 0, CALLER, event));
        })
    };
    assert_eq!(at(11, preempted), Some(R::Preempted));
    assert_eq!(at(11, sleep(0)), Some(R::Waited));
    assert_eq!(at(80, preempted), Some(R::Preempted));
    assert_eq!(at(80, sleep(0)), Some(R::Ambiguous));
    assert_eq!(at(66, Event::Waking(CALLER)), Some(R::Ambiguous));
    assert_eq!(rejected(|records| records[3].at = 61), Some(R::OutOfOrder));
}

#[test]
fn a_cached_read_and_wrong_stamps_are_rejected() {
    let (io, records) = sleeping();
    let cached = [records[0], records[8]];
    assert_eq!(parts(io, &cached, &route()).err(), Some(Rejection::NoBio));
    let wrong = Io {
        before: 100,
        after: 0,
        ..io
    };
    assert_eq!(
        parts(wrong, &records, &route()).err(),
        Some(Rejection::Stamps)
    );
    let other = Io {
        thread: KSOFTIRQD,
        ..io
    };
    assert!(parts(other, &records, &route()).is_err());
}
