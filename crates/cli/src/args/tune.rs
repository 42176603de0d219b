//! Arguments of `fathom tune`.

use super::value::{one_of, seed};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use fathom_base::Bytes;
use fathom_report::tune::{FORMATS, Format};
use std::path::PathBuf;

const TRIAL: &str = "Options for a trial";
/// The usual directory of the journals.
pub(crate) const JOURNALS: &str = "/run/fathom";

/// The figures that can decide, by their names on the command line and in a comparison.
const FIGURES: [(&str, &str); 6] = [
    ("rate", "accesses a second"),
    ("throughput", "throughput"),
    ("read-mean", "mean response of reads"),
    ("read-p99", "99 % of reads"),
    ("write-mean", "mean response of writes"),
    ("write-p99", "99 % of writes"),
];

#[derive(Debug, Args)]
pub(crate) struct TuneArgs {
    /// A run of `fathom probe`, or its profile
    #[arg(required_unless_present = "restore")]
    pub(crate) run: Option<PathBuf>,
    /// The drive whose reports and settings are read: a directory, a file, /dev/... [default: the one that was probed, if
    /// it is here]
    #[arg(long, value_name = "TARGET")]
    pub(crate) on: Option<PathBuf>,
    /// What to print: the comparison with every reason, or a file for one program
    #[arg(long, value_name = "FORMAT", default_value = TEXT, value_parser = format(), conflicts_with = "json")]
    pub(crate) format: Form,
    /// Print everything as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) trial: TrialArgs,
    /// The directory of the journals of changed settings; one that a killed `fathom tune` has left is found in the usual
    /// directory and in this one
    #[arg(long, value_name = "DIR", default_value = JOURNALS)]
    pub(crate) journal: PathBuf,
    /// Put back the settings that a killed `fathom tune` has left, and do nothing else; every `fathom tune` does it first
    #[arg(long, conflicts_with_all = ["run", "on", "json", "apply"])]
    pub(crate) restore: bool,
}

/// The trial of the settings that can be set now.
#[derive(Debug, Args)]
#[command(next_help_heading = TRIAL)]
pub(crate) struct TrialArgs {
    /// Set the attributes of the request queue that can be set now, and keep them only if --verify shows a gain (root)
    #[arg(long, requires = "verify")]
    pub(crate) apply: bool,
    /// Jobs in fio's syntax, which run with and without the settings in turn; on a drive or an existing file they only read
    #[arg(long, value_name = "JOB.fio", requires = "apply")]
    pub(crate) verify: Option<PathBuf>,
    /// How often the jobs run with and without the settings, 3 to 1000 times
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(3..=1000))]
    pub(crate) rounds: u32,
    /// The figure that must be better
    #[arg(long, value_name = "FIGURE", default_value = "rate", value_parser = one_of(FIGURES))]
    pub(crate) by: &'static str,
    /// The size of the scratch file in a directory
    #[arg(long, value_name = "BYTES")]
    pub(crate) size: Option<Bytes>,
    /// The seed of every random choice, at most 2^63 - 1
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = seed)]
    pub(crate) seed: u64,
    /// Do not ask before a scratch file is written; needed where there is no terminal to ask at
    #[arg(long, short)]
    pub(crate) yes: bool,
}

/// Name of the form for people.
const TEXT: &str = "text";

/// What to print.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Form {
    /// The text for people.
    Text,
    /// A form for a program.
    Program(&'static Format),
}

fn format() -> impl TypedValueParser<Value = Form> {
    let text = PossibleValue::new(TEXT).help("the comparison, every setting and its reason");
    let forms = FORMATS.iter();
    let forms = forms.map(|form| PossibleValue::new(form.name).help(form.summary));
    let all = std::iter::once(text).chain(forms);
    PossibleValuesParser::new(all).map(|name| {
        let form = FORMATS.iter().find(|form| form.name == name);
        form.map_or(Form::Text, |form| Form::Program(form))
    })
}
