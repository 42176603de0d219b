//! How many statements came out how, by what they were tested on.

use fathom_lab::reproduce::{Found, Judged, Kind, Prepared, Verdict};

/// Statements that are counted together.
pub(super) struct Group {
    /// Which.
    pub name: String,
    /// What came of each.
    pub verdicts: Vec<Verdict>,
}

impl Group {
    /// How many have a verdict.
    pub(super) fn count(&self, verdict: Verdict) -> usize {
        self.verdicts.iter().filter(|v| **v == verdict).count()
    }

    /// In a sentence. That something holds in part is only said where there is such a thing.
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
    /// The study, where it answers the statements about another one.
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
        match self.ours {
            true => format!("statements of ours, beyond the paper, were tested{kind}{study}"),
            false => format!("statements of the paper were tested{kind}{study}"),
        }
    }
}

/// Statements of the paper first, then ours, which go past it; those on generators, on parts of traces and on whole ones
/// apart.
pub(super) fn groups(prepared: &Prepared, found: &Found) -> Vec<Group> {
    let kind = |judged: &Judged| {
        let name = judged.on.as_ref()?;
        let source = found.sources.iter().find(|source| source.name == *name);
        source.map(|source| source.kind)
    };
    let mut groups: std::collections::BTreeMap<On<'_>, Vec<Verdict>> = Default::default();
    for judged in found.judged() {
        let again = prepared.statements.again.values().flatten();
        let on = On {
            ours: judged.ours,
            again: again
                .map(String::as_str)
                .find(|study| *study == judged.study),
            kind: kind(judged),
        };
        groups.entry(on).or_default().push(judged.verdict);
    }
    let group = |(on, verdicts): (On<'_>, Vec<Verdict>)| Group {
        name: on.words(),
        verdicts,
    };
    groups.into_iter().map(group).collect()
}

/// The same in sentences.
pub(super) fn tally(groups: &[Group]) -> String {
    let lines: Vec<String> = groups.iter().map(Group::words).collect();
    lines.join(" ")
}

/// Workloads of which something cannot be told, because nothing was measured.
pub(super) fn silent(found: &Found) -> Vec<String> {
    let of = |name: &String| {
        let here = || found.judged().filter(|j| j.on.as_ref() == Some(name));
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
    found
        .sources
        .iter()
        .filter_map(|source| of(&source.name))
        .collect()
}
