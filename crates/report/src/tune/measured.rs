//! The answers of a profile by the name of their parameter, so that a rule needs no list of parameters.

use super::advice::Undecided;
use crate::words;
use fathom_probe::{Estimate, Profile, Value, Verdict};
use std::collections::BTreeMap;

/// The answers for a drive.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured(BTreeMap<String, Estimate>);

/// An identified number.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Known {
    pub(super) parameter: &'static str,
    /// The value, in the parameter's unit.
    pub(super) value: u64,
    /// The ends of the interval; the value without one.
    pub(super) low: u64,
    pub(super) high: u64,
    /// The value with its unit, and with its interval where it has a width.
    pub(super) said: String,
}

impl Measured {
    /// Takes the answers of a profile.
    pub(super) fn of(profile: &Profile) -> Self {
        let answers = profile.parameters.iter();
        Self(
            answers
                .map(|(parameter, estimate)| (parameter.name().to_owned(), estimate.clone()))
                .collect(),
        )
    }

    /// Adds an answer.
    #[cfg(test)]
    pub(super) fn with(mut self, parameter: &str, answer: Estimate) -> Self {
        self.0.insert(parameter.to_owned(), answer);
        self
    }

    pub(super) fn get(&self, parameter: &str) -> Option<&Estimate> {
        self.0.get(parameter)
    }

    /// Returns an identified answer.
    ///
    /// # Errors
    /// Why there is none.
    pub(super) fn identified(&self, parameter: &'static str) -> Result<&Estimate, Undecided> {
        let title = parameter.replace('_', " ");
        let Some(answer) = self.get(parameter) else {
            return Err(Undecided {
                parameter,
                verdict: None,
                why: format!("the {title} was not measured"),
            });
        };
        if answer.verdict == Verdict::Identified {
            return Ok(answer);
        }
        let reason = answer.evidence.reason.trim_end_matches('.');
        let verdict = answer.verdict;
        Err(Undecided {
            parameter,
            verdict: Some(verdict),
            why: format!("the {title} is {verdict}: {reason}"),
        })
    }

    /// Returns an identified number.
    ///
    /// # Errors
    /// Why there is none.
    pub(super) fn known(&self, parameter: &'static str) -> Result<Known, Undecided> {
        let answer = self.identified(parameter)?;
        let Some(value) = answer.value.as_ref().and_then(whole) else {
            let why = format!("the {} is no whole number", parameter.replace('_', " "));
            return Err(Undecided::identified(parameter, why));
        };
        let end = |end: Option<&Value>| end.and_then(whole).unwrap_or(value);
        Ok(Known {
            parameter,
            value,
            low: end(answer.low.as_ref()).min(value),
            high: end(answer.high.as_ref()).max(value),
            said: said(answer),
        })
    }

    /// Returns the first identified of several numbers, each a fallback of the one before.
    ///
    /// # Errors
    /// Why the first is not identified.
    pub(super) fn first(&self, parameters: &[&'static str]) -> Result<Known, Undecided> {
        let mut found = parameters.iter().map(|name| self.known(name));
        let first = found.next().unwrap_or_else(|| self.known(""));
        first.or_else(|why| found.find_map(Result::ok).ok_or(why))
    }

    /// Returns a figure of an identified parameter.
    pub(super) fn figure(&self, parameter: &str, figure: &str) -> Option<f64> {
        let answer = self.get(parameter)?;
        let value = *answer.evidence.figures.get(figure)?;
        (answer.verdict == Verdict::Identified && value.is_finite() && value > 0.0).then_some(value)
    }
}

fn whole(value: &Value) -> Option<u64> {
    let number = value.number()?;
    (0.0..9e18).contains(&number).then_some(number as u64)
}

/// Returns the value in words, with its interval where it has a width.
fn said(answer: &Estimate) -> String {
    let value = words::value(answer);
    let interval = words::interval(answer);
    match interval == value || answer.low.is_none() {
        true => value,
        false => format!("{value} ({interval})"),
    }
}
