//! A text as it was read: variables, definitions and their attributes, each with its line.

use super::amount::Distribution;
use super::error::{ModelError, Problem};
use super::tables::Place;
use super::workload::{Kind, Quit};
use std::collections::BTreeMap;
use std::fmt;

/// A text in the workload model language, after its grammar. [`Model::set`] changes variables, [`Model::workload`] checks
/// the rest.
///
/// As in filebench, an attribute that names a variable has the value that the variable has at `run`, but the variable
/// must be set before.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    pub(super) variables: BTreeMap<String, Value>,
    pub(super) file_sets: Vec<Item>,
    pub(super) processes: Vec<Process>,
    pub(super) event_rate: Option<Attribute>,
    pub(super) run: Option<Run>,
    pub(super) quit: Quit,
}

/// The value of a variable.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number.
    Number(u64),
    /// `true` or `false`.
    Bool(bool),
    /// A text, with or without quotes.
    Text(String),
    /// A `cvar`.
    Random(Distribution),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Text(text) => write!(f, "\"{text}\""),
            Self::Random(_) => write!(f, "a cvar"),
        }
    }
}

/// What stands behind a `=`.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Given {
    Value(Value),
    Variable(String),
}

/// An attribute; `given` is missing for a flag.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Attribute {
    pub(super) line: usize,
    pub(super) name: &'static str,
    pub(super) given: Option<Given>,
}

/// A definition or an operation.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Item {
    pub(super) line: usize,
    pub(super) place: Place,
    pub(super) attributes: Vec<Attribute>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Process {
    pub(super) item: Item,
    pub(super) threads: Vec<Thread>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Thread {
    pub(super) item: Item,
    pub(super) flowops: Vec<Operation>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Operation {
    pub(super) kind: Kind,
    pub(super) item: Item,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Run {
    pub(super) line: usize,
    pub(super) seconds: Option<Given>,
}

impl Model {
    /// Changes a variable, as if its `set` had this value.
    ///
    /// # Errors
    /// The text has no such variable; the line is that of `run`.
    pub fn set(&mut self, name: &str, value: Value) -> Result<(), ModelError> {
        let line = self.run.as_ref().map_or(1, |run| run.line);
        let known = self.known();
        match self.variables.get_mut(name) {
            Some(own) => {
                *own = value;
                Ok(())
            }
            None => Err(undefined(name, known).at(line)),
        }
    }

    pub(super) fn known(&self) -> String {
        let names: Vec<String> = self
            .variables
            .keys()
            .map(|name| format!("${name}"))
            .collect();
        match names.is_empty() {
            true => "none".into(),
            false => names.join(", "),
        }
    }
}

/// The error for a variable that is not set.
pub(super) fn undefined(name: &str, known: String) -> Problem {
    Problem::Unknown {
        what: "variable",
        name: format!("${name}"),
        known,
    }
}
