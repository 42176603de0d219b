//! What people read. Of a probed drive: the terminal table ([`text`]), the comparison of two profiles ([`mod@diff`]) and the
//! one-file page with its figures ([`html`]). Of a run of a workload ([`run`]), of several beside one another ([`compare`]) and of
//! two block layers in turn ([`ab`]), and of a study ([`rows`]): text and page. Every figure is a [`mod@chart`], every table of numbers a [`table::Table`],
//! set for the terminal that the caller names ([`screen`]).
//!
//! Reads records of probes and runs, and knows no model. Every function is pure: the same input gives the same
//! text to the byte. Nothing is read, written or printed here; solving is `fathom-probe`'s, files are
//! `fathom-lab`'s.

pub mod ab;
pub mod chart;
pub mod compare;
pub mod diff;
pub mod html;
pub mod rows;
pub mod run;
pub mod screen;
pub mod study;
pub mod table;
pub mod text;

mod captions;
mod figure;
mod folded;
mod page;
mod points;
mod words;
mod wrap;
