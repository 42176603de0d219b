//! Computes the numbers of a statement: applies its test to the runs of one seed.

use super::look::{Look, Missing, at};
use super::measured::Number;
use super::metric::Metric;
use super::statement::{Apart, Compared, One, Selector, Take, Test, Walk};

/// The reference of a comparison is not above zero.
const ZERO: Missing = "what it is compared with is 0";

/// One of the numbers of a statement, with a description of its runs.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Comparison {
    /// Description of the runs; empty if there is only one number.
    pub what: String,
    /// The number.
    pub number: Number,
}

/// Returns the numbers of a test. Their order is the same for every seed.
pub(super) fn numbers<'a>(
    test: &'a Test,
    metric: Metric,
    runs: &Look<'a>,
) -> Result<Vec<Comparison>, Missing> {
    match test {
        Test::Ratio(test) => compared(test, metric, runs, &|ratio| ratio),
        Test::Change(test) => compared(test, metric, runs, &Number::percent_more),
        Test::Gain(test) => compared(test, metric, runs, &|ratio| {
            let more = ratio.percent_more();
            Number {
                value: metric.better() * more.value,
                ..more
            }
        }),
        Test::Drift(test) => drift(test, metric, runs),
        Test::Spread(test) => Ok(only(spread(test, metric, runs)?)),
        Test::Value(One { of, .. }) => of
            .iter()
            .map(|of| {
                let number = runs.only(of).number(metric)?;
                Ok(about(of, "", number))
            })
            .collect(),
    }
}

fn only(number: Number) -> Vec<Comparison> {
    let what = String::new();
    vec![Comparison { what, number }]
}

fn about(of: &Selector, at: &str, number: Number) -> Comparison {
    let words = of.values().map(String::as_str).chain([at]);
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    Comparison {
        what: words.join(", "),
        number,
    }
}

fn compared<'a>(
    test: &'a Compared,
    metric: Metric,
    runs: &Look<'a>,
    form: &dyn Fn(Number) -> Number,
) -> Result<Vec<Comparison>, Missing> {
    let places: Vec<(&str, Look<'a>)> = match &test.over {
        None => vec![("", runs.clone())],
        Some(over) => {
            let walked = runs.walk(over);
            let points = walked.points.iter();
            points
                .map(|point| (*point, runs.only(&at(walked.axis, point))))
                .collect()
        }
    };
    let one = |runs: &Look<'a>, than: &[Selector]| {
        let value = runs.only(&test.of).number(metric)?;
        let others = than.iter().map(|than| runs.only(than).number(metric));
        let others: Vec<Number> = others.collect::<Result<_, _>>()?;
        let best = others.into_iter().max_by(|a, b| {
            let better = metric.better();
            (a.value * better).total_cmp(&(b.value * better))
        });
        best.and_then(|best| value.over(best)).map(form).ok_or(ZERO)
    };
    if test.take == Take::Each {
        let each = places.iter().flat_map(|place| {
            let than = test.than.iter();
            than.map(move |than| (place, than))
        });
        return each
            .map(|((point, runs), than)| {
                let number = one(runs, std::slice::from_ref(than))?;
                Ok(about(than, point, number))
            })
            .collect();
    }
    let each = places.iter().map(|(_, runs)| one(runs, &test.than));
    let each: Vec<Number> = each.collect::<Result<_, _>>()?;
    taken(&each, test.take).map(only).ok_or(ZERO)
}

fn taken(numbers: &[Number], take: Take) -> Option<Number> {
    let all = numbers.iter().copied();
    let by = |a: &Number, b: &Number| a.value.total_cmp(&b.value);
    match take {
        Take::Mean | Take::Each => Number::mean(numbers),
        Take::Highest => all.max_by(by),
        Take::Lowest => all.min_by(by),
    }
}

fn drift<'a>(test: &'a Walk, metric: Metric, runs: &Look<'a>) -> Result<Vec<Comparison>, Missing> {
    let walked = runs.walk(&test.over);
    let mut found = Vec::new();
    for of in &test.of {
        let runs = runs.only(of);
        let number = |point: &str| runs.only(&at(walked.axis, point)).number(metric);
        let mut points = walked.points.iter();
        let first = points.next().map(|point| number(point)).transpose()?;
        for point in points {
            let here = number(point)?;
            let more = first.and_then(|first| here.over(first)).ok_or(ZERO)?;
            let mut more = more.percent_more();
            // A metric that does not depend on the axis has a difference of exactly zero, so the interval is meaningless
            // and is dropped.
            if more.value == 0.0 {
                more.half = 0.0;
            }
            found.push(about(of, point, more));
        }
    }
    Ok(found)
}

fn spread<'a>(test: &'a Apart, metric: Metric, runs: &Look<'a>) -> Result<Number, Missing> {
    let walked = runs.walk(&test.over);
    let wanted = |point: &&&str| test.among.is_empty() || test.among.iter().any(|a| a == *point);
    let values = walked.points.iter().filter(wanted);
    let values = values.map(|point| runs.only(&at(walked.axis, point)).number(metric));
    let values: Vec<Number> = values.collect::<Result<_, _>>()?;
    let by = |a: &Number, b: &Number| a.value.total_cmp(&b.value);
    let least = values.iter().copied().min_by(by).ok_or(ZERO)?;
    let most = values.iter().copied().max_by(by).ok_or(ZERO)?;
    most.over(least).map(Number::percent_more).ok_or(ZERO)
}
