//! An entry of systemd's hardware database, which sets the cost model whenever the drive appears (systemd, iocost.conf(5)
//! and rules.d/90-iocost.rules).

use super::comment::{head, line, of, open, reason};
use super::form::Format;
use crate::tune::Tuning;
use crate::wrap::clean;

pub(super) const FORMAT: Format = Format {
    name: "hwdb",
    summary: "an entry of systemd's hardware database with the same cost model",
    render,
};

fn render(found: &Tuning) -> String {
    let belongs = "Put it into /etc/udev/hwdb.d/90-fathom.hwdb; `systemd-hwdb update` and `udevadm trigger` apply it.";
    let mut text = head(found, belongs);
    text += &open(found, &["iocost"]);
    let value = |setting: &str| {
        let advice = of(found, "iocost").find(|advice| advice.setting == setting);
        advice.map(|advice| advice.value.as_str())
    };
    let (Some(model), Some(qos)) = (value("io.cost.model"), value("io.cost.qos")) else {
        text += &line("systemd takes a model with its targets only, so there is no entry.");
        return text;
    };
    of(found, "iocost").for_each(|advice| text += &reason(advice));
    let drive = |text: &Option<String>| text.as_deref().map_or("*".to_owned(), clean);
    text += &format!(
        "block:*:name:{}:fwrev:{}:\n IOCOST_SOLUTIONS=fathom\n IOCOST_MODEL_FATHOM={model}\n IOCOST_QOS_FATHOM={qos}\n",
        drive(&found.drive.model),
        drive(&found.drive.firmware)
    );
    text
}
