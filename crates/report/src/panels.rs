//! Which series of which parameter are drawn together.

use crate::points::Measure;
use fathom_probe::Parameter;
use fathom_probe::record::Series;

/// A drawing that a parameter may have.
pub(crate) struct Panel {
    pub(crate) title: &'static str,
    pub(crate) measure: Measure,
    pub(crate) series: &'static [Series],
}

const WRITES: Panel = Panel {
    title: "Throughput of writes over their size",
    measure: Measure::Throughput,
    series: &[Series::Sequential, Series::Random],
};

const READS: Panel = Panel {
    title: "For comparison: throughput of reads",
    measure: Measure::Throughput,
    series: &[Series::SequentialRead, Series::RandomRead],
};

const FLASH_READS: Panel = latency(
    "For comparison: reads from the flash",
    &[Series::RandomRead],
);

/// The title of the drawing of what no other has.
pub(crate) const OTHERS: &str = "Other samples";

pub(crate) const fn latency(title: &'static str, series: &'static [Series]) -> Panel {
    Panel {
        title,
        measure: Measure::Latency,
        series,
    }
}

/// The drawings of a parameter. Samples of any other series get one of their own: nothing in a record is hidden,
/// but that accesses at places are those of the last step of their kind.
pub(crate) fn panels(parameter: Parameter) -> Vec<Panel> {
    match parameter {
        Parameter::ClusteredPage => clustered_page(),
        Parameter::ClusteredBlock => vec![
            latency(
                "Latency over the place of an access",
                &[Series::Place, Series::Around],
            ),
            WRITES,
            READS,
        ],
        Parameter::LogicalBlock => vec![
            latency(
                "Random writes of whole blocks, aligned against shifted by half",
                &[Series::Aligned, Series::Shifted],
            ),
            WRITES,
            READS,
        ],
        Parameter::ReadBuffer => vec![latency(
            "Latency of a first read and of the same read again",
            &[Series::Miss, Series::Hit],
        )],
        Parameter::WriteBuffer => vec![
            latency(
                "Latency of writes into emptied memory, piece by piece",
                &[Series::Filling],
            ),
            latency(
                "Latency of a write into an empty and into a full buffer",
                &[Series::EmptyBuffer, Series::FullBuffer],
            ),
            latency(
                "Latency of the flush after the write",
                &[Series::FlushAfter],
            ),
            FLASH_READS,
        ],
        Parameter::Prefetch => vec![
            latency(
                "Scattered against consecutive reads",
                &[Series::Scattered, Series::Consecutive],
            ),
            latency(
                "The place before one that was just read",
                &[Series::Miss, Series::Hit],
            ),
        ],
        Parameter::WritePolicy => vec![latency(
            "Writes to the same places against writes to new places",
            &[Series::Rewrite, Series::Distinct],
        )],
    }
}

fn clustered_page() -> Vec<Panel> {
    vec![
        latency(
            "Latency of small flushed writes over their place",
            &[Series::Across, Series::Within],
        ),
        latency(
            "Latency of flushed writes over their size",
            &[Series::Sweep],
        ),
        latency(
            "Aligned against shifted",
            &[Series::Aligned, Series::Shifted],
        ),
        FLASH_READS,
        Panel {
            title: "Throughput of small writes without flushes",
            measure: Measure::Throughput,
            series: &[Series::StreamAcross, Series::StreamWithin],
        },
    ]
}
