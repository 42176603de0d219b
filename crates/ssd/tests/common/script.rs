//! Scripts: the requests to a drive, step by step. They are stored as text, drawn at random, and played on a drive with
//! its shadow.
//!
//! The text has one word per step. Offsets and lengths are in sectors:
//!
//! | word | step |
//! |---|---|
//! | `W8+4` | write 4 sectors from sector 8 on |
//! | `F8+4` | the same, durable before it completes |
//! | `R8+4`, `T8+4` | read, trim |
//! | `S` | flush |
//! | `I500` | wait for 500 ns, or until something completes |
//! | `D` | wait for everything in flight |
//! | `X` | cut the power now |
//! | `C13` | cut the power when 13 more flash operations are done |
//! | `C13/4` | and again, 4 operations after it has come back |

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use super::torture::{Outcome, Torture};
use fathom_base::{Rng, SECTOR_BYTES};
use fathom_block::Op;
use fathom_ssd::Spec;
use std::fmt;
use std::str::FromStr;

/// One step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// A request over `n` sectors from `first` on; with `fua` it is durable before it completes.
    Ask {
        op: Op,
        first: u64,
        n: u64,
        fua: bool,
    },
    /// Waits for this many nanoseconds, or until something completes.
    Idle(u64),
    /// Waits for everything in flight.
    Drain,
    /// Cuts the power now.
    CutNow,
    /// Cuts the power after `after` more flash operations, and again `again` operations after it has returned; 0 for
    /// never.
    Cut { after: u64, again: u64 },
}

/// A sequence of steps, and the queue depth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Script {
    pub(crate) depth: usize,
    pub(crate) steps: Vec<Step>,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Step::Ask { op: Op::Flush, .. } => f.write_str("S"),
            Step::Ask { op, first, n, fua } => {
                let letter = match op {
                    Op::Read => "R",
                    Op::Trim => "T",
                    _ if fua => "F",
                    _ => "W",
                };
                write!(f, "{letter}{first}+{n}")
            }
            Step::Idle(ns) => write!(f, "I{ns}"),
            Step::Drain => f.write_str("D"),
            Step::CutNow => f.write_str("X"),
            Step::Cut { after, again: 0 } => write!(f, "C{after}"),
            Step::Cut { after, again } => write!(f, "C{after}/{again}"),
        }
    }
}

impl FromStr for Step {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let wrong = || format!("`{word}` is no step");
        let (letter, rest) = word.split_at_checked(1).ok_or_else(wrong)?;
        let number = |text: &str| text.parse::<u64>().map_err(|_| wrong());
        let ask = |op, fua| {
            let (first, n) = rest.split_once('+').ok_or_else(wrong)?;
            let (first, n) = (number(first)?, number(n)?);
            Ok(Step::Ask { op, first, n, fua })
        };
        match letter {
            "W" => ask(Op::Write, false),
            "F" => ask(Op::Write, true),
            "R" => ask(Op::Read, false),
            "T" => ask(Op::Trim, false),
            "S" => Ok(FLUSH),
            "I" => number(rest).map(Step::Idle),
            "D" => Ok(Step::Drain),
            "X" => Ok(Step::CutNow),
            "C" => {
                let (after, again) = rest.split_once('/').unwrap_or((rest, "0"));
                let (after, again) = (number(after)?, number(again)?);
                Ok(Step::Cut { after, again })
            }
            _ => Err(wrong()),
        }
    }
}

const FLUSH: Step = Step::Ask {
    op: Op::Flush,
    first: 0,
    n: 0,
    fua: false,
};

impl Script {
    /// Plays the steps on a drive, then compares its complete contents with the shadow.
    pub(crate) fn play(&self, t: &mut Torture) -> Outcome {
        let mut again = 0;
        for &step in &self.steps {
            match step {
                Step::Ask { op, first, n, fua } => {
                    while t.in_flight() >= self.depth && t.drive.is_powered() {
                        t.collect()?;
                    }
                    if t.drive.is_powered() {
                        t.submit(op, (first, n), fua)?;
                    }
                }
                Step::Idle(ns) => t.pass(ns)?,
                Step::Drain => t.drain()?,
                Step::CutNow => drop(t.drive.cut_power()),
                Step::Cut { after, again: then } => {
                    let ops = t.drive.counters().flash_ops;
                    t.drive.cut_power_after(ops + after);
                    again = then;
                }
            }
            power_on(t, &mut again)?;
        }
        t.drain()?;
        power_on(t, &mut again)?;
        t.drive.cut_power_after(u64::MAX);
        t.verify()?;
        t.check_worn_out()
    }
}

/// Turns the power on again as often as necessary.
fn power_on(t: &mut Torture, again: &mut u64) -> Outcome {
    while !t.drive.is_powered() {
        t.recover(std::mem::take(again))?;
    }
    Ok(())
}

/// Parameters for drawing a script: frequency, length and position of requests.
#[derive(Clone, Debug)]
pub(crate) struct Manner {
    /// Weights of writes, durable writes, reads, trims, flushes, idle times and drains.
    weights: [u64; 7],
    /// Sectors of the drive's logical block, and the unit of which most requests are multiples.
    block: u64,
    grain: u64,
    /// Maximum length of a request, in grains.
    longest: u64,
    /// Number of sectors that most requests address.
    hot: u64,
    /// Percentage of requests that start where the last one ended.
    in_order: u64,
    idle_ns: u64,
    sectors: u64,
    request_sectors: u64,
    /// Flash operations between two power cuts, if any; and the percentage of cuts that come twice.
    cuts: Option<u64>,
}

impl Manner {
    /// Draws the parameters for a drive.
    pub(crate) fn draw(spec: &Spec, rng: &mut Rng) -> Self {
        let sectors = spec.capacity.0 / SECTOR_BYTES;
        let block = spec.host.logical_block.0 / SECTOR_BYTES;
        let unit = spec.unit() / SECTOR_BYTES;
        let page = spec.flash.clustered_page.0 / SECTOR_BYTES;
        let grains = [block, unit, unit, unit, page];
        let trims = [0, 2, 5, 15, 30];
        let flushes = [0, 1, 4, 10];
        let pick = |rng: &mut Rng, from: &[u64]| rng.pick(from).copied().unwrap_or(1);
        Self {
            weights: [
                60,
                pick(rng, &[0, 0, 5]),
                pick(rng, &[3, 10, 30]),
                pick(rng, &trims),
                pick(rng, &flushes),
                pick(rng, &[0, 1, 5]),
                pick(rng, &[0, 1, 5]),
            ],
            block,
            grain: pick(rng, &grains),
            longest: pick(rng, &[1, 1, 2, 4, 16]),
            hot: (sectors / pick(rng, &[1, 1, 2, 4])).max(block),
            in_order: pick(rng, &[0, 0, 10, 50]),
            idle_ns: pick(rng, &[5_000, 300_000, 3_000_000, 30_000_000]),
            sectors,
            request_sectors: spec.host.max_request.0 / SECTOR_BYTES,
            cuts: None,
        }
    }

    /// Adds power cuts, about `apart` flash operations apart.
    pub(crate) fn with_cuts(self, apart: u64) -> Self {
        Self {
            cuts: Some(apart),
            ..self
        }
    }

    /// Draws a script of `steps` steps.
    pub(crate) fn script(&self, steps: usize, depth: usize, rng: &mut Rng) -> Script {
        let mut end = 0;
        let mut all = Vec::with_capacity(steps);
        let mut quiet = 0;
        while all.len() < steps {
            if let Some(apart) = self.cuts
                && quiet == 0
            {
                all.push(self.cut(apart, rng));
                quiet = 1 + rng.below(apart);
            }
            quiet = quiet.saturating_sub(1);
            all.push(self.step(&mut end, rng));
        }
        Script { depth, steps: all }
    }

    fn cut(&self, apart: u64, rng: &mut Rng) -> Step {
        if rng.chance(0.1) {
            return Step::CutNow;
        }
        let after = 1 + rng.below(2 * apart);
        let again = if rng.chance(0.3) {
            1 + rng.below(30)
        } else {
            0
        };
        Step::Cut { after, again }
    }

    fn step(&self, end: &mut u64, rng: &mut Rng) -> Step {
        let mut drawn = rng.below(self.weights.iter().sum());
        let mut which = 0;
        while drawn >= self.weights[which] {
            drawn -= self.weights[which];
            which += 1;
        }
        let (op, fua) = match which {
            0 => (Op::Write, false),
            1 => (Op::Write, true),
            2 => (Op::Read, false),
            3 => (Op::Trim, false),
            4 => return FLUSH,
            5 => return Step::Idle(1 + rng.below(self.idle_ns)),
            _ => return Step::Drain,
        };
        let (first, n) = self.place(op, *end, rng);
        *end = first + n;
        Step::Ask { op, first, n, fua }
    }

    /// Draws the position of a request: most are whole grains, some start or end anywhere; a few trims cover the whole
    /// drive.
    fn place(&self, op: Op, last: u64, rng: &mut Rng) -> (u64, u64) {
        let grain = if rng.chance(0.1) {
            self.block
        } else {
            self.grain
        };
        let among = if rng.chance(0.1) {
            self.sectors
        } else {
            self.hot
        };
        let first = match last {
            last if last < self.sectors && rng.below(100) < self.in_order => last,
            _ => rng.below(among.div_ceil(grain)) * grain,
        };
        let left = self.sectors - first;
        let mut longest = self.longest;
        if rng.chance(0.05) {
            longest *= 8;
        }
        let mut n = (1 + rng.below(longest)) * grain;
        if op == Op::Trim {
            if rng.chance(0.1) {
                n = left;
            }
            return (first, n.min(left));
        }
        let most = self.request_sectors / self.block * self.block;
        (first, n.min(left).min(most))
    }
}
