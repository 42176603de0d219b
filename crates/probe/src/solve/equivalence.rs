//! Whether two positive quantities are the same within a margin, sampled until that is settled.
//!
//! "The curves have met" (`greedy-space` IV.A, `irbw` 4.1) is a claim of equality, which a failed test of difference
//! does not support. Two one-sided tests do (Schuirmann 1987): *equivalent* where the whole interval of the ratio
//! lies within the margin, *different* where all of it lies outside, and *undecided* otherwise.
//!
//! Looking again and again inflates errors. Look `j` spends `error / (j (j + 1))`, which adds up to `error` over
//! any number of looks (Bonferroni; compare Lan & DeMets 1983), and a look is only taken when the smaller sample
//! has grown by a quarter since the last. So, up to how well a normal or t distribution fits, *equivalent* is said
//! of quantities that differ by the margin or more with probability at most `error`, and *different* of
//! quantities within the margin likewise.
//!
//! Throughput depends on total time, so on the mean: give the times of equal work (not rates, whose mean is not
//! total over total) and [`Location::Mean`]. With rare long pauses that takes many samples, and says so by staying
//! undecided; the other two compare the typical request and do not see the pauses.

use super::{Interval, normal_quantile, robust, student_quantile};

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// Means, their errors from the means of groups of so many consecutive samples, which absorbs correlation
    /// between neighbours (batch means; Law 2015, 9.5.3). At least 1.
    Mean {
        /// Samples in a group.
        group: usize,
    },
    /// Medians, their errors from order statistics (McKean & Schrader 1984).
    Median,
    /// Means of logarithms without the fifth at either end, their errors from the winsorised variance (Yuen
    /// 1974): as blind to spikes as the median, and needs half as many samples.
    Trimmed,
}

/// What the test is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// The relative difference that does not matter: 0.05 takes ratios from 1/1.05 to 1.05 as the same.
    pub margin: f64,
    /// The chance of a wrong answer over all looks (0 to 1), for each of the two wrong answers.
    pub error: f64,
    /// Mean or median.
    pub location: Location,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            margin: 0.05,
            error: 0.02,
            location: Location::Trimmed,
        }
    }
}

/// How it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The same within the margin.
    Equivalent,
    /// Apart by more than the margin.
    Different,
    /// More samples may settle it.
    Undecided,
}

/// What the last look saw.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// How it stands.
    pub status: Status,
    /// The first over the second.
    pub ratio: f64,
    /// Of `ratio`, at the confidence that this look may spend (two tails).
    pub interval: Interval,
    /// Which look it was, from 1.
    pub number: u32,
}

/// The samples so far and what they say.
#[derive(Clone, Debug, PartialEq)]
pub struct Sequential {
    options: Options,
    a: Vec<f64>,
    b: Vec<f64>,
    next_look: usize,
    last: Option<Look>,
}

/// The fewest samples on either side at a look.
const SAMPLES_MIN: usize = 16;
/// The fewest groups, for means: fewer have too few of the rare pauses for a t distribution to hold.
const GROUPS_MIN: usize = 48;

impl Sequential {
    /// No samples yet.
    pub fn new(options: Options) -> Self {
        Self {
            options,
            a: Vec::new(),
            b: Vec::new(),
            next_look: match options.location {
                Location::Mean { .. } => GROUPS_MIN,
                Location::Median | Location::Trimmed => SAMPLES_MIN,
            },
            last: None,
        }
    }

    /// Takes more samples and looks, if there are enough new ones. Samples that are not positive and finite are left
    /// out. Once equivalent or different, it stays so.
    pub fn push(&mut self, a: &[f64], b: &[f64]) -> Status {
        if self.status() != Status::Undecided {
            return self.status();
        }
        let usable = |v: &&f64| v.is_finite() && **v > 0.0;
        self.a.extend(a.iter().filter(usable));
        self.b.extend(b.iter().filter(usable));
        let units = self.units();
        if units >= self.next_look {
            self.next_look = units + (units / 4).max(1);
            self.look();
        }
        self.status()
    }

    /// How it stands.
    pub fn status(&self) -> Status {
        self.last.map_or(Status::Undecided, |l| l.status)
    }

    /// The last look; `None` before there were enough samples for one.
    pub fn last(&self) -> Option<Look> {
        self.last
    }

    /// Samples, or whole groups, on the shorter side.
    fn units(&self) -> usize {
        let shorter = self.a.len().min(self.b.len());
        match self.options.location {
            Location::Mean { group } => shorter / group.max(1),
            Location::Median | Location::Trimmed => shorter,
        }
    }

    fn look(&mut self) {
        let number = self.last.map_or(1, |l| l.number + 1);
        let spent = self.options.error / (f64::from(number) * f64::from(number + 1));
        let of = |values: &[f64]| match self.options.location {
            Location::Mean { group } => log_mean(values, group.max(1)),
            Location::Median => log_median(values),
            Location::Trimmed => log_trimmed(values),
        };
        let (Some(a), Some(b)) = (of(&self.a), of(&self.b)) else {
            return;
        };
        let difference = a.value - b.value;
        let (va, vb) = (a.variance, b.variance);
        // Welch-Satterthwaite; no number (then: normal) where both variances are zero.
        let degrees = (va + vb).powi(2) / (va * va / a.degrees + vb * vb / b.degrees);
        let reach = student_quantile(1.0 - spent, degrees) * (va + vb).sqrt();
        let interval = Interval {
            low: difference - reach,
            high: difference + reach,
        };
        self.last = Some(Look {
            status: judge(interval, self.options.margin.max(0.0).ln_1p()),
            ratio: difference.exp(),
            interval: interval.map(f64::exp),
            number,
        });
    }
}

fn judge(interval: Interval, margin: f64) -> Status {
    if -margin < interval.low && interval.high < margin {
        Status::Equivalent
    } else if interval.low > margin || interval.high < -margin {
        Status::Different
    } else {
        Status::Undecided
    }
}

/// The logarithm of a location.
struct Located {
    value: f64,
    variance: f64,
    degrees: f64,
}

/// Of the mean over whole groups; the variance by the delta method.
fn log_mean(values: &[f64], group: usize) -> Option<Located> {
    let means: Vec<f64> = values
        .chunks_exact(group)
        .map(|g| g.iter().sum::<f64>() / group as f64)
        .collect();
    let count = means.len() as f64;
    if means.len() < 2 {
        return None;
    }
    let mean = means.iter().sum::<f64>() / count;
    let squares: f64 = means.iter().map(|m| (m - mean).powi(2)).sum();
    Some(Located {
        value: mean.ln(),
        variance: squares / (count - 1.0) / count / (mean * mean),
        degrees: count - 1.0,
    })
}

/// Of the median; the standard error from the width of its 95 % interval.
fn log_median(values: &[f64]) -> Option<Located> {
    let logs = robust::logs(values);
    let range = robust::median_interval(&logs, 0.95)?;
    let error = (range.high - range.low) / (2.0 * normal_quantile(0.975));
    Some(Located {
        value: robust::median(&logs)?,
        variance: error * error,
        degrees: logs.len() as f64 - 1.0,
    })
}

/// Of the mean of logarithms without the fifth at either end.
fn log_trimmed(values: &[f64]) -> Option<Located> {
    let logs = robust::sorted(&robust::logs(values));
    let cut = logs.len() / 5;
    let kept = logs.get(cut..logs.len() - cut)?;
    let (low, high) = (*kept.first()?, *kept.last()?);
    let (n, h) = (logs.len() as f64, kept.len() as f64);
    if h < 2.0 {
        return None;
    }
    let winsorised = || logs.iter().map(|l| l.clamp(low, high));
    let center = winsorised().sum::<f64>() / n;
    let squares: f64 = winsorised().map(|w| (w - center).powi(2)).sum();
    Some(Located {
        value: kept.iter().sum::<f64>() / h,
        variance: squares / (h * (h - 1.0)),
        degrees: h - 1.0,
    })
}

#[cfg(test)]
#[path = "equivalence_tests.rs"]
mod tests;
