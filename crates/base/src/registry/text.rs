//! Parsing of names, and of names with settings, as users write them.

use super::Named;
use crate::near::{did_you_mean, meant, nearest};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt;
use toml::{Table, Value};

/// The error for an unknown name, or a name with invalid settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadName {
    /// The kind that was expected, such as `scheduler`.
    pub kind: &'static str,
    /// The text as given.
    pub said: String,
    /// The problem with the settings; `None` if the name is unknown.
    pub problem: Option<String>,
    /// The nearest names, best first.
    pub near: Vec<String>,
}

impl BadName {
    /// Creates the error for an unknown name. `list` must not be empty.
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
    /// Returns the message without suggestions.
    pub fn message(&self) -> String {
        match &self.problem {
            Some(problem) => format!("{} `{}`: {problem}", self.kind, self.said),
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

/// Returns the thing of that name in a list.
pub fn find<'a>(list: &'a [Named], name: &str) -> Option<&'a Named> {
    list.iter().find(|named| named.name == name)
}

/// Parses `NAME,KEY=VALUE,...`: a thing of a list with settings.
///
/// # Errors
/// Returns [`BadName`] with the text and the nearest names, or with the problem of a setting.
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

/// Splits `NAME,KEY=VALUE,...` at its commas, but not inside quotes, brackets or braces of a value. Text in which these
/// are not closed is split at every comma.
fn parts(text: &str) -> Vec<&str> {
    let (mut parts, mut start) = (Vec::new(), 0);
    let (mut depth, mut quote) = (0_u32, None);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), _) if open == c => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth = depth.saturating_sub(1),
            (None, ',') if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            (None, _) => {}
        }
    }
    if depth > 0 || quote.is_some() {
        return text.split(',').collect();
    }
    parts.push(&text[start..]);
    parts
}

/// Converts `NAME,KEY=VALUE,...` to the form used in files, with the name under `tag`. A value is TOML, which may have
/// commas of its own, or otherwise unquoted text; a key without a value is left out.
///
/// # Errors
/// Returns the setting that has no `=`, or whose key is given twice or is the `tag`.
pub fn table(tag: &str, text: &str) -> Result<Table, String> {
    let mut parts = parts(text).into_iter();
    let mut table = Table::new();
    table.insert(tag.into(), parts.next().unwrap_or_default().trim().into());
    for part in parts {
        let (key, value_text) = part
            .split_once('=')
            .ok_or_else(|| format!("`{part}` is no setting: write KEY=VALUE"))?;
        let (key, value_text) = (key.trim(), value_text.trim());
        if table.contains_key(key) {
            return Err(format!("`{key}` is given twice"));
        }
        if !value_text.is_empty() {
            table.insert(key.into(), value(value_text));
        }
    }
    Ok(table)
}

/// Parses a value from the command line: TOML, or otherwise unquoted text.
pub fn value(text: &str) -> Value {
    let parsed = format!("value = {text}").parse::<Table>();
    parsed
        .ok()
        .and_then(|mut table| table.remove("value"))
        .unwrap_or_else(|| Value::String(text.to_owned()))
}

/// Returns the default settings of a thing: those of its example or, without one, of its name.
pub fn settings<T>(example: &str, name: &str) -> Table
where
    T: Serialize + std::str::FromStr,
{
    let text = if example.is_empty() { name } else { example };
    let made = text.parse::<T>();
    made.map_or_else(|_| Table::new(), |made| table_of(&made))
}

/// Converts settings to a table; empty if TOML cannot express them.
pub fn table_of(settings: &impl Serialize) -> Table {
    Table::try_from(settings).unwrap_or_default()
}
