//! What a parameter says of itself: its unit, its question, its page, its methods and what is drawn of its samples.

use crate::{Method, Parameter, Probe, Series, Unit};

/// Everything about a parameter but its name, which is in the list, [`Parameter`].
pub struct About {
    /// Of its value.
    pub unit: Unit,
    /// What it asks, in one sentence.
    pub question: &'static str,
    /// Its page, in Markdown: `docs/parameters/NAME.md`, which begins with `# NAME: ` and what it is.
    pub page: &'static str,
    /// Whether it cannot be measured without writing, by any method.
    pub writes: bool,
    /// Whose answers it looks at where they are known: those are measured before.
    pub looks_at: &'static [Parameter],
    /// Whose size is marked in its figures, where it is not its own.
    pub marks: Option<Parameter>,
    /// Its figures. Samples that none of them shows get one of their own.
    pub figures: &'static [Figure],
    /// The robust method.
    pub robust: &'static dyn Probe,
    /// The method of a paper, as printed, where one prints any.
    pub paper: Option<&'static dyn Probe>,
}

impl About {
    /// The probe of a method, where there is one.
    pub fn probe(&self, method: Method) -> Option<&'static dyn Probe> {
        match method {
            Method::Robust => Some(self.robust),
            Method::Paper => self.paper,
        }
    }

    /// What it is, in one line: the title of its page after its name.
    pub fn summary(&self) -> &'static str {
        let first = self.page.lines().next().unwrap_or_default();
        first.split_once(": ").map_or(first, |(_, title)| title)
    }
}

/// Lines of samples that are drawn together.
#[derive(Clone, Copy, Debug)]
pub struct Figure {
    /// Its title.
    pub title: &'static str,
    /// What there is to see, in a sentence. `{at}` becomes the size that was found, in brackets, and `{every}` the same of a period;
    /// both are nothing where none was found.
    pub see: &'static str,
    /// The sentence where a size was found, where that is another one.
    pub see_found: Option<&'static str>,
    /// Upwards.
    pub measure: Measure,
    /// To the right.
    pub x: X,
    /// Whether few sizes are set side by side, as alternatives are.
    pub side_by_side: bool,
    /// What is marked of the answer.
    pub mark: Mark,
    /// Each series with its name in the legend.
    pub lines: &'static [(Series, &'static str)],
}

impl Figure {
    /// Latencies over the size of requests, with the size that was found marked.
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

    /// The same of throughputs.
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

/// Samples that any parameter may have, with their names in the legend: of the look at whether a drive was written, where a run may
/// not write.
pub const LOOKS: &[(Series, &str)] = &[
    (Series::HOLE, "Nothing is kept"),
    (Series::BLANK, "All bytes are equal"),
    (Series::DATA, "Bytes differ"),
    (Series::AGAIN, "The same places again"),
];

/// What a figure's vertical axis shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Of one request, in nanoseconds.
    Latency,
    /// In bytes per second.
    Throughput,
}

/// What the `x` of the samples is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum X {
    /// The size of a request. A sample of several counts as their mean.
    Request,
    /// What was written before, in bytes.
    WrittenBefore,
    /// A size whose multiples are tried.
    Multiples,
    /// Nothing: the samples are drawn over their place, and laid over one another where a size is found.
    Place {
        /// Whether those of the last step alone are drawn.
        last: bool,
    },
}

/// What is marked of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// The size, and its interval.
    Size,
    /// The size and its multiples.
    Period,
    /// Where one of the units that are laid over one another ends, in these words.
    End(&'static str),
    /// Nothing: for comparison.
    Nothing,
}
