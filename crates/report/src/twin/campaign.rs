//! The results of a campaign of twins: plain data, and tables for the terminal.

use crate::accuracy::Family;
use crate::screen::Screen;
use crate::table::{Kind, table};
use crate::text::at_most;
use fathom_probe::Level;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The error up to which a figure counts as met, in percent.
const WITHIN: f64 = 5.0;
/// The share of met figures that a campaign promises.
const SHARE_MIN: f64 = 0.9;

/// The drives of a campaign of twins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Campaign {
    /// The family that the drives are drawn from.
    pub family: Family,
    /// The seed of the drives.
    pub seed: u64,
    /// The index of the first drive.
    pub skip: u64,
    /// The number of drives.
    pub drives: u64,
    /// How much a probe measures.
    pub level: Level,
    /// Whether each twin is probed again.
    pub again: bool,
}

/// A figure of a workload on a drive and on its twin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Played {
    /// The workload.
    pub workload: String,
    /// `p50` or `p99`, in nanoseconds, or `throughput`, in bytes per second.
    pub figure: String,
    /// The figure on the drive.
    pub drive: f64,
    /// The figure on the twin.
    pub twin: f64,
    /// The figure on the drive itself, with other chances of noise, arrivals of background work and victims: no twin is closer
    /// than by chance.
    pub itself: f64,
}

impl Played {
    /// Returns by how much the twin is off, in percent.
    pub fn error_percent(&self) -> f64 {
        self.off_percent(self.twin)
    }

    /// Returns by how much the drive itself is off with other chances, in percent.
    fn chance_percent(&self) -> f64 {
        self.off_percent(self.itself)
    }

    fn off_percent(&self, figure: f64) -> f64 {
        (figure / self.drive.max(f64::MIN_POSITIVE) - 1.0) * 100.0
    }
}

/// A drive and its twin.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Compared {
    /// The index of the drive.
    pub drive: u64,
    /// Why there is no twin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// The median error of the figures of the fit, in percent.
    pub figures_percent: Option<f64>,
    /// The number of parameters that a second probe answers alike, and of those that cannot be compared.
    pub agree: u64,
    /// See [`Compared::agree`].
    pub open: u64,
    /// The parameters that differ.
    pub differ: Vec<String>,
    /// The figures of workloads.
    pub played: Vec<Played>,
    /// The drive file of the twin.
    pub file: String,
}

/// Returns true if no parameter differs, and enough figures of every kind are met.
pub fn keeps_promise(all: &[Compared]) -> bool {
    let sound = all
        .iter()
        .all(|one| one.failed.is_none() && one.differ.is_empty());
    sound
        && by_figure(all, Played::error_percent)
            .values()
            .all(|errors| met(errors) >= SHARE_MIN)
}

/// Returns the errors of each figure, in percent and without their sign, ascending; in the order of workloads and figures.
fn by_figure(
    all: &[Compared],
    error: fn(&Played) -> f64,
) -> BTreeMap<(usize, String, String), Vec<f64>> {
    let mut errors = BTreeMap::<_, Vec<f64>>::new();
    for one in all {
        for (place, played) in one.played.iter().enumerate() {
            let key = (place, played.workload.clone(), played.figure.clone());
            errors.entry(key).or_default().push(error(played).abs());
        }
    }
    for errors in errors.values_mut() {
        errors.sort_by(f64::total_cmp);
    }
    errors
}

fn met(errors: &[f64]) -> f64 {
    errors.iter().filter(|error| **error <= WITHIN).count() as f64 / errors.len().max(1) as f64
}

fn at(sorted: &[f64], share: f64) -> f64 {
    let place = (share * sorted.len() as f64).ceil() as usize;
    sorted
        .get(place.saturating_sub(1))
        .copied()
        .unwrap_or(f64::NAN)
}

/// Returns the tables for the terminal.
pub fn campaign_text(plan: &Campaign, all: &[Compared], screen: Screen) -> String {
    let screen = at_most(screen);
    let made: Vec<&Compared> = all.iter().filter(|one| one.failed.is_none()).collect();
    let mut out = format!(
        "{} twins of {} drives of the family {}, seed {}, from drive {}\n\n",
        made.len(),
        all.len(),
        plan.family.name(),
        plan.seed,
        plan.skip
    );
    let head = [
        "workload",
        "figure",
        "within 5 %",
        "the drive itself",
        "median error",
        "90 % at most",
    ];
    let chance = by_figure(all, Played::chance_percent);
    let row = |(key, errors): (&(usize, String, String), &Vec<f64>)| {
        vec![
            key.1.clone(),
            key.2.clone(),
            format!("{:.0} %", 100.0 * met(errors)),
            format!(
                "{:.0} %",
                100.0 * chance.get(key).map_or(0.0, |own| met(own))
            ),
            format!("{:.1} %", at(errors, 0.5)),
            format!("{:.1} %", at(errors, 0.9)),
        ]
    };
    let figures = by_figure(all, Played::error_percent);
    let rows = std::iter::once(head.map(str::to_owned).to_vec()).chain(figures.iter().map(row));
    out += &table(&rows.collect::<Vec<_>>(), Kind::Numbers, screen);
    if plan.again {
        out += &again(&made);
    }
    for one in all {
        if let Some(why) = &one.failed {
            out += &format!("drive {}: {why}\n", one.drive);
        }
    }
    screen.text(&out)
}

/// Returns what second probes found.
fn again(made: &[&Compared]) -> String {
    let alike = made.iter().filter(|one| one.differ.is_empty()).count();
    let sum = |of: fn(&Compared) -> u64| made.iter().map(|one| of(one)).sum::<u64>();
    let mut differ = BTreeMap::<&str, u64>::new();
    for name in made.iter().flat_map(|one| &one.differ) {
        *differ.entry(name).or_default() += 1;
    }
    let which: Vec<String> = differ
        .iter()
        .map(|(name, count)| format!("{name} {count}"))
        .collect();
    format!(
        "\nA second probe differs in nothing on {alike} of {} twins: {} answers agree, {} cannot be told, {} differ ({}).\n",
        made.len(),
        sum(|one| one.agree),
        sum(|one| one.open),
        sum(|one| one.differ.len() as u64),
        which.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A drive of 100 us, with what its twin and itself show.
    fn drive([twin, itself]: [f64; 2], differ: &[&str]) -> Compared {
        let figure = |name: &str| Played {
            workload: "bursts".to_owned(),
            figure: name.to_owned(),
            drive: 100e3,
            twin,
            itself,
        };
        Compared {
            played: vec![figure("p50"), figure("p99")],
            differ: differ.iter().map(|&name| name.to_owned()).collect(),
            ..Compared::default()
        }
    }

    #[test]
    fn the_promise_is_nine_figures_of_ten_and_nothing_that_differs() {
        let mut all = vec![drive([95.5e3, 100e3], &[]); 9];
        all.push(drive([106e3, 100e3], &[]));
        assert!(keeps_promise(&all));
        all.push(drive([94e3, 100e3], &[]));
        assert!(!keeps_promise(&all));
        assert!(!keeps_promise(&[drive([100e3, 100e3], &["flush"])]));
    }

    #[test]
    fn what_the_drive_itself_changes_by_chance_stands_beside_the_twin() {
        let plan = Campaign {
            family: Family::Modern,
            seed: 1,
            skip: 0,
            drives: 2,
            level: Level::Quick,
            again: false,
        };
        let all = [drive([90e3, 101e3], &[]), drive([99e3, 107e3], &[])];
        let chance: Vec<f64> = all
            .iter()
            .map(|one| one.played[0].chance_percent())
            .collect();
        assert!((chance[0] - 1.0).abs() < 1e-9 && (chance[1] - 7.0).abs() < 1e-9);
        let text = campaign_text(&plan, &all, Screen::default());
        let row = text.lines().find(|line| line.contains("p99")).unwrap();
        let words: Vec<&str> = row.split_whitespace().collect();
        // Half of the twins, half of the drives; errors of 1 and 10 percent.
        let expected = [
            "bursts", "p99", "50", "%", "50", "%", "1.0", "%", "10.0", "%",
        ];
        assert_eq!(words, expected, "{text}");
    }
}
