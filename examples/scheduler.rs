//! A scheduler of one's own, the shortest request first, beside noop: `cargo run --release -p fathom-lab --example scheduler`.

#![allow(clippy::print_stdout, reason = "an example")]

use fathom_base::Time;
use fathom_iosched::{BlockQueue, Io, QueueConfig, Scheduler};
use fathom_model::Model;
use fathom_run::{Precondition, measure, prepare};
use fathom_workload::{generate::Config, program::closed_loop};

#[derive(Debug, Default)]
struct Shortest(Vec<Io>);

impl Scheduler for Shortest {
    fn insert(&mut self, _now: Time, io: Io) {
        self.0.push(io);
    }

    fn remove(&mut self, io: &Io) {
        self.0.retain(|held| held.key != io.key);
    }

    fn dispatch(&mut self, _now: Time) -> Option<Io> {
        let shortest = *self.0.iter().min_by_key(|io| (io.len, io.queued))?;
        self.remove(&shortest);
        Some(shortest)
    }

    fn len(&self) -> usize {
        self.0.len()
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut drive = "ssd-a".parse::<Model>()?.build(1)?;
    prepare(&mut drive, Precondition::Filled, 1)?;
    let mut load = Config::of("iometer-file-server".parse()?);
    load.accesses = Some(20_000);
    let config = QueueConfig::default();
    let noop = BlockQueue::new(drive.clone(), config.clone())?;
    let own = BlockQueue::with_scheduler(drive, config, Box::new(Shortest::default()))?;
    for (name, mut queue) in [("noop", noop), ("shortest first", own)] {
        let run = measure(&mut queue, &mut closed_loop(load.generator(1)?, 32))?;
        let all = run.totals.all.ok_or("nothing was done")?;
        let (mean, max) = (all.response_ns.mean / 1e6, all.max_ns as f64 / 1e6);
        println!("{name}: mean {mean:.1} ms, longest {max:.1} ms");
    }
    Ok(())
}
