//! Background work of the stations, drawn from the seed (`noise` of the drive file).

use crate::event::{Clock, Event};
use crate::spec::Noise;
use fathom_base::{Dur, Rng};

/// Pieces that a station has at most: where the host leaves it no time for them, the next are left out.
const WAITING_MAX: u8 = 4;

#[derive(Clone, Debug)]
pub(super) struct Background {
    noise: Noise,
    rng: Rng,
    /// Pieces of each station, the one at work included.
    waiting: Vec<u8>,
}

impl Background {
    pub(super) fn new(noise: &Noise, stations: u32, rng: Rng) -> Self {
        Self {
            noise: noise.clone(),
            rng,
            waiting: vec![0; stations as usize],
        }
    }

    /// Whether no two runs of the drive differ.
    pub(super) fn is_silent(&self) -> bool {
        self.noise == Noise::default()
    }

    /// The next piece comes after a while, if there is background work at all.
    pub(super) fn schedule(&mut self, clock: &mut Clock) {
        let interval = self.noise.background_interval;
        if interval > Dur::ZERO {
            let wait = self.rng.exponential(interval.0 as f64);
            clock.after(Dur(wait as u64 + 1), Event::Background);
        }
    }

    /// A piece comes: its station and its length in nanoseconds, unless that station has too many.
    pub(super) fn draw(&mut self) -> Option<(u32, u32)> {
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
    }
}
