//! The figures of the rate over the I/Os in flight, on each machine.

use super::Scaling;
use super::forms::positive;
use super::machines::{
    Group, Machine, chart, columns, machine, machines, over_machines, told, varying, ways,
};
use crate::chart::{Axis, Chart, Mode, Scale, Series, Unit};
use crate::words::count;
use std::collections::BTreeSet;

/// Returns the figures.
pub(super) fn charts(all: &[Scaling]) -> Vec<Chart> {
    let there = all.iter().filter(|row| positive(row.iops).is_some());
    let rows: Vec<&Scaling> = there.collect();
    let mut charts = over_threads(&rows);
    charts.extend(over_machines(&rows));
    charts
}

fn in_flight(row: &Scaling) -> u64 {
    u64::from(row.threads) * u64::from(row.depth)
}

/// Returns rate and utilisation over the number of I/Os in flight; none if that number does not vary.
fn over_threads(rows: &[&Scaling]) -> Vec<Chart> {
    let groups = groups(rows);
    if groups.is_empty() {
        return Vec::new();
    }
    let all = groups.iter().flat_map(|group| &group.rows);
    let places: BTreeSet<u64> = all.map(|row| in_flight(row)).collect();
    let x = || {
        let at = places.iter().map(|n| *n as f64).collect();
        let names = places.iter().map(|n| count(*n)).collect();
        Axis::places("I/Os in flight: threads × depth", at, names)
    };
    let lines = |of: fn(&Scaling) -> f64| {
        let each = (0..).zip(&groups);
        each.map(|(look, group)| line(group, look, of)).collect()
    };
    let rate = Axis::new("I/Os a second", Unit::Number, Scale::Zero);
    let busy = Axis {
        top: Some(105.0),
        ..Axis::new("utilisation (%)", Unit::Number, Scale::Zero)
    };
    let flat = "Where a line goes flat, something limits the rate. (Figures 8 and 9 of ssd-ready-platforms.)";
    let full = "At 100 % the processors limit the rate. (Figures 8 and 9 of ssd-ready-platforms.)";
    vec![
        chart(
            "iops",
            "Rate over the I/Os in flight",
            flat,
            [x(), rate],
            lines(|row| row.iops),
        ),
        chart(
            "busy",
            "Utilisation of the processors",
            full,
            [x(), busy],
            lines(|row| 100.0 * row.utilisation),
        ),
    ]
}

/// Returns the rows of each way on each machine, by the I/Os in flight. Leaves out those with one number of them.
fn groups<'a>(rows: &[&'a Scaling]) -> Vec<Group<'a>> {
    let ways = ways(rows);
    let every: Vec<Machine> = rows.iter().map(|row| machine(row)).collect();
    let varying = varying(&every);
    let several = ways.len() > 1 || varying.is_empty();
    let name = |way: &str, machine| {
        let way = several.then(|| way.to_owned());
        let on = (!varying.is_empty()).then(|| told(machine, &varying));
        way.into_iter().chain(on).collect::<Vec<_>>().join(", ")
    };
    let mut groups = Vec::new();
    for way in &ways {
        for (machine, mut rows) in machines(&way.rows) {
            rows.sort_by_key(|row| in_flight(row));
            let name = name(&way.name, machine);
            groups.push(Group { name, rows });
        }
    }
    let ends = |group: &Group<'_>| {
        [group.rows.first(), group.rows.last()].map(|row| row.map(|row| in_flight(row)))
    };
    groups.retain(|group| {
        let [first, last] = ends(group);
        first < last
    });
    groups
}

fn line(group: &Group<'_>, look: usize, of: fn(&Scaling) -> f64) -> Series {
    let points = group
        .rows
        .iter()
        .map(|row| (in_flight(row) as f64, Some(of(row))));
    Series {
        columns: columns(&group.rows),
        ..Series::new(group.name.clone(), look, Mode::Line, points)
    }
}
