//! Prints one target of a campaign: its drive file, with its true properties and the answers as comments.

use fathom_lab::accuracy::{Answer, Family, Outcome, Target, draw, mapping_unit, read_unit};
use fathom_probe::{Estimate, Method, Value};

/// A target within a campaign.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) family: Family,
    pub(super) seed: u64,
    pub(super) index: u64,
}

/// Returns the target's drive file with its true properties and the command to probe it alone.
pub(super) fn target(place: Place) -> String {
    let drawn = draw(place.family, place.seed, place.index);
    let mut text = format!(
        "# Drive {} of `fathom accuracy --family {} --seed {}`.\n",
        place.index,
        place.family.name(),
        place.seed
    );
    let file = match &drawn.target {
        Target::Drive(spec) => {
            text += &format!(
                "# The same run of it alone:\n#   fathom probe model:./drive.toml --seed {}\n",
                drawn.run_seed
            );
            spec.to_toml()
        }
        Target::Noise(noise) => format!("# It is no drive but noise: {noise:?}\n"),
    };
    text += "# What there is to find, in bytes where it is a size:\n";
    for (parameter, truth) in &drawn.truth {
        text += &format!("#   {parameter}: {truth}\n");
    }
    if let Some(spec) = drawn.target.spec() {
        text += &format!(
            "#   What is completed where it is partly written: {}\n#   What is read and programmed at once: {}\n",
            mapping_unit(spec),
            read_unit(spec)
        );
    }
    text + "\n" + &file
}

/// Returns the same with every answer.
pub(super) fn answered(place: Place, answers: &[Answer]) -> String {
    let mut text = target(place) + "\n# What was answered:\n";
    for answer in answers {
        text += &format!(
            "#   {} ({}): {}: {}\n#     {}\n",
            answer.parameter,
            method(answer.method),
            word(answer.outcome),
            value(&answer.estimate),
            answer.estimate.evidence.reason
        );
    }
    text
}

/// Describes one answer that is not right.
pub(super) fn miss(answer: &Answer) -> String {
    format!(
        "\n  drive {}, {}, {}: {}, and there is {}\n    {}\n",
        answer.drive,
        answer.parameter,
        word(answer.outcome),
        value(&answer.estimate),
        answer.truth,
        answer.estimate.evidence.reason
    )
}

fn method(method: Method) -> &'static str {
    match method {
        Method::Robust => "robust",
        Method::Paper => "paper",
    }
}

fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Found => "found",
        Outcome::Extra => "right, though nobody must find it",
        Outcome::Rejected => "rejected",
        Outcome::Wrong => "wrong",
        Outcome::Denied => "denied",
        Outcome::Open => "open",
    }
}

fn value(estimate: &Estimate) -> String {
    let words = estimate.verdict.words();
    match (&estimate.value, &estimate.low, &estimate.high) {
        (Some(value), Some(low), Some(high)) => {
            let [value, low, high] = [value, low, high].map(Value::plain);
            format!("{words} {value} ({low} to {high})")
        }
        (Some(value), ..) => format!("{words} {}", value.plain()),
        (None, ..) => words.to_owned(),
    }
}
