//! A figure as plain data, and its place in a page: axes, series, marks and texts.
//!
//! Every figure of every page is a [`Chart`]. `chart.js` draws them in the reader's browser; this module knows no colours or
//! pixels. Values are in base units (nanoseconds, bytes, bytes per second), and the script chooses the displayed unit. JSON
//! cannot represent non-finite values; they are written as `null` and not drawn.

use crate::wrap::unbroken;
use json::{maybe, maybes, numbers};
use maud::{Markup, html};
use serde::Serialize;

mod json;

pub(crate) use json::json;

/// The scripts that draw the charts: axes, series, stacks, interaction, and the main script.
const SCRIPTS: [&str; 5] = [
    include_str!("chart/axes.js"),
    include_str!("chart/series.js"),
    include_str!("chart/stack.js"),
    include_str!("chart/pointer.js"),
    include_str!("chart.js"),
];

/// Unit of the numbers of an axis or a column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// A number whose unit, if any, is in the title.
    #[default]
    Number,
    /// Nanoseconds.
    Ns,
    /// Bytes, shown in KiB and so on.
    Bytes,
    /// Bytes per second, shown in MB/s.
    Rate,
    /// Share above, from 0 to 1, shown as the percentage below.
    Above,
}

/// Scale of an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// Linear.
    #[default]
    Linear,
    /// Linear from zero.
    Zero,
    /// Logarithmic: every factor of ten is equally long. Values at or below zero are not drawn.
    Log,
    /// Logarithmic, with smaller values further up: the tail of a distribution.
    Tail,
    /// Names side by side, at positions 0, 1, 2 and so on.
    Names,
}

/// An axis.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Axis {
    /// Title, without the unit unless that is [`Unit::Number`].
    pub title: String,
    /// Unit of its numbers.
    pub unit: Unit,
    /// Scale.
    pub scale: Scale,
    /// Positions of the ticks, if given; not with [`Scale::Names`].
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "numbers")]
    pub places: Vec<f64>,
    /// Labels at `places`, or at 0, 1, 2 and so on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// Highest value shown at first; a button shows the rest.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "maybe")]
    pub top: Option<f64>,
}

impl Axis {
    /// Creates an axis with ticks at round values.
    pub fn new(title: &str, unit: Unit, scale: Scale) -> Axis {
        Axis {
            title: title.to_owned(),
            unit,
            scale,
            ..Axis::default()
        }
    }

    /// Creates an axis of names side by side.
    pub fn names(title: &str, names: Vec<String>) -> Axis {
        Axis {
            names,
            ..Axis::new(title, Unit::Number, Scale::Names)
        }
    }

    /// Creates an axis with labelled ticks at these positions only. Logarithmic if they span a wide range, so that doubling
    /// sizes are equally spaced.
    pub fn places(title: &str, places: Vec<f64>, names: Vec<String>) -> Axis {
        let low = places.iter().copied().fold(f64::INFINITY, f64::min);
        let high = places.iter().copied().fold(0.0, f64::max);
        let wide = places.len() > 2 && low > 0.0 && high / low >= 16.0;
        let scale = if wide { Scale::Log } else { Scale::Linear };
        Axis {
            places,
            names,
            ..Axis::new(title, Unit::Number, scale)
        }
    }
}

/// Drawing mode of a series.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// A line with markers: at every point if there are few, at some of them if there are many.
    #[default]
    Line,
    /// Steps that change midway between two points.
    Steps,
    /// Small markers.
    Points,
    /// Large markers with their intervals, without a line.
    Marks,
    /// Bars from zero, beside those of other series.
    Bars,
    /// Bars on top of those of earlier series with this mode: each height is a part of the whole. Parts that are not
    /// positive are not drawn. Needs [`Scale::Names`] below and [`Scale::Zero`] beside.
    Stack,
}

/// Lower and upper ends of an interval for each point.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Interval {
    /// Name of the interval, shown when the reader points at it.
    pub what: String,
    /// True if it is drawn; otherwise only its numbers are shown.
    pub drawn: bool,
    /// Lower ends.
    #[serde(serialize_with = "numbers")]
    pub low: Vec<f64>,
    /// Upper ends.
    #[serde(serialize_with = "numbers")]
    pub high: Vec<f64>,
}

impl Interval {
    /// Creates a drawn 95 % interval. Points with a non-finite end get no bar.
    pub(crate) fn of_95_percent(low: Vec<f64>, high: Vec<f64>) -> Interval {
        Interval {
            what: "95 % interval".to_owned(),
            drawn: true,
            low,
            high,
        }
    }
}

/// Further data for each point, shown when the reader points at it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Column {
    /// Name of the data.
    pub name: String,
    /// Unit of the values.
    pub unit: Unit,
    /// A value for each point.
    #[serde(serialize_with = "numbers")]
    pub values: Vec<f64>,
}

/// A series of points.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Series {
    /// Name in the legend. Series with the same name share an entry.
    pub name: String,
    /// Index of its colour, dash and marker.
    pub look: usize,
    /// Drawing mode.
    pub mode: Mode,
    /// Horizontal positions, from left to right.
    #[serde(serialize_with = "numbers")]
    pub x: Vec<f64>,
    /// A height for each position; `None` leaves a gap in the line.
    #[serde(serialize_with = "maybes")]
    pub y: Vec<Option<f64>>,
    /// Intervals of the heights.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// Further data for each point.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<Column>,
}

impl Series {
    /// Creates a series of points without intervals.
    pub fn new(
        name: impl Into<String>,
        look: usize,
        mode: Mode,
        points: impl IntoIterator<Item = (f64, Option<f64>)>,
    ) -> Series {
        let (x, y) = points.into_iter().unzip();
        Series {
            name: name.into(),
            look,
            mode,
            x,
            y,
            ..Series::default()
        }
    }

    /// Adds 95 % intervals around the heights, given as their half-widths.
    pub fn with_halves(self, halves: &[f64]) -> Series {
        let ends = |sign: f64| -> Vec<f64> {
            let each = self.y.iter().zip(halves);
            // A point without a height has no interval and is not drawn.
            each.map(|(y, half)| y.map_or(f64::NAN, |y| y + sign * half))
                .collect()
        };
        Series {
            interval: Some(Interval::of_95_percent(ends(-1.0), ends(1.0))),
            ..self
        }
    }
}

/// Kind of a mark on the horizontal axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MarkKind {
    /// A line at each position, with the text above the first.
    Line,
    /// A thin dotted line at each position.
    Dotted,
    /// The range between the two positions, shaded.
    Band,
}

/// A mark on the horizontal axis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mark {
    /// Kind.
    pub kind: MarkKind,
    /// Positions.
    #[serde(serialize_with = "numbers")]
    pub x: Vec<f64>,
    /// Text above it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
}

/// A figure.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Chart {
    /// Its id, unique in the page.
    pub id: String,
    /// Heading.
    #[serde(skip)]
    pub title: String,
    /// What the figure shows.
    #[serde(skip)]
    pub see: String,
    /// Text below it.
    #[serde(skip)]
    pub note: String,
    /// A sentence on data above `y.top`; empty if there is none.
    #[serde(skip)]
    pub outside: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// Marks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Mark>,
    /// Series; later ones are drawn on top.
    pub series: Vec<Series>,
}

/// Returns the script that draws the charts, for one script element.
pub(crate) fn script() -> String {
    // The block hides its names from other scripts.
    format!("\"use strict\";\n{{\n{}}}\n", SCRIPTS.concat())
}

/// Returns the chart's element: caption, drawing area and text below it.
pub(crate) fn figure(chart: &Chart) -> Markup {
    html! {
        figure {
            figcaption {
                h3 { (chart.title) }
                @if !chart.see.is_empty() { p.see { (unbroken(&chart.see)) } }
            }
            div.chart {
                div.plot id=(chart.id) role="img" aria-label=(chart.title) {}
            }
            @if !chart.note.is_empty() || !chart.outside.is_empty() {
                div.note {
                    (unbroken(&chart.note))
                    @if !chart.outside.is_empty() {
                        " " strong { (unbroken(&chart.outside)) }
                        " " button type="button" data-all=(chart.id) { "Show all" }
                    }
                }
            }
        }
    }
}

/// Returns the notice for readers without JavaScript.
pub(crate) fn without_script() -> Markup {
    html! {
        noscript {
            p.notice { "The figures need JavaScript: a script in this page draws them. Without it, only the tables are shown." }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_that_double_lie_equally_far_apart() {
        let scale = |places: &[f64]| Axis::places("", places.to_vec(), Vec::new()).scale;
        assert_eq!(scale(&[1.0, 4.0, 16.0]), Scale::Log);
        assert_eq!(scale(&[1.0, 2.0, 3.0]), Scale::Linear);
        assert_eq!(scale(&[0.0, 4.0, 16.0]), Scale::Linear);
        assert_eq!(scale(&[]), Scale::Linear);
    }

    #[test]
    fn the_script_is_small_and_does_not_end_its_element() {
        let script = script();
        assert!(script.len() < 100_000, "{} bytes", script.len());
        assert!(!script.contains("</") && !script.contains("<!--"));
    }
}
