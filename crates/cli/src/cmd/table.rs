//! Tables of numbers for the terminal.

use fathom_report::screen::Screen;
use fathom_report::table::{Kind, table as set};

/// Columns of numbers behind a column of names, the head first.
pub(super) fn table(rows: &[Vec<String>], screen: Screen) -> String {
    set(rows, Kind::Numbers, screen)
}
