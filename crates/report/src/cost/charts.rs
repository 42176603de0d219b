//! The figures of the page: the fit, the search, and the panels of Figure 1.

use crate::chart::{Axis, Chart, Interval, Mode, Scale, Series, Unit};
use crate::words;
use fathom_probe::cost::{Cause, Figure, Fit, Rate, WriteCost};

/// The largest number of points drawn of a series.
const DRAWN_MAX: usize = 2_000;
/// From this ratio of the slowest request to the end of the band, the axis is logarithmic.
const LOG_RATIO: f64 = 20.0;

/// Returns the figures of the result.
pub(super) fn lead(cost: &WriteCost) -> Vec<Chart> {
    let fit = cost.fit.iter().map(|fit| fit_chart(cost, fit));
    let rates = &cost.block.search;
    fit.chain((!rates.is_empty()).then(|| search_chart(rates)))
        .collect()
}

fn sizes(title: &str, bytes: impl Iterator<Item = u64>) -> Axis {
    let bytes: Vec<u64> = bytes.collect();
    let places = bytes.iter().map(|bytes| *bytes as f64).collect();
    Axis::places(title, places, bytes.into_iter().map(words::bytes).collect())
}

fn fit_chart(cost: &WriteCost, fit: &Fit) -> Chart {
    let bytes = |sectors: u64| (sectors * cost.sector_bytes) as f64;
    let ends = |of: fn(&fathom_probe::cost::Estimated) -> Option<f64>| -> Vec<f64> {
        let ends = fit
            .rows
            .iter()
            .map(|row| of(&row.measured).unwrap_or(f64::NAN));
        ends.collect()
    };
    let line = |name: &str, look, mode, of: fn(&fathom_probe::cost::Row) -> f64| {
        let points = fit
            .rows
            .iter()
            .map(|row| (bytes(row.sectors), Some(of(row))));
        Series::new(name, look, mode, points)
    };
    let measured = Series {
        interval: Some(Interval::of_95_percent(ends(|e| e.low), ends(|e| e.high))),
        ..line("measured", 0, Mode::Marks, |row| row.measured.value)
    };
    Chart {
        id: "fit".to_owned(),
        title: "A run of n sectors in one logical block".to_owned(),
        see: "The model is T_merge + n S / B. Where the marks leave its line, it does not describe the drive; the last size \
              is a whole logical block, which the fit leaves out."
            .to_owned(),
        x: sizes("size of the run", fit.rows.iter().map(|row| row.sectors * cost.sector_bytes)),
        y: Axis::new("time", Unit::Ns, Scale::Log),
        series: vec![
            line("model", 1, Mode::Line, |row| row.predicted_ns),
            line("sequential", 2, Mode::Line, |row| row.sequential_ns),
            measured,
        ],
        ..Chart::default()
    }
}

fn search_chart(rates: &[Rate]) -> Chart {
    let line = |name: &str, look, of: fn(&Rate) -> f64| {
        let points = rates.iter().map(|rate| (rate.bytes as f64, Some(of(rate))));
        Series::new(name, look, Mode::Line, points)
    };
    Chart {
        id: "search".to_owned(),
        title: "The search of the logical block (Figure 2)".to_owned(),
        see: "The logical block is the first size at which the whole numbers of MB/s are the same."
            .to_owned(),
        x: sizes("request size", rates.iter().map(|rate| rate.bytes)),
        y: Axis::new("throughput", Unit::Rate, Scale::Zero),
        series: vec![
            line("sequential", 2, |rate| rate.sequential_bytes_per_s),
            line("random", 0, |rate| rate.random_bytes_per_s),
        ],
        ..Chart::default()
    }
}

/// Returns a panel of Figure 1.
pub(super) fn panel(number: usize, figure: &Figure) -> Chart {
    let responses = || (0_u32..).map(f64::from).zip(&figure.responses);
    let points = |spike: Option<Cause>| -> Vec<(f64, Option<f64>)> {
        let of = responses().filter(|(_, response)| response.spike == spike);
        thinned(
            of.map(|(at, response)| (at, Some(response.ns as f64)))
                .collect(),
        )
    };
    let band = Series::new("in the band", 2, Mode::Points, points(None));
    let spikes = (0..).zip(Cause::ALL).map(|(look, cause)| {
        let name = cause.words();
        Series::new(name, LOOKS + look, Mode::Points, points(Some(cause)))
    });
    let last = figure.responses.len().saturating_sub(1) as f64;
    let end = [(0.0, Some(figure.band_ns)), (last, Some(figure.band_ns))];
    let end = Series::new("end of the band", 1, Mode::Line, end);
    let series = std::iter::once(band)
        .chain(spikes)
        .filter(|series| !series.x.is_empty());
    let slowest = figure
        .responses
        .iter()
        .map(|response| response.ns)
        .max()
        .unwrap_or_default();
    let scale = match slowest as f64 > LOG_RATIO * figure.band_ns {
        true => Scale::Log,
        false => Scale::Zero,
    };
    Chart {
        id: format!("panel-{number}"),
        title: format!("{}, {}", words::bytes(figure.bytes), figure.order.words()),
        note: drawn(figure),
        x: Axis::new("request", Unit::Number, Scale::Zero),
        y: Axis::new("response time", Unit::Ns, scale),
        series: series.chain(std::iter::once(end)).collect(),
        ..Chart::default()
    }
}

/// The look of the first cause; those below are of the band.
const LOOKS: usize = 3;

/// Returns a note on points that are left out.
fn drawn(figure: &Figure) -> String {
    let most = figure.causes.iter().map(|causes| causes.spikes).max();
    match most.unwrap_or_default().max(figure.in_band) > DRAWN_MAX as u64 {
        true => format!(
            "At most {} points of each kind are drawn, evenly chosen.",
            words::count(DRAWN_MAX as u64)
        ),
        false => String::new(),
    }
}

/// Returns every n-th point, so that at most [`DRAWN_MAX`] are left.
fn thinned(points: Vec<(f64, Option<f64>)>) -> Vec<(f64, Option<f64>)> {
    let step = points.len().div_ceil(DRAWN_MAX).max(1);
    points.into_iter().step_by(step).collect()
}
