//! The run loop: asks the actors of a program that are due for requests, submits these to a device, and reports
//! completions to the program.

use crate::agenda::Agenda;
use crate::observer::{Moment, Observer, Played};
use crate::refused::Refused;
use fathom_base::{Dur, Slab, Time};
use fathom_block::Access;
use fathom_block::program::{self, Done, Next, Program};
use fathom_block::{Completion, Device, IoError, Op, Request, Subject, Tag};

/// The reason why a workload was not played to its end.
#[derive(Debug, thiserror::Error)]
pub enum PlayError<E: std::error::Error> {
    /// The program failed: its source of accesses, or a check of the data read.
    #[error(transparent)]
    Program(E),
    /// The device failed an access.
    #[error("access {}: {error}", number + 1)]
    Device {
        /// The number of the access, from 0.
        number: u64,
        /// The error of the device.
        error: IoError,
        /// Number of other accesses that were in flight and are abandoned.
        lost: usize,
    },
    /// The device accepted accesses and never completes them.
    #[error("the drive stopped: {in_flight} accesses never complete")]
    Stopped {
        /// Number of incomplete accesses.
        in_flight: usize,
    },
    /// The user interrupted the run.
    #[error("interrupted")]
    Interrupted,
}

/// Maximum time on the device's clock between two checks for an interruption. A model covers this in an instant, even
/// while it is busy without the host.
const AT_ONCE: Dur = Dur::ms(1_000_000);

struct InFlight {
    number: u64,
    actor: usize,
    tag: Tag,
    access: Access,
    asked: Time,
    counts: Time,
}

fn moment_of(device: &dyn Subject) -> Moment {
    Moment {
        drive: device.stats(),
        queue: device.queue(),
    }
}

/// The busy time of the device.
#[derive(Default)]
struct Busy {
    /// Number of accesses at the device.
    at_device: usize,
    /// Start of the current busy period.
    since: Time,
    /// Total busy time before it.
    total: Dur,
}

impl Busy {
    /// Records an access that the device has accepted. `now` is called if the device was idle.
    #[inline]
    fn took(&mut self, now: impl FnOnce() -> Time) {
        if self.at_device == 0 {
            self.since = now();
        }
        self.at_device += 1;
    }

    /// Records a completion and returns the total busy time.
    fn gave(&mut self, completed: Time) -> Dur {
        self.at_device = self.at_device.saturating_sub(1);
        let busy = self.total + completed.since(self.since);
        if self.at_device == 0 {
            self.total = busy;
        }
        busy
    }
}

struct Loop<'a, P: ?Sized, O: ?Sized> {
    device: &'a mut dyn Subject,
    program: &'a mut P,
    observer: &'a mut O,
    agenda: Agenda,
    /// The actors to be asked; kept to reuse its memory.
    who: Vec<usize>,
    /// By actor, whether the device refused its request. The actor then waits until the device accepts it.
    blocked: Vec<bool>,
    refused: Refused,
    in_flight: Slab<InFlight>,
    start: Time,
    /// A wait ends at this time at the latest, to look for an interruption. In the past after a long wait.
    pause: Time,
    next: u64,
    busy: Busy,
    /// True if the device's clock does not advance while it takes a request.
    modelled: bool,
}

/// Plays a program to its end. Equal programs give equal runs on a modelled device.
///
/// # Errors
/// [`PlayError`] with the access that failed. Accesses in flight at that time are abandoned.
pub fn play<P: Program + ?Sized, O: Observer + ?Sized>(
    device: &mut dyn Subject,
    program: &mut P,
    observer: &mut O,
) -> Result<(), PlayError<P::Error>> {
    let start = device.now();
    let before = moment_of(device);
    observer.begin(start, before);
    let playing = Loop {
        agenda: Agenda::new(program.actors()),
        who: Vec::new(),
        blocked: vec![false; program.actors()],
        refused: Refused::default(),
        modelled: device.info().modelled,
        device,
        program,
        observer,
        in_flight: Slab::default(),
        start,
        pause: start + AT_ONCE,
        next: 0,
        busy: Busy::default(),
    };
    playing.run()
}

impl<P: Program + ?Sized, O: Observer + ?Sized> Loop<'_, P, O> {
    fn run(mut self) -> Result<(), PlayError<P::Error>> {
        let mut done = Vec::new();
        loop {
            let asked = self.ask_due()?;
            let until = self.agenda.next();
            if !self.in_flight.is_empty() || until < Time::MAX {
                self.collect(until, &mut done)?;
            } else if !asked {
                return self.over();
            }
        }
    }

    /// Ends the run when nothing is due, awaited or in flight.
    fn over(&self) -> Result<(), PlayError<P::Error>> {
        match self.refused.len() {
            0 => Ok(()),
            in_flight => Err(PlayError::Stopped { in_flight }),
        }
    }

    /// Asks every actor that is due, in order of their numbers. Returns whether any request was offered to the device.
    fn ask_due(&mut self) -> Result<bool, PlayError<P::Error>> {
        if self.refused.len() > 0 {
            self.offer_refused();
        }
        if let Some(only) = self.agenda.take_only() {
            return Ok(!self.blocked[only] && self.ask(only)?);
        }
        let mut who = std::mem::take(&mut self.who);
        self.agenda.take(self.device.now(), &mut who);
        let asked = who.iter().try_fold(false, |any, &actor| {
            Ok(!self.blocked[actor] && self.ask(actor)? || any)
        });
        self.who = who;
        asked
    }

    /// Offers the requests that wait for the device, in order, before new ones.
    fn offer_refused(&mut self) {
        let Self {
            refused,
            device,
            agenda,
            blocked,
            busy,
            ..
        } = self;
        refused.offer(
            |request| match device.submit(request) {
                Ok(()) => {
                    busy.took(|| device.now());
                    None
                }
                Err(refused) => Some(refused.0),
            },
            |actor| {
                blocked[actor] = false;
                agenda.wake(actor);
            },
        );
    }

    /// Asks one actor until it waits for something. Returns whether it made a request.
    fn ask(&mut self, actor: usize) -> Result<bool, PlayError<P::Error>> {
        let mut any = false;
        let mut now = self.now();
        let (until, watches) = loop {
            // Not `map_err`, which copies the request.
            match self.program.next(actor, now) {
                Err(error) => return Err(PlayError::Program(error)),
                Ok(Next::Wait(until)) => break (until, false),
                Ok(Next::Watch(until)) => break (until, true),
                Ok(Next::Request(request)) => {
                    any = true;
                    let request = self.enter(actor, request);
                    if let Err(busy) = self.device.submit(request) {
                        self.refused.push(actor, busy.0);
                        self.blocked[actor] = true;
                        self.agenda.block(actor);
                        return Ok(any);
                    }
                    self.busy.took(|| self.device.now());
                    if !self.modelled {
                        now = self.now();
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

    /// Returns the time since the start.
    fn now(&self) -> Time {
        Time(self.device.now().since(self.start).0)
    }

    /// Turns the request of an actor into one for the device.
    fn enter(&mut self, actor: usize, request: program::Request) -> Request {
        let access = request.access;
        let id = self.in_flight.insert(InFlight {
            number: self.next,
            actor,
            tag: request.tag,
            access,
            asked: Time(self.start.0.saturating_add(request.asked.0)),
            counts: Time(self.start.0.saturating_add(request.counts.0)),
        });
        self.next += 1;
        let len = if access.op == Op::Flush {
            0
        } else {
            access.len
        };
        Request {
            tag: request.tag,
            data: request.data,
            ..Request::new(u64::from(id), access.op, access.offset, len)
        }
    }

    /// Waits until `until` or a completion, and reports what completed. `done` is empty memory.
    fn collect(
        &mut self,
        until: Time,
        done: &mut Vec<Completion>,
    ) -> Result<(), PlayError<P::Error>> {
        loop {
            if self.observer.interrupted() {
                return Err(PlayError::Interrupted);
            }
            let pause = until.min(self.pause);
            self.device.wait(pause, done);
            if !done.is_empty() || pause == until {
                break;
            }
            let now = self.device.now();
            // A stopped model advances to the end of time; a real drive never gets there.
            if until == Time::MAX && now >= Time::END {
                let in_flight = self.in_flight.len();
                return Err(PlayError::Stopped { in_flight });
            }
            self.pause = now + AT_ONCE;
        }
        // Report the accesses that completed together with one that failed, too.
        let mut failed = None;
        for completion in done.iter() {
            if let Err(error) = self.settle(completion) {
                failed.get_or_insert(error);
            }
        }
        done.clear();
        failed.map_or(Ok(()), Err)
    }

    fn settle(&mut self, completion: &Completion) -> Result<(), PlayError<P::Error>> {
        let Self {
            in_flight,
            device,
            observer,
            start,
            ..
        } = self;
        let id = completion.id.0 as u32;
        let Some(was) = in_flight.get(id) else {
            return Ok(());
        };
        let busy = self.busy.gave(completion.completed);
        if let Err(error) = completion.result {
            let number = was.number;
            in_flight.discard(id);
            let lost = in_flight.len();
            return Err(PlayError::Device {
                number,
                error,
                lost,
            });
        }
        let played = Played {
            number: was.number,
            process: was.tag.process,
            access: was.access,
            asked: was.asked,
            submitted: completion.submitted,
            completed: completion.completed,
            counts: was.counts,
            busy,
        };
        observer.played(&played, &|| moment_of(&**device));
        let done = Done {
            access: &was.access,
            tag: was.tag,
            completed: Time(completion.completed.since(*start).0),
            data: completion.data.as_deref(),
        };
        self.agenda.wake(was.actor);
        let told = self.program.done(was.actor, done);
        in_flight.discard(id);
        told.map_err(PlayError::Program)
    }
}
