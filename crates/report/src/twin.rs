//! The twin of a drive: its figures beside those of the record, and what of it is assumed.

mod campaign;

pub use campaign::{Campaign, Compared, Played, campaign_text, keeps_promise};

use crate::screen::Screen;
use crate::table::{Kind, table};
use crate::text::at_most;
use crate::wrap::clean;
use serde::{Deserialize, Serialize};

/// A value of the drive file that the record does not tell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assumed {
    /// The key of the drive file.
    pub key: String,
    /// The value that it has.
    pub value: String,
    /// Why it is assumed.
    pub why: String,
}

/// The quantity of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Of {
    /// Nanoseconds.
    Time,
    /// Bytes per second.
    Rate,
    /// A number.
    Count,
}

/// A figure of the record beside that of the twin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// What was measured.
    pub name: String,
    /// Its quantity.
    pub of: Of,
    /// The figure of the record.
    pub record: f64,
    /// That of the twin; absent if it could not be measured.
    pub twin: Option<f64>,
}

/// A count from here on is none.
const TINY: f64 = 1e-6;
/// The least error that is named, in percent.
pub const LEAST: f64 = 0.1;
const UNMEASURED: &str = "A dash in the column `twin` is a fill of a fast cache that is too large to be filled in a search.\n";

/// The factor from which on a figure is far off.
const FAR: f64 = 1.25;

impl Figure {
    /// Returns by how much the twin is off, in percent of the record. `None` if either has nothing.
    pub fn error_percent(&self) -> Option<f64> {
        Some((self.ratio()? - 1.0) * 100.0)
    }

    fn ratio(&self) -> Option<f64> {
        let (twin, record) = (self.twin?, self.record);
        (twin > TINY && record > TINY).then_some(twin / record)
    }
}

/// Returns the median error of the figures, in percent, without its sign.
pub fn error_percent(figures: &[Figure]) -> Option<f64> {
    let errors = figures.iter().filter_map(Figure::error_percent);
    let mut errors: Vec<f64> = errors.map(f64::abs).collect();
    errors.sort_by(f64::total_cmp);
    errors.get(errors.len().checked_sub(1)? / 2).copied()
}

/// Returns the figures and what is assumed for the terminal.
pub fn text(figures: &[Figure], assumed: &[Assumed], screen: Screen) -> String {
    let screen = at_most(screen);
    let head = ["figure", "record", "twin", "error"].map(str::to_owned);
    let row = |figure: &Figure| {
        let error = figure.error_percent();
        vec![
            figure.name.clone(),
            shown(figure.of, figure.record),
            figure.twin.map_or_else(dash, |twin| shown(figure.of, twin)),
            error.map_or_else(dash, |error| format!("{error:+.1} %")),
        ]
    };
    let rows: Vec<Vec<String>> = std::iter::once(head.to_vec())
        .chain(figures.iter().map(row))
        .collect();
    let mut out = table(&rows, Kind::Numbers, screen);
    if let Some(median) = error_percent(figures) {
        let median = median.max(LEAST);
        out += &format!(
            "\nHalf of the errors are at most {median:.1} %.{}\n",
            farthest(figures).map_or_else(String::new, |far| format!(" The {far}."))
        );
    }
    if figures.iter().any(|figure| figure.twin.is_none()) {
        out += UNMEASURED;
    }
    if assumed.is_empty() {
        return screen.text(&out);
    }
    out += "\nAssumed, because the record does not tell:\n\n";
    let head = ["key", "value", "why"].map(str::to_owned);
    let row = |one: &Assumed| vec![one.key.clone(), one.value.clone(), clean(&one.why)];
    let rows: Vec<Vec<String>> = std::iter::once(head.to_vec())
        .chain(assumed.iter().map(row))
        .collect();
    out += &table(&rows, Kind::Words, screen);
    screen.text(&out)
}

/// Returns which figure is off most, as the end of a sentence, if it is far off.
pub fn farthest(figures: &[Figure]) -> Option<String> {
    let off = |figure: &Figure| Some(figure.ratio()?.ln().abs());
    let errors = figures
        .iter()
        .filter_map(|figure| Some((off(figure)?, figure)));
    let far = errors.filter(|(off, _)| *off > FAR.ln());
    let (_, worst) = far.max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(format!(
        "largest factor is that of `{}`, {:+.0} %: a workload that depends on it can be off as much",
        worst.name,
        worst.error_percent()?
    ))
}

fn dash() -> String {
    "–".to_owned()
}

/// Returns a time or a rate with its unit.
fn shown(of: Of, value: f64) -> String {
    match of {
        Of::Time if value >= 1e6 => format!("{:.2} ms", value / 1e6),
        Of::Time => format!("{:.1} us", value / 1e3),
        Of::Rate => format!("{:.1} MB/s", value / 1e6),
        Of::Count => format!("{value:.2}"),
    }
}
