//! The tables of a campaign, and whether it keeps the promised accuracy.

use super::answers::miss;
use super::campaign::{Answered, Family, Outcome, Plan};
use super::tally::{INVENTED_MAX, MethodTally, Tally, WRONG_MAX, recall_min};
use crate::screen::Screen;
use crate::table::Table;
use crate::words::{bytes, duration};
use fathom_probe::{Method, Parameter};

/// The results of a campaign.
#[derive(Clone, Debug, PartialEq)]
pub struct Campaign<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// Number of finished targets.
    pub done: u64,
    /// Number of draws that cannot be built.
    pub refused: u32,
    /// The counts of each method.
    pub tallies: &'a [MethodTally],
    /// All answers.
    pub answers: &'a [Answered<'a>],
}

/// Returns the results of a campaign as text for the terminal.
pub fn text(campaign: &Campaign<'_>, screen: Screen) -> String {
    let Campaign {
        plan,
        done,
        refused,
        tallies,
        ..
    } = campaign;
    let mut text = match done < &plan.drives {
        true => format!(
            "Interrupted: {done} of {} drives were finished, and they alone are counted.\n\n",
            plan.drives
        ),
        false => String::new(),
    };
    text += &format!(
        "Drives {} to {} of seed {}, family {}, each probed blind; {refused} more were drawn that cannot be built.\n",
        plan.skip,
        plan.skip + plan.drives - 1,
        plan.seed,
        plan.family.name()
    );
    // Of many methods, each has its rows in the common table instead.
    let alone = |tally: &&MethodTally| tallies.len() <= 2 || tally.method == Method::Robust;
    for tally in tallies.iter().filter(alone) {
        text += &format!("\n{}\n\n", title(tally.method, plan.thin));
        text += &parameters(tally).text(screen);
        text += "\n";
        text += &kinds(tally).text(screen);
    }
    if tallies.len() > 1 {
        text += &format!("\nThe methods side by side{}\n\n", thinned(plan.thin));
        text += &methods(tallies).text(screen);
    }
    text += &comparison(tallies);
    for tally in tallies.iter().filter(|t| t.method == Method::Robust) {
        text += &misses(campaign.answers);
        text += &promise(plan.family, &tally.all);
    }
    text
}

fn title(method: Method, thin: u32) -> String {
    match (method, thin) {
        (Method::Robust, _) => method.title().to_owned(),
        (Method::Paper, 1) => format!("{}, as printed", method.title()),
        (Method::Paper, thin) => format!(
            "{}, thinned by {thin}: grids so much coarser, repetitions and totals so much fewer",
            method.title()
        ),
        (_, 1) => method.title().to_owned(),
        (_, thin) => format!("{}, its times divided by {thin}", method.title()),
    }
}

fn thinned(thin: u32) -> String {
    match thin {
        1 => String::new(),
        thin => format!(", all but the robust one thinned by {thin}"),
    }
}

/// A column of a table: its name and its cells.
type Column = (&'static str, fn(&Tally) -> String);

const COUNTED: [Column; 6] = [
    ("found", |tally| of(tally.found, tally.identifiable)),
    ("recall", |tally| percent(tally.recall())),
    ("wrong", |tally| of(tally.wrong, tally.identified)),
    ("of identified", |tally| {
        percent(tally.wrong_of_identified())
    }),
    ("denied", |tally| tally.denied.to_string()),
    ("open", |tally| of(tally.missed, tally.open)),
];
const COST: [Column; 2] = [
    ("written", |tally| bytes(tally.bytes_written.0)),
    ("time", |tally| duration(tally.device_ns.0)),
];
const OF_PARAMETERS: [Column; 5] = [
    ("extra", |tally| tally.extra.to_string()),
    ("rejected", |tally| {
        of(tally.rejected, tally.answers - tally.identifiable)
    }),
    ("covered", |tally| of(tally.covered.0, tally.covered.1)),
    COST[0],
    COST[1],
];
const OF_KINDS: [Column; 1] = [("drives", |tally| tally.drives.to_string())];

/// Returns a table with a row for each named tally.
fn table<'a>(
    first: &str,
    more: &[Column],
    rows: impl Iterator<Item = (String, &'a Tally)>,
) -> Table {
    let columns = || COUNTED.iter().chain(more);
    let head = [first].into_iter().chain(columns().map(|(name, _)| *name));
    let row = |(name, tally)| {
        let cells = columns().map(|(_, cell)| cell(tally));
        [name].into_iter().chain(cells).collect()
    };
    Table {
        rows: rows.map(row).collect(),
        ..Table::new("", "", head)
    }
}

fn parameters(tally: &MethodTally) -> Table {
    let parameters = tally.parameters.iter();
    let named = parameters.map(|(parameter, tally)| (parameter.name(), tally));
    let rows = named.chain([("all", &tally.all)]);
    let rows = rows.map(|(name, tally)| (name.to_owned(), tally));
    table("parameter", &OF_PARAMETERS, rows)
}

/// Returns the table by kind of drive, the mapping first.
fn kinds(tally: &MethodTally) -> Table {
    let mut axes: Vec<_> = tally.axes.iter().collect();
    axes.sort_by_key(|(axis, _)| **axis != "mapping");
    let rows = axes.into_iter().flat_map(|(axis, kinds)| {
        let kinds = kinds.iter();
        kinds.map(move |(kind, tally)| (format!("{axis}: {kind}"), tally))
    });
    table("kind of drive", &OF_KINDS, rows)
}

/// Returns the table with a row for each parameter and each method that answers it, Fathom's own first.
fn methods(tallies: &[MethodTally]) -> Table {
    let rows = Parameter::ALL.into_iter().flat_map(|parameter| {
        tallies.iter().filter_map(move |of| {
            let tally = of.parameters.get(&parameter)?;
            Some((format!("{parameter}: {}", of.method.name()), tally))
        })
    });
    table("parameter: method", &COST, rows)
}

fn of(part: u64, whole: u64) -> String {
    match whole {
        0 => "-".to_owned(),
        _ => format!("{part}/{whole}"),
    }
}

/// Compares the bytes written by the methods with each other and with the papers' procedures as printed.
fn comparison(tallies: &[MethodTally]) -> String {
    let find = |method| tallies.iter().find(|t| t.method == method);
    let mut text = "\nfound of what must be found; wrong of what was identified; open: of what must be found, and in \
                    all; extra: right where nobody must find it. Written and time are medians.\n"
        .to_owned();
    if let Some(robust) = find(Method::Robust).filter(|robust| robust.all.printed_bytes_max > 0) {
        let (written, printed) = (robust.all.bytes_written.1, robust.all.printed_bytes_max);
        text += &format!(
            "\nThe robust method wrote {} in all. As printed the papers' procedures write at most {} on these drives: {}.\n",
            bytes(written),
            bytes(printed),
            share(written, printed)
        );
        if let Some(paper) = find(Method::Paper) {
            let paper = paper.all.bytes_written.1;
            text += &format!(
                "As they ran they wrote {}: {}.\n",
                bytes(paper),
                share(written, paper)
            );
        }
    }
    text
}

fn share(part: u64, whole: u64) -> String {
    format!(
        "the robust method writes {:.2} % of that",
        100.0 * part as f64 / whole.max(1) as f64
    )
}

/// Lists every answer of the robust method that is not right: wrong ones first, then denied ones, then identifiable
/// parameters left open.
fn misses(answers: &[Answered<'_>]) -> String {
    let missed = |a: &Answered<'_>| match a.outcome {
        Outcome::Wrong => Some(0),
        Outcome::Denied => Some(1),
        Outcome::Open if a.identifiable => Some(2),
        _ => None,
    };
    let robust = answers.iter().filter(|a| a.method == Method::Robust);
    let mut missed: Vec<(u8, &Answered<'_>)> =
        robust.filter_map(|a| Some((missed(a)?, a))).collect();
    missed.sort_by_key(|(order, _)| *order);
    let mut text = String::new();
    for (_, answer) in missed {
        if text.is_empty() {
            text += "\nAnswers that are not right\n";
        }
        text += &miss(answer);
    }
    text
}

fn promise(family: Family, all: &Tally) -> String {
    let kept = match all.keeps_promise(family) {
        _ if family != Family::Noise && all.identifiable + all.identified == 0 => "Not tested",
        true => "Kept",
        false => "Not kept",
    };
    if family == Family::Noise {
        let share = all.identified as f64 / all.answers.max(1) as f64;
        return format!(
            "\nPromised: at most {} of the answers name a value. Here: {} of {}, {}. {kept}.\n",
            percent(Some(INVENTED_MAX)),
            all.identified,
            all.answers,
            percent(Some(share)),
        );
    }
    format!(
        "\nPromised: at least {} of what must be found is found, at most {} of the identifications are wrong. Here: {} and {}. {kept}.\n",
        percent(Some(recall_min(family))),
        percent(Some(WRONG_MAX)),
        percent(all.recall()),
        percent(all.wrong_of_identified()),
    )
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "-".to_owned(), |share| format!("{:.1} %", 100.0 * share))
}
