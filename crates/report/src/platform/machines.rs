//! The figures of the rate over processors, adapters and drives.

use super::names::{Way, short_names};
use super::{Path, Scaling};
use crate::chart::{Axis, Chart, Column, Mode, Scale, Series, Unit};
use crate::words::{count, counted};
use std::collections::BTreeSet;

/// Numbers of processors, adapters and drives.
pub(super) type Machine = [Option<u32>; 3];

/// Names of the numbers of a machine.
const NAMES: [&str; 3] = ["processor", "adapter", "drive"];

/// Look of what would be linear.
const LINEAR_LOOK: usize = 8;

/// Rows with something in common.
pub(super) struct Group<'a> {
    pub(super) name: String,
    pub(super) rows: Vec<&'a Scaling>,
}

/// Returns the machine of a row.
pub(super) fn machine(row: &Scaling) -> Machine {
    [Some(row.cores), row.adapters, Some(row.drives)]
}

/// Splits the rows by way and length, in their order.
pub(super) fn ways<'a>(all: &[&'a Scaling]) -> Vec<Group<'a>> {
    let mut keys: Vec<(Path, u64)> = Vec::new();
    for row in all {
        let key = (row.path, row.block_bytes);
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let ways = keys.iter().map(|(path, block)| Way {
        block_bytes: Some(*block),
        ..Way::of(*path)
    });
    let names = short_names(&ways.collect::<Vec<_>>());
    let groups = keys.iter().zip(names.each).map(|(key, name)| {
        let of = |row: &&&Scaling| (row.path, row.block_bytes) == *key;
        let rows = all.iter().filter(of).copied().collect();
        Group { name, rows }
    });
    groups.collect()
}

/// Splits the rows by machine, the smallest first.
pub(super) fn machines<'a>(all: &[&'a Scaling]) -> Vec<(Machine, Vec<&'a Scaling>)> {
    let keys: BTreeSet<Machine> = all.iter().map(|row| machine(row)).collect();
    let of = |key: Machine| {
        all.iter()
            .filter(|row| machine(row) == key)
            .copied()
            .collect()
    };
    keys.into_iter().map(|key| (key, of(key))).collect()
}

/// Returns which numbers differ.
pub(super) fn varying(all: &[Machine]) -> Vec<usize> {
    let differs = |&at: &usize| all.iter().any(|one| one[at] != all[0][at]);
    (0..NAMES.len()).filter(differs).collect()
}

/// Returns the numbers of a machine that differ, in words.
pub(super) fn told(machine: Machine, varying: &[usize]) -> String {
    let part = |&at: &usize| machine[at].map(|n| counted(u64::from(n), NAMES[at]));
    varying
        .iter()
        .filter_map(part)
        .collect::<Vec<_>>()
        .join(", ")
}

/// Returns the numbers of a machine that differ.
fn numbers(machine: Machine, varying: &[usize]) -> String {
    let part = |&at: &usize| machine[at].map_or_else(|| "?".to_owned(), |n| count(u64::from(n)));
    varying.iter().map(part).collect::<Vec<_>>().join(" / ")
}

/// Returns the names of the numbers that differ, with this between them.
fn title(varying: &[usize], between: &str) -> String {
    let names: Vec<String> = varying
        .iter()
        .map(|&at| format!("{}s", NAMES[at]))
        .collect();
    names.join(between)
}

/// Returns a chart with its id, heading, description, axes and series.
pub(super) fn chart(
    id: &str,
    title: &str,
    see: &str,
    [x, y]: [Axis; 2],
    series: Vec<Series>,
) -> Chart {
    Chart {
        id: id.to_owned(),
        title: title.to_owned(),
        see: see.to_owned(),
        x,
        y,
        series,
        ..Chart::default()
    }
}

/// Returns what is told of a point beside its height.
pub(super) fn columns(rows: &[&Scaling]) -> Vec<Column> {
    let column = |name: &str, unit, of: fn(&Scaling) -> f64| Column {
        name: name.to_owned(),
        unit,
        values: rows.iter().map(|row| of(row)).collect(),
    };
    let all = [
        column("threads", Unit::Number, |row| f64::from(row.threads)),
        column("depth", Unit::Number, |row| f64::from(row.depth)),
        column("mean latency", Unit::Ns, |row| row.latency_ns),
        column("utilisation (%)", Unit::Number, |row| {
            100.0 * row.utilisation
        }),
    ];
    // A value that is not finite would be told as zero.
    let finite = |column: &Column| column.values.iter().all(|value| value.is_finite());
    all.into_iter().filter(finite).collect()
}

/// Machines that grow by the same factor in all that differs.
struct Chain {
    /// What differs.
    varying: Vec<usize>,
    /// How much larger each is than the first.
    machines: Vec<(f64, Machine)>,
}

impl Chain {
    /// Returns the machines that grow from `first` in this way.
    fn from(first: Machine, all: &[Machine], varying: Vec<usize>) -> Chain {
        let factor = |one: &Machine| {
            let same = (0..NAMES.len()).all(|at| varying.contains(&at) || one[at] == first[at]);
            let mut factors = varying.iter().map(|&at| ratio(one[at]?, first[at]?));
            let factor = factors.next()??;
            let alike =
                factors.all(|other| other.is_some_and(|other| (other - factor).abs() < 1e-9));
            (same && alike && factor >= 1.0).then_some((factor, *one))
        };
        let mut machines: Vec<(f64, Machine)> = all.iter().filter_map(factor).collect();
        machines.sort_by(|a, b| a.0.total_cmp(&b.0));
        Chain { varying, machines }
    }

    /// Returns the longest chain for each set of numbers that can differ: those of three machines or more, else one of two.
    fn all(machines: &[Machine]) -> Vec<Chain> {
        let sets = 1..1_usize << NAMES.len();
        let sets = sets.map(|set| {
            (0..NAMES.len())
                .filter(|at| set >> at & 1 == 1)
                .collect::<Vec<_>>()
        });
        let longest = |set: Vec<usize>| {
            let chains = machines
                .iter()
                .map(|first| Chain::from(*first, machines, set.clone()));
            // Of equally long ones, the first.
            chains.rev().max_by_key(|chain| chain.machines.len())
        };
        let mut chains: Vec<Chain> = sets.filter_map(longest).collect();
        let most = chains
            .iter()
            .map(|chain| chain.machines.len())
            .max()
            .unwrap_or(0);
        chains.retain(|chain| chain.machines.len() >= most.clamp(2, 3));
        if most < 3 {
            chains.truncate(1);
        }
        chains
    }

    fn axis(&self) -> Axis {
        let names = self
            .machines
            .iter()
            .map(|(_, machine)| numbers(*machine, &self.varying));
        let places = self.machines.iter().map(|(factor, _)| *factor).collect();
        Axis::places(&title(&self.varying, " / "), places, names.collect())
    }

    /// Returns the highest rates of a way, below them what linear scaling would give.
    fn lines(&self, way: &Group<'_>, look: usize, of: fn(&Scaling) -> f64) -> Vec<Series> {
        let highest = self.machines.iter().filter_map(|(factor, here)| {
            let rows = way.rows.iter().filter(|row| machine(row) == *here);
            let row = rows.max_by(|a, b| a.iops.total_cmp(&b.iops))?;
            Some((*factor, *row))
        });
        let highest: Vec<(f64, &Scaling)> = highest.collect();
        let Some((from, first)) = highest.first().copied().filter(|_| highest.len() > 1) else {
            return Vec::new();
        };
        let points = highest.iter().map(|(x, row)| (*x, Some(of(row))));
        let rows: Vec<&Scaling> = highest.iter().map(|(_, row)| *row).collect();
        let reached = Series {
            columns: columns(&rows),
            ..Series::new(way.name.clone(), look, Mode::Line, points)
        };
        let rate = of(first);
        let ideal = highest.iter().map(|(x, _)| (*x, Some(rate * x / from)));
        vec![
            Series::new("linear", LINEAR_LOOK, Mode::Line, ideal),
            reached,
        ]
    }
}

/// Divides two numbers of the same thing.
fn ratio(number: u32, first: u32) -> Option<f64> {
    (first > 0).then(|| f64::from(number) / f64::from(first))
}

/// Returns the highest rates of machines that grow from one another; none if there are no such machines.
pub(super) fn over_machines(rows: &[&Scaling]) -> Vec<Chart> {
    let every: Vec<Machine> = machines(rows)
        .into_iter()
        .map(|(machine, _)| machine)
        .collect();
    let chains = Chain::all(&every);
    let charts = (0..)
        .zip(&chains)
        .flat_map(|(number, chain)| of_chain(number, chain, rows));
    charts.collect()
}

/// Returns the rate, and the throughput if reads of several lengths are in it.
fn of_chain(number: usize, chain: &Chain, rows: &[&Scaling]) -> Vec<Chart> {
    let ways = ways(rows);
    let lines = |of: fn(&Scaling) -> f64| -> Vec<Series> {
        let each = (0..).zip(&ways);
        each.flat_map(|(look, way)| chain.lines(way, look, of))
            .collect()
    };
    let see = "The highest rate of each machine, and what it would be if it grew as the machine does. (Figures 10 and 11 of \
               ssd-ready-platforms.)";
    let over = title(&chain.varying, ", ");
    let of = |id, what: &str, y, series| {
        chart(
            &format!("{id}-{number}"),
            &format!("{what} over {over}"),
            see,
            [chain.axis(), y],
            series,
        )
    };
    let iops = Axis::new("I/Os a second", Unit::Number, Scale::Zero);
    let rates = lines(|row| row.iops);
    if rates.is_empty() {
        return Vec::new();
    }
    let mut charts = vec![of("machines", "Rate", iops, rates)];
    let lengths: BTreeSet<u64> = rows.iter().map(|row| row.block_bytes).collect();
    if lengths.len() > 1 {
        let bytes = Axis::new("throughput", Unit::Rate, Scale::Zero);
        let rates = lines(|row| row.iops * row.block_bytes as f64);
        charts.push(of("throughput", "Throughput", bytes, rates));
    }
    charts
}
