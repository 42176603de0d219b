//! The translation layer's part of a drive file: mapping, striping, collection, faults.

use super::listed::{MappingKind, Victim};
use fathom_base::{Bytes, Dur};
use serde::{Deserialize, Serialize};

/// The translation layer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mapping {
    /// How logical addresses find their place.
    pub kind: MappingKind,
    /// The smallest piece that is mapped on its own; a partly written one is read, modified and written.
    /// Defaults to the clustered page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<Bytes>,
    /// Space beyond the capacity, in percent of it.
    pub over_provisioning_percent: f64,
    /// Log blocks (mappings with log blocks only).
    #[serde(default)]
    pub log_blocks: u32,
    /// Where the next page goes (`page` and `dftl` only).
    #[serde(default)]
    pub striping: Striping,
    /// Memory for the map that lies in flash (`dftl` only); 8 bytes an entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub map_cache: Option<Bytes>,
    /// Whether a partly filled clustered page can be programmed further (data sheets: NOP > 1); else the rest
    /// of it is lost.
    #[serde(default)]
    pub partial_program: bool,
}

/// Where the next page goes. The letters stand for channel, way (package), die and plane; consecutive pages go
/// over what stands first before what stands next (Tavakkol et al., "Revisiting widely held SSD expectations",
/// TOMPECS 2016).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the letters are explained above")]
pub enum Striping {
    /// To the next group in turn that has room, whatever the address.
    #[default]
    Dynamic,
    Cwdp,
    Cwpd,
    Cdwp,
    Cdpw,
    Cpwd,
    Cpdw,
    Wcdp,
    Wcpd,
    Wdcp,
    Wdpc,
    Wpcd,
    Wpdc,
    Dcwp,
    Dcpw,
    Dwcp,
    Dwpc,
    Dpcw,
    Dpwc,
    Pcwd,
    Pcdw,
    Pwcd,
    Pwdc,
    Pdcw,
    Pdwc,
}

/// How a page-mapped drive makes room.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Gc {
    /// Which block is collected.
    pub victim: Victim,
    /// Blocks that `d-choices` looks at.
    pub choices: u32,
    /// Whether what is moved is kept apart from what the host writes.
    pub separate: Separation,
    /// Start in idle time once less than this share of a group's blocks is erased, in percent; 0 for never.
    pub background_percent: f64,
    /// How long no request may be in flight before collection in idle time starts.
    pub background_delay: Dur,
    /// Cold data moves out of a block that was erased so many times fewer than the most worn erased one, which takes
    /// it; 0 for never (static wear levelling). An open block of its own for each group.
    pub wear_gap: u32,
    /// Whether the least worn erased block is taken first (dynamic wear levelling); else the one erased first.
    /// What collection moves takes the most worn one then, unless `wear_gap` keeps that for cold data.
    pub least_worn_first: bool,
}

impl Default for Gc {
    fn default() -> Self {
        Gc {
            victim: Victim::Greedy,
            choices: 10,
            separate: Separation::Copies,
            background_percent: 0.0,
            background_delay: Dur(10_000_000),
            wear_gap: 0,
            least_worn_first: false,
        }
    }
}

/// What shares a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Separation {
    /// Everything.
    Nothing,
    /// What is moved has blocks of its own.
    #[default]
    Copies,
    /// As `copies`, and what is written often has blocks apart from what is written seldom.
    HotCold,
}

/// What fails, drawn from the seed. Probabilities from 0 to 1.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Faults {
    /// Blocks that are bad from the start, in percent.
    pub factory_bad_percent: f64,
    /// That a read must be repeated with other thresholds; each time anew, at most `read_retries_max` times.
    pub read_retry: f64,
    /// The most repetitions of one read.
    pub read_retries_max: u32,
    /// That a program fails: it is done again from the page register, and its block is not used again after its
    /// next erase.
    pub program_fail: f64,
    /// That an erase fails: its block is not used again.
    pub erase_fail: f64,
}
