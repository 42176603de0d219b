//! The run loop: hands accesses to a device at their time or as soon as there is room, and watches them end.

use super::gauge::Observer;
use crate::model::{Drive, DriveStats};
use fathom_base::{Slab, Time};
use fathom_block::{Completion, Device, IoError, Op, Request, Tag};
use fathom_iosched::BlockQueue;
use fathom_workload::Access;
use fathom_workload::step::Arrival;

/// An access that is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Played {
    /// Which access of the workload, counted from 0.
    pub number: u64,
    /// Which process asked for it, counted from 0; all is one process unless the arrival says otherwise.
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
    /// The source of the accesses failed.
    #[error(transparent)]
    Source(E),
    /// The device failed an access.
    #[error("access {}: {error}", number + 1)]
    Device {
        /// Which access, counted from 0.
        number: u64,
        /// What the device said.
        error: IoError,
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

struct InFlight {
    number: u64,
    process: u32,
    access: Access,
    asked: Time,
}

/// What a workload is played on: a device that may tell what it has done.
pub trait Subject: Device {
    /// What it has done so far, where it can tell.
    fn stats(&self) -> Option<DriveStats>;
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
}

/// A real drive tells nothing.
impl Subject for Box<dyn Device> {
    fn stats(&self) -> Option<DriveStats> {
        None
    }
}

struct Loop<'a> {
    device: &'a mut dyn Subject,
    observer: &'a mut dyn Observer,
    in_flight: Slab<InFlight>,
    done: Vec<Completion>,
    /// The processes of what was done and is not looked at yet, and when it was.
    answered: Vec<(u32, Time)>,
    start: Time,
    next: u64,
}

/// Plays accesses until the last one is done: one source after the other, or each as a process of its own. Equal sources
/// give equal runs on a modelled device.
///
/// # Errors
/// [`PlayError`] with the access; what is in flight then is given up.
pub fn play<S, E>(
    device: &mut dyn Subject,
    sources: impl IntoIterator<Item = S>,
    arrival: Arrival,
    observer: &mut dyn Observer,
) -> Result<(), PlayError<E>>
where
    S: Iterator<Item = Result<Access, E>>,
    E: std::error::Error,
{
    let mut playing = Loop::new(device, observer);
    if let Arrival::Processes { outstanding, .. } = arrival {
        return playing.processes(sources.into_iter().collect(), outstanding.get());
    }
    for access in sources.into_iter().flatten() {
        let access = access.map_err(PlayError::Source)?;
        let asked = match arrival {
            Arrival::Closed { outstanding } => playing.until_fewer(outstanding.get())?,
            _ => playing.until(access.at)?,
        };
        playing.answered.clear();
        playing.hand_over(access, asked, Tag::default())?;
    }
    playing.finish()
}

impl<'a> Loop<'a> {
    fn new(device: &'a mut dyn Subject, observer: &'a mut dyn Observer) -> Self {
        let start = device.now();
        observer.begin(start);
        Self {
            device,
            observer,
            in_flight: Slab::default(),
            done: Vec::new(),
            answered: Vec::new(),
            start,
            next: 0,
        }
    }

    /// Plays the accesses of several processes, each as soon as fewer than `outstanding` of its own are in flight. A
    /// process waits for its writes, too.
    fn processes<S, E>(&mut self, mut sources: Vec<S>, outstanding: u32) -> Result<(), PlayError<E>>
    where
        S: Iterator<Item = Result<Access, E>>,
        E: std::error::Error,
    {
        // Each begins with as many as it may have; after that, one for each that is done.
        for _ in 0..outstanding {
            let all = (0..sources.len() as u32).map(|process| (process, self.start));
            self.answered.extend(all);
        }
        while !(self.answered.is_empty() && self.in_flight.is_empty()) {
            let mut answered = std::mem::take(&mut self.answered);
            for (process, asked) in answered.drain(..) {
                let source = sources.get_mut(process as usize);
                if let Some(access) = source.and_then(Iterator::next) {
                    let tag = Tag {
                        process,
                        sync: true,
                        ..Tag::default()
                    };
                    self.hand_over(access.map_err(PlayError::Source)?, asked, tag)?;
                }
            }
            // What was done while the device was busy is in the list already.
            answered.append(&mut self.answered);
            self.answered = answered;
            if self.answered.is_empty() && !self.in_flight.is_empty() {
                self.settle(Time::MAX)?;
            }
        }
        Ok(())
    }

    /// Waits until a time of the workload has come.
    fn until<E: std::error::Error>(&mut self, at: Time) -> Result<Time, PlayError<E>> {
        let due = Time(self.start.0.saturating_add(at.0));
        while self.device.now() < due {
            self.collect(due)?;
        }
        Ok(due)
    }

    /// Waits until fewer than so many accesses are in flight.
    fn until_fewer<E: std::error::Error>(&mut self, many: u32) -> Result<Time, PlayError<E>> {
        while self.in_flight.len() >= many as usize {
            self.settle(Time::MAX)?;
        }
        Ok(self.device.now())
    }

    /// Waits until everything is done.
    fn finish<E: std::error::Error>(&mut self) -> Result<(), PlayError<E>> {
        while !self.in_flight.is_empty() {
            self.settle(Time::MAX)?;
        }
        Ok(())
    }

    /// Hands an access over; waits only where the device is busy.
    fn hand_over<E: std::error::Error>(
        &mut self,
        access: Access,
        asked: Time,
        tag: Tag,
    ) -> Result<(), PlayError<E>> {
        let (number, offset) = (self.next, access.offset);
        self.next += 1;
        let id = self.in_flight.insert(InFlight {
            number,
            process: tag.process,
            access,
            asked,
        });
        let len = if access.op == Op::Flush {
            0
        } else {
            access.len
        };
        let mut request = Request {
            tag,
            ..Request::new(u64::from(id), access.op, offset, len)
        };
        while let Err(busy) = self.device.submit(request) {
            request = busy.0;
            self.settle(Time::MAX)?;
        }
        Ok(())
    }

    /// Waits for completions; the device must have some.
    fn settle<E: std::error::Error>(&mut self, until: Time) -> Result<(), PlayError<E>> {
        if self.collect(until)? == 0 && until == Time::MAX {
            let in_flight = self.in_flight.len();
            return Err(PlayError::Stopped { in_flight });
        }
        Ok(())
    }

    /// Waits until `until` or a completion; how many have come.
    fn collect<E: std::error::Error>(&mut self, until: Time) -> Result<usize, PlayError<E>> {
        if self.observer.interrupted() {
            return Err(PlayError::Interrupted);
        }
        let mut done = std::mem::take(&mut self.done);
        self.device.wait(until, &mut done);
        let count = done.len();
        for completion in done.drain(..) {
            let Some(InFlight {
                number,
                process,
                access,
                asked,
            }) = self.in_flight.remove(completion.id.0 as u32)
            else {
                continue;
            };
            if let Err(error) = completion.result {
                return Err(PlayError::Device { number, error });
            }
            self.answered.push((process, completion.completed));
            let played = Played {
                number,
                process,
                access,
                asked,
                submitted: completion.submitted,
                completed: completion.completed,
            };
            let device = &*self.device;
            self.observer.played(&played, &|| device.stats());
        }
        self.done = done;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Model, find};
    use fathom_base::Dur;
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
        fn played(&mut self, played: &Played, _stats: &dyn Fn() -> Option<DriveStats>) {
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
            fn played(&mut self, _: &Played, _: &dyn Fn() -> Option<DriveStats>) {
                self.0.set(self.0.get() + 1);
            }
        }
        let done = Cell::new(0);
        let source = (0..5000).map(|i| {
            pulled.set(pulled.get() + 1);
            furthest.set(furthest.get().max(pulled.get() - done.get()));
            Ok::<_, Infallible>(write(0, i % 500 * 4096))
        });
        play(&mut drive, [source], Arrival::Open, &mut Counting(&done)).unwrap();
        assert_eq!((pulled.get(), done.get()), (5000, 5000));
        assert!(furthest.get() <= depth + 1, "{}", furthest.get());
    }

    #[test]
    fn response_times_count_from_when_an_access_was_asked_for() {
        let mut drive = drive();
        let accesses = (0..50).map(|i| Ok::<_, Infallible>(write(i * 10, i * 4096)));
        let mut seen = Seen::default();
        play(&mut drive, [accesses], Arrival::Open, &mut seen).unwrap();
        assert_eq!(seen.played.len(), 50);
        let start = seen.played.iter().map(|p| p.asked).min().unwrap();
        for played in &seen.played {
            assert_eq!(played.asked, start + Dur(played.number * 10));
            assert!(played.asked <= played.submitted && played.submitted < played.completed);
        }
        // One at a time: each is asked for when the one before it is done.
        let accesses = (0..50).map(|i| Ok::<_, Infallible>(write(i * 10, i * 4096)));
        let mut seen = Seen::default();
        let outstanding = 1.try_into().unwrap();
        play(
            &mut drive,
            [accesses],
            Arrival::Closed { outstanding },
            &mut seen,
        )
        .unwrap();
        for pair in seen.played.windows(2) {
            assert_eq!(pair[1].asked, pair[0].completed);
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
            let arrival = Arrival::Processes {
                processes: 3.try_into().unwrap(),
                outstanding: outstanding.try_into().unwrap(),
            };
            play(&mut drive, sources, arrival, &mut seen).unwrap();
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

    #[test]
    fn an_access_that_the_drive_refuses_is_named() {
        let mut drive = drive();
        let end = drive.info().capacity_bytes;
        let accesses = [write(0, 0), write(1, end), write(2, 0)];
        let accesses = accesses.into_iter().map(Ok::<_, Infallible>);
        let result = play(&mut drive, [accesses], Arrival::Open, &mut Seen::default());
        assert!(
            matches!(result, Err(PlayError::Device { number: 1, .. })),
            "{result:?}"
        );
    }
}
