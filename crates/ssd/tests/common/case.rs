//! A test case: a drive, its seed and a script. Runs cases, and finds the shortest one that fails.

use super::random;
use super::script::{Manner, Script, Step};
use super::torture::{Done, Torture};
use fathom_base::{Rng, drive_file};
use fathom_ssd::Spec;
use serde::{Deserialize, Serialize};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Random streams derived from the seed of a case.
const OF_DRIVE: u64 = 110;
const OF_SCRIPT: u64 = 111;
const OF_SCRIPT_WITH_CUTS: u64 = 112;
/// Maximum number of runs spent on finding a shorter case.
const RUNS_MAX: u32 = 30_000;

/// A drive and the requests to it.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) spec: Spec,
    /// Seed of the drive's random numbers.
    pub(crate) seed: u64,
    pub(crate) script: Script,
}

/// The file format of a case.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    seed: u64,
    depth: usize,
    script: String,
    drive: Spec,
}

impl Case {
    /// Parses a case file.
    ///
    /// # Errors
    /// Returns a description of the error.
    pub(crate) fn from_toml(text: &str) -> Result<Self, String> {
        let file: File = drive_file::from_toml(text).map_err(|error| error.to_string())?;
        file.drive.check().map_err(|error| error.to_string())?;
        let steps = file.script.split_whitespace().map(str::parse);
        let script = Script {
            depth: file.depth,
            steps: steps.collect::<Result<_, _>>()?,
        };
        Ok(Self {
            spec: file.drive,
            seed: file.seed,
            script,
        })
    }

    /// Returns the text of the case file.
    pub(crate) fn to_toml(&self) -> String {
        let steps = self.script.steps.iter().map(ToString::to_string);
        drive_file::to_toml(&File {
            seed: self.seed,
            depth: self.script.depth,
            script: steps.collect::<Vec<_>>().join(" "),
            drive: self.spec.clone(),
        })
    }

    /// Draws a small drive from a seed.
    pub(crate) fn spec(seed: u64) -> Spec {
        random::draw(&mut Rng::new(seed, OF_DRIVE))
    }

    /// Draws a script of `steps` steps for a drive.
    pub(crate) fn draw(spec: &Spec, seed: u64, steps: usize) -> Self {
        let mut rng = Rng::new(seed, OF_SCRIPT);
        let manner = Manner::draw(spec, &mut rng);
        Self::of(spec, seed, &manner, steps, &mut rng)
    }

    /// Draws a script with power cuts.
    pub(crate) fn draw_with_cuts(spec: &Spec, seed: u64, steps: usize) -> Self {
        let mut rng = Rng::new(seed, OF_SCRIPT_WITH_CUTS);
        let apart = rng.pick(&[5, 40, 300]).copied().unwrap_or(5);
        let manner = Manner::draw(spec, &mut rng).with_cuts(apart);
        Self::of(spec, seed, &manner, steps, &mut rng)
    }

    fn of(spec: &Spec, seed: u64, manner: &Manner, steps: usize, rng: &mut Rng) -> Self {
        let most = u64::from(spec.host.queue_depth);
        let depth = if rng.chance(0.3) {
            1
        } else {
            1 + rng.below(most)
        };
        Self {
            spec: spec.clone(),
            seed,
            script: manner.script(steps, depth as usize, rng),
        }
    }

    /// Returns the case with a power cut after `after` flash operations, and another one `again` operations later.
    pub(crate) fn cut_at(&self, after: u64, again: u64) -> Self {
        let mut case = self.clone();
        case.script.steps.insert(0, Step::Cut { after, again });
        case
    }

    /// Runs the case. A panic is an error like any other.
    ///
    /// # Errors
    /// Returns a description of the failure.
    pub(crate) fn run(&self) -> Result<Done, String> {
        let run = || {
            let mut t = Torture::new(&self.spec, self.seed);
            self.script.play(&mut t).map(|()| t.counts())
        };
        catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned()));
            Err(format!("panic: {}", text.unwrap_or_default()))
        })
    }

    /// Runs the case with a power cut at every `every`-th flash operation that it takes.
    ///
    /// # Errors
    /// Returns the failing case and a description of the failure.
    pub(crate) fn cut_everywhere(&self, every: u64) -> Result<Done, (Box<Case>, String)> {
        let mut all = Done::default();
        let mut n = 1 + self.seed % every;
        loop {
            let case = self.cut_at(n, n % 7);
            let done = case.run().map_err(|why| (Box::new(case), why))?;
            all.add(done);
            if done.cuts == 0 {
                return Ok(all);
            }
            n += every;
        }
    }

    /// Returns the shortest case found that still fails, and its failure.
    pub(crate) fn shortest(self, why: String) -> (Self, String) {
        let mut search = Search {
            best: (self, why),
            runs: 0,
        };
        while search.plainer() | search.fewer_steps() | search.smaller_steps() {}
        search.best
    }
}

/// The state of a search for a shorter case.
struct Search {
    best: (Case, String),
    runs: u32,
}

impl Search {
    /// Adopts a case as the best one if it fails. Returns true if it does.
    fn offer(&mut self, case: Case) -> bool {
        self.runs += 1;
        if self.runs > RUNS_MAX || case == self.best.0 {
            return false;
        }
        match case.run() {
            Ok(_) => false,
            Err(why) => {
                self.best = (case, why);
                true
            }
        }
    }

    /// Removes features that make the drive complicated.
    fn plainer(&mut self) -> bool {
        let plain = crate::common::base();
        type Change = fn(&mut Case, &Spec);
        let changes: [Change; 14] = [
            |case, plain| case.spec.noise = plain.noise.clone(),
            |case, _| case.spec.read_buffer = None,
            |case, _| case.spec.write_buffer = None,
            |case, _| case.spec.fast_cache = None,
            |case, plain| case.spec.faults = plain.faults.clone(),
            |case, plain| case.spec.gc = plain.gc.clone(),
            |case, plain| case.spec.host = plain.host.clone(),
            |case, plain| case.spec.flash.arbitration = plain.flash.arbitration,
            |case, _| case.spec.flash.copy_back = false,
            |case, plain| case.spec.mapping.striping = plain.mapping.striping,
            |case, _| case.spec.mapping.over_provisioning_percent = 0.0,
            |case, _| case.spec.mapping.log_blocks = 1,
            |case, _| case.script.depth = 1,
            |case, _| case.seed = 1,
        ];
        let mut any = false;
        for change in changes {
            let mut case = self.best.0.clone();
            change(&mut case, &plain);
            any |= case.spec.check().is_ok() && self.offer(case);
        }
        any
    }

    /// Removes steps: first halves, at last single ones.
    fn fewer_steps(&mut self) -> bool {
        let mut any = false;
        let mut size = (self.best.0.script.steps.len() / 2).max(1);
        loop {
            let mut at = 0;
            while at < self.best.0.script.steps.len() {
                let mut case = self.best.0.clone();
                let end = (at + size).min(case.script.steps.len());
                case.script.steps.drain(at..end);
                if self.offer_with_cuts(case) {
                    any = true;
                } else {
                    at += size;
                }
            }
            if size == 1 {
                return any;
            }
            size /= 2;
        }
    }

    /// Offers a case; if necessary with an earlier last power cut, because fewer steps take fewer flash operations.
    fn offer_with_cuts(&mut self, case: Case) -> bool {
        let last = case
            .script
            .steps
            .iter()
            .rposition(|step| matches!(step, Step::Cut { .. }));
        let few = case.script.steps.len() <= 30;
        let Some(Step::Cut { after, again }) = last.filter(|_| few).map(|at| case.script.steps[at])
        else {
            return self.offer(case);
        };
        let mut afters = (0..8)
            .filter_map(|less| after.checked_sub(less))
            .filter(|&n| n > 0);
        afters.any(|after| {
            let mut case = case.clone();
            if let Some(at) = last {
                case.script.steps[at] = Step::Cut { after, again };
            }
            self.offer(case)
        })
    }

    /// Makes requests shorter, and cuts single ones.
    fn smaller_steps(&mut self) -> bool {
        let mut any = false;
        let block = self.best.0.spec.host.logical_block.0 / fathom_base::SECTOR_BYTES;
        for at in 0..self.best.0.script.steps.len() {
            let others = match self.best.0.script.steps[at] {
                Step::Ask { op, first, n, fua } if n > block => {
                    let half = (n / 2).div_ceil(block) * block;
                    let shorter = |n| Step::Ask { op, first, n, fua };
                    let later = |less| Step::Ask {
                        op,
                        first: first + less,
                        n: n - less,
                        fua,
                    };
                    vec![
                        shorter(block),
                        shorter(half),
                        shorter(n - block),
                        later(block),
                    ]
                }
                Step::Cut { after, again } if again > 0 => vec![Step::Cut { after, again: 0 }],
                _ => Vec::new(),
            };
            for step in others {
                let mut case = self.best.0.clone();
                case.script.steps[at] = step;
                if step != self.best.0.script.steps[at] && self.offer(case) {
                    any = true;
                    break;
                }
            }
        }
        any
    }
}

impl PartialEq for Case {
    fn eq(&self, other: &Self) -> bool {
        self.seed == other.seed && self.script == other.script && self.spec == other.spec
    }
}
