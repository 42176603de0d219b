//! Runs the check suite with a power cut at every single flash operation: first on every drive of the lists, then on
//! randomly drawn drives until the time is over. `cargo xtask torture` builds and runs it.
//!
//! Drives and scripts are drawn from seeds, which are consecutive numbers. The first failure ends the run: the shortest
//! failing case is printed as a file for `tests/cases`, with the command that reproduces it, and the exit code is 1.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command for people"
)]

#[path = "../tests/common/mod.rs"]
mod common;

use common::{suite, zone_case};
use fathom_ssd::Spec;
use std::collections::BTreeSet;
use std::ops::Range;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use suite::case::Case;
use suite::torture::Done;
use suite::{Effort, Failure, check, lists, random};

const USAGE: &str = "\
Usage: cargo xtask torture --seconds N [--seed S]
       cargo xtask torture --drive SEED
       cargo xtask torture --zoned SEED
       cargo xtask torture --listed NUMBER

  --seconds N      runs all drives of the lists, and draws others from seed 1 on until N seconds have passed
  --seed S         goes on where a run ended: draws drives from seed S on, and leaves the lists out
  --drive SEED     draws this drive alone
  --zoned SEED     draws this zoned drive alone
  --listed NUMBER  runs this drive of the lists alone, counted from 0";

/// Interval of progress messages.
const TELL_EVERY: Duration = Duration::from_secs(60);

/// The work to do: numbers of listed drives, and seeds of drives that are drawn until the time is over, each of them for an
/// ordinary drive and for a zoned one.
struct Args {
    listed: Range<u64>,
    seeds: Range<u64>,
    ordinary: bool,
    zoned: bool,
    time: Duration,
}

fn main() -> ExitCode {
    let Some(args) = Args::read(std::env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    // A panic is reported like any other failure, once the shortest case is found.
    std::panic::set_hook(Box::new(|_| {}));
    let run = Run::new(args);
    run.on_all_processors();
    run.tell()
}

impl Args {
    fn read(mut args: impl Iterator<Item = String>) -> Option<Self> {
        let (mut seconds, mut seed, mut drive, mut listed) = (None, None, None, None);
        let (mut ordinary, mut zoned) = (true, true);
        while let Some(name) = args.next() {
            let value: u64 = args.next()?.parse().ok()?;
            (ordinary, zoned) = match name.as_str() {
                "--drive" => (true, false),
                "--zoned" => (false, true),
                _ => (ordinary, zoned),
            };
            let place = match name.as_str() {
                "--seconds" => &mut seconds,
                "--seed" => &mut seed,
                "--drive" | "--zoned" => &mut drive,
                "--listed" => &mut listed,
                _ => return None,
            };
            *place = Some(value);
        }
        let (listed, seeds) = match (seconds, seed, drive, listed) {
            (Some(_), None, None, None) => (0..u64::MAX, 1..u64::MAX),
            (Some(_), Some(seed), None, None) => (0..0, seed..u64::MAX),
            (None, None, Some(drive), None) => (0..0, drive..drive.checked_add(1)?),
            (None, None, None, Some(listed)) => (listed..listed.checked_add(1)?, 0..0),
            _ => return None,
        };
        let time = seconds.map_or(Duration::MAX, Duration::from_secs);
        Some(Self {
            listed,
            seeds,
            ordinary,
            zoned,
            time,
        })
    }
}

/// A run: the work to do and the work done.
struct Run {
    began: Instant,
    args: Args,
    lists: Vec<Spec>,
    next_listed: AtomicU64,
    next_seed: AtomicU64,
    over: AtomicBool,
    tally: Mutex<Tally>,
}

#[derive(Default)]
struct Tally {
    done: Done,
    listed: u64,
    drawn: u64,
    zoned: u64,
    names: BTreeSet<String>,
    told: Duration,
    /// The first failure, and the command that reproduces it.
    failure: Option<(Failure, String)>,
}

#[allow(
    clippy::disallowed_methods,
    reason = "how long to go on is the user's time; no case depends on it"
)]
fn now() -> Instant {
    Instant::now()
}

impl Run {
    fn new(mut args: Args) -> Self {
        let lists = lists::all();
        args.listed.end = args.listed.end.min(lists.len() as u64);
        Self {
            began: now(),
            next_listed: AtomicU64::new(args.listed.start),
            next_seed: AtomicU64::new(args.seeds.start),
            args,
            lists,
            over: AtomicBool::new(false),
            tally: Mutex::new(Tally::default()),
        }
    }

    fn on_all_processors(&self) {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        std::thread::scope(|scope| {
            for _ in 0..processors {
                scope.spawn(|| while self.one() {});
            }
        });
    }

    /// Checks the next drive. Returns false if there is no more work.
    fn one(&self) -> bool {
        if self.over.load(Ordering::Relaxed) {
            return false;
        }
        let number = self.next_listed.fetch_add(1, Ordering::Relaxed);
        if self.args.listed.contains(&number)
            && let Some(spec) = self.lists.get(number as usize)
        {
            return self.check(spec, number, "listed", |tally| tally.listed += 1);
        }
        if self.began.elapsed() >= self.args.time {
            return false;
        }
        let seed = self.next_seed.fetch_add(1, Ordering::Relaxed);
        if !self.args.seeds.contains(&seed) {
            return false;
        }
        let count = |tally: &mut Tally| tally.drawn += 1;
        let goes_on = !self.args.ordinary || self.check(&Case::spec(seed), seed, "drive", count);
        goes_on && (!self.args.zoned || self.check_zoned(seed))
    }

    fn check_zoned(&self, seed: u64) -> bool {
        let outcome = zone_case::run(seed);
        let Ok(mut tally) = self.tally.lock() else {
            return false;
        };
        match outcome {
            Ok(met) => {
                tally.zoned += 1;
                tally.done.operations += met.requests;
                tally.done.cuts += met.cuts;
            }
            Err(why) => {
                self.over.store(true, Ordering::Relaxed);
                let repeat = format!("cargo xtask torture --zoned {seed}");
                tally.failure.get_or_insert((Failure::from(why), repeat));
            }
        }
        true
    }

    fn check(&self, spec: &Spec, seed: u64, option: &str, count: impl FnOnce(&mut Tally)) -> bool {
        let outcome = check(spec, Effort { seed, every: 1 });
        let Ok(mut tally) = self.tally.lock() else {
            return false;
        };
        match outcome {
            Ok(done) => tally.done.add(done),
            Err(failure) => {
                self.over.store(true, Ordering::Relaxed);
                let repeat = format!("cargo xtask torture --{option} {seed}");
                tally.failure.get_or_insert((failure, repeat));
            }
        }
        tally.names.insert(random::name(spec));
        count(&mut tally);
        let elapsed = self.began.elapsed();
        if elapsed >= tally.told + TELL_EVERY {
            tally.told = elapsed;
            eprintln!("{}", self.line(&tally));
        }
        true
    }

    fn line(&self, tally: &Tally) -> String {
        let Tally { done, names, .. } = tally;
        let seconds = self.began.elapsed().as_secs_f64();
        format!(
            "{} operations ({:.0} a second), {} that read back, {} power cuts, {} flash operations in {seconds:.0} s; \
             {} of {} drives of the lists, cut at every flash operation; {} drives drawn, and {} zoned ones; \
             {} drives wore out; \
             {} of {} combinations of mapping, buffer and victim",
            done.operations,
            done.operations as f64 / seconds,
            done.read_back,
            done.cuts,
            done.flash_ops,
            tally.listed,
            self.lists.len(),
            tally.drawn,
            tally.zoned,
            done.worn_out,
            names.len(),
            random::names(),
        )
    }

    /// Prints the work done and the failure, if any.
    fn tell(self) -> ExitCode {
        let Ok(mut tally) = self.tally.lock() else {
            return ExitCode::FAILURE;
        };
        println!("{}", self.line(&tally));
        if tally.drawn.max(tally.zoned) > 0 {
            let first = self.args.seeds.start;
            let next = first + tally.drawn.max(tally.zoned);
            println!("seeds {first} to {}; --seed {next} goes on", next - 1);
        }
        let Some((failure, repeat)) = tally.failure.take() else {
            println!("nothing was lost");
            return ExitCode::SUCCESS;
        };
        println!("failed: {}\nrepeat: {repeat}", failure.why);
        if let Some(case) = failure.case {
            let (case, why) = case.shortest(failure.why);
            println!("the shortest case found: {why}\n\n{}", case.to_toml());
        }
        ExitCode::FAILURE
    }
}
