//! Tests of the run loop on modelled drives.

#![allow(clippy::unwrap_used, reason = "a helper of a test fails like the test")]

use fathom_base::{Dur, Time};
use fathom_block::program::{Done, Next, Program};
use fathom_block::{Access, Busy, Completion, Device, DeviceInfo, Op, Request, Subject};
use fathom_model::{Drive, Model, find};
use fathom_run::{Moment, Observer, PlayError, Played, measure, play};
use fathom_workload::program::fio::Jobs;
use fathom_workload::program::{Processes, Stream};
use std::cell::Cell;
use std::convert::Infallible;

fn drive() -> Drive {
    let entry = find("null-write-buffer").unwrap();
    let model = Model::from_toml(entry.text).unwrap();
    model.build(1).unwrap()
}

fn write(at: u64, offset: u64) -> Access {
    Access {
        at: Time(at),
        op: Op::Write,
        offset,
        len: 4096,
        disk: 0,
        process: 0,
    }
}

#[derive(Default)]
struct Seen {
    done: Cell<u64>,
    played: Vec<Played>,
}

impl Observer for Seen {
    fn played(&mut self, played: &Played, _moment: &dyn Fn() -> Moment) {
        self.done.set(self.done.get() + 1);
        self.played.push(*played);
    }
}

#[test]
fn nothing_is_read_ahead_of_what_the_drive_takes() {
    let mut drive = drive();
    let depth = u64::from(drive.info().queue_depth);
    // All are due at once, far more than the drive takes.
    let (pulled, furthest) = (Cell::new(0), Cell::new(0));
    struct Counting<'a>(&'a Cell<u64>);
    impl Observer for Counting<'_> {
        fn played(&mut self, _: &Played, _: &dyn Fn() -> Moment) {
            self.0.set(self.0.get() + 1);
        }
    }
    let done = Cell::new(0);
    let source = (0..5000).map(|i| {
        pulled.set(pulled.get() + 1);
        furthest.set(furthest.get().max(pulled.get() - done.get()));
        Ok::<_, Infallible>(write(0, i % 500 * 4096))
    });
    play(&mut drive, &mut Stream::open(source), &mut Counting(&done)).unwrap();
    assert_eq!((pulled.get(), done.get()), (5000, 5000));
    assert!(furthest.get() <= depth + 1, "{}", furthest.get());
}

#[test]
fn an_interrupt_ends_a_wait_however_long_it_is() {
    let mut model = Model::from_toml(find("null-write-buffer").unwrap().text).unwrap();
    let Model::Ssd(spec) = &mut model else {
        panic!("another kind of drive");
    };
    (
        spec.noise.background_interval,
        spec.noise.background_duration,
    ) = (Dur::ms(1), Dur::ZERO);
    let mut drive = model.build(1).unwrap();
    #[derive(Default)]
    struct Impatient(Cell<u32>);
    impl Observer for Impatient {
        fn played(&mut self, _: &Played, _: &dyn Fn() -> Moment) {}
        fn interrupted(&self) -> bool {
            self.0.set(self.0.get() + 1);
            self.0.get() > 3
        }
    }
    // The second write comes in 400 years; until then there is background work every millisecond.
    let accesses = [write(0, 0), write(Time::END.0 / 5 * 4, 0)].map(Ok::<_, Infallible>);
    let mut stream = Stream::open(accesses.into_iter());
    let result = play(&mut drive, &mut stream, &mut Impatient::default());
    assert!(matches!(result, Err(PlayError::Interrupted)), "{result:?}");
}

#[test]
fn response_times_count_from_when_an_access_was_asked_for() {
    let mut drive = drive();
    let accesses = (0..50).map(|i| Ok::<_, Infallible>(write(i * 10, i * 4096)));
    let mut seen = Seen::default();
    play(&mut drive, &mut Stream::open(accesses), &mut seen).unwrap();
    assert_eq!(seen.played.len(), 50);
    let start = seen.played.iter().map(|p| p.asked).min().unwrap();
    for played in &seen.played {
        assert_eq!(played.asked, start + Dur(played.number * 10));
        assert!(played.asked <= played.submitted && played.submitted < played.completed);
    }
    // Queue depth 1: each access is asked for when the one before it completes.
    let accesses = (0..50).map(|i| Ok::<_, Infallible>(write(i * 10, i * 4096)));
    let mut seen = Seen::default();
    play(&mut drive, &mut Stream::closed(accesses, 1), &mut seen).unwrap();
    for pair in seen.played.windows(2) {
        assert_eq!(pair[1].asked, pair[0].completed);
    }
}

/// Little's law: the number of requests times the time of each, over the total time, is the number in flight (J. D. C.
/// Little, Operations Research 9, 1961). Fewer are in flight at the end.
fn are_waited_for<P: Program>(program: &mut P, outstanding: u64, accesses: u64) {
    let mut seen = Seen::default();
    play(&mut drive(), program, &mut seen).unwrap();
    assert_eq!(seen.done.get(), accesses);
    let times = seen.played.iter().map(|p| p.completed.since(p.asked).0);
    let took = seen.played.iter().map(|p| p.completed).max().unwrap();
    let mean = times.sum::<u64>() as f64 / took.0 as f64;
    let end = outstanding as f64 * outstanding as f64 / accesses as f64;
    assert!(
        (mean - outstanding as f64).abs() <= end + 0.01,
        "{mean} of {outstanding}"
    );
}

#[test]
fn as_many_are_waited_for_as_may_be_outstanding_whatever_the_drive_takes() {
    let outstanding = 4 * u64::from(drive().info().queue_depth);
    let accesses = (0..3000).map(|i| Ok::<_, Infallible>(write(0, i * 37 % 500 * 4096)));
    let mut stream = Stream::closed(accesses, outstanding as u32);
    are_waited_for(&mut stream, outstanding, 3000);
}

/// `iodepth`: "Number of I/O units to keep in flight against the file" (fio 3.33, HOWTO.rst).
#[test]
fn a_job_waits_for_as_many_as_its_depth_whatever_the_drive_takes() {
    let info = drive().info().clone();
    let outstanding = 4 * u64::from(info.queue_depth);
    for rw in ["randwrite", "write"] {
        let text = format!("[a]\nrw={rw}\nsize=12000k\nioengine=libaio\niodepth={outstanding}");
        let file = fathom_workload::program::fio::parse(&text).unwrap();
        let mut jobs = Jobs::new(&file.jobs, &info, 1).unwrap();
        are_waited_for(&mut jobs, outstanding, 3000);
    }
}

#[test]
fn where_the_drive_is_full_those_that_wait_take_turns() {
    let mut drive = drive();
    let depth = u64::from(drive.info().queue_depth);
    let processes = 3 * depth;
    let process = |p: u64| (0..30).map(move |i| Ok::<_, Infallible>(write(0, (p * 30 + i) * 4096)));
    let mut program = Processes::new((0..processes).map(process), 1);
    let mut seen = Seen::default();
    play(&mut drive, &mut program, &mut seen).unwrap();
    // No process completes a second access before every one has completed its first, and so on.
    let mut done = vec![0_u32; processes as usize];
    for played in &seen.played {
        done[played.process as usize] += 1;
        let (least, most) = (done.iter().min().unwrap(), done.iter().max().unwrap());
        assert!(most - least <= 2, "{done:?}");
    }
}

#[test]
fn each_process_waits_for_its_own_accesses() {
    for outstanding in [1u32, 3] {
        let mut drive = drive();
        // The second process has fewer accesses, and no other takes over its part.
        let process = |p: u64, n: u64| {
            (0..n).map(move |i| Ok::<_, Infallible>(write(0, (p * 100 + i) * 4096)))
        };
        let sources = vec![process(0, 40), process(1, 10), process(2, 40)];
        let mut seen = Seen::default();
        let mut program = Processes::new(sources, outstanding);
        play(&mut drive, &mut program, &mut seen).unwrap();
        let of = |p: u32| -> Vec<Played> {
            let all = seen.played.iter();
            all.filter(|played| played.process == p).copied().collect()
        };
        assert_eq!([0, 1, 2].map(|p| of(p).len()), [40, 10, 40]);
        for process in [0, 1, 2] {
            let mut own = of(process);
            own.sort_by_key(|played| played.number);
            for (index, played) in own.iter().enumerate() {
                let earlier = own.iter().take(index);
                let open = earlier.filter(|e| e.completed > played.asked).count();
                // Each process has as many in flight as it may, as soon as it may.
                assert!(open < outstanding as usize);
                let at_once = own.iter().any(|e| e.completed == played.asked);
                assert!(index < outstanding as usize || at_once);
            }
        }
    }
}

/// Counts how often a program is asked.
struct Asked<P> {
    program: P,
    times: u64,
}

impl<P: Program> Program for Asked<P> {
    type Error = P::Error;

    fn actors(&self) -> usize {
        self.program.actors()
    }

    fn next(&mut self, actor: usize, now: Time) -> Result<Next, Self::Error> {
        self.times += 1;
        self.program.next(actor, now)
    }

    fn done(&mut self, actor: usize, done: Done<'_>) -> Result<(), Self::Error> {
        self.program.done(actor, done)
    }
}

/// Counts how often a drive is offered a request.
struct Offered {
    drive: Drive,
    times: u64,
}

impl Device for Offered {
    fn info(&self) -> &DeviceInfo {
        self.drive.info()
    }

    fn now(&self) -> Time {
        self.drive.now()
    }

    fn submit(&mut self, request: Request) -> Result<(), Busy> {
        self.times += 1;
        self.drive.submit(request)
    }

    fn wait(&mut self, until: Time, done: &mut Vec<Completion>) {
        self.drive.wait(until, done);
    }
}

impl Subject for Offered {}

#[test]
fn an_access_costs_the_same_however_many_processes_there_are() {
    const ACCESSES: u64 = 8192;
    for processes in [1, 64, 4096] {
        let each = ACCESSES / processes;
        let process =
            |p: u64| (0..each).map(move |i| Ok::<_, Infallible>(write(0, (p * each + i) * 4096)));
        let mut program = Asked {
            program: Processes::new((0..processes).map(process), 1),
            times: 0,
        };
        let mut drive = Offered {
            drive: drive(),
            times: 0,
        };
        let mut seen = Seen::default();
        play(&mut drive, &mut program, &mut seen).unwrap();
        assert_eq!(seen.done.get(), ACCESSES);
        // The program is asked once for each access and once after it, and a last time. An access may be refused once, and
        // so may the waiting ones.
        let asked = 2 * ACCESSES + 2 * processes;
        assert!(program.times <= asked, "{processes}: {}", program.times);
        assert!(drive.times <= 3 * ACCESSES, "{processes}: {}", drive.times);
    }
}

#[test]
fn an_access_that_the_drive_refuses_is_named() {
    let mut drive = drive();
    let end = drive.info().capacity_bytes;
    let accesses = [write(0, 0), write(1, end), write(2, 0)];
    let accesses = accesses.into_iter().map(Ok::<_, Infallible>);
    let result = play(
        &mut drive,
        &mut Stream::open(accesses),
        &mut Seen::default(),
    );
    assert!(
        matches!(result, Err(PlayError::Device { number: 1, .. })),
        "{result:?}"
    );
}

/// The busy time is the union of the intervals from the acceptance of an access by the device to its completion, computed
/// from their list.
#[test]
fn the_device_is_busy_as_long_as_it_has_an_access() {
    // The device takes several at a time.
    let model = Model::from_toml(find("ms-ssd").unwrap().text).unwrap();
    let mut drive = model.build(1).unwrap();
    // Four overlap, then there is a pause.
    let accesses = (0..200u64)
        .map(|i| Ok::<_, Infallible>(write(i / 4 * 20_000_000 + i % 4 * 1_000, i % 50 * 4096)));
    let mut seen = Seen::default();
    play(&mut drive, &mut Stream::open(accesses), &mut seen).unwrap();
    let mut spans: Vec<(Time, Time)> = seen
        .played
        .iter()
        .map(|p| (p.submitted, p.completed))
        .collect();
    spans.sort_unstable();
    let (mut union, mut end) = (Dur::ZERO, Time::ZERO);
    for (from, to) in spans {
        union += to.since(from.max(end));
        end = end.max(to);
    }
    assert_eq!(seen.played.last().unwrap().busy, union);
    assert!(union > Dur::ZERO && union < end.since(Time::ZERO));
}

#[test]
fn a_timeline_begins_with_the_drives_counters_before_the_run() {
    let model = Model::from_toml(find("ms-ssd").unwrap().text).unwrap();
    let mut drive = model.build(1).unwrap();
    for run in 0..3u64 {
        let before = drive.stats().unwrap();
        let accesses = (0..100).map(|i| Ok::<_, Infallible>(write(i * 10, (i + run) * 4096)));
        let measured = measure(&mut drive, &mut Stream::closed(accesses, 8)).unwrap();
        assert_eq!(measured.totals.timeline[0].drive, before, "run {run}");
        assert_eq!(before.host_bytes_written, run * 100 * 4096);
    }
}
