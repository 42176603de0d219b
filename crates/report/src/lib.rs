//! What people read of a run: the terminal table ([`text`]), the comparison of two profiles ([`mod@diff`]) and
//! the one-file page with its figures ([`html`]). And of a run of a workload: its page ([`run`]). Every figure is a
//! [`mod@chart`]. Tables and lines are set for the terminal that the caller names ([`mod@table`], [`screen`]).
//!
//! Reads records and profiles only and knows no model. Every function is pure: the same input gives the same
//! text to the byte. Nothing is read, written or printed here; solving is `fathom-probe`'s, files are
//! `fathom-lab`'s.

pub mod chart;
pub mod diff;
pub mod html;
pub mod run;
pub mod screen;
pub mod study;
pub mod table;
pub mod text;

mod captions;
mod figure;
mod folded;
mod points;
mod words;
