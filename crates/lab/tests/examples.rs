//! Runs the programs in `examples`.

#![allow(unreachable_pub, reason = "they are programs")]

use std::path::Path;

#[path = "../../../examples/probe.rs"]
mod probe;
#[path = "../../../examples/scheduler.rs"]
mod scheduler;
#[path = "../../../examples/simulate.rs"]
mod simulate;

/// They name files relative to the workspace.
#[test]
fn the_examples_run() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::env::set_current_dir(root).unwrap();
    for (name, main) in [
        ("probe", probe::main as fn() -> _),
        ("scheduler", scheduler::main),
        ("simulate", simulate::main),
    ] {
        main().unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}
