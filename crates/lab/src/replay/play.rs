//! The run loop: asks those actors of a program that are due what they want, hands that to a device, and tells the program of
//! what is done.

use super::agenda::Agenda;
use super::gauge::{Moment, Observer};
use super::refused::Refused;
use crate::model::{Drive, DriveStats};
use fathom_base::{Dur, Slab, Time};
use fathom_block::{Completion, Device, IoError, Op, Request, Tag};
use fathom_iosched::{BlockQueue, QueueWork};
use fathom_workload::Access;
use fathom_workload::program::{Answer, Ask, Next, Program};

/// An access that is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Played {
    /// Which access of the workload, counted from 0.
    pub number: u64,
    /// Which process asked for it, counted from 0; all is one process unless the program has several.
    pub process: u32,
    /// What it was. Its time is that of the workload.
    pub access: Access,
    /// When it was asked for, on the device's clock.
    pub asked: Time,
    /// When the device took it.
    pub submitted: Time,
    /// When it was done.
    pub completed: Time,
}

/// A workload that could not be played to its end.
#[derive(Debug, thiserror::Error)]
pub enum PlayError<E: std::error::Error> {
    /// The program failed: its source of accesses, or what it read.
    #[error(transparent)]
    Program(E),
    /// The device failed an access.
    #[error("access {}: {error}", number + 1)]
    Device {
        /// Which access, counted from 0.
        number: u64,
        /// What the device said.
        error: IoError,
        /// Accesses that were in flight then, and are given up.
        lost: usize,
    },
    /// The device took an access and does not complete it.
    #[error("the drive stopped: {in_flight} accesses never complete")]
    Stopped {
        /// How many.
        in_flight: usize,
    },
    /// The user wants no more.
    #[error("interrupted")]
    Interrupted,
}

/// How long the loop waits before it looks whether the user wants no more. A model does so much in a moment, even where it
/// is busy without the host.
const AT_ONCE: Dur = Dur::ms(1_000_000);

struct InFlight {
    number: u64,
    actor: usize,
    tag: Tag,
    access: Access,
    asked: Time,
}

/// What a workload is played on: a device that may tell what it has done.
pub trait Subject: Device {
    /// What it has done so far, where it can tell.
    fn stats(&self) -> Option<DriveStats>;

    /// What has gone through a block layer above it so far, if there is one.
    fn queue(&self) -> Option<QueueWork> {
        None
    }
}

impl Subject for Drive {
    fn stats(&self) -> Option<DriveStats> {
        Some(Drive::stats(self))
    }
}

impl<D: Subject> Subject for BlockQueue<D> {
    fn stats(&self) -> Option<DriveStats> {
        self.inner().stats()
    }

    fn queue(&self) -> Option<QueueWork> {
        Some(self.work())
    }
}

impl<D: Subject + ?Sized> Subject for &mut D {
    fn stats(&self) -> Option<DriveStats> {
        (**self).stats()
    }

    fn queue(&self) -> Option<QueueWork> {
        (**self).queue()
    }
}

/// A real drive tells nothing.
impl Subject for Box<dyn Device> {
    fn stats(&self) -> Option<DriveStats> {
        None
    }
}

fn moment_of(device: &dyn Subject) -> Moment {
    Moment {
        drive: device.stats(),
        queue: device.queue(),
    }
}

struct Loop<'a, P: ?Sized> {
    device: &'a mut dyn Subject,
    program: &'a mut P,
    observer: &'a mut dyn Observer,
    agenda: Agenda,
    /// Those to be asked, of which this is the room.
    who: Vec<usize>,
    /// By actor, whether the device could not take its request: it waits until it can.
    blocked: Vec<bool>,
    refused: Refused,
    in_flight: Slab<InFlight>,
    done: Vec<Completion>,
    start: Time,
    next: u64,
}

/// Plays a program until it is over. Equal programs give equal runs on a modelled device.
///
/// # Errors
/// [`PlayError`] with the access; what is in flight then is given up.
pub fn play<P: Program + ?Sized>(
    device: &mut dyn Subject,
    program: &mut P,
    observer: &mut dyn Observer,
) -> Result<(), PlayError<P::Error>> {
    let start = device.now();
    let before = moment_of(device);
    observer.begin(start, before);
    let playing = Loop {
        agenda: Agenda::new(program.actors()),
        who: Vec::new(),
        blocked: vec![false; program.actors()],
        refused: Refused::default(),
        device,
        program,
        observer,
        in_flight: Slab::default(),
        done: Vec::new(),
        start,
        next: 0,
    };
    playing.run()
}

impl<P: Program + ?Sized> Loop<'_, P> {
    fn run(mut self) -> Result<(), PlayError<P::Error>> {
        loop {
            let asked = self.ask_due()?;
            let until = self.agenda.next();
            if !self.in_flight.is_empty() || until < Time::MAX {
                self.collect(until)?;
            } else if !asked {
                return self.over();
            }
        }
    }

    /// Nothing is asked for, awaited or in flight.
    fn over(&self) -> Result<(), PlayError<P::Error>> {
        match self.refused.len() {
            0 => Ok(()),
            in_flight => Err(PlayError::Stopped { in_flight }),
        }
    }

    /// Every actor that is due asks for what it wants, in order of their numbers; whether the device was offered anything.
    fn ask_due(&mut self) -> Result<bool, PlayError<P::Error>> {
        self.offer_refused();
        let mut who = std::mem::take(&mut self.who);
        self.agenda.take(self.device.now(), &mut who);
        let asked = who.iter().try_fold(false, |any, &actor| {
            Ok(!self.blocked[actor] && self.ask(actor)? || any)
        });
        self.who = who;
        asked
    }

    /// Those that wait for the device go first, in turn.
    fn offer_refused(&mut self) {
        let Self {
            refused,
            device,
            agenda,
            blocked,
            ..
        } = self;
        refused.offer(
            |request| device.submit(request).err().map(|busy| busy.0),
            |actor| {
                blocked[actor] = false;
                agenda.wake(actor);
            },
        );
    }

    /// One actor asks until it waits for something; whether it asked for anything.
    fn ask(&mut self, actor: usize) -> Result<bool, PlayError<P::Error>> {
        let mut any = false;
        let (until, watches) = loop {
            let now = Time(self.device.now().since(self.start).0);
            match self.program.next(actor, now).map_err(PlayError::Program)? {
                Next::Wait(until) => break (until, false),
                Next::Watch(until) => break (until, true),
                Next::Ask(ask) => {
                    any = true;
                    let request = self.enter(actor, ask);
                    if let Err(busy) = self.device.submit(request) {
                        self.refused.push(actor, busy.0);
                        self.blocked[actor] = true;
                        self.agenda.block(actor);
                        return Ok(any);
                    }
                }
            }
        };
        let until = match until {
            Time::MAX => Time::MAX,
            until => Time(self.start.0.saturating_add(until.0)),
        };
        self.agenda.wait(actor, until, watches);
        Ok(any)
    }

    /// Makes a request of what an actor asks for.
    fn enter(&mut self, actor: usize, ask: Ask) -> Request {
        let access = ask.access;
        let id = self.in_flight.insert(InFlight {
            number: self.next,
            actor,
            tag: ask.tag,
            access,
            asked: Time(self.start.0.saturating_add(ask.asked.0)),
        });
        self.next += 1;
        let len = if access.op == Op::Flush {
            0
        } else {
            access.len
        };
        Request {
            tag: ask.tag,
            data: ask.data,
            ..Request::new(u64::from(id), access.op, access.offset, len)
        }
    }

    /// Waits until `until` or a completion, and tells of what is done.
    fn collect(&mut self, until: Time) -> Result<(), PlayError<P::Error>> {
        let mut done = std::mem::take(&mut self.done);
        loop {
            if self.observer.interrupted() {
                return Err(PlayError::Interrupted);
            }
            let now = self.device.now();
            // A drive that has stopped goes on to the end of time; a real one does not come so far.
            if until == Time::MAX && now >= Time::END {
                let in_flight = self.in_flight.len();
                return Err(PlayError::Stopped { in_flight });
            }
            let pause = until.min(now + AT_ONCE);
            self.device.wait(pause, &mut done);
            if !done.is_empty() || pause == until {
                break;
            }
        }
        // What is done together with one that failed is done all the same.
        let settled = done.drain(..).map(|completion| self.settle(&completion));
        let settled = settled.fold(Ok(()), Result::and);
        self.done = done;
        settled
    }

    fn settle(&mut self, completion: &Completion) -> Result<(), PlayError<P::Error>> {
        let Some(was) = self.in_flight.remove(completion.id.0 as u32) else {
            return Ok(());
        };
        let number = was.number;
        if let Err(error) = completion.result {
            let lost = self.in_flight.len();
            return Err(PlayError::Device {
                number,
                error,
                lost,
            });
        }
        let played = Played {
            number,
            process: was.tag.process,
            access: was.access,
            asked: was.asked,
            submitted: completion.submitted,
            completed: completion.completed,
        };
        let device = &*self.device;
        self.observer.played(&played, &|| moment_of(device));
        let answer = Answer {
            access: &was.access,
            tag: was.tag,
            completed: Time(completion.completed.since(self.start).0),
            data: completion.data.as_deref(),
        };
        self.agenda.wake(was.actor);
        self.program
            .done(was.actor, answer)
            .map_err(PlayError::Program)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Model, find};
    use fathom_block::{Busy, DeviceInfo};
    use fathom_workload::program::{Processes, Stream};
    use std::cell::Cell;
    use std::convert::Infallible;

    fn drive() -> Drive {
        let entry = find("null-write-buffer").unwrap();
        let model = Model::from_toml(entry.toml).unwrap();
        model.build(1).unwrap()
    }

    fn write(at: u64, offset: u64) -> Access {
        Access {
            at: Time(at),
            op: Op::Write,
            offset,
            len: 4096,
            disk: 0,
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
        // All are asked for at once, far more than the drive takes.
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
        let mut model = Model::from_toml(find("null-write-buffer").unwrap().toml).unwrap();
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
        // In 400 years; until then there is background work every millisecond.
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
        // One at a time: each is asked for when the one before it is done.
        let accesses = (0..50).map(|i| Ok::<_, Infallible>(write(i * 10, i * 4096)));
        let mut seen = Seen::default();
        play(&mut drive, &mut Stream::closed(accesses, 1), &mut seen).unwrap();
        for pair in seen.played.windows(2) {
            assert_eq!(pair[1].asked, pair[0].completed);
        }
    }

    #[test]
    fn as_many_are_waited_for_as_may_be_outstanding_whatever_the_drive_takes() {
        let mut drive = drive();
        let depth = u64::from(drive.info().queue_depth);
        let outstanding = 4 * depth;
        let accesses = (0..3000).map(|i| Ok::<_, Infallible>(write(0, i * 37 % 500 * 4096)));
        let mut seen = Seen::default();
        let mut stream = Stream::closed(accesses, outstanding as u32);
        play(&mut drive, &mut stream, &mut seen).unwrap();
        // Little's law: requests times time each, over the time of all.
        let waited: u64 = seen
            .played
            .iter()
            .map(|p| p.completed.since(p.asked).0)
            .sum();
        let took = seen.played.iter().map(|p| p.completed).max().unwrap();
        let mean = waited as f64 / took.0 as f64;
        let end = outstanding as f64 * outstanding as f64 / 3000.0;
        assert!(
            (mean - outstanding as f64).abs() <= end + 0.01,
            "{mean} of {outstanding}"
        );
    }

    #[test]
    fn where_the_drive_is_full_those_that_wait_take_turns() {
        let mut drive = drive();
        let depth = u64::from(drive.info().queue_depth);
        let processes = 3 * depth;
        let process =
            |p: u64| (0..30).map(move |i| Ok::<_, Infallible>(write(0, (p * 30 + i) * 4096)));
        let mut program = Processes::new((0..processes).map(process), 1);
        let mut seen = Seen::default();
        play(&mut drive, &mut program, &mut seen).unwrap();
        // Nobody is a second time done before everybody was once, and so on.
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
            // The second has fewer to do, and nobody does its part.
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
                    // As many as it may have, as soon as it may.
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

        fn done(&mut self, actor: usize, answer: Answer<'_>) -> Result<(), Self::Error> {
            self.program.done(actor, answer)
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

    impl Subject for Offered {
        fn stats(&self) -> Option<DriveStats> {
            None
        }
    }

    #[test]
    fn an_access_costs_the_same_however_many_processes_there_are() {
        const ACCESSES: u64 = 8192;
        for processes in [1, 64, 4096] {
            let each = ACCESSES / processes;
            let process = |p: u64| {
                (0..each).map(move |i| Ok::<_, Infallible>(write(0, (p * each + i) * 4096)))
            };
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
            // Once for each access and once after it, and a last time; it may be refused once, and so may whoever waits.
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
}
