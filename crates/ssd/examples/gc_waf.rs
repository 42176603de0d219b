//! Prints the write amplification of uniform random writes next to the values of the literature, as a Markdown table
//! (docs/validation-gc.md). Takes a few minutes on one core.

#[path = "../tests/common/waf.rs"]
mod waf;

use std::io::{self, Write};
use waf::{CASES, measured, one_group};

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "| victim | over-provisioning | utilisation | literature | measured | difference |"
    )?;
    writeln!(out, "|---|---:|---:|---:|---:|---:|")?;
    for case in &CASES {
        for over in [5.0, 7.0, 10.0, 15.0, 20.0, 28.0, 50.0] {
            let spec = one_group(case, 2048, over);
            let (waf, rho) = measured(&spec, 1, 4);
            let expected = case.expected(rho);
            let off = 100.0 * (waf / expected - 1.0);
            writeln!(
                out,
                "| {} | {over} % | {rho:.4} | {expected:.3} | {waf:.3} | {off:+.2} % |",
                case.name
            )?;
        }
    }
    Ok(())
}
