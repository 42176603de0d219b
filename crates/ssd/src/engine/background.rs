//! Background work of the stations, drawn from the seed (`noise` of the drive file).
//!
//! Pieces come independently of each other (a Poisson process): when the next one comes does not depend on those before it.
//! After [`PIECES_MAX`] pieces without a request no more are drawn until the next request, so that an idle century costs no
//! more than a few days. The first request after such a gap finds no piece at work.

use crate::event::{Clock, Event};
use crate::spec::Noise;
use fathom_base::{Dur, Rng};

/// Pieces that a station has at most: where the host leaves it no time for them, the next are left out.
const WAITING_MAX: u8 = 4;
/// Pieces that are drawn without a request: of two seconds each, those of 36 hours.
const PIECES_MAX: u32 = 1 << 16;

#[derive(Clone, Debug)]
pub(super) struct Background {
    noise: Noise,
    rng: Rng,
    /// Pieces of each station, the one at work included.
    waiting: Vec<u8>,
    /// Pieces since the last request.
    since_request: u32,
}

impl Background {
    pub(super) fn new(noise: &Noise, stations: u32, rng: Rng) -> Self {
        Self {
            noise: noise.clone(),
            rng,
            waiting: vec![0; stations as usize],
            since_request: 0,
        }
    }

    /// Whether no two runs of the drive differ.
    pub(super) fn is_silent(&self) -> bool {
        self.noise == Noise::default()
    }

    /// A request comes: so do pieces again, if they paused.
    #[inline]
    pub(super) fn note_request(&mut self, clock: &mut Clock) {
        if std::mem::take(&mut self.since_request) > PIECES_MAX {
            self.schedule(clock);
        }
    }

    /// The next piece comes after a while, if there is background work and it does not pause.
    pub(super) fn schedule(&mut self, clock: &mut Clock) {
        let interval = self.noise.background_interval;
        if interval > Dur::ZERO && self.since_request <= PIECES_MAX {
            let wait = self.rng.exponential(interval.0 as f64);
            clock.after(Dur(wait as u64 + 1), Event::Background);
        }
    }

    /// A piece comes: its station and its length in nanoseconds, unless that station has too many.
    pub(super) fn draw(&mut self) -> Option<(u32, u32)> {
        self.since_request += 1;
        let station = self.rng.below(self.waiting.len() as u64) as u32;
        let mean = self.noise.background_duration.0 as f64;
        let length = self.rng.exponential(mean).min(4.0e9) as u32;
        let waiting = &mut self.waiting[station as usize];
        if *waiting >= WAITING_MAX {
            return None;
        }
        *waiting += 1;
        Some((station, length))
    }

    /// A piece is done.
    pub(super) fn done(&mut self, station: u32) {
        self.waiting[station as usize] -= 1;
    }

    /// Forgets what is under way.
    pub(super) fn clear(&mut self) {
        self.waiting.fill(0);
        self.since_request = 0;
    }
}
