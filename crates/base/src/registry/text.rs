//! Names, and names with settings, as a user writes them.

use super::Named;
use crate::near::{did_you_mean, meant, nearest};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt;
use toml::{Table, Value};

/// A text that names nothing of a kind, or has settings that cannot be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadName {
    /// What it was to be one of, such as `scheduler`.
    pub kind: &'static str,
    /// What was said.
    pub said: String,
    /// What is wrong with the settings; `None` where the name is not known.
    pub problem: Option<String>,
    /// The nearest names, best first.
    pub near: Vec<String>,
}

impl BadName {
    /// No thing of a list, which has at least one, has this name.
    pub fn unknown<'a>(said: &str, list: impl IntoIterator<Item = &'a Named>) -> Self {
        let mut list = list.into_iter().peekable();
        let kind = list.peek().map_or("", |named| named.kind.one);
        let near = nearest(said, list.map(|named| named.name));
        Self {
            kind,
            said: said.to_owned(),
            problem: None,
            near: near.into_iter().map(str::to_owned).collect(),
        }
    }
}

impl BadName {
    /// What is wrong, without what is near.
    pub fn message(&self) -> String {
        match &self.problem {
            Some(problem) => format!("`{}` is no {}: {problem}", self.said, self.kind),
            None => format!("there is no {} `{}`", self.kind, self.said),
        }
    }
}

impl fmt::Display for BadName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message())?;
        match did_you_mean(&self.near) {
            Some(question) => write!(f, "; {question}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for BadName {}

/// The thing of that name in a list.
pub fn find<'a>(list: &'a [Named], name: &str) -> Option<&'a Named> {
    list.iter().find(|named| named.name == name)
}

/// Reads `NAME,KEY=VALUE,...`: one of a list, with settings.
///
/// # Errors
/// [`BadName`]: what was said, and what is near, or what is wrong with a setting.
pub fn parse<T: DeserializeOwned>(list: &[Named], tag: &str, text: &str) -> Result<T, BadName> {
    let name = text.split(',').next().unwrap_or_default().trim();
    let unknown = BadName::unknown(name, list);
    if find(list, name).is_none() {
        return Err(unknown);
    }
    let made = table(tag, text).and_then(|table| {
        T::deserialize(Value::Table(table)).map_err(|error| error.message().to_owned())
    });
    made.map_err(|problem| BadName {
        said: text.to_owned(),
        near: meant(&problem).into_iter().collect(),
        problem: Some(problem),
        ..unknown
    })
}

/// `NAME,KEY=VALUE,...` as a file has it, with the name under `tag`. A value is TOML, or else text without quotes; a key
/// without one is left out.
///
/// # Errors
/// Which setting has no `=`.
pub fn table(tag: &str, text: &str) -> Result<Table, String> {
    let mut parts = text.split(',');
    let mut table = Table::new();
    table.insert(tag.into(), parts.next().unwrap_or_default().trim().into());
    for part in parts {
        let (key, value_text) = part
            .split_once('=')
            .ok_or_else(|| format!("`{part}` is no setting: write KEY=VALUE"))?;
        if !value_text.trim().is_empty() {
            table.insert(key.trim().into(), value(value_text.trim()));
        }
    }
    Ok(table)
}

/// A value as the command line has it: TOML, or else text without its quotes.
pub fn value(text: &str) -> Value {
    let parsed = format!("value = {text}").parse::<Table>();
    parsed
        .ok()
        .and_then(|mut table| table.remove("value"))
        .unwrap_or_else(|| Value::String(text.to_owned()))
}

/// The settings of a thing where nothing is said but what its example, or its name, says.
pub fn settings<T>(example: &str, name: &str) -> Table
where
    T: Serialize + std::str::FromStr,
{
    let text = if example.is_empty() { name } else { example };
    let made = text.parse::<T>();
    made.map_or_else(|_| Table::new(), |made| table_of(&made))
}

/// Settings as a table; empty for what TOML cannot say.
pub fn table_of(settings: &impl Serialize) -> Table {
    Table::try_from(settings).unwrap_or_default()
}
