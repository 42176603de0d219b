//! The configuration and the results, as they are printed and stored.

use crate::RunError;
use fathom_base::{Bytes, defaults};
use fathom_block::IoError;
use serde::Serialize;

defaults! {
    /// What to measure.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Config {
        /// Name of the drive, for the results.
        pub target: String = String::new(),
        /// The seed of every random choice.
        pub seed: u64 = 0,
        /// The logical block in bytes and where it comes from; the paper's search finds it if absent.
        pub block: Option<(u64, Source)> = None,
        /// The clustered block of the profile that gives the logical block, in bytes.
        pub clustered_bytes: Option<u64> = None,
        /// The bytes written for each panel of Figure 1.
        pub figure_bytes: u64 = 1 << 30,
        /// The request sizes of Figure 1, in bytes; from the logical block if empty.
        pub figure_sizes: Vec<u64> = Vec::new(),
    }
}

/// Where a logical block comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The search of `greedy-space` IV.A.
    Search,
    /// The profile of a probe.
    Profile,
    /// The caller.
    Given,
    /// Nowhere: the search found none, and the model is tried with a usual size.
    Assumed,
}

/// Throughputs of one request size (Figure 2).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Rate {
    /// The request size.
    pub bytes: u64,
    /// Sequential writes, in bytes per second.
    pub sequential_bytes_per_s: f64,
    /// Random aligned writes, in bytes per second.
    pub random_bytes_per_s: f64,
}

/// The logical block, L.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Block {
    /// Its size.
    pub bytes: u64,
    /// Where it comes from.
    pub source: Source,
    /// The clustered block of the profile, if one was given and has it.
    pub clustered_bytes: Option<u64>,
    /// The throughputs of the search; empty without one.
    pub search: Vec<Rate>,
}

/// A value with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimated {
    /// The value.
    pub value: f64,
    /// The lower end; `None` if there is no interval.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
}

/// Whether the model describes the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// A set pays for a merge, and the model predicts every size below L.
    Fits,
    /// A set pays for something like a merge, but the model is wrong at some size.
    Misfit,
    /// A set in another logical block costs no merge: the model does not apply.
    NoMerge,
    /// The sizes are too few, or the times no line.
    Undecided,
}

impl Verdict {
    /// The verdict in words.
    pub const fn words(self) -> &'static str {
        match self {
            Verdict::Fits => "The model fits",
            Verdict::Misfit => "The model does not fit",
            Verdict::NoMerge => "No merge, and the model does not apply",
            Verdict::Undecided => "Undecided",
        }
    }
}

/// One size of the fit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Sectors of the set, n.
    pub sectors: u64,
    /// The median of the batch means of sets at random places.
    pub measured: Estimated,
    /// The same for sets that follow one another.
    pub sequential_ns: f64,
    /// The model's time.
    pub predicted_ns: f64,
    /// Predicted over measured, less 1.
    pub error: f64,
    /// False for n = L, which is not part of the fit.
    pub fitted: bool,
}

/// The fitted model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fit {
    /// The time of a merge.
    pub merge_ns: Estimated,
    /// The write bandwidth.
    pub bytes_per_s: Estimated,
    /// The constant part of a sequential set: what a request costs without a merge.
    pub request_ns: f64,
    /// The mean size of the relative errors below L.
    pub mean_error: f64,
    /// The largest relative error below L, with its sign.
    pub worst_error: f64,
    /// The sizes.
    pub rows: Vec<Row>,
}

/// A set of requests, predicted and measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Prediction {
    /// The set, in words.
    pub set: String,
    /// Logical blocks that it touches.
    pub blocks: u64,
    /// Sectors that it writes.
    pub sectors: u64,
    /// The model's time: a merge for each block, and the sectors at the bandwidth.
    pub predicted_ns: f64,
    /// The median of the batch means.
    pub measured: Estimated,
    /// Predicted over measured, less 1.
    pub error: f64,
}

/// The order of a panel's requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Random aligned places, each once.
    Random,
    /// One after another.
    Sequential,
}

impl Order {
    /// The order in words.
    pub const fn words(self) -> &'static str {
        match self {
            Order::Random => "random",
            Order::Sequential => "sequential",
        }
    }
}

/// The cause of a spike, from the counters of the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// A data block and a log were merged into a new block.
    FullMerge,
    /// A log was completed from its data block.
    PartialMerge,
    /// A log became the data block.
    SwitchMerge,
    /// A block was collected, or its units were moved.
    Collection,
    /// The mapping table was read or written.
    MappingTable,
    /// Erasing or copying of an earlier request's merge or collection was still going on.
    Earlier,
    /// More was programmed than a request in the band programs: memory for writes had to be emptied.
    BufferStall,
    /// No counter tells.
    Untraced,
}

impl Cause {
    /// All causes, in the order in which they are shown.
    pub const ALL: [Cause; 8] = [
        Cause::FullMerge,
        Cause::PartialMerge,
        Cause::SwitchMerge,
        Cause::Collection,
        Cause::MappingTable,
        Cause::Earlier,
        Cause::BufferStall,
        Cause::Untraced,
    ];

    /// The cause in words.
    pub const fn words(self) -> &'static str {
        match self {
            Cause::FullMerge => "full merge",
            Cause::PartialMerge => "partial merge",
            Cause::SwitchMerge => "switch merge",
            Cause::Collection => "garbage collection",
            Cause::MappingTable => "mapping table",
            Cause::Earlier => "earlier work",
            Cause::BufferStall => "buffer stall",
            Cause::Untraced => "not traced",
        }
    }
}

/// The spikes of one cause.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Causes {
    /// The cause.
    pub cause: Cause,
    /// How many spikes have it.
    pub spikes: u64,
    /// The median of their response times.
    pub median_ns: f64,
}

/// A request of a panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Response {
    /// Its response time.
    pub ns: u64,
    /// The cause, if it is a spike.
    pub spike: Option<Cause>,
}

/// A panel of Figure 1.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// The request size.
    pub bytes: u64,
    /// The order of the requests.
    pub order: Order,
    /// Number of requests.
    pub requests: u64,
    /// The upper end of the band: of the sequential writes of this size.
    pub band_ns: f64,
    /// Requests in the band.
    pub in_band: u64,
    /// The spikes, by cause; causes without one are left out.
    pub causes: Vec<Causes>,
    /// Every request, in sequence.
    #[serde(skip)]
    pub responses: Vec<Response>,
}

/// Everything that was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WriteCost {
    /// Name of the drive.
    pub target: String,
    /// The seed.
    pub seed: u64,
    /// The sector, S.
    pub sector_bytes: u64,
    /// The logical block, L.
    pub block: Block,
    /// Whether the model describes the drive.
    pub verdict: Verdict,
    /// Why.
    pub reason: String,
    /// The fitted model; `None` if the times are no line.
    pub fit: Option<Fit>,
    /// Sets of requests, predicted by the model.
    pub predictions: Vec<Prediction>,
    /// The panels of Figure 1.
    pub figures: Vec<Figure>,
    /// Bytes written in all.
    pub bytes_written: u64,
    /// Time on the drive's clock.
    pub device_ns: u64,
}

/// A measurement that has no result.
#[derive(Debug, thiserror::Error)]
pub enum CostError {
    /// The drive has too few logical blocks.
    #[error(
        "the drive has {}, and the model needs {blocks} logical blocks of {}",
        Bytes(*capacity_bytes),
        Bytes(*block_bytes)
    )]
    Small {
        /// Its capacity.
        capacity_bytes: u64,
        /// The logical block.
        block_bytes: u64,
        /// The number needed.
        blocks: u64,
    },
    /// A size is no multiple of what the drive can write, or larger than what is written in all.
    #[error(
        "`{option}` has {}: it takes multiples of {}, up to {}",
        Bytes(*bytes),
        Bytes(*unit_bytes),
        Bytes(*most_bytes)
    )]
    Size {
        /// The option that gave it.
        option: &'static str,
        /// The size.
        bytes: u64,
        /// The drive's unit of lengths.
        unit_bytes: u64,
        /// The largest size.
        most_bytes: u64,
    },
    /// The paper's search failed.
    #[error(transparent)]
    Search(#[from] RunError),
    /// A request failed.
    #[error(transparent)]
    Io(#[from] IoError),
    /// The announced bytes are written.
    #[error("the next write would exceed the {bound_bytes} bytes that were announced")]
    Bound {
        /// The bound.
        bound_bytes: u64,
    },
    /// The drive does not complete its requests.
    #[error("the drive stopped: a write never completes")]
    Stopped,
    /// The caller asked to stop.
    #[error("interrupted")]
    Interrupted,
}
