//! A figure as plain data, and how it stands in a page: axes, series, marks and the sentences around them.
//!
//! Every figure of every page is a [`Chart`]. `chart.js` draws them in the reader's browser; here nothing is known of
//! colours and pixels. Values are in base units (nanoseconds, bytes, bytes per second), and the script chooses the
//! unit that is shown. What is not finite has no place in JSON and is written as `null`, which is not drawn.

use crate::wrap::unbroken;
use json::{maybe, maybes, numbers};
use maud::{Markup, html};
use serde::Serialize;

mod json;

pub(crate) use json::json;

/// What draws the charts of a page: axes, series, and what a reader does with them.
const SCRIPTS: [&str; 4] = [
    include_str!("chart/axes.js"),
    include_str!("chart/series.js"),
    include_str!("chart/pointer.js"),
    include_str!("chart.js"),
];

/// What the numbers of an axis, or of a column, are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// A number whose unit, if it has one, stands in the title.
    #[default]
    Number,
    /// Nanoseconds.
    Ns,
    /// Bytes, shown in KiB and so on.
    Bytes,
    /// Bytes per second, shown in MB/s.
    Rate,
    /// The share that lies above, from 0 to 1, shown as the percentage that does not.
    Above,
}

/// How an axis runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// Evenly.
    #[default]
    Linear,
    /// Evenly from zero.
    Zero,
    /// Every factor of ten equally long; nothing at or below zero has a place.
    Log,
    /// The same, and smaller values lie further up: the tail of a distribution.
    Tail,
    /// Names side by side, at 0, 1, 2 and so on.
    Names,
}

/// An axis.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Axis {
    /// What it shows, without the unit unless that is [`Unit::Number`].
    pub title: String,
    /// What its numbers are.
    pub unit: Unit,
    /// How it runs.
    pub scale: Scale,
    /// The only places with ticks, where they are given; not with [`Scale::Names`].
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "numbers")]
    pub places: Vec<f64>,
    /// What is written at each of `places`, or at 0, 1, 2 and so on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// The highest value that is shown at first; a button shows the rest.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "maybe")]
    pub top: Option<f64>,
}

impl Axis {
    /// An axis with ticks at round values.
    pub fn new(title: &str, unit: Unit, scale: Scale) -> Axis {
        Axis {
            title: title.to_owned(),
            unit,
            scale,
            ..Axis::default()
        }
    }

    /// Names side by side.
    pub fn names(title: &str, names: Vec<String>) -> Axis {
        Axis {
            names,
            ..Axis::new(title, Unit::Number, Scale::Names)
        }
    }

    /// Numbers with ticks at these places alone, with their names. Sizes that double lie equally far apart.
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

/// How a series is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// A line with markers: at each point where they are few, here and there where they are many.
    #[default]
    Line,
    /// Steps that change in the middle between two points.
    Steps,
    /// A cloud of small markers.
    Points,
    /// Large markers with their intervals, without a line.
    Marks,
    /// Bars from zero, beside those of other series.
    Bars,
}

/// A low and a high end for each point.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Interval {
    /// What it is, for the reader who points at it.
    pub what: String,
    /// Whether it is drawn; else it is only told.
    pub drawn: bool,
    /// The low ends.
    #[serde(serialize_with = "numbers")]
    pub low: Vec<f64>,
    /// The high ends.
    #[serde(serialize_with = "numbers")]
    pub high: Vec<f64>,
}

impl Interval {
    /// One of 95 %, which is drawn. What has no end is not.
    pub(crate) fn of_95_percent(low: Vec<f64>, high: Vec<f64>) -> Interval {
        Interval {
            what: "95 % interval".to_owned(),
            drawn: true,
            low,
            high,
        }
    }
}

/// What else is told of each point to the reader who points at it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Column {
    /// What it is.
    pub name: String,
    /// What its numbers are.
    pub unit: Unit,
    /// One for each point.
    #[serde(serialize_with = "numbers")]
    pub values: Vec<f64>,
}

/// Points that belong together.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Series {
    /// What it is called in the legend. Series of one name share its entry.
    pub name: String,
    /// Which colour, dash and marker it has.
    pub look: usize,
    /// How it is drawn.
    pub mode: Mode,
    /// From left to right.
    #[serde(serialize_with = "numbers")]
    pub x: Vec<f64>,
    /// A height for each; `None` where there is none: a line has a gap there.
    #[serde(serialize_with = "maybes")]
    pub y: Vec<Option<f64>>,
    /// An interval of each height.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// What else is told of each point.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<Column>,
}

impl Series {
    /// The same with intervals of 95 % around its heights, of which these are the halves.
    pub fn with_halves(self, halves: &[f64]) -> Series {
        let ends = |sign: f64| -> Vec<f64> {
            let each = self.y.iter().zip(halves);
            // What has no height has no interval, and is not drawn.
            each.map(|(y, half)| y.map_or(f64::NAN, |y| y + sign * half))
                .collect()
        };
        Series {
            interval: Some(Interval::of_95_percent(ends(-1.0), ends(1.0))),
            ..self
        }
    }
}

/// How a mark on the horizontal axis is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MarkKind {
    /// A line at each place, and the text above the first.
    Line,
    /// A thin dotted line at each place.
    Dotted,
    /// The stretch from the first place to the second.
    Band,
}

/// What is marked on the horizontal axis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mark {
    /// How it is drawn.
    pub kind: MarkKind,
    /// Where.
    #[serde(serialize_with = "numbers")]
    pub x: Vec<f64>,
    /// What is written above it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
}

/// A figure.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Chart {
    /// Its name in the page, which no other has.
    pub id: String,
    /// The heading.
    #[serde(skip)]
    pub title: String,
    /// What there is to see.
    #[serde(skip)]
    pub see: String,
    /// What is said below it.
    #[serde(skip)]
    pub note: String,
    /// What lies above `y.top`, in a sentence; empty where nothing does.
    #[serde(skip)]
    pub outside: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// What is marked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Mark>,
    /// What is drawn, the last on top.
    pub series: Vec<Series>,
}

/// What draws the charts, for one script element.
pub(crate) fn script() -> String {
    // In a block, nothing of it is seen outside.
    format!("\"use strict\";\n{{\n{}}}\n", SCRIPTS.concat())
}

/// The chart in the page: its caption, the room that it is drawn in, and what is said below it.
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

/// What a reader without JavaScript is told.
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
