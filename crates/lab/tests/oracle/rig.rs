//! A modelled drive without its noise, and accesses to it.

use fathom_base::{Dur, Rng, Time};
use fathom_block::{Device, Op, Request};
use fathom_ssd::spec::{Faults, Noise};
use fathom_ssd::{Spec, Ssd};

/// An access: operation, offset and length in bytes.
pub(crate) type Access = (Op, u64, u64);

/// A flush.
pub(crate) const FLUSH: Access = (Op::Flush, 0, 0);

/// A drive on which equal accesses take equal times, and which can be cloned.
#[derive(Clone)]
pub(crate) struct Rig {
    drive: Ssd,
    depth: u32,
    max_request: u64,
    next: u64,
}

impl Rig {
    pub(crate) fn quiet(spec: &Spec) -> Rig {
        let mut spec = spec.clone();
        (spec.noise, spec.faults) = (Noise::default(), Faults::default());
        Rig {
            drive: Ssd::new(&spec, 1).unwrap(),
            depth: spec.host.queue_depth,
            max_request: spec.host.max_request.0,
            next: 0,
        }
    }

    /// Plays accesses with up to `depth` in flight, or as many as the drive takes. Returns the total time in nanoseconds.
    pub(crate) fn play(&mut self, accesses: impl IntoIterator<Item = Access>, depth: u32) -> f64 {
        let start = self.drive.now();
        self.completions(accesses, depth);
        self.drive.now().since(start).0 as f64
    }

    /// Returns the completion time of each request of some accesses, in order.
    pub(crate) fn completions(
        &mut self,
        accesses: impl IntoIterator<Item = Access>,
        depth: u32,
    ) -> Vec<Time> {
        let depth = depth.min(self.depth) as usize;
        let (mut times, mut in_flight) = (Vec::new(), 0);
        for (op, offset, len) in accesses {
            let end = offset + len;
            let mut at = offset;
            loop {
                while in_flight >= depth {
                    in_flight -= self.collect(&mut times);
                }
                let part = (end - at).min(self.max_request);
                self.next += 1;
                let request = Request::new(self.next, op, at, part);
                assert!(self.drive.submit(request).is_ok(), "the queue has room");
                in_flight += 1;
                at += part;
                if at >= end {
                    break;
                }
            }
        }
        while in_flight > 0 {
            in_flight -= self.collect(&mut times);
        }
        times
    }

    fn collect(&mut self, times: &mut Vec<Time>) -> usize {
        let mut done = Vec::new();
        self.drive.wait(Time::MAX, &mut done);
        for completion in &done {
            completion.result.unwrap();
            times.push(completion.completed);
        }
        done.len()
    }

    /// Writes the first bytes of the drive sequentially.
    pub(crate) fn fill(&mut self, bytes: u64) {
        let step = 1 << 20;
        let pieces = (0..bytes.div_ceil(step)).map(|i| i * step);
        self.play(
            pieces.map(|at| (Op::Write, at, step.min(bytes - at))),
            u32::MAX,
        );
        self.play([FLUSH], 1);
    }

    pub(crate) fn now(&self) -> Time {
        self.drive.now()
    }

    /// Lets time pass without requests.
    pub(crate) fn rest(&mut self, time: Dur) {
        let until = self.drive.now() + time;
        while self.drive.now() < until {
            self.drive.wait(until, &mut Vec::new());
        }
    }
}

/// Returns random multiples of `size`, plus `shift`, below `region`.
pub(crate) fn scattered(region: u64, size: u64, shift: u64, n: u64) -> Vec<u64> {
    let mut rng = Rng::new(5, size);
    let slots = ((region - shift) / size).max(1);
    (0..n).map(|_| rng.below(slots) * size + shift).collect()
}

/// Returns writes at these places, each followed by a flush if `flush` is true.
pub(crate) fn writes(places: &[u64], size: u64, flush: bool) -> Vec<Access> {
    let mut all = Vec::new();
    for &place in places {
        all.push((Op::Write, place, size));
        if flush {
            all.push(FLUSH);
        }
    }
    all
}

/// Returns the excess of the larger of two times over the smaller, as a share of the smaller.
pub(crate) fn apart(a: f64, b: f64) -> f64 {
    a.max(b) / a.min(b) - 1.0
}

/// Returns the time of the second half of some writes, after the first half has brought the drive into a steady state.
pub(crate) fn steady(rig: &Rig, accesses: &[Access], depth: u32) -> f64 {
    let mut rig = rig.clone();
    let half = accesses.len() / 4 * 2;
    rig.play(accesses[..half].iter().copied(), depth);
    rig.play(accesses[half..].iter().copied(), depth)
}
