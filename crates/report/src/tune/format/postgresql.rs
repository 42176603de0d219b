//! Lines of `postgresql.conf`.

use super::comment::{head, line, of, open, reason};
use super::form::Format;
use crate::tune::Tuning;

pub(super) const FORMAT: Format = Format {
    name: "postgresql",
    summary: "lines of postgresql.conf",
    render,
};

fn render(found: &Tuning) -> String {
    let mut text = head(found, "Take these into postgresql.conf.");
    text += &open(found, &["postgresql"]);
    text += &line(
        "full_page_writes, fsync and synchronous_commit stay on: nothing here proves that a drive writes a page whole.",
    );
    for advice in of(found, "postgresql") {
        text += &reason(advice);
        text += &format!("{} = {}\n", advice.setting, advice.value);
    }
    text
}
