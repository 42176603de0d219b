//! A million random writes on a drive with a write buffer: `cargo run --release -p fathom-lab --example simulate`.

use fathom_base::Dur;
use fathom_model::Model;
use fathom_run::{Precondition, measure, prepare};
use fathom_workload::{generate::Config, program::closed_loop};
use std::io::Write as _;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut drive = "nvme".parse::<Model>()?.build(1)?;
    prepare(&mut drive, Precondition::Filled, 1)?;
    let mut load = Config::of("uniform".parse()?);
    (load.accesses, load.read_percent) = (Some(1_000_000), Some(0.0));
    let run = measure(&mut drive, &mut closed_loop(load.generator(1)?, 32))?;
    let writes = run.totals.writes.ok_or("nothing was written")?;
    let (p50, p99) = (Dur(writes.p50_ns), Dur(writes.p99_ns));
    let waf = run
        .work
        .and_then(|work| work.write_amplification())
        .unwrap_or_default();
    writeln!(
        std::io::stdout(),
        "p50 {p50}, p99 {p99}, write amplification {waf:.2}"
    )?;
    Ok(())
}
