//! Background work of the stations, drawn from the seed (`noise` of the drive file).
//!
//! Pieces arrive independently of each other (a Poisson process). After [`PIECES_MAX`] pieces without a request no more
//! are drawn until the next request, so that a century of idle time costs no more than a few days. The first request
//! after such a gap finds no piece in progress.

use crate::event::{Clock, Event};
use crate::spec::Noise;
use fathom_base::{Dur, Rng};

/// Maximum number of pieces of a station, waiting or in progress; further pieces are dropped.
const WAITING_MAX: u8 = 4;
/// Maximum number of pieces drawn without a request. With two seconds between pieces this is 36 hours.
const PIECES_MAX: u32 = 1 << 16;

#[derive(Clone, Debug)]
pub(super) struct Background {
    noise: Noise,
    /// Present if there is background work.
    rng: Option<Rng>,
    /// Pieces of each station, including the one in progress.
    waiting: Vec<u8>,
    /// Pieces drawn since the last request.
    since_request: u32,
}

impl Background {
    pub(super) fn new(noise: &Noise, stations: u32, rng: Option<Rng>) -> Self {
        Self {
            noise: noise.clone(),
            rng,
            waiting: vec![0; stations as usize],
            since_request: 0,
        }
    }

    /// Returns true if the drive has no noise of any kind, so that two runs never differ.
    pub(super) fn is_silent(&self) -> bool {
        self.noise == Noise::default()
    }

    /// Notes a request; resumes the drawing of pieces if it had paused.
    #[inline]
    pub(super) fn note_request(&mut self, clock: &mut Clock) {
        if std::mem::take(&mut self.since_request) > PIECES_MAX {
            self.schedule(clock);
        }
    }

    /// Schedules the next piece, unless there is no background work or it has paused.
    pub(super) fn schedule(&mut self, clock: &mut Clock) {
        if let Some(rng) = &mut self.rng
            && self.since_request <= PIECES_MAX
        {
            let wait = rng.exponential(self.noise.background_interval.0 as f64);
            clock.after(Dur(wait as u64 + 1), Event::Background);
        }
    }

    /// Draws a piece: its station and its length in nanoseconds. `None` if that station has too many already.
    pub(super) fn draw(&mut self) -> Option<(u32, u32)> {
        self.since_request += 1;
        let rng = self.rng.as_mut()?;
        let station = rng.below(self.waiting.len() as u64) as u32;
        let mean = self.noise.background_duration.0 as f64;
        let length = rng.exponential(mean).min(4.0e9) as u32;
        let waiting = &mut self.waiting[station as usize];
        if *waiting >= WAITING_MAX {
            return None;
        }
        *waiting += 1;
        Some((station, length))
    }

    /// Notes that a piece of a station is done.
    pub(super) fn done(&mut self, station: u32) {
        self.waiting[station as usize] -= 1;
    }

    /// Forgets all pieces in progress.
    pub(super) fn clear(&mut self) {
        self.waiting.fill(0);
        self.since_request = 0;
    }
}
