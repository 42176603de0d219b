//! Probes a drive of one's own, any `Device`: `cargo run --release -p fathom-lab --example probe`.

#![allow(clippy::print_stdout, reason = "an example")]

use fathom_model::Model;
use fathom_probe::run::{run, solve};
use fathom_probe::{RunConfig, Unobserved};

/// Prints every parameter that the probe found.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let text = std::fs::read_to_string("examples/drive.toml")?;
    let mut drive = Model::from_toml(&text)?.build(1)?;
    let record = run(&mut drive, &RunConfig::default(), None, &mut Unobserved)?;
    for (parameter, answer) in solve(&record).parameters {
        let value = answer.value.map(|value| value.to_string());
        println!(
            "{parameter}: {} {}",
            answer.verdict,
            value.unwrap_or_default()
        );
    }
    Ok(())
}
