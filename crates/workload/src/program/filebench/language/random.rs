//! Reads `cvar(type=...,parameters=NAME:VALUE;...,min=...,max=...,round=...)`.

use super::amount::{Distribution, Shape};
use super::error::Problem;
use super::model::Value;

/// The types with their parameters and defaults, as in filebench's `cvars/*.h`.
const TYPES: [(&str, &[(&str, f64)]); 4] = [
    ("cvar-gamma", &[("mean", 4096.0), ("gamma", 1.5)]),
    ("cvar-uniform", &[("lower", 0.0), ("upper", 1.0)]),
    ("cvar-exponential", &[("mean", 1.0)]),
    ("cvar-normal", &[("mean", 0.0), ("sigma", 1.0)]),
];

/// Parameters are at most this large.
const PARAMETER_MAX: f64 = 1e15;

/// Makes the distribution of these keys.
pub(super) fn distribution(keys: &[(String, Value)]) -> Result<Distribution, Problem> {
    let (mut kind, mut parameters) = (None, "");
    let (mut min, mut max, mut round) = (0, u64::MAX, 0);
    for (at, (key, value)) in keys.iter().enumerate() {
        if keys[..at].iter().any(|(other, _)| other == key) {
            return Err(Problem::Twice { name: key.clone() });
        }
        match (key.as_str(), value) {
            ("type", Value::Text(name)) => kind = Some(name.as_str()),
            ("parameters", Value::Text(text)) => parameters = text,
            ("min", Value::Number(number)) => min = *number,
            ("max", Value::Number(number)) => max = *number,
            ("round", Value::Number(number)) => round = *number,
            ("type" | "parameters", _) => return Err(bad(key, value, "a text")),
            ("min" | "max" | "round", _) => return Err(bad(key, value, "a number")),
            _ => {
                return Err(Problem::Unknown {
                    what: "key of cvar",
                    name: key.clone(),
                    known: "type, parameters, min, max, round".into(),
                });
            }
        }
    }
    let kind = kind.ok_or_else(|| Problem::Missing {
        what: "cvar".into(),
        attribute: "type",
    })?;
    if min > max {
        return Err(bad("min", min, "at most `max`"));
    }
    Ok(Distribution {
        shape: shape(kind, parameters)?,
        min,
        max,
        round,
    })
}

fn bad(key: &str, found: impl ToString, takes: &str) -> Problem {
    Problem::Value {
        attribute: key.into(),
        found: found.to_string(),
        takes: takes.into(),
    }
}

fn shape(kind: &str, parameters: &str) -> Result<Shape, Problem> {
    let Some((_, defaults)) = TYPES.iter().find(|(name, _)| *name == kind) else {
        return Err(Problem::Unknown {
            what: "type of cvar",
            name: kind.into(),
            known: TYPES.map(|(name, _)| name).join(", "),
        });
    };
    let mut values: Vec<f64> = defaults.iter().map(|(_, value)| *value).collect();
    for part in parameters.split(';').filter(|part| !part.is_empty()) {
        let (name, text) = part.split_once(':').unwrap_or((part, ""));
        let Some(at) = defaults.iter().position(|(own, _)| *own == name) else {
            let names: Vec<&str> = defaults.iter().map(|(name, _)| *name).collect();
            return Err(Problem::Unknown {
                what: "parameter of this cvar",
                name: name.into(),
                known: names.join(", "),
            });
        };
        let number = text.parse::<f64>().ok();
        let number = number.filter(|number| number.abs() <= PARAMETER_MAX);
        values[at] =
            number.ok_or_else(|| bad(name, format!("`{text}`"), "a number of at most 1e15"))?;
    }
    made(kind, values[0], values.get(1).copied().unwrap_or(0.0))
}

/// Makes the distribution of a type from its parameters, in the order of [`TYPES`].
fn made(kind: &str, first: f64, second: f64) -> Result<Shape, Problem> {
    let holds = |holds: bool, key, found, takes| match holds {
        true => Ok(()),
        false => Err(bad(key, found, takes)),
    };
    match kind {
        "cvar-gamma" => {
            holds(first > 0.0, "mean", first, "more than 0")?;
            holds(second >= 0.001, "gamma", second, "at least 0.001")?;
            let (mean, gamma) = (first, second);
            Ok(Shape::Gamma { mean, gamma })
        }
        "cvar-uniform" => {
            holds(first <= second, "lower", first, "at most `upper`")?;
            let (lower, upper) = (first, second);
            Ok(Shape::Uniform { lower, upper })
        }
        "cvar-exponential" => {
            holds(first >= 0.0, "mean", first, "at least 0")?;
            Ok(Shape::Exponential { mean: first })
        }
        _ => {
            holds(second >= 0.0, "sigma", second, "at least 0")?;
            let (mean, sigma) = (first, second);
            Ok(Shape::Normal { mean, sigma })
        }
    }
}
