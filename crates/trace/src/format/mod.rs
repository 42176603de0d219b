//! The formats, one file and one line each.

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

use super::fault::Fault;
use super::{Access, Options};
use fathom_base::Time;
use fathom_block::Op;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What a line is.
pub(super) enum Line {
    /// An access; its time is the trace's own, not yet since the first access.
    Access(Access),
    /// Something that the format knows and that is no access, such as another event.
    Event,
    /// Text around the records.
    Text,
}

/// Reads the lines of a text format.
pub(super) trait LineParser: Send {
    /// A first line that names the columns: what tells nothing new to a format whose columns are known.
    fn names<'a>(&mut self, _line: &'a [u8]) -> Result<(), Fault<'a>> {
        Ok(())
    }

    fn line<'a>(&mut self, line: &'a [u8]) -> Result<Line, Fault<'a>>;
}

type MakeParser = fn(&Options) -> Box<dyn LineParser>;

macro_rules! formats {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $parser:expr, $about:expr, $explain:expr;)*) => {
        /// The format of a trace.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Format {
            $($(#[$doc])* #[serde(rename = $name)] $variant,)*
        }

        impl Format {
            /// All of them.
            pub const ALL: [Format; [$($name),*].len()] = [$(Format::$variant),*];

            /// Its name in options and on the command line.
            pub const fn name(self) -> &'static str {
                match self { $(Format::$variant => $name,)* }
            }

            /// What it is, in one line.
            pub const fn about(self) -> &'static str {
                match self { $(Format::$variant => $about,)* }
            }

            /// Its columns, their units, and what is special about it.
            pub const fn explain(self) -> &'static str {
                match self { $(Format::$variant => $explain,)* }
            }

            /// The parser of its lines; none where it is binary.
            pub(super) fn parser(self) -> Option<MakeParser> {
                match self { $(Format::$variant => $parser,)* }
            }
        }
    };
}

formats! {
    /// SPC, as the UMass repository has it: Financial1, Financial2, WebSearch1 to 3.
    Spc = "spc", Some(spc::whole), "SPC: ASU,LBA,bytes,op,seconds (UMass Financial and WebSearch)", spc::EXPLAIN;
    /// SPC without its first column.
    SpcFragment = "spc-fragment", Some(spc::fragment), "SPC without the ASU: LBA,bytes,op,seconds", spc::EXPLAIN_FRAGMENT;
    /// MSR Cambridge.
    Msr = "msr", Some(msr::parser), "MSR Cambridge: ticks,host,disk,type,offset,size,response", msr::EXPLAIN;
    /// DiskSim's ASCII format.
    DiskSim = "disksim", Some(disksim::parser), "DiskSim ASCII: ms device block blocks flags", disksim::EXPLAIN;
    /// MQSim's ASCII format.
    MqSim = "mqsim", Some(mqsim::parser), "MQSim ASCII: ns device sector sectors op", mqsim::EXPLAIN;
    /// The text that blkparse prints.
    BlkparseText = "blkparse", Some(blkparse::parser), "blkparse text, in its default format", blkparse::EXPLAIN;
    /// What blktrace writes.
    Blktrace = "blktrace", None, "blktrace binary, version 7, either byte order", blktrace::EXPLAIN;
    /// fio's I/O log, versions 2 and 3.
    FioIolog = "fio", Some(fio::parser), "fio iolog, versions 2 and 3", fio::EXPLAIN;
    /// What blkreplay replays.
    Blkreplay = "blkreplay", Some(blkreplay::parser), "blkreplay .load: seconds;sector;sectors;op;delay;duration", blkreplay::EXPLAIN;
    /// Alibaba's block traces of 2020.
    Alibaba = "alibaba", Some(alibaba::parser), "Alibaba block traces: device,op,offset,length,us", alibaba::EXPLAIN;
    /// Tencent's CBS traces of 2018.
    Tencent = "tencent", Some(tencent::parser), "Tencent CBS: seconds,sector,sectors,op,volume", tencent::EXPLAIN;
    /// The VDI traces of SYSTOR '17.
    Systor = "systor", Some(systor::parser), "SYSTOR '17: seconds,response,op,LUN,offset,size", systor::EXPLAIN;
    /// Comma-separated values with named columns.
    Csv = "csv", Some(csv::parser), "CSV whose first line names its columns: at_ns, op, offset, len, disk", csv::EXPLAIN;
    /// Fathom's own Parquet files.
    Parquet = "parquet", None, "Parquet, as Fathom writes it: at_ns, op, offset, len, disk", parquet::EXPLAIN;
}

impl Format {
    /// The format of that name.
    pub fn from_name(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|f| f.name() == name)
    }

    /// Accesses that may stand out of order in it by its nature, unless an option says otherwise: what CPUs record
    /// each for themselves is merged only roughly.
    pub(super) const fn reorder(self) -> u32 {
        match self {
            Format::BlkparseText | Format::Blktrace => 4096,
            _ => 0,
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An access out of its fields.
pub(super) fn access<'a>(
    at_ns: u64,
    op: Op,
    (offset, len): (u64, u64),
    disk: u32,
) -> Result<Line, Fault<'a>> {
    check(op, offset, len)?;
    Ok(Line::Access(Access {
        at: Time(at_ns),
        op,
        offset,
        len,
        disk,
    }))
}

/// What no access may be: empty, or beyond the end of the address space.
pub(super) fn check<'a>(op: Op, offset: u64, len: u64) -> Result<(), Fault<'a>> {
    if len == 0 && op != Op::Flush {
        return Err(Fault::zero_length());
    }
    if offset.checked_add(len).is_none() {
        return Err(super::fields::too_large("offset + length", b"beyond 2^64"));
    }
    Ok(())
}
