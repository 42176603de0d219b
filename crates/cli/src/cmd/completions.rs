//! `fathom completions`: prints the completions for a shell.

use crate::args::{Cli, CompletionsArgs};
use crate::failure::{Exit, Failure};
use crate::out;
use clap::CommandFactory as _;

pub(super) fn run(args: &CompletionsArgs) -> Result<Exit, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "fathom", &mut text);
    out::data(&String::from_utf8_lossy(&text))?;
    Ok(Exit::Done)
}
