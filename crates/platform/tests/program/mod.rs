//! A drive of fixed latency that plays programs and checks that requests in flight do not overlap.
#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "shared by several tests, of which each uses a part"
)]

use fathom_base::{Dur, Time};
use fathom_block::program::{Done, Next, Program};
use fathom_block::{Access, Op, Tag};

/// An access as it was played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Played {
    pub(crate) actor: usize,
    pub(crate) tag: Tag,
    pub(crate) access: Access,
    pub(crate) asked: Time,
    pub(crate) started: Time,
    pub(crate) done: Time,
}

/// The latency of every request, and the number of requests that the drive takes at once.
#[derive(Clone, Copy)]
pub(crate) struct Drive {
    pub(crate) latency: Dur,
    pub(crate) depth: usize,
}

pub(crate) const DRIVE: Drive = Drive {
    latency: Dur::us(100),
    depth: 32,
};

/// Plays a program to its end and returns the accesses in order of completion. Calls `look` with the program after
/// every completion.
pub(crate) fn play_and_look<P: Program + ?Sized>(
    program: &mut P,
    drive: Drive,
    mut look: impl FnMut(&P, Time),
) -> Vec<Played> {
    let mut now = Time::ZERO;
    let (mut flying, mut played): (Vec<Played>, Vec<Played>) = (Vec::new(), Vec::new());
    let mut refused: Vec<Option<Played>> = vec![None; program.actors()];
    loop {
        let mut until = Time::MAX;
        for (actor, refused) in refused.iter_mut().enumerate() {
            if let Some(mut held) = refused.take() {
                if flying.len() == drive.depth {
                    *refused = Some(held);
                    continue;
                }
                held.started = now;
                held.done = now + drive.latency;
                enter(&mut flying, held);
            }
            loop {
                match program.next(actor, now).unwrap() {
                    Next::Wait(at) | Next::Watch(at) => {
                        assert!(at > now, "actor {actor} waits for {at:?} at {now:?}");
                        until = until.min(at);
                        break;
                    }
                    Next::Request(request) => {
                        let moves = request.access.len > 0 || request.access.op == Op::Flush;
                        assert!(request.asked <= now && moves);
                        let one = Played {
                            actor,
                            tag: request.tag,
                            access: request.access,
                            asked: request.asked,
                            started: now,
                            done: now + drive.latency,
                        };
                        if flying.len() == drive.depth {
                            *refused = Some(one);
                            break;
                        }
                        enter(&mut flying, one);
                    }
                }
            }
        }
        let first = flying.iter().map(|p| p.done).min().unwrap_or(Time::MAX);
        now = until.min(first);
        if now == Time::MAX {
            assert!(refused.iter().all(Option::is_none));
            return played;
        }
        let (done, rest) = flying.into_iter().partition(|p| p.done <= now);
        flying = rest;
        for p in done {
            let done = Done {
                access: &p.access,
                tag: p.tag,
                completed: p.done,
                data: None,
            };
            program.done(p.actor, done).unwrap();
            played.push(p);
            look(program, now);
        }
    }
}

/// Plays a program to its end.
pub(crate) fn play<P: Program + ?Sized>(program: &mut P, drive: Drive) -> Vec<Played> {
    play_and_look(program, drive, |_, _| {})
}

/// Checks that a request overlaps none in flight unless both are reads: a page being read or written is not touched.
fn enter(flying: &mut Vec<Played>, request: Played) {
    for other in flying.iter() {
        let apart = other.access.end() <= request.access.offset
            || request.access.end() <= other.access.offset;
        let reads = other.access.op == Op::Read && request.access.op == Op::Read;
        assert!(apart || reads, "{request:?} overlaps {other:?}");
    }
    flying.push(request);
}

/// Returns the value of a counter.
pub(crate) fn value(counters: &[fathom_platform::Counter], name: &str) -> f64 {
    counters.iter().find(|c| c.name == name).unwrap().value
}

/// The bytes that operations of one kind transferred.
pub(crate) fn bytes<'a>(played: impl IntoIterator<Item = &'a Played>, op: Op) -> u64 {
    let those = played.into_iter().filter(|p| p.access.op == op);
    those.map(|p| p.access.len).sum()
}
