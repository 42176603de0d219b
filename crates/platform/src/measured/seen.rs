//! The events of one I/O, and the path that they describe.

use super::rejection::Rejection;
use super::route::{Io, Route};
use fathom_block::kernel::{Event, Record, Span};

/// When and where something happened.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub(super) at: u64,
    pub(super) cpu: u16,
    pub(super) thread: u32,
}

/// The events that end the phases of an I/O, in order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Path {
    pub(super) enter: Option<u64>,
    pub(super) bio: Point,
    pub(super) issue: Point,
    pub(super) done: Point,
    pub(super) waking: Option<Point>,
    pub(super) ran: Option<Point>,
    /// The processor on which the caller ran last.
    pub(super) last_cpu: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Own {
    Slept,
    Preempted,
    Ran,
}

/// What happened to the caller.
#[derive(Clone, Copy, Debug)]
struct Turn {
    own: Own,
    point: Point,
    /// The thread that got the processor.
    to: u32,
}

impl Turn {
    /// Whether the thread that issues the request took the processor from the caller for that. Where a scheduler orders the
    /// requests, kernels such as 6.1 issue them from a worker, which preempts the caller on its own processor.
    fn is_for(&self, issue: &Point) -> bool {
        self.own == Own::Preempted && self.to == issue.thread
    }
}

/// The events of the time of an I/O that concern it.
#[derive(Debug, Default)]
pub(super) struct Seen {
    enter: Option<u64>,
    in_call: bool,
    bio: Option<(Point, Span)>,
    issue: Option<(Point, Span)>,
    done: Option<(Point, Span)>,
    wakings: Vec<Point>,
    turns: Vec<Turn>,
    last_cpu: Option<u16>,
}

/// Sets what may happen only once.
fn once<T>(place: &mut Option<T>, value: T, again: Rejection) -> Result<(), Rejection> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(again),
    }
}

impl Seen {
    pub(super) fn add(&mut self, record: &Record, io: &Io, route: &Route) -> Result<(), Rejection> {
        let point = Point {
            at: record.at,
            cpu: record.cpu,
            thread: record.thread,
        };
        let own = record.thread == io.thread;
        if own {
            self.last_cpu = Some(record.cpu);
        }
        match record.event {
            Event::Enter(_) if own => return self.enter(record.at),
            Event::Exit(_, result) if own => return self.exit(result, route),
            Event::BioQueue(span) if route.is_queued(span.dev) => {
                once(&mut self.bio, (point, span), Rejection::SeveralBios)?;
            }
            Event::Issue(span) if route.is_issued(span.dev) => {
                once(&mut self.issue, (point, span), Rejection::SeveralRequests)?;
            }
            Event::Complete(span) if route.is_issued(span.dev) => {
                once(&mut self.done, (point, span), Rejection::SeveralRequests)?;
            }
            Event::BioSplit(span) if route.is_queued(span.dev) || route.is_issued(span.dev) => {
                return Err(Rejection::Split);
            }
            Event::Requeue(span) if route.is_issued(span.dev) => return Err(Rejection::Requeued),
            Event::Waking(thread) if thread == io.thread => self.wakings.push(point),
            Event::Switch { to, preempted } if own || to == io.thread => {
                let own = match (own, preempted) {
                    (true, true) => Own::Preempted,
                    (true, false) => Own::Slept,
                    (false, _) => Own::Ran,
                };
                self.turns.push(Turn { own, point, to });
            }
            _ => {}
        }
        Ok(())
    }

    fn enter(&mut self, at: u64) -> Result<(), Rejection> {
        if self.in_call {
            return Err(Rejection::NoExit);
        }
        self.in_call = true;
        if self.bio.is_none() {
            once(&mut self.enter, at, Rejection::Call)?;
        }
        Ok(())
    }

    fn exit(&mut self, result: i64, route: &Route) -> Result<(), Rejection> {
        if result < 0 {
            return Err(Rejection::Failed);
        }
        if !self.in_call || (self.bio.is_none() && route.submitter.is_none()) {
            return Err(if self.in_call {
                Rejection::NoBio
            } else {
                Rejection::Call
            });
        }
        self.in_call = false;
        Ok(())
    }

    /// Returns the path, if the events describe exactly one.
    pub(super) fn path(&self, io: &Io, route: &Route) -> Result<Path, Rejection> {
        let (bio, queued) = self.bio.ok_or(Rejection::NoBio)?;
        let (issue, issued) = self.issue.ok_or(Rejection::NoIssue)?;
        let (done, completed) = self.done.ok_or(Rejection::NoCompletion)?;
        if bio.thread != route.submitter.unwrap_or(io.thread) {
            return Err(Rejection::OtherThread);
        }
        let calls = route.submitter.is_none() && !route.without_calls;
        if calls && self.enter.is_none() {
            return Err(Rejection::Call);
        }
        if self.in_call {
            return Err(Rejection::NoExit);
        }
        if queued.sectors != issued.sectors {
            return Err(Rejection::Split);
        }
        if issued != completed {
            return Err(Rejection::OtherRequest);
        }
        if !(bio.at <= issue.at && issue.at <= done.at) {
            return Err(Rejection::OutOfOrder);
        }
        self.turns_before(&issue, io)?;
        let waking = self.waking(&done)?;
        let ran = self.ran(&issue, &done, waking)?;
        Ok(Path {
            enter: self.enter,
            bio,
            issue,
            done,
            waking,
            ran,
            last_cpu: self.last_cpu.unwrap_or(bio.cpu),
        })
    }

    /// The caller does not leave its processor before its request is issued, unless another thread issues it.
    fn turns_before(&self, issue: &Point, io: &Io) -> Result<(), Rejection> {
        let by_caller = issue.thread == io.thread;
        let mut before = self.turns.iter().filter(|turn| turn.point.at < issue.at);
        let others = |turn: &&Turn| turn.own == Own::Preempted && !turn.is_for(issue);
        match before.find(|turn| by_caller || others(turn)) {
            Some(Turn {
                own: Own::Slept, ..
            }) => Err(Rejection::Waited),
            Some(Turn { own: Own::Ran, .. }) => Err(Rejection::Ambiguous),
            Some(_) => Err(Rejection::Preempted),
            None => Ok(()),
        }
    }

    /// Returns the waking after the completion.
    fn waking(&self, done: &Point) -> Result<Option<Point>, Rejection> {
        let mut after = self.wakings.iter().filter(|point| point.at >= done.at);
        let waking = after.next().copied();
        match after.next() {
            Some(_) => Err(Rejection::Ambiguous),
            None => Ok(waking),
        }
    }

    /// Returns the switch to the caller after its waking; `None` if it did not sleep, or if the kernel did not say.
    fn ran(
        &self,
        issue: &Point,
        done: &Point,
        waking: Option<Point>,
    ) -> Result<Option<Point>, Rejection> {
        let asleep = |turn: &Turn| turn.own == Own::Slept;
        let before = self.turns.iter().rfind(|turn| turn.point.at < done.at);
        let slept = before.is_some_and(asleep);
        let after: Vec<&Turn> = self
            .turns
            .iter()
            .filter(|t| t.point.at >= done.at)
            .collect();
        if after.iter().any(|turn| turn.own == Own::Preempted) {
            return Err(Rejection::Preempted);
        }
        let sleeps = after.iter().filter(|turn| asleep(turn)).count() + usize::from(slept);
        let Some(waking) = waking else {
            // Who was preempted before the completion runs again without a waking.
            let waited = before.filter(|turn| turn.own == Own::Preempted);
            return match (sleeps, waited, &after[..]) {
                (0, None, []) => Ok(None),
                // It was done before the thread that issued it gave the processor back.
                (0, Some(turn), [ran]) if turn.is_for(issue) && ran.own == Own::Ran => Ok(None),
                (0, Some(_), _) => Err(Rejection::Preempted),
                _ => Err(Rejection::NoWaking),
            };
        };
        match after[..] {
            [] => Ok(None),
            [ran] if ran.own == Own::Ran && ran.point.at >= waking.at && slept => {
                Ok(Some(ran.point))
            }
            [sleep, ran] if asleep(sleep) && ran.own == Own::Ran && !slept => {
                let in_order = ran.point.at >= waking.at;
                in_order
                    .then_some(Some(ran.point))
                    .ok_or(Rejection::OutOfOrder)
            }
            // It went to sleep, and the switch back was not reported.
            [sleep] if asleep(sleep) && !slept => Ok(None),
            _ => Err(Rejection::Ambiguous),
        }
    }
}
