//! Settings that were tried on a drive: what was set, whether it is better, and what is set now.

use crate::table::{Kind, table};
use crate::text::at_most;
use crate::{screen::Screen, wrap::clean};
use serde::Serialize;

/// An attribute that was set for the trial.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Set {
    /// Name of the attribute.
    pub attribute: String,
    /// The file in sysfs.
    pub path: String,
    /// The value that was found.
    pub old: String,
    /// The new value, as the kernel shows it.
    pub new: String,
    /// True if it was to keep its value, and the kernel gave it this one with another attribute.
    #[serde(skip_serializing_if = "is_false")]
    pub follows: bool,
}

/// A value to write to undo the settings by hand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Undo {
    /// The file in sysfs.
    pub path: String,
    /// The value.
    pub value: String,
}

fn is_false(value: &bool) -> bool {
    !*value
}

/// A value that the kernel refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refused {
    /// Name of the attribute.
    pub attribute: String,
    /// The value.
    pub value: String,
    /// What the kernel said.
    pub error: String,
    /// What can still be done.
    pub help: String,
}

/// A setting that was tried by itself, after all of them together had gained.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Alone {
    /// Name of the attribute.
    pub attribute: String,
    /// The new value.
    pub value: String,
    /// By how much it is better, in percent.
    pub gain_percent: Option<f64>,
    /// The 95 % interval of that.
    pub gain_interval: Option<[f64; 2]>,
}

impl Alone {
    fn carries(&self) -> bool {
        self.gain_interval.is_some_and(|[low, _]| low > 0.0)
    }

    fn said(&self) -> String {
        let gain = match (self.gain_percent, self.gain_interval) {
            (Some(percent), Some([low, high])) => {
                format!("{percent:+.1} % ({low:+.1} to {high:+.1} %)")
            }
            (Some(percent), None) => format!("{percent:+.1} %"),
            _ => "nothing to compare".to_owned(),
        };
        format!(
            "{} = {}: {gain}",
            clean(&self.attribute),
            clean(&self.value)
        )
    }
}

/// The trial of some settings under a job.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Applied {
    /// The job.
    pub job: String,
    /// The target that it ran on.
    pub target: String,
    /// Rounds that both settings have played.
    pub rounds: usize,
    /// What was set.
    pub set: Vec<Set>,
    /// What to write to undo it, in this order: the kernel changes some attributes with others.
    pub undo: Vec<Undo>,
    /// What the kernel refused.
    pub refused: Vec<Refused>,
    /// The figure that decides.
    pub figure: String,
    /// Its unit.
    pub unit: String,
    /// Its mean as found and as advised.
    pub means: Option<[f64; 2]>,
    /// By how much the advised settings are better, in percent; below zero if they are worse.
    pub gain_percent: Option<f64>,
    /// The 95 % interval of that; `None` with fewer than three rounds.
    pub gain_interval: Option<[f64; 2]>,
    /// Each setting by itself, if all together gained and there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub each: Vec<Alone>,
    /// True if the settings stay, because the whole interval is above zero.
    pub kept: bool,
}

impl Applied {
    /// Returns true if the interval says that the new settings are better.
    pub fn is_gain(&self) -> bool {
        !self.set.is_empty() && self.gain_interval.is_some_and(|[low, _]| low > 0.0)
    }

    /// Returns the result in words.
    fn verdict(&self) -> String {
        let rounds = self.rounds;
        let after = match self.kept {
            true => "The settings stay until the next restart.",
            false => "The old values are back.",
        };
        let said = match (self.gain_percent, self.gain_interval) {
            _ if self.set.is_empty() => "Nothing could be set.".to_owned(),
            (Some(percent), Some([low, high])) => format!(
                "{}: {} as advised (95 % interval {low:+.1} to {high:+.1} %, {rounds} rounds).",
                self.figure,
                compared(percent)
            ),
            (Some(percent), None) => format!(
                "{}: {} as advised in {rounds} rounds, too few for an interval.",
                self.figure,
                compared(percent)
            ),
            (None, _) => format!(
                "The job has no {}, so nothing can be compared.",
                self.figure
            ),
        };
        format!("{said} {after}")
    }
}

/// Returns the text for the terminal.
pub fn applied_text(applied: &Applied, screen: Screen) -> String {
    let screen = at_most(screen);
    let mut out = format!(
        "\nTried under {} on {}\n\n",
        clean(&applied.job),
        clean(&applied.target)
    );
    if !applied.set.is_empty() {
        let head = ["setting", "as found", "as advised", "file"].map(str::to_owned);
        let row = |set: &Set| {
            [&set.attribute, &set.old, &set.new, &set.path]
                .map(|cell| clean(cell))
                .to_vec()
        };
        let rows = applied.set.iter().map(row);
        let rows: Vec<Vec<String>> = std::iter::once(head.to_vec()).chain(rows).collect();
        out += &table(&rows, Kind::Words, screen);
        out.push('\n');
    }
    for set in applied.set.iter().filter(|set| set.follows) {
        out += &format!(
            "{} follows from the others: the kernel does not keep {} with them.\n",
            clean(&set.attribute),
            clean(&set.old)
        );
    }
    for refused in &applied.refused {
        out += &format!(
            "The kernel refused {} = {}: {}. What can be done: {}.\n",
            refused.attribute,
            refused.value,
            clean(&refused.error),
            refused.help
        );
    }
    out += &applied.verdict();
    out.push('\n');
    if !applied.each.is_empty() {
        out += &alone(&applied.each);
    }
    if applied.kept {
        out += "To undo it:\n";
        for undo in &applied.undo {
            out += &format!("  echo {} > {}\n", clean(&undo.value), clean(&undo.path));
        }
    }
    screen.text(&out)
}

/// Returns what each setting gains by itself, and which of them carry the gain.
fn alone(each: &[Alone]) -> String {
    let mut out = "Each by itself:\n".to_owned();
    for one in each {
        out += &format!("  {}\n", one.said());
    }
    let carry: Vec<&str> = each
        .iter()
        .filter(|one| one.carries())
        .map(|one| one.attribute.as_str())
        .collect();
    out += &match carry.is_empty() {
        true => "None of them carries the gain by itself.\n".to_owned(),
        false => format!("The gain is carried by {}.\n", carry.join(", ")),
    };
    out
}

/// Returns a gain in words.
fn compared(percent: f64) -> String {
    let word = if percent < 0.0 { "worse" } else { "better" };
    format!("{:.1} % {word}", percent.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_says_what_was_tried_and_how_to_undo_it() {
        let applied = |interval: Option<[f64; 2]>, kept: bool| Applied {
            job: "job".into(),
            target: "/dev/loop0".into(),
            rounds: 5,
            set: ["scheduler", "nr_requests"]
                .map(|name| Set {
                    attribute: name.into(),
                    path: format!("/sys/block/loop0/queue/{name}"),
                    old: "128".into(),
                    new: "64".into(),
                    follows: name == "nr_requests",
                })
                .to_vec(),
            undo: vec![Undo {
                path: "/sys/block/loop0/queue/nr_requests".into(),
                value: "128".into(),
            }],
            refused: vec![Refused {
                attribute: "scheduler".into(),
                value: "kyber".into(),
                error: "Invalid argument".into(),
                help: "load its module first".into(),
            }],
            figure: "accesses a second".into(),
            unit: String::new(),
            means: Some([1.0, 2.0]),
            gain_percent: Some(3.0),
            gain_interval: interval,
            each: Vec::new(),
            kept,
        };
        let better = applied(Some([1.0, 5.0]), true);
        assert!(better.is_gain());
        let said = applied_text(&better, Screen::default());
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            said.contains("echo 128 > /sys/block/loop0/queue/nr_requests"),
            "{said}"
        );
        assert!(
            said.contains("nr_requests follows from the others: the kernel does not keep 128"),
            "{said}"
        );
        assert!(!said.contains("scheduler follows"), "{said}");
        assert!(
            said.contains(
                "refused scheduler = kyber: Invalid argument. What can be done: load its module first."
            ),
            "{said}"
        );
        for worse in [
            applied(Some([0.0, 5.0]), false),
            applied(Some([-1.0, 5.0]), false),
            applied(None, false),
        ] {
            assert!(!worse.is_gain());
            let said = applied_text(&worse, Screen::default());
            let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(
                said.contains("The old values are back.") && !said.contains("echo"),
                "{said}"
            );
        }
    }

    #[test]
    fn the_setting_that_carries_the_gain_is_named() {
        let one = |attribute: &str, interval: [f64; 2]| Alone {
            attribute: attribute.into(),
            value: "1".into(),
            gain_percent: Some(2.0),
            gain_interval: Some(interval),
        };
        let said = alone(&[
            one("scheduler", [1.0, 3.0]),
            one("nr_requests", [-1.0, 5.0]),
        ]);
        assert!(
            said.contains("scheduler = 1: +2.0 % (+1.0 to +3.0 %)"),
            "{said}"
        );
        assert!(
            said.ends_with("The gain is carried by scheduler.\n"),
            "{said}"
        );
        assert!(
            alone(&[one("x", [-1.0, 1.0])]).ends_with("None of them carries the gain by itself.\n")
        );
    }
}
