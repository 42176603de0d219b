//! Prints the table behind `irbw` Figure 7 as Markdown: sequential and random throughput by request size, for both disks.

mod measure;

use fathom_hdd::{Spec, presets};
use std::io::{self, Write};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = io::stdout().lock();
    for preset in presets::PRESETS {
        let spec = Spec::from_toml(preset.text)?;
        let sizes = (2..=14).map(|exponent| 1024 << exponent);
        let rows: Vec<_> = sizes.map(|size| measure::row(&spec, size, 1)).collect();
        writeln!(out, "### `{}`\n", preset.name)?;
        writeln!(
            out,
            "| request, KiB | sequential read | random read | ratio | sequential write | random write | ratio |"
        )?;
        writeln!(out, "|---:|---:|---:|---:|---:|---:|---:|")?;
        for row in &rows {
            writeln!(
                out,
                "| {} | {:.1} | {:.2} | {:.2} | {:.1} | {:.2} | {:.2} |",
                row.size >> 10,
                row.sequential_read,
                row.random_read,
                row.read_ratio(),
                row.sequential_write,
                row.random_write,
                row.sequential_write / row.random_write,
            )?;
        }
        if let Some(size) = measure::size_of_ratio(&rows, 16.0) {
            writeln!(
                out,
                "\nSequential reads are 16 times faster at {:.0} KiB.\n",
                size / 1024.0
            )?;
        }
    }
    Ok(())
}
