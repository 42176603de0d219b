//! Commands that set the cost model of the root cgroup (Linux, Documentation/admin-guide/cgroup-v2.rst).

use super::comment::{head, line, of, open, reason};
use super::form::Format;
use crate::tune::Tuning;

pub(super) const FORMAT: Format = Format {
    name: "iocost",
    summary: "commands that set io.cost.model and io.cost.qos of the root cgroup",
    render,
};

fn render(found: &Tuning) -> String {
    let mut text = head(found, "Run it as root; a restart of the system undoes it.");
    text += &open(found, &["iocost"]);
    let number = match &found.drive.number {
        Some(number) => number.as_str(),
        None => {
            text += &line(
                "Put the drive's number (`lsblk -d -o NAME,MAJ:MIN`) in the place of MAJ:MIN.",
            );
            "MAJ:MIN"
        }
    };
    for advice in of(found, "iocost") {
        let control = match advice.setting.as_str() {
            "io.cost.model" => "ctrl=user model=linear",
            _ => "enable=1 ctrl=user",
        };
        text += &reason(advice);
        text += &format!(
            "echo '{number} {control} {}' > /sys/fs/cgroup/{}\n",
            advice.value, advice.setting
        );
    }
    text
}
