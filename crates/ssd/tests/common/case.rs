//! A case: a drive, its seed and a script; how it is run, and how the shortest one is found that fails.

use super::random;
use super::script::{Manner, Script, Step};
use super::torture::{Done, Torture};
use fathom_base::{Rng, drive_file};
use fathom_ssd::Spec;
use serde::{Deserialize, Serialize};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The streams of a case's seed.
const OF_DRIVE: u64 = 110;
const OF_SCRIPT: u64 = 111;
const OF_SCRIPT_WITH_CUTS: u64 = 112;
/// Runs that are spent on finding a shorter case.
const RUNS_MAX: u32 = 30_000;

/// A drive and what it is asked.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) spec: Spec,
    /// Of what the drive draws.
    pub(crate) seed: u64,
    pub(crate) script: Script,
}

/// A case as a file has it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    seed: u64,
    depth: usize,
    script: String,
    drive: Spec,
}

impl Case {
    /// A case from its file.
    ///
    /// # Errors
    /// What is wrong with it.
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

    /// Its file.
    pub(crate) fn to_toml(&self) -> String {
        let steps = self.script.steps.iter().map(ToString::to_string);
        drive_file::to_toml(&File {
            seed: self.seed,
            depth: self.script.depth,
            script: steps.collect::<Vec<_>>().join(" "),
            drive: self.spec.clone(),
        })
    }

    /// A small drive drawn from a seed.
    pub(crate) fn spec(seed: u64) -> Spec {
        random::draw(&mut Rng::new(seed, OF_DRIVE))
    }

    /// A life of so many steps on a drive.
    pub(crate) fn draw(spec: &Spec, seed: u64, steps: usize) -> Self {
        let mut rng = Rng::new(seed, OF_SCRIPT);
        let manner = Manner::draw(spec, &mut rng);
        Self::of(spec, seed, &manner, steps, &mut rng)
    }

    /// The same with power cuts.
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

    /// The same with the power cut at the `n`-th flash operation, and once more so many after that.
    pub(crate) fn cut_at(&self, after: u64, again: u64) -> Self {
        let mut case = self.clone();
        case.script.steps.insert(0, Step::Cut { after, again });
        case
    }

    /// Runs it. A panic is an error like any other.
    ///
    /// # Errors
    /// What is wrong.
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

    /// Runs it once for every flash operation that it takes, with the power cut there.
    ///
    /// # Errors
    /// The case that fails, and what is wrong.
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

    /// The shortest case found that still fails, and how.
    pub(crate) fn shortest(self, why: String) -> (Self, String) {
        let mut search = Search {
            best: (self, why),
            runs: 0,
        };
        while search.plainer() | search.fewer_steps() | search.smaller_steps() {}
        search.best
    }
}

/// A search for a shorter case.
struct Search {
    best: (Case, String),
    runs: u32,
}

impl Search {
    /// Takes a case for the best one if it fails.
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

    /// Leaves out what makes the drive complicated.
    fn plainer(&mut self) -> bool {
        let plain = crate::common::base();
        type Change = fn(&mut Case, &Spec);
        let changes: [Change; 13] = [
            |case, plain| case.spec.noise = plain.noise.clone(),
            |case, _| case.spec.read_buffer = None,
            |case, _| case.spec.write_buffer = None,
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

    /// Leaves out steps: halves first, single ones last.
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

    /// Takes a case if it fails, with another last power cut if need be: with fewer steps it comes earlier.
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
