//! Renders results for people, as text for the terminal and as HTML pages.
//!
//! For a probed drive: the terminal table ([`text`]), the comparison of two profiles ([`mod@diff`]) and the one-file page
//! with its figures ([`html`]). For a run of a workload ([`run`]), for several runs compared ([`compare`]), for two block
//! layers in turn ([`ab`]), for a study ([`rows`]) and for a reproduced paper ([`reproduce`]): text and page. For a
//! campaign that measures the recall and the errors of the probes ([`accuracy`]): text. For the write-cost model of a drive
//! ([`cost`]) and for what an I/O costs a machine ([`platform`]): text and page. Every figure is a
//! [`mod@chart`] of series, which have intervals where they are known ([`with_halves`](chart::Series::with_halves)), every
//! table of numbers a [`table::Table`]; text is laid out for the caller's terminal ([`screen`]).
//!
//! The crate reads records of probes and runs, and results that `lab` puts into its types, and knows no model. Every
//! function is pure: equal input gives byte-identical text. The crate does no input or output. Solving is in
//! `fathom-probe`, files are in `fathom-lab`.

pub mod ab;
pub mod accuracy;
pub mod chart;
pub mod compare;
pub mod cost;
pub mod diff;
pub mod html;
pub mod plan;
pub mod platform;
pub mod reproduce;
pub mod rows;
pub mod run;
pub mod screen;
pub mod study;
pub mod table;
pub mod text;
pub mod tune;
pub mod twin;

mod captions;
mod figure;
mod folded;
mod page;
mod points;
mod words;
mod wrap;
