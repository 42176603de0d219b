//! The part of a drive file for the translation layer: mapping, striping, garbage collection, faults.

use super::listed::{MappingKind, Victim};
use fathom_base::{Bytes, Dur};
use fathom_block::Zoned;
use serde::{Deserialize, Serialize};

/// The translation layer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mapping {
    /// Mapping policy.
    pub kind: MappingKind,
    /// Size of the smallest piece that is mapped on its own. A partly written unit is read, modified and written.
    /// Defaults to the clustered page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<Bytes>,
    /// Flash space beyond the capacity, in percent of the capacity (over-provisioning).
    pub over_provisioning_percent: f64,
    /// Number of log blocks (mappings with log blocks only).
    #[serde(default)]
    pub log_blocks: u32,
    /// How the place of the next page is chosen (`page` and `dftl` only).
    #[serde(default)]
    pub striping: Striping,
    /// Memory for the map that lies in flash (`dftl` only), 8 bytes for each entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub map_cache: Option<Bytes>,
    /// Host memory for translation pages, a second level of the map cache (`dftl` over NVMe only; NVM Express Base
    /// Specification, "Host Memory Buffer"; Kim and Kim, "HMB in DRAM-less NVMe SSDs", PLOS ONE 15(3), 2020).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_memory_buffer: Option<Bytes>,
    /// Time of a read of host memory in addition to its transfer over the link (`host_memory_buffer` only). A round trip
    /// over PCIe takes about 1 us (Neugebauer et al., "Understanding PCIe performance for end host networking", SIGCOMM
    /// 2018).
    #[serde(default = "microsecond", skip_serializing_if = "is_microsecond")]
    pub host_memory_latency: Dur,
    /// Whether the rest of a partly filled clustered page can be programmed later (data sheets: NOP > 1). Otherwise it
    /// is lost.
    #[serde(default)]
    pub partial_program: bool,
    /// Size of a zone (`zoned` only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<Bytes>,
    /// Bytes that a zone can hold (`zoned` only). Defaults to the size of a zone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone_capacity: Option<Bytes>,
    /// Maximum number of open zones (`zoned` only); 0 for no limit.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub max_open_zones: u32,
    /// Maximum number of zones that are open or closed (`zoned` only); 0 for no limit.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub max_active_zones: u32,
    /// Number of placement handles of writes (`page` only), each with open blocks of its own (NVMe FDP); 0 for none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub placement_handles: u32,
}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
impl Mapping {
    /// A mapping of a kind with the defaults of all other keys, and no over-provisioning.
    pub fn new(kind: MappingKind) -> Self {
        Self {
            host_memory_buffer: None,
            host_memory_latency: microsecond(),
            kind,
            unit: None,
            over_provisioning_percent: 0.0,
            log_blocks: 0,
            striping: Striping::Dynamic,
            map_cache: None,
            partial_program: false,
            zone: None,
            zone_capacity: None,
            max_open_zones: 0,
            max_active_zones: 0,
            placement_handles: 0,
        }
    }

    /// Returns the zones that the host sees, for a checked drive of zones. `longest` is the longest request, in bytes.
    pub(crate) fn zones(&self, longest: Bytes) -> Option<Zoned> {
        let zone = self.zone.filter(|_| self.kind.is_zoned())?;
        Some(Zoned {
            zone_bytes: zone.0,
            zone_capacity_bytes: self.zone_capacity.unwrap_or(zone).0,
            max_open: self.max_open_zones,
            max_active: self.max_active_zones,
            max_append_bytes: longest.0,
            reads_cross: true,
        })
    }
}

fn microsecond() -> Dur {
    Dur::us(1)
}
fn is_microsecond(time: &Dur) -> bool {
    *time == microsecond()
}

/// How the place of the next page is chosen. The letters stand for channel, way (package), die and plane. Consecutive
/// pages are spread over the first letter first, then over the next one (Tavakkol et al., "Revisiting widely held SSD
/// expectations", TOMPECS 2016).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the letters are explained above")]
pub enum Striping {
    /// The next group in turn that has room, whatever the address.
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

/// Garbage collection and wear levelling of a page-mapped drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Gc {
    /// How the block to collect is chosen.
    pub victim: Victim,
    /// Number of blocks that `d-choices` draws.
    pub choices: u32,
    /// Which data has blocks of its own.
    pub separate: Separation,
    /// Share of a group's blocks, in percent. If fewer of them are erased or being erased, collection runs in idle time.
    /// 0 disables it.
    pub background_percent: f64,
    /// Time without a request in flight before collection in idle time starts.
    pub background_delay: Dur,
    /// Static wear levelling: cold data moves out of a block whose erase count is more than this number below that of
    /// the most worn erased block, which takes the data. 0 disables it. It takes an open block of its own in each group.
    pub wear_gap: u32,
    /// Dynamic wear levelling: whether the least worn erased block is taken first, instead of the one that was erased
    /// first. Data that collection moves then takes the most worn erased block, unless `wear_gap` keeps that one for
    /// cold data.
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

/// Which data shares a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Separation {
    /// All data shares blocks.
    Nothing,
    /// Data that collection moves has blocks of its own.
    #[default]
    Copies,
    /// As `copies`, and data that is written often has blocks apart from data that is written seldom.
    HotCold,
}

fn is_zero<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Failures, drawn from the seed. Probabilities are from 0 to 1.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Faults {
    /// Share of the blocks that are bad from the start, in percent.
    pub factory_bad_percent: f64,
    /// Probability that a read must be repeated with other thresholds. It is drawn again after each attempt, at most
    /// `read_retries_max` times.
    pub read_retry: f64,
    /// Maximum number of repetitions of one read.
    pub read_retries_max: u32,
    /// Growth of the probability of a repetition with each 1000 erases of the block that is read.
    #[serde(skip_serializing_if = "is_zero")]
    pub read_retry_per_1000_cycles: f64,
    /// Growth of the probability of a repetition with each day since the data was programmed.
    #[serde(skip_serializing_if = "is_zero")]
    pub read_retry_per_day: f64,
    /// Erases of each block before the drive's time begins. They count for `read_retry_per_1000_cycles` only.
    #[serde(skip_serializing_if = "is_zero")]
    pub age_cycles: u32,
    /// Age in days, at the beginning of the drive's time, of data that is filled in without requests.
    #[serde(skip_serializing_if = "is_zero")]
    pub age_days: f64,
    /// Probability that a program fails. It is then repeated from the page register, and its block is not used again
    /// after its next erase.
    pub program_fail: f64,
    /// Probability that an erase fails. Its block is then not used again.
    pub erase_fail: f64,
}

impl Faults {
    /// Returns true if a read may be repeated.
    pub(crate) fn repeat_reads(&self) -> bool {
        let grows = self.read_retry_per_1000_cycles > 0.0 || self.read_retry_per_day > 0.0;
        self.read_retry > 0.0 || grows
    }

    /// Returns true if programs or erases may fail.
    pub(crate) fn fail(&self) -> bool {
        self.program_fail > 0.0 || self.erase_fail > 0.0
    }
}
