//! The trace formats: one module and one line of the list each.

pub(super) mod alibaba;
pub(super) mod blkparse;
pub(super) mod blkreplay;
pub(super) mod blktrace;
pub(super) mod csv;
pub(super) mod disksim;
pub(super) mod fio;
pub(super) mod mqsim;
pub(super) mod msr;
pub(super) mod parquet;
pub(super) mod spc;
pub(super) mod systor;
pub(super) mod tencent;

use super::line::{Choices, LineParser};
use fathom_base::registry::Text;
use fathom_base::{Kind, names};

type MakeParser = fn(&Choices) -> Box<dyn LineParser>;

/// Entry of the trace formats in the list of kinds.
const FORMAT: Kind = Kind {
    one: "trace format",
    list: "traces",
    summary: "Formats of traces",
    prefix: "",
    option: "--format",
    text: Text::Prose,
};

names! {
    /// The format of a trace.
    pub enum Format of FORMAT in FORMATS, pub(super) fn parser -> Option<MakeParser> {
        /// SPC, as the UMass repository publishes it: Financial1, Financial2, WebSearch1 to 3.
        Spc = "spc", spc::ABOUT => Some(spc::whole);
        /// SPC without its first column.
        SpcFragment = "spc-fragment", spc::ABOUT_FRAGMENT => Some(spc::fragment);
        /// MSR Cambridge.
        Msr = "msr", msr::ABOUT => Some(msr::parser);
        /// DiskSim's ASCII format.
        DiskSim = "disksim", disksim::ABOUT => Some(disksim::parser);
        /// MQSim's ASCII format.
        MqSim = "mqsim", mqsim::ABOUT => Some(mqsim::parser);
        /// The text that blkparse prints.
        BlkparseText = "blkparse", blkparse::ABOUT => Some(blkparse::parser);
        /// The binary output of blktrace.
        Blktrace = "blktrace", blktrace::ABOUT => None;
        /// fio's I/O log, versions 2 and 3.
        FioIolog = "fio", fio::ABOUT => Some(fio::parser);
        /// The load files of blkreplay.
        Blkreplay = "blkreplay", blkreplay::ABOUT => Some(blkreplay::parser);
        /// Alibaba's block traces of 2020.
        Alibaba = "alibaba", alibaba::ABOUT => Some(alibaba::parser);
        /// Tencent's CBS traces of 2018.
        Tencent = "tencent", tencent::ABOUT => Some(tencent::parser);
        /// The VDI traces of SYSTOR '17.
        Systor = "systor", systor::ABOUT => Some(systor::parser);
        /// Comma-separated values with named columns.
        Csv = "csv", csv::ABOUT => Some(csv::parser);
        /// Fathom's own Parquet files.
        Parquet = "parquet", parquet::ABOUT => None;
    }
}

impl Format {
    /// Returns the default number of accesses to reorder. It is above 0 for formats that merge the records of several CPUs
    /// only roughly by time.
    pub(super) const fn reorder(self) -> u32 {
        match self {
            Format::BlkparseText | Format::Blktrace => 4096,
            _ => 0,
        }
    }
}
