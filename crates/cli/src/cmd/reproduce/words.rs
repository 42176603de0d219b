//! What came of a reproduction, for the terminal.

use super::super::table::table;
use super::rows::{
    by_scheme, choice_rows, engine_rows, figure_rows, headline_rows, inside_rows, mechanism_rows,
    was_full, workloads,
};
use super::why::reasons;
use fathom_lab::reproduce::{
    Expected, Figure, Judgement, Kind, NO_DIFFERENCE_PERCENT, Reproduction, Results, Source,
    Verdict,
};
use fathom_report::screen::Screen;
use fathom_report::study::Tone;
use std::fmt::Write as _;

/// How wide the longest verdict is.
const VERDICT_WIDTH: usize = 22;

/// The whole text.
pub(super) fn text(reproduction: &Reproduction, results: &Results, screen: Screen) -> String {
    let expected = &reproduction.expected;
    let mut text = format!("{}, run again\n\n", expected.paper);
    for note in &reproduction.notes {
        let _ = writeln!(text, "{note}");
    }
    text += &sources(results);
    let _ = writeln!(text, "\n{}\n{}", tally(results), rules());
    text += "\nThe main claim: Figure 4, on average over its buffers\n";
    text += &table(&headline_rows(reproduction, results), screen);
    text += "\nWhy\n";
    for reason in reasons(results) {
        let _ = writeln!(text, "- {reason}");
    }
    for source in results.sources.iter().filter(|s| was_full(results, s)) {
        let _ = writeln!(text, "\n=== {}: {} ===", source.name, source.kind.words());
        for figure in &expected.figures {
            let _ = writeln!(text, "\n{}; {}", figure.title, source.name);
            text += &table(&figure_rows(figure, &source.name, &results.figures), screen);
            text += &claims(expected, figure, source, &results.judgements);
        }
        let _ = writeln!(text, "\nBehind the figures: the default; {}", source.name);
        text += &table(&mechanism_rows(&source.name, &results.figures), screen);
    }
    text += &behind(expected, results, screen);
    text += "\n=== About the paper's numbers ===\n";
    for remark in &expected.remarks {
        let _ = writeln!(text, "\n{}", remark.text);
    }
    text
}

/// The workloads, and which of them say nothing.
fn sources(results: &Results) -> String {
    let mut text = "\nWorkloads\n".to_owned();
    for source in &results.sources {
        let silent = match was_full(results, source) {
            true => "",
            false => "; too short: no buffer was ever full, so nothing can be told from it",
        };
        let _ = writeln!(text, "- {}: {}{silent}", source.name, source.kind.words());
    }
    text
}

/// How verdicts come about.
pub(super) fn rules() -> String {
    format!(
        "A size holds within its tolerance, which papers/epo/expected.toml gives beside the claim (10 or 15 percentage \
         points for most) and which is at most half of what is claimed. Less than {NO_DIFFERENCE_PERCENT:.0} % is no \
         difference. A claim on a workload that never filled one of its buffers cannot be told."
    )
}

/// What the paper says of a figure, and what was measured on a workload.
fn claims(
    expected: &Expected,
    figure: &Figure,
    source: &Source,
    judgements: &[Judgement],
) -> String {
    let mut text = String::new();
    for claim in expected.claims.iter().filter(|c| c.figure == figure.id) {
        let here = |j: &&Judgement| j.claim == claim.id && j.workload == source.name;
        for judged in judgements.iter().filter(here) {
            let verdict = judged.verdict.words();
            let place = &claim.place;
            let _ = writeln!(
                text,
                "  {verdict:<VERDICT_WIDTH$}  {place}: {}. Measured: {}",
                claim.text, judged.measured
            );
        }
    }
    text
}

/// The driver's queue, rising load, the other engine, buffers inside the drive.
fn behind(expected: &Expected, results: &Results, screen: Screen) -> String {
    let mut text = String::new();
    if !results.load.is_empty() {
        text +=
            "\n=== Rising load: ms, MB/s, elements at work; so many requests at the drive ===\n";
        text += &table(&by_scheme(&results.load, &["queue"]), screen);
    }
    if !results.queue.is_empty() {
        text += "\n=== The driver's queue and the arrival: ms, MB/s, elements at work ===\n";
        text += &table(&by_scheme(&results.queue, &["arrival", "queue"]), screen);
    }
    if !results.general.is_empty() {
        text += "\n=== Where Fathom's own engine parts from the simulator's drive: ms at the default ===\n";
        text += &table(&engine_rows(results), screen);
        text += &partings(expected, results);
    }
    for workload in workloads(&results.choices) {
        let _ = writeln!(
            text,
            "\n=== What the paper leaves open, at the default setting; {workload} ==="
        );
        text += &table(&choice_rows(workload, &results.choices), screen);
    }
    for workload in workloads(&results.inside) {
        let _ = writeln!(
            text,
            "\n=== Buffers inside the drive, over translation layers; {workload}, reads and writes ==="
        );
        text += &table(&inside_rows(workload, &results.inside), screen);
    }
    text
}

/// Claims that come out otherwise on the general engine.
fn partings(expected: &Expected, results: &Results) -> String {
    let mut text = String::new();
    let pairs = results.judgements.iter().zip(&results.judgements_general);
    let parted = pairs.filter(|(ms, general)| ms.verdict != general.verdict);
    for (ms, general) in parted {
        let claim = expected.claims.iter().find(|claim| claim.id == ms.claim);
        let _ = writeln!(
            text,
            "  {}, {}: {}\n    own engine: {}: {}\n    simulator's drive: {}: {}",
            ms.workload,
            claim.map_or("", |claim| claim.place.as_str()),
            claim.map_or("", |claim| claim.text.as_str()),
            general.verdict.words(),
            general.measured,
            ms.verdict.words(),
            ms.measured
        );
    }
    match text.is_empty() {
        true => "Every claim comes out the same.\n".into(),
        false => format!("\nClaims that come out otherwise\n{text}"),
    }
}

/// How many claims came out how, by kind of workload.
pub(super) fn tally(results: &Results) -> String {
    let kinds = [Kind::Generator, Kind::Part, Kind::Whole, Kind::Other].map(|kind| {
        let names: Vec<&str> = names(&results.sources, kind);
        let of_kind = |j: &&Judgement| names.contains(&j.workload.as_str());
        let verdicts: Vec<Verdict> = results
            .judgements
            .iter()
            .filter(of_kind)
            .map(|j| j.verdict)
            .collect();
        let label = match kind {
            Kind::Generator => "On generators",
            Kind::Part => "On parts of traces",
            Kind::Whole => "On whole traces",
            Kind::Other => "On other traces than the paper's",
        };
        (label, verdicts)
    });
    let lines = kinds.into_iter().filter(|(_, v)| !v.is_empty());
    let line = |(label, verdicts): (&str, Vec<Verdict>)| {
        let total = verdicts.len();
        format!("{label}: of {total} tests of claims {}.", counts(&verdicts))
    };
    lines.map(line).collect::<Vec<_>>().join("\n")
}

/// How many have which verdict. That something holds in part is only said where there is such a thing.
pub(super) fn counts(verdicts: &[Verdict]) -> String {
    let all = [
        Verdict::Holds,
        Verdict::HoldsInPart,
        Verdict::DirectionOnly,
        Verdict::DoesNotHold,
        Verdict::CannotBeTold,
    ];
    let count = |verdict: Verdict| {
        let count = verdicts.iter().filter(|v| **v == verdict).count();
        let said = count > 0 || verdict != Verdict::HoldsInPart;
        said.then(|| format!("{count} {}", plural(verdict)))
    };
    all.into_iter()
        .filter_map(count)
        .collect::<Vec<_>>()
        .join(", ")
}

fn names(sources: &[Source], kind: Kind) -> Vec<&str> {
    let of_kind = sources.iter().filter(|s| s.kind == kind);
    of_kind.map(|s| s.name.as_str()).collect()
}

/// A verdict on several claims.
fn plural(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "hold",
        Verdict::HoldsInPart => "hold under some assumptions",
        Verdict::DirectionOnly => "hold in direction only",
        Verdict::DoesNotHold => "do not hold",
        Verdict::CannotBeTold => "cannot be told",
    }
}

/// How a verdict is coloured.
pub(super) fn tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Holds => Tone::Good,
        Verdict::HoldsInPart | Verdict::DirectionOnly => Tone::Calm,
        Verdict::DoesNotHold => Tone::Bad,
        Verdict::CannotBeTold => Tone::Dim,
    }
}
