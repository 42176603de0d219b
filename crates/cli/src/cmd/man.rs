//! `fathom man`: the manual page, in roff.

use crate::args::{Cli, ManArgs};
use crate::failure::{Exit, Failure};
use crate::out;
use clap::{Command, CommandFactory as _};

pub(super) fn run(args: &ManArgs) -> Result<Exit, Failure> {
    let page = match &args.command {
        None => Cli::command(),
        Some(name) => subcommand(name)?,
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(page)
        .render(&mut text)
        .map_err(|e| Failure::input("fathom::man", "cannot make the page").because(e))?;
    out::data(&String::from_utf8_lossy(&text))?;
    Ok(Exit::Done)
}

fn subcommand(name: &str) -> Result<Command, Failure> {
    let mut all = Cli::command();
    all.build();
    all.find_subcommand(name).cloned().ok_or_else(|| {
        Failure::input("fathom::man", format!("there is no command `{name}`"))
            .help("`fathom --help` shows all")
    })
}
