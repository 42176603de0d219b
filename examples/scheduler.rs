//! A scheduler of one's own, the shortest request first, beside noop: `cargo run --release -p fathom-lab --example scheduler`.

#![allow(clippy::print_stdout, reason = "an example")]

use fathom_iosched::{BlockQueue, Pick, QueueConfig};
use fathom_model::Model;
use fathom_run::{Precondition, measure, prepare};
use fathom_workload::{generate::Config, program::closed_loop};

/// Prints what every access took under both.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut drive = "ssd-a".parse::<Model>()?.build(1)?;
    prepare(&mut drive, Precondition::Filled, 1)?;
    let load = Config::of("iometer-file-server".parse()?);
    let noop = BlockQueue::new(drive.clone(), QueueConfig::default())?;
    let own = Pick::new(|_, held| held.iter().min_by_key(|io| io.len).copied());
    let own = BlockQueue::with_scheduler(drive, QueueConfig::default(), Box::new(own))?;
    for (name, mut queue) in [("noop", noop), ("shortest first", own)] {
        let accesses = load.generator(1)?.take(20_000);
        let run = measure(&mut queue, &mut closed_loop(accesses, 32))?;
        println!("{name}: {}", run.totals.all.ok_or("nothing was done")?);
    }
    Ok(())
}
