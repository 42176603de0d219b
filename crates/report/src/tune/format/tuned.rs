//! A profile of tuned for the attributes of the request queue (tuned's plugin `sysfs`, which restores them when another
//! profile is chosen).

use super::comment::{head, line, of, open, reason};
use super::form::Format;
use crate::tune::Tuning;

pub(super) const FORMAT: Format = Format {
    name: "tuned",
    summary: "a tuned profile for the attributes of the request queue",
    render,
};

fn render(found: &Tuning) -> String {
    let belongs = "Put it into /etc/tuned/fathom/tuned.conf, under `include=` of your profile or with it above.";
    let mut text = head(found, belongs);
    let name = match &found.drive.name {
        Some(name) => name.as_str(),
        None => {
            text += &line("Put the drive's kernel name in the place of DEVICE.");
            "DEVICE"
        }
    };
    text += &open(found, &["queue"]);
    text += "\n[main]\nsummary=Request queue of the measured drive\n\n[sysfs]\n";
    for advice in of(found, "queue") {
        text += &reason(advice);
        text += &format!(
            "/sys/block/{name}/queue/{}={}\n",
            advice.setting, advice.value
        );
    }
    text
}
