//! A reproduced paper: its figures, its statements and the measured values, as text for the terminal and as a page.

mod charts;
mod found;
mod grids;
mod page;
mod tally;

pub use found::{
    Assumed, ChartFound, Figure, Found, Judged, Kind, LineFound, Measured, PanelFound, Reproduced,
    SequenceFound, SequenceLine, Source, TimelineFound, Verdict,
};
pub use page::{page, text};
