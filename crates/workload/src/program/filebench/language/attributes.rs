//! The values of the attributes of a statement, with their types and ranges.

use super::amount::{Amount, Distribution};
use super::error::{ModelError, Problem};
use super::model::{Attribute, Given, Item, Model, Value};
use super::tables::{Use, attribute};
use std::ops::RangeInclusive;

/// Lengths, counts and offsets are at most this.
pub(super) const LARGEST: u64 = 1 << 42;

/// The attributes of one statement or operation.
pub(super) struct Attributes<'a> {
    model: &'a Model,
    item: &'a Item,
}

/// A value with its line.
struct Found {
    line: usize,
    value: Value,
}

impl Found {
    fn bad(&self, name: &str, takes: impl Into<String>) -> ModelError {
        let problem = Problem::Value {
            attribute: name.into(),
            found: self.value.to_string(),
            takes: takes.into(),
        };
        problem.at(self.line)
    }
}

/// The value of what stands behind a `=`; a flag is true.
fn value(model: &Model, given: Option<&Given>) -> Value {
    match given {
        None => Value::Bool(true),
        Some(Given::Value(value)) => value.clone(),
        // The parser has refused variables that are not set.
        Some(Given::Variable(name)) => {
            let value = model.variables.get(name).cloned();
            value.unwrap_or(Value::Number(0))
        }
    }
}

/// A number that stands alone, within a range.
pub(super) fn number(
    model: &Model,
    alone: &Attribute,
    range: RangeInclusive<u64>,
) -> Result<u64, ModelError> {
    let found = Found {
        line: alone.line,
        value: value(model, alone.given.as_ref()),
    };
    within(&found, alone.name, range)
}

fn within(found: &Found, name: &str, range: RangeInclusive<u64>) -> Result<u64, ModelError> {
    match found.value {
        Value::Number(number) if range.contains(&number) => Ok(number),
        _ => Err(found.bad(
            name,
            format!("a number from {} to {}", range.start(), range.end()),
        )),
    }
}

impl<'a> Attributes<'a> {
    /// Reads an item, and refuses the attributes that are not supported, unless they are off.
    pub(super) fn new(model: &'a Model, item: &'a Item) -> Result<Self, ModelError> {
        for given in &item.attributes {
            let known =
                attribute(item.place, given.name).map_err(|problem| problem.at(given.line))?;
            let off = [Value::Number(0), Value::Bool(false)];
            if let Use::Refused(why) = known.treated
                && !off.contains(&value(model, given.given.as_ref()))
            {
                let name = given.name.into();
                return Err(Problem::Refused { name, why }.at(given.line));
            }
        }
        Ok(Self { model, item })
    }

    pub(super) fn line(&self) -> usize {
        self.item.line
    }

    fn find(&self, name: &str) -> Option<Found> {
        let mut all = self.item.attributes.iter();
        let given = all.find(|attribute| attribute.name == name)?;
        Some(Found {
            line: given.line,
            value: value(self.model, given.given.as_ref()),
        })
    }

    /// The line of an attribute; that of the statement if it is not given.
    pub(super) fn line_of(&self, name: &str) -> usize {
        self.find(name).map_or(self.item.line, |found| found.line)
    }

    fn missing(&self, what: &str, attribute: &'static str) -> ModelError {
        let what = what.into();
        Problem::Missing { what, attribute }.at(self.item.line)
    }

    /// A name that must be given.
    pub(super) fn name(&self) -> Result<String, ModelError> {
        let name = self.text("name")?;
        name.ok_or_else(|| self.missing(self.item.place.name(), "name"))
    }

    pub(super) fn text(&self, name: &'static str) -> Result<Option<String>, ModelError> {
        match self.find(name) {
            None => Ok(None),
            Some(Found {
                value: Value::Text(text),
                ..
            }) => Ok(Some(text)),
            Some(found) => Err(found.bad(name, "a text")),
        }
    }

    /// A text that must be given for `what`.
    pub(super) fn wanted_text(&self, what: &str, name: &'static str) -> Result<String, ModelError> {
        self.text(name)?.ok_or_else(|| self.missing(what, name))
    }

    pub(super) fn number(
        &self,
        name: &'static str,
        range: RangeInclusive<u64>,
        default: u64,
    ) -> Result<u64, ModelError> {
        let found = self.find(name);
        found.map_or(Ok(default), |found| within(&found, name, range))
    }

    /// A number that must be given for `what`.
    pub(super) fn wanted_number(
        &self,
        what: &str,
        name: &'static str,
        range: RangeInclusive<u64>,
    ) -> Result<u64, ModelError> {
        match self.find(name) {
            Some(found) => within(&found, name, range),
            None => Err(self.missing(what, name)),
        }
    }

    /// A percentage; a flag is 100 or 0.
    pub(super) fn percent(&self, name: &'static str) -> Result<u64, ModelError> {
        match self.find(name) {
            Some(Found {
                value: Value::Bool(all),
                ..
            }) => Ok(if all { 100 } else { 0 }),
            _ => self.number(name, 0..=100, 0),
        }
    }

    pub(super) fn flag(&self, name: &'static str) -> Result<bool, ModelError> {
        match self.find(name) {
            None => Ok(false),
            Some(Found {
                value: Value::Bool(flag),
                ..
            }) => Ok(flag),
            Some(Found {
                value: Value::Number(number),
                ..
            }) => Ok(number != 0),
            Some(found) => Err(found.bad(name, "true, false or a number")),
        }
    }

    pub(super) fn amount(&self, name: &'static str, default: u64) -> Result<Amount, ModelError> {
        match self.find(name) {
            Some(Found {
                value: Value::Random(random),
                ..
            }) if random.min <= LARGEST => {
                let max = random.max.min(LARGEST);
                Ok(Amount::Random(Distribution { max, ..random }))
            }
            Some(found) if matches!(found.value, Value::Random(_)) => {
                Err(found.bad(name, format!("a cvar with a `min` of at most {LARGEST}")))
            }
            _ => Ok(Amount::Fixed(self.number(name, 0..=LARGEST, default)?)),
        }
    }
}
