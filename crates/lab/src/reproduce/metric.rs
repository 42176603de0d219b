//! The metrics of figures and claims: each is one number of one run.

use super::figures::{
    buffer, clocks, counted, first_to_last, given, host, page, per_gib, per_thousand, ratio, share,
    waited, written_through,
};
use fathom_platform::Layer;
use fathom_run::{RunRecord, Side};
use serde::Deserialize;

/// Maximum length of a small request, in bytes (`parameter-aware-io` Table 4).
const SMALL_BYTES: u64 = 256 << 10;

/// A number of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Metric {
    /// Time that each outstanding request slot spent on reads, in seconds: the sum of the response times of reads divided
    /// by the number of outstanding requests.
    ReadTime,
    /// The same for writes.
    WriteTime,
    /// Time from the start to the last completion, in seconds.
    Duration,
    /// Bytes read and written per second, in MB/s.
    Throughput,
    /// Bytes of the workload per second, in MB/s. Includes those that stay in a buffer in front of the drive.
    WorkloadThroughput,
    /// Bytes read per second, in MB/s.
    ReadThroughput,
    /// Bytes written per second, in MB/s.
    WriteThroughput,
    /// Bytes that reached the drive per second in the second half of the run, in MB/s: the rate of a program once its page
    /// cache is full.
    WrittenThrough,
    /// Time that a program took by its own clock, in seconds. Excludes what is written after its end.
    Elapsed,
    /// Memory of the block allocator under a program, in KB (1,024 bytes).
    AllocatorMemory,
    /// Bytes that a program has written for its user per second, by its own count, in MB/s.
    ProgramWrites,
    /// Bytes that a program has read and written for its user per second, by its own count, in MB/s.
    ProgramBandwidth,
    /// Mean response time, in milliseconds.
    MeanResponse,
    /// Reciprocal of the mean response time, per second.
    InverseResponse,
    /// Mean response time of reads, in milliseconds.
    ReadResponse,
    /// Mean response time of writes, in milliseconds.
    WriteResponse,
    /// 99th percentile of the response time, in milliseconds.
    TailResponse,
    /// Sum of the times at which the processes finished, in seconds.
    ProcessTimes,
    /// Jain's fairness index of the processes' throughput.
    Fairness,
    /// Time of the first process to finish, as a share of the time of the last one.
    FirstToLast,
    /// Requests dispatched to the drive, in thousands.
    Requests,
    /// Share of the dispatched requests that have at most 256 KiB, in percent.
    SmallShare,
    /// Share of the dispatched requests that start at the alignment of the queue's counters, in percent.
    AlignedShare,
    /// Write amplification: bytes programmed per byte written.
    WriteAmplification,
    /// Full merges per thousand writes.
    FullMerges,
    /// Merges of any kind per thousand writes.
    Merges,
    /// Full merges per GiB written to the drive: a new block is filled.
    FullMergesPerGib,
    /// Partial merges per GiB written to the drive: an existing block is completed.
    PartialMergesPerGib,
    /// Switch merges per GiB written to the drive: no data are moved.
    SwitchMergesPerGib,
    /// Share of the pages that replaced one in the buffer in front of the drive, in percent.
    BufferHits,
    /// Mean number of pages in an eviction batch of the buffer.
    BatchPages,
    /// Pages written to the drive per page that left the buffer; pages that pad blocks make it exceed 1.
    PaddedWrites,
    /// Mean number of busy elements of the drive.
    AtWork,
    /// Mean time for which the host waits for room in the buffer, or for the drive if there is no buffer, over all writes,
    /// in milliseconds. Hits and writes that find room count as 0.
    HostWait,
    /// Pages that left the buffer, without padding, per second during which the drive had at least one request.
    PagesPerBusySecond,
    /// Accesses per second, in thousands.
    Iops,
    /// Mean time of an I/O, from the program's request to its continuation, in microseconds. The host must be charged, as
    /// for the metrics below.
    Latency,
    /// The part of it outside of the drive, in microseconds.
    PlatformLatency,
    /// The same part, in percent.
    PlatformShare,
    /// Clocks of the processors for an I/O, without those of waiting.
    ClocksPerIo,
    /// Clocks of uncached register reads for an I/O.
    UncachedReadClocks,
    /// Clocks of the virtual file system and the file system for an I/O.
    FileSystemClocks,
    /// Clocks of the page cache's copies for a byte.
    CopyClocksPerByte,
    /// Clocks of context switches for an I/O.
    ContextSwitchClocks,
    /// Mean share of the processors' time in which they compute, in percent.
    Utilisation,
}

impl Metric {
    /// Returns the label of an axis, with the unit.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::ReadTime => "time waited for reads (s)",
            Self::WriteTime => "time waited for writes (s)",
            Self::Duration => "time (s)",
            Self::Throughput => "throughput (MB/s)",
            Self::WorkloadThroughput => "throughput of the workload (MB/s)",
            Self::ReadThroughput => "read throughput (MB/s)",
            Self::WriteThroughput => "write throughput (MB/s)",
            Self::WrittenThrough => "written to the drive in the second half (MB/s)",
            Self::Elapsed => "elapsed time of the program (s)",
            Self::AllocatorMemory => "memory of the allocator (KB)",
            Self::ProgramWrites => "written by the program (MB/s)",
            Self::ProgramBandwidth => "read and written by the program (MB/s)",
            Self::MeanResponse => "mean response time (ms)",
            Self::InverseResponse => "1 / mean response time (1/s)",
            Self::ReadResponse => "mean response time of reads (ms)",
            Self::WriteResponse => "mean response time of writes (ms)",
            Self::TailResponse => "99 % of response times (ms)",
            Self::ProcessTimes => "execution times of all processes (s)",
            Self::Fairness => "Jain's index",
            Self::FirstToLast => "first process done / last",
            Self::Requests => "requests to the drive (thousand)",
            Self::SmallShare => "requests of at most 256 KiB (%)",
            Self::AlignedShare => "aligned requests (%)",
            Self::WriteAmplification => "write amplification",
            Self::FullMerges => "full merges per 1,000 writes",
            Self::Merges => "merges per 1,000 writes",
            Self::FullMergesPerGib => "full merges per GiB written",
            Self::PartialMergesPerGib => "partial merges per GiB written",
            Self::SwitchMergesPerGib => "switch merges per GiB written",
            Self::BufferHits => "hits in the buffer (%)",
            Self::BatchPages => "pages in a batch",
            Self::PaddedWrites => "pages written per page that left",
            Self::AtWork => "elements at work",
            Self::HostWait => "the host's wait per write (ms)",
            Self::PagesPerBusySecond => "pages per busy second",
            Self::Iops => "thousand I/Os a second",
            Self::Latency => "latency (us)",
            Self::PlatformLatency => "latency outside of the drive (us)",
            Self::PlatformShare => "latency outside of the drive (%)",
            Self::ClocksPerIo => "clocks an I/O",
            Self::UncachedReadClocks => "clocks of uncached reads an I/O",
            Self::FileSystemClocks => "clocks of file systems an I/O",
            Self::CopyClocksPerByte => "clocks of copies a byte",
            Self::ContextSwitchClocks => "clocks of context switches an I/O",
            Self::Utilisation => "utilisation of the processors (%)",
        }
    }

    /// Returns 1 if more is better, or -1 if less is.
    pub(super) fn better(self) -> f64 {
        match self {
            Self::Throughput
            | Self::WorkloadThroughput
            | Self::InverseResponse
            | Self::BufferHits
            | Self::BatchPages
            | Self::AtWork
            | Self::PagesPerBusySecond
            | Self::ReadThroughput
            | Self::WriteThroughput
            | Self::WrittenThrough
            | Self::ProgramWrites
            | Self::ProgramBandwidth
            | Self::Fairness
            | Self::FirstToLast
            | Self::SmallShare
            | Self::AlignedShare
            | Self::Iops => 1.0,
            _ => -1.0,
        }
    }

    /// Returns the value for a run; `None` if the run does not have this figure.
    pub(super) fn of(self, record: &RunRecord) -> Option<f64> {
        let totals = &record.totals;
        let seconds = totals.duration.0 as f64 / 1e9;
        let rate = |bytes: u64| (seconds > 0.0).then(|| bytes as f64 / 1e6 / seconds);
        let side = |side: Option<Side>| side.map(|side| side.response_ns.mean / 1e6);
        match self {
            Self::ReadTime => waited(record, totals.reads?),
            Self::WriteTime => waited(record, totals.writes?),
            Self::Duration => Some(seconds),
            Self::Throughput => rate(totals.all?.bytes),
            Self::WorkloadThroughput => {
                totals.all?;
                rate(record.reshaped.as_ref()?.pages * page(record))
            }
            Self::ReadThroughput => rate(totals.reads?.bytes),
            Self::WriteThroughput => rate(totals.writes?.bytes),
            Self::WrittenThrough => written_through(totals),
            Self::Elapsed => counted(record, "elapsed"),
            Self::AllocatorMemory => Some(counted(record, "allocator-memory")? / 1024.0),
            Self::ProgramWrites => counted(record, "write-rate"),
            Self::ProgramBandwidth => counted(record, "bandwidth")
                .or_else(|| Some(counted(record, "read-rate")? + counted(record, "write-rate")?)),
            Self::MeanResponse => side(totals.all),
            Self::InverseResponse => side(totals.all).map(|ms| 1e3 / ms),
            Self::ReadResponse => side(totals.reads),
            Self::WriteResponse => side(totals.writes),
            Self::TailResponse => Some(totals.all?.p99_ns as f64 / 1e6),
            Self::ProcessTimes => {
                let times = totals.processes.iter().map(|p| p.finished.0 as f64 / 1e9);
                (totals.processes.len() > 1).then(|| times.sum())
            }
            Self::Fairness => totals.fairness(),
            Self::FirstToLast => first_to_last(record),
            Self::Requests => Some(given(record)?.0 as f64 / 1e3),
            Self::SmallShare => share(record, |side| {
                side.by_len.range(..=SMALL_BYTES).map(|(_, n)| n).sum()
            }),
            Self::AlignedShare => share(record, |side| side.aligned),
            Self::WriteAmplification => record.work?.write_amplification(),
            Self::FullMerges => per_thousand(record, record.work?.full_merges),
            Self::Merges => {
                let work = record.work?;
                let all = work.full_merges + work.partial_merges + work.switch_merges;
                per_thousand(record, all)
            }
            Self::FullMergesPerGib => per_gib(record.work?, |work| work.full_merges),
            Self::PartialMergesPerGib => per_gib(record.work?, |work| work.partial_merges),
            Self::SwitchMergesPerGib => per_gib(record.work?, |work| work.switch_merges),
            Self::BufferHits => buffer(record, |b| ratio(100 * b.hits, b.pages)),
            Self::BatchPages => buffer(record, |b| ratio(b.left(), b.batches)),
            Self::PaddedWrites => buffer(record, |b| ratio(b.pages_written, b.left())),
            Self::AtWork => {
                let busy = record.work?.busy?.0 as f64 / 1e9;
                (busy > 0.0 && seconds > 0.0).then(|| busy / seconds)
            }
            Self::HostWait => buffer(record, |b| b.host_wait_ns().map(|ns| ns / 1e6)),
            Self::PagesPerBusySecond => {
                let busy = totals.busy.0 as f64 / 1e9;
                let left = buffer(record, |b| Some(b.left() as f64))?;
                (left > 0.0 && busy > 0.0).then(|| left / busy)
            }
            Self::Iops => (seconds > 0.0).then(|| totals.count() as f64 / 1e3 / seconds),
            _ => self.of_host(record),
        }
    }

    /// Returns the value of a metric of the host; `None` if it was not charged.
    fn of_host(self, record: &RunRecord) -> Option<f64> {
        match self {
            Self::Latency => Some(host(record)?.latency_ns()? / 1e3),
            Self::PlatformLatency => Some(host(record)?.platform_ns()? / 1e3),
            Self::PlatformShare => {
                let host = host(record)?;
                Some(100.0 * host.platform_ns()? / host.latency_ns()?)
            }
            Self::ClocksPerIo => host(record)?.clocks_per_io(),
            Self::UncachedReadClocks => clocks(record, Layer::UncachedReads),
            Self::FileSystemClocks => clocks(record, Layer::FileSystem),
            Self::CopyClocksPerByte => {
                let bytes = record.totals.all.map_or(0, |side| side.bytes);
                let all = clocks(record, Layer::Copy)? * host(record)?.ios as f64;
                (bytes > 0).then(|| all / bytes as f64)
            }
            Self::ContextSwitchClocks => clocks(record, Layer::ContextSwitch),
            Self::Utilisation => Some(100.0 * host(record)?.utilisation()),
            _ => None,
        }
    }

    /// Returns half the width of the 95 % interval of the value within a run, by batch means; 0 for metrics without one.
    pub(super) fn half(self, record: &RunRecord) -> f64 {
        let totals = &record.totals;
        let side = match self {
            Self::MeanResponse | Self::InverseResponse => totals.all,
            Self::ReadResponse => totals.reads,
            Self::WriteResponse => totals.writes,
            _ => None,
        };
        let half = side.map_or(0.0, |side| {
            let mean = side.response_ns;
            mean.high.map_or(0.0, |high| high - mean.mean)
        });
        match (self, side) {
            // To first order, the relative error of a reciprocal equals that of the value.
            (Self::InverseResponse, Some(side)) => 1e9 * half / side.response_ns.mean.powi(2),
            _ => half / 1e6,
        }
    }
}
