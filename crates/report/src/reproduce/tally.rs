//! Counts the verdicts of statements, grouped by what they were tested on.

use super::found::{Judged, Kind, Reproduced, Verdict};
use crate::table::Table;
use std::collections::BTreeMap;

/// Statements that are counted together.
pub(super) struct Group {
    /// Description of the statements.
    pub name: String,
    /// True if they are the paper's own, in the study that they name.
    pub first: bool,
    /// Verdict of each statement.
    pub verdicts: Vec<Verdict>,
}

impl Group {
    /// Returns the number of statements with this verdict.
    pub(super) fn count(&self, verdict: Verdict) -> usize {
        self.verdicts.iter().filter(|v| **v == verdict).count()
    }

    /// Returns the counts in a sentence. "Holds in part" is left out if its count is zero.
    fn words(&self) -> String {
        let said = Verdict::ALL.map(|verdict| (verdict, self.count(verdict)));
        let said = said
            .iter()
            .filter(|(v, n)| *n > 0 || *v != Verdict::HoldsInPart);
        let said: Vec<String> = said.map(|(v, n)| format!("{n} {}", v.plural())).collect();
        format!(
            "{} {}: {}.",
            self.verdicts.len(),
            self.name,
            said.join(", ")
        )
    }
}

/// What a statement was tested on.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct On<'a> {
    ours: bool,
    /// The study, if it repeats the statements about another one.
    again: Option<&'a str>,
    kind: Option<Kind>,
}

impl On<'_> {
    fn words(&self) -> String {
        let kind = self
            .kind
            .map_or(String::new(), |kind| format!(" on {}", kind.plural()));
        let study = self
            .again
            .map_or(String::new(), |study| format!(" in the study `{study}`"));
        let whose = match self.ours {
            true => "of ours, beyond the paper,",
            false => "of the paper",
        };
        format!("statements {whose} were tested{kind}{study}")
    }
}

/// Groups the statements: the paper's first, then ours, which go beyond it. Statements on generators, on parts of traces and
/// on whole traces are separate groups.
pub(super) fn groups(paper: &Reproduced<'_>) -> Vec<Group> {
    let kind = |judged: &Judged| {
        let name = judged.on.as_ref()?;
        let source = paper.sources.iter().find(|source| source.name == *name);
        source.map(|source| source.kind)
    };
    let mut groups: BTreeMap<On<'_>, Vec<Verdict>> = Default::default();
    for judged in paper.judged() {
        let on = On {
            ours: judged.ours,
            again: paper.again(judged),
            kind: kind(judged),
        };
        groups.entry(on).or_default().push(judged.verdict);
    }
    let group = |(on, verdicts): (On<'_>, Vec<Verdict>)| Group {
        name: on.words(),
        first: !on.ours && on.again.is_none(),
        verdicts,
    };
    groups.into_iter().map(group).collect()
}

/// Returns the counts in sentences.
pub(super) fn sentences<'a>(groups: impl IntoIterator<Item = &'a Group>) -> String {
    let lines: Vec<String> = groups.into_iter().map(Group::words).collect();
    lines.join(" ")
}

/// Returns the counts as a table.
pub(super) fn table(groups: &[Group]) -> Table {
    let head = ["", "all"]
        .into_iter()
        .chain(Verdict::ALL.map(Verdict::plural));
    let row = |group: &Group| {
        let counts = Verdict::ALL.map(|verdict| group.count(verdict).to_string());
        let all = [group.name.clone(), group.verdicts.len().to_string()];
        all.into_iter().chain(counts).collect()
    };
    Table {
        head: head.map(str::to_owned).collect(),
        rows: groups.iter().map(row).collect(),
        ..Table::default()
    }
}

/// Returns a sentence for each workload with tests that cannot be told because nothing was measured.
pub(super) fn silent(paper: &Reproduced<'_>) -> Vec<String> {
    let of = |name: &String| {
        let here = || paper.judged().filter(|j| j.on.as_ref() == Some(name));
        let without: Vec<&Judged> = here()
            .filter(|j| j.number.is_none() && j.measured.is_empty())
            .collect();
        let why = &without.first()?.why;
        Some(format!(
            "{name}: {} of {} tests cannot be told: {why}.",
            without.len(),
            here().count()
        ))
    };
    let sources = paper.sources.iter();
    sources.filter_map(|source| of(&source.name)).collect()
}
