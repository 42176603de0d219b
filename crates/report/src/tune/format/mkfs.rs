//! Commands that partition, format, stack and encrypt. They name `DEVICE`, so that none of them does anything as it stands.

use super::comment::{head, of, open, reason};
use super::form::Format;
use crate::tune::{Advice, Tuning};

pub(super) const FORMAT: Format = Format {
    name: "mkfs",
    summary: "commands that make partitions, file systems, pools, arrays and encrypted volumes",
    render,
};

/// A command of a family of settings.
struct Command {
    family: &'static str,
    /// The words before and after the options.
    before: &'static str,
    after: &'static str,
    /// What joins an option with its value.
    joint: &'static str,
}

const COMMANDS: [Command; 9] = [
    Command {
        family: "partition",
        before: "parted --align none DEVICE mkpart data",
        after: "100%",
        joint: "",
    },
    Command {
        family: "ext4",
        before: "mkfs.ext4",
        after: "DEVICE",
        joint: " ",
    },
    Command {
        family: "xfs",
        before: "mkfs.xfs",
        after: "DEVICE",
        joint: " ",
    },
    Command {
        family: "btrfs",
        before: "mkfs.btrfs",
        after: "DEVICE",
        joint: " ",
    },
    Command {
        family: "f2fs",
        before: "mkfs.f2fs",
        after: "DEVICE",
        joint: " ",
    },
    Command {
        family: "zpool",
        before: "zpool create",
        after: "POOL DEVICE",
        joint: "=",
    },
    Command {
        family: "mdadm",
        before: "mdadm --create /dev/md/NAME --level=LEVEL --raid-devices=N",
        after: "DEVICE...",
        joint: "=",
    },
    Command {
        family: "pvcreate",
        before: "pvcreate",
        after: "DEVICE",
        joint: " ",
    },
    Command {
        family: "luksFormat",
        before: "cryptsetup luksFormat --type luks2",
        after: "DEVICE",
        joint: "=",
    },
];

fn render(found: &Tuning) -> String {
    let mut text = head(
        found,
        "Each command destroys what is on DEVICE. Put the right name in its place, and run the ones that you need.",
    );
    let families = COMMANDS.map(|command| command.family);
    for command in &COMMANDS {
        let advice: Vec<&Advice> = of(found, command.family).collect();
        if advice.is_empty() {
            continue;
        }
        text += "\n";
        advice.iter().for_each(|advice| text += &reason(advice));
        let options = advice.iter().map(|advice| match command.joint {
            "" => advice.value.clone(),
            joint => format!("{}{joint}{}", advice.setting, advice.value),
        });
        let options: Vec<String> = options.collect();
        text += &format!(
            "{} {} {}\n",
            command.before,
            options.join(" "),
            command.after
        );
    }
    let open = open(found, &families);
    if !open.is_empty() {
        text += &format!("\n{open}");
    }
    text
}
