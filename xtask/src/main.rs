//! Development tasks of this repository: `cargo xtask test`, `bench`, `performance`, `whole`, `guided`, `torture`,
//! `fuzz` and `same`.
//!
//! It needs only the toolchain, so that it builds in a second. It checks no rules itself: the rules for the sources are
//! in `xtask/tests/house`, which runs with all other tests.

#![allow(clippy::print_stdout, clippy::print_stderr)] // A command for people.

mod command;
mod dist;
mod fuzz;
mod guided;
mod performance;
mod same;
mod tally;
mod test;
mod torture;
mod whole;

use command::{cargo, exit, succeeds};
use std::process::ExitCode;

const USAGE: &str = "\
Usage: cargo xtask COMMAND

  test         formatting, clippy, every test, documentation; ends with what was skipped and a count
  bench        the benchmarks; further arguments go to them, such as a name
  performance  the table of docs/performance.md, from three runs of each case or the number given
  whole        what runs of `fathom` cost as whole processes, beside the inner loop; `whole --help` lists the options
  guided       builds a faster `fathom`, guided by counts of its own branches; takes some 10 minutes, needs the component
               `llvm-tools`
  torture      the check suite of modelled drives on random drives, for --seconds N
  fuzz         every fuzz target in turn, or those named, for --seconds N each (60); needs a nightly compiler and
               cargo-fuzz
  same         compares the output and files of two programs `fathom`, OLD and NEW, to the byte; --long runs more commands";

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let command = args.next();
    let rest: Vec<String> = args.collect();
    match command.as_deref() {
        Some("test") if rest.is_empty() => test::run(),
        Some("bench") => bench(&rest),
        Some("performance") => performance::run(&rest),
        Some("whole") => whole::run(&rest),
        Some("guided") if rest.is_empty() => guided::run(),
        Some("torture") => torture::run(&rest),
        Some("fuzz") => fuzz::run(&rest),
        Some("same") => same::run(&rest),
        Some("help" | "--help" | "-h") => {
            println!("{USAGE}");
            ExitCode::SUCCESS
        }
        _ => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

fn bench(filters: &[String]) -> ExitCode {
    exit(succeeds(
        cargo("bench --workspace --benches --").args(filters),
    ))
}
