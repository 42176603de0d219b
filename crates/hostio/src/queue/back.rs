//! The way back: the old values of what this change has set, and nothing of what somebody else has set since.

use super::entry::{Entry, SCHEDULER, may_make, place};
use super::notes::Notes;
use super::own::set_by_others;
use super::settle::{Missed, Target, settle};
use super::since::Since;
use std::path::Path;

/// What was restored.
#[derive(Debug, Default)]
pub(super) struct Back {
    /// Attributes that had another value, with their old values.
    pub(super) restored: Vec<[String; 2]>,
    /// Attributes of somebody else.
    pub(super) since: Vec<Since>,
    /// Attributes that do not have their old value.
    pub(super) missed: Vec<Missed>,
}

/// Sets the old values, each even if another one fails. A value that this change cannot have made is kept, also where the
/// kernel changes it with one that is restored. `writing` is the last
/// attribute that it has written if it ended while it wrote, so that it did not
/// see what the kernel made of others. `own` has the attributes of a scheduler that it has switched to. A drive that is gone
/// has nothing to restore.
pub(super) fn put_back(
    entries: &[Entry],
    own: &[[String; 2]],
    queue: &Path,
    writing: Option<&str>,
    notes: &mut Notes<'_>,
) -> Back {
    if !queue.exists() {
        return Back::default();
    }
    let case = Case::of(entries, queue, writing);
    let before: Vec<Option<String>> = entries.iter().map(|entry| entry.now(queue)).collect();
    let ours = entries.iter().zip(&before);
    // Before anything is written: what the kernel may have computed depends on what is set.
    let ours: Vec<bool> = ours
        .map(|(entry, now)| case.is_ours(entry, now.as_deref()))
        .collect();
    let all = || entries.iter().zip(&before).zip(&ours);
    let target = |((entry, now), ours): ((&Entry, &Option<String>), &bool)| {
        let value = match ours {
            true => Some(entry.old.clone()),
            false => now.clone(),
        };
        Some(Target {
            attribute: entry.attribute.clone(),
            value: value?,
        })
    };
    let mut targets: Vec<Target> = all().filter_map(target).collect();
    targets.sort_by_key(|target| place(&target.attribute));
    let of_ours = match writing {
        Some(_) => Vec::new(),
        None => set_by_others(own, entries, queue),
    };
    let missed = settle(queue, &targets, notes);
    let mut back = Back::default();
    for ((entry, before), ours) in all() {
        let now = entry.now(queue);
        if !ours {
            back.since.push(Since {
                attribute: entry.attribute.clone(),
                old: entry.old.clone(),
                set: before.clone(),
                now,
            });
        } else if *before != now && now.as_ref() == Some(&entry.old) {
            let restored = [&entry.attribute, &entry.old].map(String::clone);
            back.restored.push(restored);
        }
    }
    back.since.extend(of_ours);
    let of_others = |one: &Missed| back.since.iter().any(|s| s.attribute == one.attribute);
    back.missed = missed.into_iter().filter(|one| !of_others(one)).collect();
    // The drive may have gone meanwhile.
    match queue.exists() {
        true => back,
        false => Back::default(),
    }
}

/// Whose values they are.
struct Case<'a> {
    queue: &'a Path,
    /// The attribute that was being written.
    writing: Option<&'a str>,
    /// Somebody else has switched the scheduler.
    switched: bool,
}

impl<'a> Case<'a> {
    fn of(entries: &[Entry], queue: &'a Path, writing: Option<&'a str>) -> Self {
        let scheduler = entries.iter().find(|entry| entry.attribute == SCHEDULER);
        let other = |entry: &Entry| entry.now(queue).is_some_and(|now| !entry.knows(&now));
        Self {
            queue,
            writing,
            switched: scheduler.is_some_and(other),
        }
    }

    /// Returns true if this change may have given the attribute this value.
    fn is_ours(&self, entry: &Entry, now: Option<&str>) -> bool {
        if entry.attribute == SCHEDULER {
            return !self.switched;
        }
        if now == Some(entry.old.as_str()) {
            return true;
        }
        // The switch of somebody else has reset it, whatever it is.
        let reset = entry.is_of_scheduler() || entry.attribute == "nr_requests";
        if self.switched && reset {
            return false;
        }
        // An attribute of a scheduler that this change has switched comes back with it.
        let Some(now) = now else {
            return true;
        };
        let name = &entry.attribute;
        let made = |written: &str| may_make(self.queue, written, name, now);
        entry.knows(now) || self.writing.is_some_and(made)
    }
}
