//! Numbers with their 95 % intervals: for one seed, and over several seeds.

use fathom_report::reproduce::Measured;
use fathom_run::half_width;

/// A number from the runs of one seed, with half the width of its interval within the run; 0 if there is no interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Number {
    /// The number.
    pub value: f64,
    /// Half the width of the interval.
    pub half: f64,
}

impl Number {
    /// Returns the mean of several numbers. They come from the same workload, so their errors do not average out: the half
    /// widths are averaged as well.
    pub(super) fn mean(of: &[Number]) -> Option<Number> {
        let mean = |part: fn(&Number) -> f64| of.iter().map(part).sum::<f64>() / of.len() as f64;
        (!of.is_empty()).then(|| Number {
            value: mean(|n| n.value),
            half: mean(|n| n.half),
        })
    }

    /// Returns the ratio to another number; `None` if that is not positive. Both come from the same workload. Their errors
    /// are treated as independent, which makes an interval too wide rather than too narrow.
    pub(super) fn over(self, whole: Number) -> Option<Number> {
        let value = self.value / whole.value;
        let half = (self.half / whole.value).hypot(value * whole.half / whole.value);
        (whole.value > 0.0).then_some(Number { value, half })
    }

    /// Converts a ratio to the difference in percent.
    pub(super) fn percent_more(self) -> Number {
        Number {
            value: (self.value - 1.0) * 100.0,
            half: self.half * 100.0,
        }
    }
}

/// Combines the numbers of all seeds; `None` if there is none.
pub(super) fn over_seeds(numbers: &[Number]) -> Option<Measured> {
    let values: Vec<f64> = numbers.iter().map(|number| number.value).collect();
    let first = numbers.first()?;
    Some(Measured {
        mean: values.iter().sum::<f64>() / values.len() as f64,
        half: match numbers.len() {
            1 => first.half,
            _ => half_width(&values, 2).unwrap_or(0.0),
        },
        seeds: values.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(value: f64, half: f64) -> Number {
        Number { value, half }
    }

    #[test]
    fn the_interval_is_that_of_the_mean_over_seeds() {
        // By hand: mean 3, deviations -1, 0, 1, standard error 1 / sqrt(3), Student's t with two degrees of freedom 4.3027.
        let of = |values: &[f64]| {
            let numbers: Vec<Number> = values.iter().map(|v| number(*v, 0.5)).collect();
            over_seeds(&numbers)
        };
        let measured = of(&[2.0, 3.0, 4.0]).unwrap();
        assert_eq!(measured.mean, 3.0);
        assert!((measured.half - 4.3027 / 3_f64.sqrt()).abs() < 1e-3);
        // One seed has the interval of its run; no seed gives nothing.
        let one = of(&[2.0]).unwrap();
        assert_eq!(one.words(" %"), "2.00 % (± 0.50)");
        assert_eq!(
            Measured {
                mean: -0.0,
                half: 0.0,
                ..one
            }
            .words(" %"),
            "0 %"
        );
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn errors_of_a_ratio_add_as_squares_and_those_of_a_mean_do_not_shrink() {
        // 3 % and 4 % give 5 % of the ratio, which is 2.
        let ratio = number(200.0, 6.0).over(number(100.0, 4.0)).unwrap();
        assert_eq!(ratio.value, 2.0);
        assert!((ratio.half - 0.1).abs() < 1e-12, "{ratio:?}");
        let more = ratio.percent_more();
        assert!(more.value == 100.0 && (more.half - 10.0).abs() < 1e-9);
        assert_eq!(number(1.0, 0.0).over(number(0.0, 0.0)), None);
        let mean = Number::mean(&[number(1.0, 2.0), number(3.0, 4.0)]);
        assert_eq!(mean, Some(number(2.0, 3.0)));
        assert_eq!(Number::mean(&[]), None);
    }
}
