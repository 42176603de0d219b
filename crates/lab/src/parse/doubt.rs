//! Which key a message of serde is about, judged from what it says and from what remains without the key.

use toml::{Table, Value};

/// The start of serde's message for a missing key.
pub(super) const MISSING: &str = "missing field `";

/// Reasons against a key being the one that a message is about. The least doubt sorts first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Doubt {
    /// The message does not quote the key's value.
    pub(super) unquoted: bool,
    /// The key is required: without it, serde reports it as missing instead.
    pub(super) needed: bool,
}

impl Doubt {
    /// Returns true if nothing speaks for the key: another message remains without it only because it is required.
    pub(super) fn excludes(self) -> bool {
        self.unquoted && self.needed
    }
}

/// Returns a key whose value the message begins with.
pub(super) fn quotes(
    table: &Table,
    path: Vec<String>,
    message: &str,
) -> Option<(Doubt, Vec<String>)> {
    let value = value_at(table, &path)?.to_string();
    let doubt = Doubt {
        unquoted: false,
        needed: false,
    };
    (message.starts_with(&format!("`{value}` "))).then_some((doubt, path))
}

/// Judges whether a key may be the faulty one. `without` is the message that remains once the key is removed, or `None` if
/// no fault remains.
pub(super) fn suspicion(
    table: &Table,
    path: Vec<String>,
    message: &str,
    without: Option<String>,
) -> Option<(Doubt, Vec<String>)> {
    if without.as_deref() == Some(message) {
        return None;
    }
    let key = path.last().map_or("", String::as_str);
    let value = value_at(table, &path).map_or_else(String::new, |value| match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    });
    // What was found: what is accepted may be the values of other keys.
    let found = [", expected ", ", wanted "]
        .iter()
        .find_map(|s| message.split_once(s));
    let found = found.map_or(message, |(found, _)| found);
    let quoted = |text: &str| {
        let marks = ['`', '"'].map(|mark| format!("{mark}{text}{mark}"));
        marks.iter().any(|marked| found.contains(marked))
    };
    let doubt = Doubt {
        unquoted: !quoted(&value) && !quoted(key),
        needed: without.is_some_and(|m| m.starts_with(&format!("{MISSING}{key}`"))),
    };
    Some((doubt, path))
}

fn value_at<'a>(table: &'a Table, path: &[String]) -> Option<&'a Value> {
    let (first, below) = path.split_first()?;
    below
        .iter()
        .try_fold(table.get(first)?, |value, part| match value {
            Value::Table(table) => table.get(part),
            Value::Array(array) => array.get(part.parse::<usize>().ok()?),
            _ => None,
        })
}
