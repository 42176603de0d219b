//! Why a measurement has no result.

use fathom_hostio::HostError;
use fathom_report::platform::Missing;

/// The reason why a measurement has no result.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// A target cannot be measured.
    #[error(transparent)]
    Host(#[from] HostError),
    /// No read ended within the time of a part.
    #[error("no read ended in the time of this part; give it more: --time")]
    NoRead,
    /// The cost does not follow the length.
    #[error(
        "the cost of a buffered read beyond a direct one is no line over its length; repeat it on a quiet machine"
    )]
    NoLine,
    /// No figure could be measured.
    #[error("nothing could be measured: {}; {}", .0.what, .0.help)]
    Nothing(Missing),
    /// The user ended it.
    #[error("interrupted")]
    Interrupted,
    /// A thread that measured ended without a result.
    #[error("a thread that measured has ended without a result; please report this")]
    Ended,
}

/// A result, or else an entry of what is missing.
pub(super) fn or_missing<T>(
    found: Result<T, MeasureError>,
    what: &str,
    missing: &mut Vec<Missing>,
) -> Result<Option<T>, MeasureError> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(MeasureError::Host(error)) => {
            note(missing, self::missing(what, &error));
            Ok(None)
        }
        Err(error @ (MeasureError::NoRead | MeasureError::NoLine)) => {
            note(missing, split(what, &error.to_string()));
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Adds an entry, to one that has the same reason if there is one.
fn note(all: &mut Vec<Missing>, new: Missing) {
    let reason = |one: &Missing| one.what.split_once(": ").map(|(_, why)| why.to_owned());
    let why = reason(&new);
    let name = new.what.split(": ").next().unwrap_or_default();
    match all
        .iter_mut()
        .find(|one| why.is_some() && reason(one) == why)
    {
        Some(one) if one.what.starts_with(name) => {}
        Some(one) => one.what = one.what.replacen(": ", &format!("; {name}: "), 1),
        None => all.push(new),
    }
}

/// What an error leaves out, and its advice, which follows a semicolon in the message.
pub(super) fn missing(what: &str, error: &HostError) -> Missing {
    split(what, &error.to_string())
}

fn split(what: &str, said: &str) -> Missing {
    let (why, help) = said.split_once("; ").unwrap_or((said, ""));
    Missing {
        what: format!("{what}: {why}"),
        help: help.to_owned(),
    }
}

/// Most that tracing may add to a figure, and least: a traced load that is faster was another one. Shares of the figure.
const ADDED: std::ops::RangeInclusive<f64> = -0.1..=1.0;
/// Fewest reads that are divided.
const READS_MIN: usize = 200;

/// Returns why the division of a figure cannot be trusted, if that is so.
pub(super) fn doubt(untraced: f64, traced: f64, reads: usize) -> Option<String> {
    if reads < READS_MIN {
        return Some(format!("{reads} reads were traced, fewer than {READS_MIN}"));
    }
    let added = traced / untraced - 1.0;
    (!ADDED.contains(&added)).then(|| {
        let percent = 100.0 * added;
        format!(
            "the traced load differs by {percent:+.0} %, which is more than its division can bear"
        )
    })
}

/// Most that the phases may miss the latency by, as a share of it.
const APART: f64 = 0.1;

/// Returns how far the phases miss the latency, if that is too much: then the machine was not the same in both.
pub(super) fn apart(sum: f64, latency: f64) -> Option<String> {
    let more = sum / latency - 1.0;
    (more.is_nan() || more.abs() > APART).then(|| {
        let percent = 100.0 * more;
        format!("the phases differ from the latency without tracing by {percent:+.0} %; repeat it")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_that_miss_the_latency_are_none() {
        assert_eq!(apart(95.0, 100.0), None);
        assert!(apart(119.0, 100.0).unwrap().contains("+19 %"));
        assert!(apart(85.0, 100.0).unwrap().contains("-15 %"));
        assert!(apart(0.0, 0.0).is_some());
    }

    #[test]
    fn one_reason_is_told_once() {
        let missing = |what: &str| Missing {
            what: what.into(),
            ..Missing::default()
        };
        let mut all = vec![missing("libaio, direct: /dev/x: no")];
        note(&mut all, missing("pread, direct: /dev/x: no"));
        note(&mut all, missing("libaio, direct: /dev/x: no"));
        note(&mut all, missing("copies: /dev/y: no"));
        let told: Vec<&str> = all.iter().map(|one| &*one.what).collect();
        assert_eq!(
            told,
            [
                "libaio, direct; pread, direct: /dev/x: no",
                "copies: /dev/y: no"
            ]
        );
    }

    #[test]
    fn a_division_is_told_only_if_both_loads_are_alike() {
        assert_eq!(doubt(100.0, 150.0, 1_000), None);
        assert_eq!(doubt(100.0, 95.0, 1_000), None);
        assert!(doubt(100.0, 250.0, 1_000).unwrap().contains("+150 %"));
        assert!(doubt(100.0, 60.0, 1_000).unwrap().contains("-40 %"));
        assert!(doubt(100.0, 110.0, 41).unwrap().starts_with("41 reads"));
        assert!(doubt(0.0, 0.0, 1_000).is_some());
    }
}
