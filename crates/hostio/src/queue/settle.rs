//! Writing attributes until all of them have their values, although the kernel changes some with others.

use super::entry::{value, write};
use super::notes::Notes;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// An attribute and the value that it is to have.
#[derive(Clone, Debug)]
pub(super) struct Target {
    /// Its name.
    pub(super) attribute: String,
    /// The value.
    pub(super) value: String,
}

/// An attribute that does not have its value.
#[derive(Debug)]
pub(super) struct Missed {
    /// Its name.
    pub(super) attribute: String,
    /// The value that it has.
    pub(super) now: Option<String>,
    /// What the kernel said.
    pub(super) error: io::Error,
}

/// In the order of writing the first pass suffices. The second one is for a kernel that changes more, and for somebody who
/// writes at the same time.
const PASSES: usize = 2;

/// Writes one attribute.
pub(super) fn set(queue: &Path, target: &Target, notes: &mut Notes<'_>) -> io::Result<()> {
    notes.before(queue, &target.attribute);
    let written = write(queue, &target.attribute, &target.value);
    notes.after(queue);
    written
}

/// Writes the attributes in this order, each that has another value, and reads all of them again. Returns those that do
/// not have their values in the end.
pub(super) fn settle(queue: &Path, targets: &[Target], notes: &mut Notes<'_>) -> Vec<Missed> {
    let mut errors: BTreeMap<&str, io::Error> = BTreeMap::new();
    let has = |target: &Target| {
        let now = value(queue, &target.attribute);
        (now.as_ref() == Some(&target.value), now)
    };
    for _ in 0..PASSES {
        for target in targets.iter().filter(|target| !has(target).0) {
            match set(queue, target, notes) {
                Ok(()) => errors.remove(target.attribute.as_str()),
                Err(error) => errors.insert(&target.attribute, error),
            };
        }
        if targets.iter().all(|target| has(target).0) {
            return Vec::new();
        }
    }
    let missed = targets.iter().filter_map(|target| {
        let (false, now) = has(target) else {
            return None;
        };
        let error = errors.remove(target.attribute.as_str());
        let error = error.unwrap_or_else(|| {
            let now = now.as_deref().unwrap_or("no value");
            io::Error::other(format!(
                "it accepted the value, and the attribute is `{now}`"
            ))
        });
        Some(Missed {
            attribute: target.attribute.clone(),
            now,
            error,
        })
    });
    missed.collect()
}
