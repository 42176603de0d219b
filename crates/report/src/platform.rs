//! What an I/O costs a machine, measured or modelled: its results as plain data, as text for the terminal, and as a page.
//!
//! A figure that was not measured is absent, and [`Missing`] says why; it is never zero.

use fathom_platform::{Interface, Layer, Phase};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

mod body;
mod charts;
mod copies;
mod cost;
mod forms;
mod latency;
mod limits;
mod machines;
mod names;
mod page;
mod part;
mod rises;
mod scaling;
mod text;
mod tracing;
mod words;

pub use page::page;
pub use text::text;

/// What an I/O costs a machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PlatformReport {
    /// Version of Fathom.
    pub fathom: String,
    /// What was measured: devices or files, or the name of a platform file.
    pub subject: String,
    /// True if it was measured, false if it was modelled.
    pub measured: bool,
    /// Facts about the machine by name, in the order in which they are shown.
    pub facts: Vec<Fact>,
    /// Clocks in a second: of the time-stamp counter, or of the modelled processors. `None` if there is no such counter;
    /// then no clocks are given, only times.
    pub clock_hz: Option<u64>,
    /// Length of an I/O, in bytes, unless a figure has its own.
    pub block_bytes: u64,
    /// The latency of one I/O at a time.
    pub latency: Vec<Latency>,
    /// The cost of an I/O with many in flight by a program on one processor.
    pub costs: Vec<Cost>,
    /// The cost of copies: how the clocks of buffered I/O grow with its length.
    pub copy: Option<Copy>,
    /// The rate over threads, processors and drives.
    pub scaling: Vec<Scaling>,
    /// What others used of the processors while they were measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others: Option<Others>,
    /// What is missing, and what to do about it.
    pub missing: Vec<Missing>,
    /// Other remarks.
    pub notes: Vec<String>,
}

/// A fact about the machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// Its name, such as `processor`.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// The way of an I/O through the system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Path {
    /// How the program asks for it.
    pub interface: Interface,
    /// Whether it goes through the page cache.
    pub buffered: bool,
    /// Whether it goes through a file system.
    pub file_system: bool,
}

/// The latency of one I/O at a time, by phase.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// The way.
    pub path: Path,
    /// Number of I/Os.
    pub ios: u64,
    /// Median (measured) or mean (modelled) latency as the caller sees it, in nanoseconds; measured without tracing.
    pub latency_ns: f64,
    /// 95 % interval of the median; at least the range of the rounds' medians.
    pub interval_ns: Option<[f64; 2]>,
    /// Mean latency of a measurement, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_ns: Option<f64>,
    /// The latency that 99 % of the I/Os of a measurement do not exceed, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_ns: Option<f64>,
    /// The time of each phase in nanoseconds, without the cost of tracing.
    pub phases: BTreeMap<Phase, f64>,
    /// What tracing cost.
    pub tracing: Option<Tracing>,
}

/// What tracing cost a measurement; it is subtracted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tracing {
    /// The figure with tracing: nanoseconds of latency, or clocks of an I/O.
    pub traced: f64,
    /// The figure without tracing.
    pub untraced: f64,
    /// Events for an I/O.
    pub events: f64,
    /// Share of the I/Os that could be attributed, from 0 to 1.
    pub attributed: f64,
    /// I/Os that could not be attributed, by reason.
    pub rejected: BTreeMap<String, u64>,
    /// Number of events that the kernel lost.
    pub lost: u64,
    /// Parts that took no longer than their events cost; they are left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hidden: Vec<String>,
    /// Why the figure is not divided into its parts, although it was traced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
}

/// The cost of an I/O with many in flight by a program on one processor.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// The way.
    pub path: Path,
    /// Length of an I/O, in bytes.
    pub block_bytes: u64,
    /// Number of I/Os in flight.
    pub depth: u32,
    /// I/Os per second.
    pub iops: f64,
    /// Clocks of the processors for an I/O. Nanoseconds of their time if there is no clock.
    pub clocks: f64,
    /// 95 % interval of the clocks.
    pub interval: Option<[f64; 2]>,
    /// The clocks of each layer, without the cost of tracing. Empty if they could not be told apart.
    pub layers: BTreeMap<Layer, f64>,
    /// Context switches for an I/O.
    pub switches: Option<f64>,
    /// System calls for an I/O.
    pub system_calls: Option<f64>,
    /// Share of the processor's time in which it computes, from 0 to 1.
    pub utilisation: f64,
    /// Clocks of all processors that were not idle, for an I/O, by the kernel's counters of idle time, without tracing. It is
    /// independent of the layers: on a quiet machine their sum, with [`Layer::Other`], is the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busy: Option<f64>,
    /// What tracing cost.
    pub tracing: Option<Tracing>,
}

/// How the clocks of buffered I/O grow with its length, beyond those of direct I/O.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Copy {
    /// Clocks for each byte.
    pub per_byte: f64,
    /// 95 % interval.
    pub interval: Option<[f64; 2]>,
    /// Clocks for each I/O.
    pub fixed: f64,
    /// Share of the variance that the line explains, from 0 to 1.
    pub r_squared: f64,
    /// Length in bytes and clocks, of each size.
    pub points: Vec<[f64; 2]>,
}

/// What limits a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// The number of I/Os in flight.
    Threads,
    /// The processors.
    Cores,
    /// The adapters.
    Adapters,
    /// The drives, or their queues.
    Drives,
    /// Something else, or it could not be told.
    Unknown,
}

impl Limit {
    /// The name for people.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Threads => "I/Os in flight",
            Self::Cores => "processors",
            Self::Adapters => "adapters",
            Self::Drives => "drives",
            Self::Unknown => "unknown",
        }
    }
}

/// The rate with some threads, processors and drives.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Scaling {
    /// The way.
    pub path: Path,
    /// Length of an I/O, in bytes.
    pub block_bytes: u64,
    /// Number of threads.
    pub threads: u32,
    /// Number of I/Os in flight of each thread.
    pub depth: u32,
    /// Number of processors.
    pub cores: u32,
    /// Number of adapters, if known.
    pub adapters: Option<u32>,
    /// Number of drives.
    pub drives: u32,
    /// I/Os per second.
    pub iops: f64,
    /// Share of the processors' time in which they compute, from 0 to 1.
    pub utilisation: f64,
    /// Mean latency, in nanoseconds.
    pub latency_ns: f64,
    /// What limits the rate, with the evidence.
    pub limit: Option<Limited>,
}

/// What limits a rate, and how that is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limited {
    /// The limit.
    pub by: Limit,
    /// The evidence, in a sentence.
    pub evidence: String,
}

/// What others used of the processors, as shares of the time of all of them, from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Others {
    /// Other programs, before or after the measurement: the larger one.
    pub programs: f64,
    /// The machine's host, during the measurement: a virtual processor that was to run and could not.
    pub host: f64,
}

impl Others {
    /// More than this disturbs a measurement.
    const MUCH: f64 = 0.05;

    /// Whether they disturbed the measurement.
    pub(crate) fn disturb(self) -> bool {
        self.programs > Self::MUCH || self.host > Self::MUCH
    }
}

/// What is missing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// What could not be measured, and why.
    pub what: String,
    /// What to do.
    pub help: String,
}

impl Path {
    /// The words for it, such as `pread, direct, raw`.
    pub fn words(self) -> String {
        let name = interface(self.interface);
        let cache = if self.buffered { "buffered" } else { "direct" };
        let file_system = if self.file_system {
            "file system"
        } else {
            "raw"
        };
        format!("{name}, {cache}, {file_system}")
    }
}

/// The name of an interface for people.
pub fn interface(interface: Interface) -> &'static str {
    match interface {
        Interface::Pread => "pread",
        Interface::Libaio => "libaio",
        Interface::IoUring => "io_uring",
        Interface::IoUringPolled => "io_uring, polled",
        Interface::IoUringSqThread => "io_uring, thread submits",
    }
}
