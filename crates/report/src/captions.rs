//! The sentences around a figure: what there is to see in it, and how many samples it shows.

use crate::figure::{Axis, Marks};
use crate::folded::by_place;
use crate::points::DRAWN_MAX;
use crate::points::of_streams;
use crate::words;
use fathom_probe::record::Series;
use fathom_probe::{Estimate, Parameter, Value};

/// What there is to see, in a sentence.
pub(crate) fn see(parameter: Parameter, series: &[Series], estimate: Option<&Estimate>) -> String {
    let size = estimate
        .and_then(|e| e.value.as_ref())
        .and_then(Value::bytes);
    let at = size.map_or_else(String::new, |size| {
        format!(" (here at {})", words::bytes(size))
    });
    match (parameter, series) {
        (Parameter::ClusteredPage, _) => pages(series, size),
        (Parameter::ClusteredBlock | Parameter::LogicalBlock, _) => blocks(parameter, series, size),
        (Parameter::ReadBuffer, _) => format!(
            "Look for the size up to which reading again is faster than reading first{at}: more does not fit into \
             the buffer."
        ),
        (Parameter::WriteBuffer, [Series::FlushAfter]) => {
            "Look for flushes that take long after writes that were \
             fast: the buffer had taken the data, the flash had not."
                .to_owned()
        }
        (Parameter::WriteBuffer, [Series::Filling]) => format!(
            "Look for the place from which on pieces wait{at}, one of them or all: the memory is full there, in \
             every run. Longer runs were made with longer pieces."
        ),
        (Parameter::WriteBuffer, [Series::RandomRead]) => {
            "Hold it against the writes into emptied memory: memory took those that are faster than a read from the flash; where \
             all take longer, the flash answered them."
                .to_owned()
        }
        (Parameter::WriteBuffer, _) => format!(
            "Look for the size up to which a write into an empty buffer is faster than one into a full buffer{at}: \
             more does not fit."
        ),
        (Parameter::Prefetch, [Series::Miss, ..]) => {
            "Look for sizes at which the second line is lower: both reads lie in one line of \
             a buffer there, so that such reads tell nothing of reading ahead."
                .to_owned()
        }
        (Parameter::Prefetch, _) => {
            "Look for consecutive reads that are clearly faster than scattered ones: the drive \
             then reads ahead."
                .to_owned()
        }
        (Parameter::WritePolicy, _) => format!(
            "Look right of the capacity of the memory{at}: from there on writes to new places wait for the flash, some \
             of them longer than others. If writes to the same places never wait, the memory is a cache; if they \
             wait as well, it is a FIFO buffer."
        ),
    }
}

fn pages(series: &[Series], size: Option<u64>) -> String {
    match series {
        [Series::Sweep] => format!(
            "Look for drops at equal distances{}: a write that fills whole internal pages needs nothing read \
             before it.",
            size.map_or_else(String::new, |size| format!(" (here every {})", words::bytes(size)))
        ),
        [Series::RandomRead] => {
            "Hold it against the small flushed writes: where they are faster than reads, memory takes them, and \
             the flash does not show."
                .to_owned()
        }
        places if by_place(places) && size.is_some() => {
            "All units are laid over one another, with the end of a unit in the middle. Look for a peak there: a write \
             across it has two units read and written."
                .to_owned()
        }
        places if by_place(places) => {
            "Over the whole drive. Where a unit is found, all units are laid over one another.".to_owned()
        }
        streams if of_streams(streams) => {
            "For memory that answers flushed writes. Look for sizes at which the streams across multiples are slower than \
             those anywhere else: a write that lies in two units counts twice."
                .to_owned()
        }
        _ => {
            "Look for the gap between the two: a shifted write covers pages in part, \
             and the drive has to read the rest of them first."
                .to_owned()
        }
    }
}

fn blocks(parameter: Parameter, series: &[Series], size: Option<u64>) -> String {
    let text = match (parameter, series) {
        (_, places) if by_place(places) && size.is_some() => {
            "Of the last scan alone. All blocks are laid over one another, with the beginning of a block in the middle. Look for a dip or a \
             peak there: reads across it are served by two blocks, and the first write behind it costs a merge."
        }
        (_, places) if by_place(places) => {
            "Of the last scan alone. Look for dips or peaks at equal distances: blocks would begin there."
        }
        (_, [Series::Aligned, ..]) => {
            "Look for the gap between the two: a shifted write lies half in each of two blocks, which are merged \
             for it."
        }
        (_, [Series::SequentialRead | Series::RandomRead, ..]) => {
            "The answer does not rest on it. Where random reads become as fast as sequential ones, their order does not \
             matter either."
        }
        (Parameter::ClusteredBlock, _) => {
            "Look for the size at which random writes become as fast as sequential ones: from there on nothing \
             has to be copied before an erase."
        }
        _ => {
            "Look for the size at which random writes become as fast as sequential ones: from there on their order does not \
             matter."
        }
    };
    text.to_owned()
}

/// How many samples there are, how many of them are drawn, and what is shaded.
pub(crate) fn note((total, drawn): (usize, usize), axis: Axis, marks: &Marks) -> String {
    let number = |n: usize| words::count(n as u64);
    let medians = match axis {
        Axis::Strip => "large marks are medians, bars the middle half",
        _ => "lines are medians",
    };
    let mut out = if drawn < total {
        format!(
            "{} of {} samples are drawn as points (at most {} of a series, the extremes always among them); \
             {medians}, of all samples.",
            number(drawn),
            number(total),
            number(DRAWN_MAX)
        )
    } else {
        format!(
            "{}, all drawn; {medians}.",
            words::counted(total as u64, "sample")
        )
    };
    if let Some((low, high)) = marks.interval {
        let (low, high) = (words::bytes(low), words::bytes(high));
        if low != high {
            out.push_str(&format!(" Shaded: the interval, {low} to {high}."));
        }
    }
    out
}

/// What is not shown at first; empty where everything is.
pub(crate) fn outside(above: usize, total: usize) -> String {
    let verb = if above == 1 { "lies" } else { "lie" };
    match above {
        0 => String::new(),
        _ => format!(
            "{} of {} samples {verb} above the axis and {} not shown.",
            words::count(above as u64),
            words::count(total as u64),
            if above == 1 { "is" } else { "are" }
        ),
    }
}
