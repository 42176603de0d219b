//! What limits a rate, in words.

use super::forms::{positive, sentence, whole};
use super::{Limit, Scaling};
use crate::words::counted;

/// The highest rate, and what limits it.
pub(super) fn most(all: &[Scaling]) -> Option<String> {
    let rates = all
        .iter()
        .filter_map(|row| Some((row, positive(row.iops)?)));
    let (row, iops) = rates.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let by = row.limit.as_ref().map(|found| match found.by {
        Limit::Unknown => "; what limits it is unknown".to_owned(),
        by => format!("; the {} limit it", by.words()),
    });
    Some(format!(
        "The highest rate is {} a second with {}{}.",
        whole(iops),
        resources(row),
        by.unwrap_or_default()
    ))
}

/// Returns the resources of a row.
fn resources(row: &Scaling) -> String {
    let mut told = vec![counted(u64::from(row.threads), "thread")];
    if row.depth > 1 {
        told[0] += &format!(" of {}", counted(u64::from(row.depth), "I/O"));
    }
    told.push(counted(u64::from(row.cores), "processor"));
    told.extend(row.adapters.map(|n| counted(u64::from(n), "adapter")));
    told.push(counted(u64::from(row.drives), "drive"));
    told.join(", ")
}

/// Returns the evidence of each limit, with the names of the rows if they differ.
pub(super) fn evidence(all: &[Scaling], names: Option<&[String]>) -> Vec<String> {
    let told = |(at, row): (usize, &Scaling)| {
        let found = row.limit.as_ref()?;
        let what = match found.by {
            Limit::Unknown => "what limits the rate is unknown".to_owned(),
            by => format!("the {} limit the rate", by.words()),
        };
        let name = names.map_or_else(String::new, |names| format!("{}, ", names[at]));
        let why = match sentence(&found.evidence) {
            why if why.is_empty() => ".".to_owned(),
            why => format!("; {why}"),
        };
        Some(format!("{name}{}: {what}{why}", resources(row)))
    };
    all.iter().enumerate().filter_map(told).collect()
}
