//! Prints one target of a campaign: its drive file, with its true properties and the answers as comments.

use super::campaign::{Answered, Drawn, Outcome, Target};
use fathom_probe::{Estimate, Value};

/// Returns the file of a target with its true properties and the command to probe it alone.
pub fn target(drawn: &Drawn) -> String {
    let mut text = format!(
        "# Drive {} of `fathom accuracy --family {} --seed {}`.\n",
        drawn.index,
        drawn.family.name(),
        drawn.seed
    );
    if let Target::Drive { run_seed, .. } = &drawn.target {
        text += &format!(
            "# The same run of it alone:\n#   fathom probe model:./drive.toml --seed {run_seed}\n"
        );
    }
    text += "# What there is to find, in bytes where it is a size:\n";
    for (parameter, truth) in &drawn.truth {
        text += &format!("#   {parameter}: {truth}\n");
    }
    match &drawn.target {
        Target::Noise(noise) => {
            text + &format!(
                "\n# No drive is behind it, so there is no drive file: {noise}.\n\
                 # Probe it, with every answer:\n#   fathom accuracy --family {} --seed {} --drive {}\n",
                drawn.family.name(),
                drawn.seed,
                drawn.index
            )
        }
        Target::Drive {
            file,
            mapping_unit,
            read_unit,
            ..
        } => {
            text + &format!(
                "#   What is completed where it is partly written: {mapping_unit}\n\
                 #   What is read and programmed at once: {read_unit}\n\n{file}"
            )
        }
    }
}

/// As [`target`], with every answer.
pub fn answered(drawn: &Drawn, answers: &[Answered<'_>]) -> String {
    let mut text = target(drawn) + "\n# What was answered:\n";
    for answer in answers {
        text += &format!(
            "#   {} ({}): {}: {}\n#     {}\n",
            answer.parameter,
            answer.method.name(),
            word(answer.outcome),
            value(answer.estimate),
            answer.estimate.evidence.reason
        );
    }
    text
}

/// Describes one answer that is not right.
pub(super) fn miss(answer: &Answered<'_>) -> String {
    format!(
        "\n  drive {}, {}, {}: {}, and there is {}\n    {}\n",
        answer.drive,
        answer.parameter,
        word(answer.outcome),
        value(answer.estimate),
        answer.truth,
        answer.estimate.evidence.reason
    )
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
