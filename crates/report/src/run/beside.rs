//! Tables with a column per run: the block layer's and the drive's counters, and a program's own. For the page of one or
//! several runs, and for the terminal.

use super::drawn::Drawn;
use super::words::{WORK, Work};
use super::{counters, given};
use crate::table::Table;
use crate::words::bytes;
use fathom_iosched::{Bundled, Dispatched, QueueStats};
use fathom_run::RunRecord;

/// Returns the tables for which any run has data.
pub(crate) fn tables(runs: &[Drawn<'_>]) -> Vec<Table> {
    let names = runs.iter().map(|drawn| drawn.name);
    let table = |title, note, rows: Vec<Vec<String>>| Table {
        rows,
        ..Table::new(title, note, std::iter::once("").chain(names.clone()))
    };
    let runs: Vec<&RunRecord> = runs.iter().map(|drawn| drawn.run).collect();
    let tables = [
        table(
            "What the block layer did",
            "Means are over time. Requests that are not done are counted as they were asked for, those at the drive \
             as it was given them, merged or split.",
            block_layer(&runs),
        ),
        table("What the drive did", "", drive(&runs)),
        table("What the program counted", "", counters(&runs)),
    ];
    let some = tables.into_iter().filter(|table| !table.rows.is_empty());
    some.collect()
}

/// Returns a row with a dash for runs without a value; `None` if no run has one.
fn row(
    name: &str,
    runs: &[&RunRecord],
    of: impl Fn(&RunRecord) -> Option<String>,
) -> Option<Vec<String>> {
    let cells: Vec<Option<String>> = runs.iter().map(|run| of(run)).collect();
    let some = cells.iter().any(Option::is_some);
    let cells = cells
        .into_iter()
        .map(|cell| cell.unwrap_or_else(|| "-".into()));
    some.then(|| std::iter::once(name.to_owned()).chain(cells).collect())
}

type Of<T> = fn(&T) -> Option<String>;

const REQUESTS: [(&str, Of<QueueStats>); 6] = [
    ("reads and writes asked for", |s| {
        Some(s.submitted.to_string())
    }),
    ("pieces after splitting", |s| Some(s.pieces.to_string())),
    ("merged", |s| {
        Some((s.back_merges + s.front_merges).to_string())
    }),
    ("held back behind an overlap", |s| {
        Some(s.held_back.to_string())
    }),
    ("not done, mean", |s| over_time(s.held_ns, s)),
    ("at the drive, mean", |s| over_time(s.in_flight_ns, s)),
];

type Side = fn(&QueueStats) -> &Dispatched;

const SIDES: [(&str, Side); 2] = [("reads", |s| &s.reads), ("writes", |s| &s.writes)];

const GIVEN: [(&str, Of<Dispatched>); 5] = [
    ("given to the drive", |side| Some(side.count.to_string())),
    ("mean size", |side| Some(bytes(side.bytes / side.count))),
    ("longest", |side| Some(given::longest(side))),
    ("up to 256 KiB", |side| Some(given::short(side))),
    ("aligned", |side| Some(given::aligned(side))),
];

const BUNDLES: [(&str, Of<Bundled>); 3] = [
    ("bundles of writes", |b| Some(b.count.to_string())),
    ("bundles, mean size", |b| Some(bytes(b.bytes / b.count))),
    ("bundles, writes in one", |b| {
        Some(format!("{:.2}", b.writes as f64 / b.count as f64))
    }),
];

fn block_layer(runs: &[&RunRecord]) -> Vec<Vec<String>> {
    let mut rows = vec![
        row("scheduler", runs, |o| {
            Some(o.plan.queue.as_ref()?.scheduler.name().into())
        }),
        row("splitter", runs, |o| {
            Some(o.plan.queue.as_ref()?.split.name().into())
        }),
    ];
    rows.extend(REQUESTS.map(|(name, of)| row(name, runs, |o| of(o.queue.as_ref()?))));
    for (side, stats) in SIDES {
        rows.extend(GIVEN.map(|(name, of)| {
            row(&format!("{side} {name}"), runs, |o| {
                Some(stats(o.queue.as_ref()?))
                    .filter(|side| side.count > 0)
                    .and_then(of)
            })
        }));
    }
    rows.push(row("aligned to multiples of", runs, |o| {
        let config = o.plan.queue.as_ref()?;
        Some(bytes(config.alignment.0))
    }));
    rows.extend(BUNDLES.map(|(name, of)| {
        row(name, runs, |o| {
            let bundles = o.queue.as_ref()?.bundles.as_ref()?;
            Some(bundles).filter(|b| b.count > 0).and_then(of)
        })
    }));
    rows.into_iter().flatten().collect()
}

/// Returns the time-weighted mean of a number of requests, from its integral in request-nanoseconds.
fn over_time(requests_ns: u64, stats: &QueueStats) -> Option<String> {
    let mean = requests_ns as f64 / stats.elapsed_ns as f64;
    (stats.elapsed_ns > 0).then(|| format!("{mean:.1}"))
}

fn drive(runs: &[&RunRecord]) -> Vec<Vec<String>> {
    let sized = |name: &str, of: Work| {
        let some = runs.iter().any(|o| o.work.as_ref().map_or(0, of) > 0);
        some.then(|| row(name, runs, |o| Some(bytes(of(&o.work?)))))?
    };
    let mut rows = vec![
        sized("written by the host", |work| work.host_bytes_written),
        sized("programmed into flash", |work| work.flash_bytes_programmed),
        row("write amplification", runs, |o| {
            Some(format!("{:.3}", o.work?.write_amplification()?))
        }),
    ];
    // Counters that are zero for every drive are left out.
    let erased: (&str, Work) = ("blocks erased", |work| work.erases);
    let done = std::iter::once(erased).chain(WORK);
    let done = done.filter(|(_, of)| {
        let work = runs.iter().filter_map(|o| o.work.as_ref());
        work.map(of).any(|n| n > 0)
    });
    rows.extend(done.map(|(name, of)| row(name, runs, |o| Some(of(&o.work?).to_string()))));
    rows.into_iter().flatten().collect()
}

fn counters(runs: &[&RunRecord]) -> Vec<Vec<String>> {
    let mut names: Vec<&str> = Vec::new();
    for counted in runs.iter().flat_map(|o| &o.counters) {
        if !names.contains(&counted.name.as_str()) {
            names.push(&counted.name);
        }
    }
    let rows = names.into_iter().map(|name| {
        row(&counters::name(name), runs, |o| {
            let found = o.counters.iter().find(|counted| counted.name == name);
            found.map(counters::value)
        })
    });
    rows.flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::super::sample::nothing;
    use super::*;
    use fathom_base::Bytes;
    use fathom_block::DriveStats;
    use fathom_iosched::QueueConfig;
    use fathom_run::Counted;
    use std::collections::BTreeMap;

    fn of(runs: &[(&str, &RunRecord)]) -> Vec<Table> {
        let drawn = |&(name, run)| Drawn { name, run };
        tables(&runs.iter().map(drawn).collect::<Vec<_>>())
    }

    fn queued() -> RunRecord {
        let sizes = BTreeMap::from([(4096, 6), (256 << 10, 1), (512 << 10, 1)]);
        let writes = Dispatched {
            count: 8,
            bytes: 24576 + (768 << 10),
            aligned: 2,
            by_len: sizes,
        };
        let mut run = nothing();
        run.plan.queue = Some(QueueConfig {
            alignment: Bytes(16384),
            ..QueueConfig::default()
        });
        run.queue = Some(QueueStats {
            submitted: 10,
            pieces: 12,
            back_merges: 3,
            front_merges: 1,
            writes,
            elapsed_ns: 1_000,
            held_ns: 7_500,
            in_flight_ns: 2_000,
            bundles: Some(Bundled {
                count: 2,
                writes: 5,
                bytes: 12288,
                ..Bundled::default()
            }),
            ..QueueStats::default()
        });
        run
    }

    fn cells<'a>(table: &'a Table, name: &str) -> Vec<&'a str> {
        let row = table.rows.iter().find(|row| row[0] == name);
        let row = row.unwrap_or_else(|| panic!("no row {name}: {:?}", table.rows));
        row[1..].iter().map(String::as_str).collect()
    }

    #[test]
    fn runs_with_and_without_a_block_layer_have_a_column_each() {
        let (without, with) = (nothing(), queued());
        let tables = of(&[("none", &without), ("noop", &with)]);
        let [layer] = tables.as_slice() else {
            panic!("{tables:?}");
        };
        assert_eq!(layer.head, ["", "none", "noop"]);
        for (name, cell) in [
            ("merged", "4"),
            ("not done, mean", "7.5"),
            ("at the drive, mean", "2.0"),
            ("writes given to the drive", "8"),
            ("writes mean size", "99 KiB"),
            ("writes longest", "512 KiB"),
            // 7 of 8, and 2 of 8.
            ("writes up to 256 KiB", "87.5 %"),
            ("writes aligned", "25.0 %"),
            ("aligned to multiples of", "16 KiB"),
            ("bundles of writes", "2"),
            ("bundles, mean size", "6 KiB"),
            ("bundles, writes in one", "2.50"),
        ] {
            assert_eq!(cells(layer, name), ["-", cell], "{name}");
        }
        // There were no reads.
        assert!(layer.rows.iter().all(|row| row[0] != "reads aligned"));
        assert_eq!(of(&[("none", &without)]), []);
    }

    #[test]
    fn what_no_drive_did_has_no_row() {
        let work = |full_merges| DriveStats {
            host_bytes_written: 4096,
            flash_bytes_programmed: 6144,
            erases: 9,
            full_merges,
            ..DriveStats::default()
        };
        let (mut a, mut b) = (nothing(), nothing());
        (a.work, b.work) = (Some(work(0)), Some(work(5)));
        let tables = of(&[("a", &a), ("b", &b)]);
        let drive = &tables[0];
        assert_eq!(cells(drive, "write amplification"), ["1.500", "1.500"]);
        assert_eq!(cells(drive, "full merges"), ["0", "5"]);
        assert_eq!(cells(drive, "blocks erased"), ["9", "9"]);
        assert_eq!(drive.rows.len(), 5);
    }

    #[test]
    fn programs_that_count_other_things_share_a_table() {
        let counted = |name: &str, value| Counted {
            name: name.into(),
            value,
            unit: String::new(),
        };
        let (mut a, mut b) = (nothing(), nothing());
        a.counters = vec![counted("files-read", 3.0)];
        b.counters = vec![counted("files-read", 4.0), counted("stalls", 1.0)];
        let tables = of(&[("a", &a), ("b", &b)]);
        assert_eq!(cells(&tables[0], "files read"), ["3", "4"]);
        assert_eq!(cells(&tables[0], "stalls"), ["-", "1"]);
    }
}
