//! Reading a file of ours: what is wrong with it, and in which line.

use serde::de::DeserializeOwned;
use toml::{Table, Value};

/// What begins serde's message of a key that is needed.
const MISSING: &str = "missing field `";

/// What a TOML text says.
///
/// # Errors
/// The line, counted from 1, and what is wrong there.
pub(crate) fn from_toml<T: DeserializeOwned>(text: &str) -> Result<T, (Option<usize>, String)> {
    toml::from_str(text).map_err(|error| {
        let before = |at: usize| text.get(..at).unwrap_or_default();
        let line = error
            .span()
            .map(|span| before(span.start).matches('\n').count() + 1);
        (line, error.message().to_owned())
    })
}

/// Everything that is wrong with a table that a `T` is made of: one message for each key, which names it. Of keys that are missing
/// the first is told.
pub fn problems<T: DeserializeOwned>(table: &Table) -> Vec<String> {
    let first = |table: &Table| {
        let made = T::deserialize(Value::Table(table.clone()));
        made.err().map(|error| error.message().to_owned())
    };
    let mut table = table.clone();
    let (mut found, mut taken) = (Vec::new(), Vec::new());
    while let Some(message) = first(&table) {
        if let Some(key) = message
            .strip_prefix(MISSING)
            .and_then(|m| m.split('`').next())
        {
            // A wrong one was taken away to see what else is wrong.
            if !taken
                .iter()
                .any(|path: &Vec<String>| path.last().is_some_and(|last| last == key))
            {
                found.push(message);
            }
            break;
        }
        let candidates = leaves(&table).into_iter().filter_map(|path| {
            let mut without = table.clone();
            remove(&mut without, &path);
            suspicion(&table, path, &message, first(&without))
        });
        let Some((doubt, path)) = candidates.min() else {
            found.push(message);
            break;
        };
        let key = path.last().map_or("", String::as_str);
        let named = message.starts_with(&format!("unknown field `{key}`"));
        let tag = doubt.needed && message.starts_with("unknown variant");
        found.push(match named || tag {
            true => message,
            false => format!("`{key}`: {message}"),
        });
        remove(&mut table, &path);
        taken.push(path);
    }
    found
}

/// Why a key may not be what a message is about; the order is that of suspicion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Doubt {
    /// The message does not quote its value.
    unquoted: bool,
    /// There has to be one: without it that is told instead.
    needed: bool,
}

/// Whether a key may be what is wrong: without it there is another fault, `without`, or none.
fn suspicion(
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
    let quoted = |text: &str| {
        let marks = ['`', '"'].map(|mark| format!("{mark}{text}{mark}"));
        marks.iter().any(|marked| message.contains(marked))
    };
    let doubt = Doubt {
        unquoted: !quoted(&value) && !quoted(key),
        needed: without.is_some_and(|m| m.starts_with(&format!("{MISSING}{key}`"))),
    };
    Some((doubt, path))
}

fn value_at<'a>(table: &'a Table, path: &[String]) -> Option<&'a Value> {
    let (key, above) = path.split_last()?;
    let table = above
        .iter()
        .try_fold(table, |table, key| table.get(key)?.as_table())?;
    table.get(key)
}

/// The keys of a table that hold no table, each with those above it.
fn leaves(table: &Table) -> Vec<Vec<String>> {
    let below = |(key, value): (&String, &Value)| match value {
        Value::Table(table) if !table.is_empty() => leaves(table)
            .into_iter()
            .map(|path| [vec![key.clone()], path].concat())
            .collect(),
        _ => vec![vec![key.clone()]],
    };
    table.iter().flat_map(below).collect()
}

fn remove(table: &mut Table, path: &[String]) {
    match path {
        [] => {}
        [key] => {
            table.remove(key);
        }
        [key, below @ ..] => {
            if let Some(Value::Table(table)) = table.get_mut(key) {
                remove(table, below);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_workload::step::Step;

    #[test]
    fn every_wrong_key_is_told_by_its_name() {
        let of = |text: &str| problems::<Step>(&text.parse().unwrap());
        assert!(of("step = 'shrink'\ncapacity = '2G'").is_empty());
        let all = of("step = 'shrink'\ncapacity = 2\npage = 'four'\nspam = 1");
        assert_eq!(all.len(), 3, "{all:?}");
        let told = |words: &str| all.iter().any(|message| message.contains(words));
        assert!(told("`capacity`: `2` has no unit"), "{all:?}");
        assert!(told("`page`: `four` is not a length"), "{all:?}");
        assert!(told("unknown field `spam`"), "{all:?}");
        assert_eq!(of("step = 'shrink'"), ["missing field `capacity`"]);
        let unknown = of("step = 'shrnk'\ncapacity = 2");
        assert!(
            unknown[0].starts_with("unknown variant `shrnk`"),
            "{unknown:?}"
        );
        let queue =
            "scheduler = { name = 'mq-deadline', read_expire = 5, fifo_batch = 'x' }\ndepth = 'y'";
        let all = problems::<fathom_iosched::QueueConfig>(&queue.parse().unwrap());
        assert_eq!(all.len(), 3, "{all:?}");
        assert!(
            all.contains(&"`read_expire`: `5` has no unit: give one, such as 5us".into()),
            "{all:?}"
        );
    }
}
