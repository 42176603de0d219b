//! Compares two profiles: which parameters agree, differ, or cannot be compared.
//!
//! Two sizes agree if their intervals overlap. This compares what is known; it is no test that the drives are equal. Wide
//! intervals agree easily, so the intervals are shown.

use crate::screen::Screen;
use crate::table::{Kind, table};
use crate::text::at_most;
use crate::words;
use crate::wrap::clean;
use fathom_probe::{Estimate, Marks, Method, Parameter, Profile, Value, Verdict};
use serde::{Deserialize, Serialize};

/// Result of comparing two answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The intervals overlap, the choices are equal, or both drives lack the feature.
    Agrees,
    /// The intervals are disjoint, the choices differ, or only one drive has the feature.
    Differs,
    /// An answer is missing or inconclusive, or the values cannot be compared.
    CannotTell,
}

impl Outcome {
    /// Returns the text for people: `agrees`, `differs`, `cannot tell`.
    pub const fn words(self) -> &'static str {
        match self {
            Outcome::Agrees => "agrees",
            Outcome::Differs => "differs",
            Outcome::CannotTell => "cannot tell",
        }
    }
}

/// The origin of a profile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// Name of the drive as given by the user.
    pub name: String,
    /// Identity that the drive reports.
    pub identity: String,
    /// Method of the measurement.
    pub method: Method,
    /// Seed of every random choice in the run.
    pub seed: u64,
    /// Version of Fathom that wrote the profile.
    pub fathom: String,
}

/// One parameter in both profiles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ParameterDiff {
    /// The parameter.
    pub parameter: Parameter,
    /// Answer of the first profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<Estimate>,
    /// Answer of the second profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub right: Option<Estimate>,
    /// True if the intervals share a point; `None` if one is missing or the units differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intervals_overlap: Option<bool>,
    /// Result of the comparison.
    pub outcome: Outcome,
    /// Reason for the result, in a few words.
    pub why: String,
}

/// Comparison of two profiles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Diff {
    /// Origin of the first profile.
    pub left: Source,
    /// Origin of the second profile.
    pub right: Source,
    /// Every parameter of either profile, in the order of [`Parameter::ALL`].
    pub parameters: Vec<ParameterDiff>,
}

impl Diff {
    /// Returns the number of parameters with this outcome.
    pub fn count(&self, outcome: Outcome) -> usize {
        let same = |p: &&ParameterDiff| p.outcome == outcome;
        self.parameters.iter().filter(same).count()
    }
}

/// Compares two profiles, parameter by parameter.
pub fn diff(left: &Profile, right: &Profile) -> Diff {
    let pairs = Parameter::ALL.into_iter().filter_map(|parameter| {
        let (l, r) = (
            left.parameters.get(&parameter),
            right.parameters.get(&parameter),
        );
        let marks = [left, right].map(|profile| profile.marked.get(&parameter).copied());
        (l.is_some() || r.is_some()).then(|| {
            let mut one = compare(parameter, l, r);
            one.why += &marked(marks);
            one
        })
    });
    Diff {
        left: source(left),
        right: source(right),
        parameters: pairs.collect(),
    }
}

/// Returns in which of two runs the drive was hot or slow during a parameter, as the end of a sentence; empty if in none.
fn marked(marks: [Option<Marks>; 2]) -> String {
    let each = ["first", "second"].into_iter().zip(marks);
    each.filter_map(|(which, marks)| {
        let marks = marks.filter(|marks| !marks.is_none())?;
        Some(format!("; the {which} drive was {}", marks.words()))
    })
    .collect()
}

fn source(profile: &Profile) -> Source {
    Source {
        name: profile.target.name.clone(),
        identity: profile.target.identity.clone(),
        method: profile.method,
        seed: profile.seed,
        fathom: profile.fathom.clone(),
    }
}

fn compare(parameter: Parameter, l: Option<&Estimate>, r: Option<&Estimate>) -> ParameterDiff {
    let intervals = l
        .and_then(Estimate::interval)
        .zip(r.and_then(Estimate::interval));
    let overlap = intervals.and_then(|(l, r)| overlap(l, r));
    let (outcome, why) = match (l, r) {
        (Some(l), Some(r)) => judge(l, r, overlap),
        (None, _) => (Outcome::CannotTell, "not measured in the first".to_owned()),
        (_, None) => (Outcome::CannotTell, "not measured in the second".to_owned()),
    };
    ParameterDiff {
        parameter,
        left: l.cloned(),
        right: r.cloned(),
        intervals_overlap: overlap,
        outcome,
        why,
    }
}

/// Returns true if two intervals share a point; `None` if their units differ.
fn overlap(l: (&Value, &Value), r: (&Value, &Value)) -> Option<bool> {
    (l.0.unit() == r.0.unit()).then(|| l.0 <= r.1 && r.0 <= l.1)
}

fn judge(l: &Estimate, r: &Estimate, overlap: Option<bool>) -> (Outcome, String) {
    use Verdict::{Absent, Identified};
    let (outcome, why) = match (l.verdict, r.verdict) {
        (Absent, Absent) => (Outcome::Agrees, "neither drive has it"),
        (Identified, Absent) => (Outcome::Differs, "only the first has it"),
        (Absent, Identified) => (Outcome::Differs, "only the second has it"),
        (Identified, Identified) => match (&l.value, &r.value, overlap) {
            (Some(Value::Word(l)), Some(Value::Word(r)), _) if l == r => {
                (Outcome::Agrees, "the same")
            }
            (Some(Value::Word(_)), Some(Value::Word(_)), _) => (Outcome::Differs, "not the same"),
            (_, _, Some(true)) => (Outcome::Agrees, "the intervals overlap"),
            (_, _, Some(false)) => (Outcome::Differs, "the intervals are apart"),
            (_, _, None) => (Outcome::CannotTell, "a value is missing or of another kind"),
        },
        (l, r) => {
            let open = |v: Verdict| !matches!(v, Identified | Absent);
            let which = match (open(l), open(r)) {
                (true, true) => "both",
                (true, false) => "the first",
                _ => "the second",
            };
            return (Outcome::CannotTell, format!("open in {which}"));
        }
    };
    (outcome, why.to_owned())
}

/// Returns the comparison for a screen, at most [`WIDTH`](crate::text::WIDTH) columns wide if the names allow it.
pub fn text(diff: &Diff, screen: Screen) -> String {
    let screen = at_most(screen);
    let mut out = String::new();
    for (label, source) in [("First: ", &diff.left), ("Second:", &diff.right)] {
        let identity = if source.identity.is_empty() || source.identity == source.name {
            String::new()
        } else {
            format!(" ({})", clean(&source.identity))
        };
        out.push_str(&format!(
            "{label} {}{identity}, {} method, seed {}, Fathom {}\n",
            clean(&source.name),
            source.method.name(),
            source.seed,
            clean(&source.fathom)
        ));
    }
    out.push('\n');
    out.push_str(&table(&rows(diff), Kind::Words, screen));
    let total = format!(
        "\n{} of {} agree, {} differ, {} cannot be told.\n",
        diff.count(Outcome::Agrees),
        diff.parameters.len(),
        diff.count(Outcome::Differs),
        diff.count(Outcome::CannotTell)
    );
    out.push_str(&total);
    screen.text(&out)
}

fn side(estimate: Option<&Estimate>) -> String {
    let Some(estimate) = estimate else {
        return "–".to_owned();
    };
    if estimate.value.is_none() {
        return estimate.verdict.words().to_owned();
    }
    let value = clean(&words::value(estimate));
    match words::interval(estimate) {
        interval if interval == "–" || interval == value => value,
        interval => format!("{value} ({interval})"),
    }
}

fn rows(diff: &Diff) -> Vec<Vec<String>> {
    let head = ["parameter", "first", "second", "outcome", "why"];
    let rows = diff.parameters.iter().map(|p| {
        vec![
            p.parameter.title(),
            side(p.left.as_ref()),
            side(p.right.as_ref()),
            p.outcome.words().to_owned(),
            p.why.clone(),
        ]
    });
    std::iter::once(head.map(str::to_owned).to_vec())
        .chain(rows)
        .collect()
}
