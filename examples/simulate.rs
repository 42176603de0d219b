//! A million random writes on a drive with a write buffer: `cargo run --release -p fathom-lab --example simulate`.

#![allow(clippy::print_stdout, reason = "an example")]

use fathom_model::Model;
use fathom_run::{Precondition, measure, prepare};
use fathom_workload::{generate::Config, program::closed_loop};

/// Prints how long the writes took and how much the flash wrote for them.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut drive = "nvme".parse::<Model>()?.build(1)?;
    prepare(&mut drive, Precondition::Filled, 1)?;
    let mut load = Config::of("uniform".parse()?);
    (load.accesses, load.read_percent) = (Some(1_000_000), Some(0.0));
    let run = measure(&mut drive, &mut closed_loop(load.generator(1)?, 32))?;
    let writes = run.totals.writes.ok_or("nothing was written")?;
    let waf = run.work.and_then(|work| work.write_amplification());
    let waf = waf.ok_or("nothing was written")?;
    println!("{writes}, write amplification {waf:.2}");
    Ok(())
}
