//! Arguments of the commands that only print: list, explain, completions, man.

use super::value::list;
use clap::Args;
use clap_complete::Shell;

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// What to list; without it, what can be listed
    #[arg(value_parser = list())]
    pub(crate) what: Option<String>,
    /// Print it as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// A parameter, a modelled drive, or another name that `fathom list` shows
    pub(crate) name: String,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// For which shell
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// The subcommand whose page is printed, instead of the main page
    pub(crate) command: Option<String>,
}
