//! Arguments of `fathom write-cost`.

use super::asked::Asked;
use clap::Args;
use fathom_base::Bytes;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct WriteCostArgs {
    /// The drive: a modelled one that is filled first, or a real one
    pub(crate) target: String,
    /// Take the logical block as known, instead of searching it
    #[arg(long, value_name = "BYTES", conflicts_with = "profile")]
    pub(crate) block: Option<Bytes>,
    /// Take the logical block from this profile of the drive: a directory of `fathom probe`, or its profile.toml
    #[arg(long, value_name = "DIR")]
    pub(crate) profile: Option<PathBuf>,
    /// The request sizes of Figure 1 [default: a 64th and an 8th of the logical block, and the whole]
    #[arg(long, value_name = "BYTES", value_delimiter = ',')]
    pub(crate) sizes: Vec<Bytes>,
    /// How much is written for each panel of Figure 1
    #[arg(long, value_name = "BYTES", default_value = "1GiB")]
    pub(crate) total: Bytes,
    /// Write write-cost.json and report.html into this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// The size of the scratch file, or of the modelled drive
    #[arg(long, value_name = "BYTES")]
    pub(crate) size: Option<Bytes>,
    /// Allow the contents of the drive with this serial number or name, or of this file, to be destroyed
    #[arg(long, value_name = "NAME")]
    pub(crate) destroy: Option<String>,
    /// Do not ask before writing to a real drive; needed where there is no terminal to ask at
    #[arg(long, short)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) asked: Asked,
}
