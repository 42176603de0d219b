//! The peak rate of the drive, which determines the maximum budget, and whether the drive queues requests.
//!
//! Linux 6.12, `block/bfq-iosched.c`: `bfq_update_peak_rate`, `bfq_update_rate_reset`, `bfq_calc_max_budget`,
//! `bfq_update_hw_tag`.

use super::queue::is_seek;
use crate::Io;
use fathom_base::{Dur, SECTOR_BYTES, Time};

/// Binary digits of a rate below one sector per microsecond: `BFQ_RATE_SHIFT`.
const SHIFT: u32 = 16;
/// Rates of the reference drives, without and with a head: `ref_rate`.
const REFERENCE: [u64; 2] = [33_000, 14_000];
/// Time of an interactive task on the reference drives: `ref_wr_duration`.
const REFERENCE_TIME: [Dur; 2] = [Dur::ms(2_500), Dur::ms(7_000)];
/// Number of dispatches and time that an estimate needs, and the time after which it is made: `BFQ_RATE_MIN_SAMPLES`,
/// `BFQ_RATE_MIN_INTERVAL`, `BFQ_RATE_REF_INTERVAL`.
const MIN_SAMPLES: u64 = 32;
const MIN_INTERVAL: Dur = Dur::ms(300);
const INTERVAL: Dur = Dur::ms(1_000);
/// A pause shorter than this does not count as one: `BFQ_MIN_TT`.
pub(super) const SHORT_PAUSE: Dur = Dur::ms(2);
/// A drive with more requests in flight than this queues: `BFQ_HW_QUEUE_THRESHOLD`; and the number of completions after
/// which that is checked.
const QUEUE: u32 = 3;
const QUEUE_SAMPLES: u32 = 32;

/// The estimate of the peak rate, in sectors per microsecond times 2^16.
#[derive(Clone, Debug)]
pub(super) struct Rate {
    peak: u64,
    rotational: bool,
    samples: u64,
    sequential: u64,
    sectors: u64,
    longest: u64,
    first: Time,
    last: Time,
    since_first: Dur,
    /// The end of the last dispatched request, in bytes.
    pub(super) place: u64,
    pub(super) last_completion: Time,
}

impl Rate {
    pub(super) fn new(rotational: bool) -> Self {
        Self {
            peak: REFERENCE[usize::from(rotational)] * 2 / 3,
            rotational,
            samples: 0,
            sequential: 0,
            sectors: 0,
            longest: 0,
            first: Time::ZERO,
            last: Time::ZERO,
            since_first: Dur::ZERO,
            place: 0,
            last_completion: Time::ZERO,
        }
    }

    /// Time for which a queue that seems interactive is raised, before limits.
    pub(super) fn interactive(&self) -> Dur {
        let kind = usize::from(self.rotational);
        Dur(REFERENCE[kind] * REFERENCE_TIME[kind].0 / self.peak)
    }

    /// Amount that the drive transfers in `time` at its peak rate, in sectors.
    pub(super) fn sectors_in(&self, time: Dur) -> u64 {
        (self.peak * (time.0 / 1_000)) >> SHIFT
    }

    /// Records a dispatch. Returns whether there is a new estimate.
    pub(super) fn dispatched(&mut self, now: Time, io: &Io, in_flight: u32) -> bool {
        let new = self.sample(now, io, in_flight);
        self.place = io.end();
        self.last = now;
        new
    }

    fn sample(&mut self, now: Time, io: &Io, in_flight: u32) -> bool {
        let sectors = io.len.div_ceil(SECTOR_BYTES);
        if self.samples == 0 {
            self.restart(now, sectors);
            return false;
        }
        if now.since(self.last) <= Dur::ms(100) || in_flight > 0 {
            self.samples += 1;
            let busy = in_flight > 0 || now.since(self.last_completion) < SHORT_PAUSE;
            let seek = is_seek(self.place, io, self.rotational);
            self.sequential += u64::from(busy && !seek);
            self.sectors += sectors;
            self.longest = match self.samples % 32 {
                0 => sectors,
                _ => self.longest.max(sectors),
            };
            self.since_first = now.since(self.first);
            if self.since_first < INTERVAL {
                return false;
            }
        }
        let new = self.estimate();
        self.restart(now, sectors);
        new
    }

    fn restart(&mut self, now: Time, sectors: u64) {
        (self.first, self.last) = (now, now);
        (self.samples, self.sequential) = (1, 0);
        (self.sectors, self.longest) = (sectors, sectors);
    }

    /// Records a completion. Returns whether there is a new estimate. The samples are discarded after a pause so long
    /// that the longest recent request, spread over it, makes less than about 1 sector per ms.
    pub(super) fn completed(&mut self, now: Time) -> bool {
        let us = now.since(self.last_completion).0 / 1_000;
        let idle = us > SHORT_PAUSE.0 / 1_000 && (self.longest << SHIFT) / us < 1 << (SHIFT - 10);
        let new = idle && self.estimate();
        if idle {
            self.samples = 0;
        }
        self.last_completion = now;
        new
    }

    /// Updates the peak rate with a low-pass filter in which sequential and long observations have the highest weight.
    fn estimate(&mut self) -> bool {
        if self.samples < MIN_SAMPLES || self.since_first < MIN_INTERVAL {
            return false;
        }
        let span = self.since_first.max(self.last_completion.since(self.first));
        let rate = (self.sectors << SHIFT) / (span.0 / 1_000).max(1);
        let few = self.sequential < (3 * self.samples) >> 2;
        if (few && rate <= self.peak) || rate > 20 << SHIFT {
            return false;
        }
        let weight = 9 * self.sequential / self.samples;
        let weight = (weight * span.0 / INTERVAL.0).min(8);
        let divisor = 10 - weight;
        self.peak = (self.peak * (divisor - 1) / divisor + rate / divisor).max(1);
        true
    }
}

/// Whether the drive takes several requests at a time.
#[derive(Clone, Debug)]
pub(super) struct Depth {
    /// `hw_tag`: true until observed otherwise; final once the drive was seen to queue.
    pub(super) queues: bool,
    certain: bool,
    most: u32,
    samples: u32,
}

impl Default for Depth {
    fn default() -> Self {
        Self {
            queues: true,
            certain: false,
            most: 0,
            samples: 0,
        }
    }
}

impl Depth {
    /// Records a completion, with the numbers of requests in flight (including this one) and held. `few` says that the
    /// queue being served has too few requests to tell.
    pub(super) fn sample(&mut self, in_flight: u32, held: usize, few: bool) {
        self.most = self.most.max(in_flight);
        if self.certain || in_flight as usize + held <= QUEUE as usize || (few && in_flight < QUEUE)
        {
            return;
        }
        self.samples += 1;
        if self.samples > QUEUE_SAMPLES {
            self.queues = self.most > QUEUE;
            self.certain = self.queues;
            (self.most, self.samples) = (0, 0);
        }
    }

    /// The maximum number of requests recently in flight.
    pub(super) fn most(&self) -> u32 {
        self.most
    }
}

/// Number of requests below which a queue cannot show whether the drive queues.
pub(super) const FEW: usize = QUEUE as usize;
