//! The description of a parameter: its unit, question, documentation page, methods and figures.

use crate::{Look, Method, Parameter, Probe, Series, Unit};

/// The description of a parameter, except its name, which is in the list of [`Parameter`].
pub struct About {
    /// The unit of its value.
    pub unit: Unit,
    /// The question that it answers, in one sentence.
    pub question: &'static str,
    /// Its page in Markdown, `docs/parameters/NAME.md`. The first line is `# NAME: ` and a summary.
    pub page: &'static str,
    /// Whether every method has to write to measure it.
    pub writes: bool,
    /// Parameters whose answers it uses if they are known; they are measured before it.
    pub looks_at: &'static [Parameter],
    /// The parameter whose size is marked in its figures, if not its own.
    pub marks: Option<Parameter>,
    /// Its figures. The samples that none of them shows get a figure of their own.
    pub figures: &'static [Figure],
    /// The robust method.
    pub robust: &'static dyn Probe,
    /// The other methods: those of a paper as printed, and rules in use elsewhere.
    pub rules: &'static [(Method, &'static dyn Probe)],
    /// Whether the question fits a drive, after a first look at it. The text says why not; it follows "skipped: ".
    pub fits: fn(&Look) -> Result<(), &'static str>,
}

impl About {
    /// Returns the probe of a method, if it has one.
    pub fn probe(&self, method: Method) -> Option<&'static dyn Probe> {
        if method == Method::Robust {
            return Some(self.robust);
        }
        let mut rules = self.rules.iter();
        rules.find(|(of, _)| *of == method).map(|(_, probe)| *probe)
    }

    /// Returns its summary in one line: the title of its page, after the name.
    pub fn summary(&self) -> &'static str {
        let first = self.page.lines().next().unwrap_or_default();
        first.split_once(": ").map_or(first, |(_, title)| title)
    }
}

/// A figure: series of samples that are drawn together.
#[derive(Clone, Copy, Debug)]
pub struct Figure {
    /// The title.
    pub title: &'static str,
    /// A sentence that says what to look for. `{at}` is replaced by ` (here at SIZE)` and `{every}` by ` (here every SIZE)`,
    /// with the size that was found; both are replaced by nothing if none was found.
    pub see: &'static str,
    /// The sentence that replaces `see` if a size was found.
    pub see_found: Option<&'static str>,
    /// The quantity on the vertical axis.
    pub measure: Measure,
    /// The quantity on the horizontal axis.
    pub x: X,
    /// Whether a small number of sizes is drawn as columns side by side instead of a curve, for a comparison of
    /// alternatives.
    pub side_by_side: bool,
    /// The part of the answer that is marked.
    pub mark: Mark,
    /// The series, each with its name in the legend.
    pub lines: &'static [(Series, &'static str)],
}

impl Figure {
    /// A figure of latencies over the request size, with the size that was found marked.
    pub const fn latency(
        title: &'static str,
        see: &'static str,
        lines: &'static [(Series, &'static str)],
    ) -> Self {
        Self {
            title,
            see,
            see_found: None,
            measure: Measure::Latency,
            x: X::Request,
            side_by_side: false,
            mark: Mark::Size,
            lines,
        }
    }

    /// A figure of throughputs over the request size, with the size that was found marked.
    pub const fn throughput(
        title: &'static str,
        see: &'static str,
        lines: &'static [(Series, &'static str)],
    ) -> Self {
        Self {
            measure: Measure::Throughput,
            ..Self::latency(title, see, lines)
        }
    }
}

/// The series that any parameter may have, with their names in the legend: those of the check in a read-only run of whether
/// the drive was written before.
pub const LOOKS: &[(Series, &str)] = &[
    (Series::HOLE, "Nothing is kept"),
    (Series::BLANK, "All bytes are equal"),
    (Series::DATA, "Bytes differ"),
    (Series::AGAIN, "The same places again"),
];

/// The quantity on the vertical axis of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// The latency of one request, in nanoseconds.
    Latency,
    /// The throughput, in bytes per second.
    Throughput,
}

/// The meaning of the `x` of the samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum X {
    /// The size of a request. A sample of several requests counts as their mean.
    Request,
    /// The bytes written before.
    WrittenBefore,
    /// A size whose multiples are tried.
    Multiples,
    /// The number of requests in flight.
    Depth,
    /// The length of the area that requests are spread over, in bytes.
    Span,
    /// The distance between two requests, in bytes.
    Distance,
    /// The rate at which requests are due, in percent of another rate.
    Load,
    /// The time since the beginning of a measurement, in nanoseconds.
    Elapsed,
    /// Not used: the samples are drawn over their offset. If a size was found, its units are laid over one another.
    Place {
        /// Whether only the samples of the last step are drawn.
        last: bool,
    },
}

/// The part of the answer that a figure marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// The size and its interval.
    Size,
    /// The size and its multiples.
    Period,
    /// The end of one of the units that are laid over one another, labelled with this text.
    End(&'static str),
    /// Nothing: the figure is for comparison.
    Nothing,
}
