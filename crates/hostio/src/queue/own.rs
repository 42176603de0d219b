//! The attributes of the active scheduler (`queue/iosched`): they come and go with it.

use super::entry::{Entry, OF_SCHEDULER, SCHEDULER, value};
use super::since::Since;
use crate::sysfs::names_in;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// Returns the attributes of the active scheduler that can be written, with their values.
pub(super) fn of_scheduler(queue: &Path) -> Vec<[String; 2]> {
    let dir = queue.join(OF_SCHEDULER);
    let can_be_written = |name: &String| {
        let mode = fs::metadata(dir.join(name)).map(|file| file.permissions().mode());
        mode.is_ok_and(|mode| mode & 0o222 != 0)
    };
    let names = names_in(&dir).into_iter().filter(can_be_written);
    let named = names.map(|name| format!("{OF_SCHEDULER}{name}"));
    named
        .filter_map(|name| {
            let value = value(queue, &name)?;
            Some([name, value])
        })
        .collect()
}

/// Returns true if the active scheduler is the one that the change has set.
pub(super) fn is_switched(entries: &[Entry], queue: &Path) -> bool {
    let scheduler = entries.iter().find(|entry| entry.attribute == SCHEDULER);
    scheduler.is_some_and(|entry| {
        let now = entry.now(queue);
        now.is_some_and(|now| now != entry.old && entry.knows(&now))
    })
}

/// Returns those that somebody else has set since the change has switched to this scheduler and had `noted` them. They go
/// when the old scheduler comes back.
pub(super) fn set_by_others(noted: &[[String; 2]], entries: &[Entry], queue: &Path) -> Vec<Since> {
    if !is_switched(entries, queue) {
        return Vec::new();
    }
    let mut others = Vec::new();
    for [name, now] in of_scheduler(queue) {
        let mut values = noted.iter().filter(|[noted, _]| *noted == name);
        let first = values.next().map(|[_, value]| value.clone());
        let known = first.as_ref() == Some(&now) || values.any(|[_, value]| *value == now);
        if let Some(old) = first.filter(|_| !known) {
            others.push(Since {
                attribute: name,
                old,
                set: Some(now),
                now: None,
            });
        }
    }
    others
}
