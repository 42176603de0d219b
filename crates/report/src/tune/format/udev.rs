//! A udev rule for the attributes of the request queue (udev(7)).

use super::comment::{head, line, of, open, reason};
use super::form::Format;
use crate::tune::Tuning;
use fathom_probe::Reported;

pub(super) const FORMAT: Format = Format {
    name: "udev",
    summary: "a udev rule for the attributes of the request queue",
    render,
};

fn render(found: &Tuning) -> String {
    let mut text = head(
        found,
        "Put it into /etc/udev/rules.d/99-fathom.rules; `udevadm trigger` applies it.",
    );
    let advice = of(found, "queue");
    advice.clone().for_each(|advice| text += &reason(advice));
    text += &open(found, &["queue"]);
    if advice.clone().next().is_none() {
        return text;
    }
    if found.drive.name.is_none() {
        text += &line("Put the drive's kernel name in the place of DEVICE.");
    }
    // The scheduler comes first: the kernel resets `nr_requests` with it.
    let attributes = advice.map(|a| format!("ATTR{{queue/{}}}=\"{}\"", a.setting, a.value));
    let attributes: Vec<String> = attributes.collect();
    text += &format!(
        "ACTION==\"add|change\", SUBSYSTEM==\"block\", ENV{{DEVTYPE}}==\"disk\", {}, {}\n",
        matching(&found.drive),
        attributes.join(", ")
    );
    text
}

/// Returns the match of the drive: its serial number, which stays when names change, or its name.
fn matching(drive: &Reported) -> String {
    // Other characters are a pattern of udev, or are replaced in its database.
    let plain = |text: &&String| {
        let allowed = |c: char| c.is_ascii_alphanumeric() || "-_.:".contains(c);
        !text.is_empty() && text.chars().all(allowed)
    };
    let serial = drive.serial.as_ref().filter(plain);
    match (serial, drive.name.as_ref().filter(plain)) {
        (Some(serial), _) => format!("ENV{{ID_SERIAL_SHORT}}==\"{serial}\""),
        (None, Some(name)) => format!("KERNEL==\"{name}\""),
        (None, None) => "KERNEL==\"DEVICE\"".to_owned(),
    }
}
