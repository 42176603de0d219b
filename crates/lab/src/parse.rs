//! Reading Fathom's TOML files: error messages with the line and the key.

use fathom_base::near::meant;
use serde::de::DeserializeOwned;
use toml::{Table, Value};

/// The start of serde's message for a missing key.
const MISSING: &str = "missing field `";

/// Deserialises a TOML text.
///
/// # Errors
/// The line, counted from 1 (where known), and a message that says what is wrong there.
pub(crate) fn from_toml<T: DeserializeOwned>(text: &str) -> Result<T, (Option<usize>, String)> {
    toml::from_str(text).map_err(|error| {
        let span = error.span();
        let before = span.map(|span| text.get(..span.start).unwrap_or_default());
        let line = before.map(|before| before.matches('\n').count() + 1);
        let mut words = in_words(error.message(), before.and_then(key_at_end));
        if let Some(near) = meant(error.message()) {
            words += &format!("; did you mean `{near}`?");
        }
        for other in others::<T>(text, error.message()) {
            words += &format!("; also {other}");
        }
        (line, words)
    })
}

/// What is wrong with a text besides the `first` fault.
fn others<T: DeserializeOwned>(text: &str, first: &str) -> Vec<String> {
    let all = text.parse().map(|table| problems::<T>(&table));
    let all = all.unwrap_or_default().into_iter();
    let others = all.filter(|message| !message.ends_with(first));
    others.map(|message| in_words(&message, None)).collect()
}

/// Returns the key at the end of a text that stops before the key's value.
fn key_at_end(text: &str) -> Option<&str> {
    let key = text.trim_end().strip_suffix('=')?.trim_end();
    let begins = key.rfind(|c: char| c.is_whitespace() || "{,.".contains(c));
    Some(&key[begins.map_or(0, |at| at + 1)..])
}

/// Rewrites a message of serde in plain words: the key, the fault, and what the key accepts. A message of [`problems`]
/// names the key itself.
pub fn in_words(message: &str, key: Option<&str>) -> String {
    let named = message.strip_prefix('`').and_then(|m| m.split_once("`: "));
    let (key, message) = named.map_or((key, message), |(key, message)| (Some(key), message));
    let with_key = || key.map_or_else(|| message.to_owned(), |key| format!("`{key}`: {message}"));
    if let Some(key) = message.strip_prefix(MISSING) {
        return format!("the key `{} is missing", key);
    }
    let Some((found, wanted)) = message.split_once(", expected ") else {
        return with_key();
    };
    if let Some(field) = found.strip_prefix("unknown field ") {
        // With the tables above it, if they are known.
        let whole = key.filter(|key| key.ends_with(field.trim_matches('`')));
        let field = whole.map_or_else(|| field.to_owned(), |key| format!("`{key}`"));
        return format!("there is no key {field} here: it takes {wanted}");
    }
    let kinds = ["unknown variant ", "invalid type: ", "invalid value: "];
    let Some(found) = kinds.iter().find_map(|kind| found.strip_prefix(kind)) else {
        return with_key();
    };
    let key = key.map_or_else(|| "a value".to_owned(), |key| format!("`{key}`"));
    format!("{key} is {}: it takes {}", plain(found), plain(wanted))
}

/// Translates serde's name for a type to TOML's terms.
fn plain(kind: &str) -> &str {
    match kind {
        "map" | "a map" => "a table",
        "sequence" | "a sequence" => "a list",
        "a boolean" => "true or false",
        "u8" | "u16" | "u32" | "u64" | "usize" | "a nonzero u32" | "a nonzero u64" => {
            "a whole number"
        }
        "f32" | "f64" => "a number",
        _ if kind.starts_with("struct ") || kind.contains("tagged enum ") => "a table",
        _ => kind,
    }
}

/// Returns every fault of a table that is to become a `T`: one message for each wrong key, which names the key. Of several
/// missing keys only the first is reported.
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
            // The key may be missing only because it was wrong and was removed to find further faults.
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

/// Reasons against a key being the one that a message is about. The least doubt sorts first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Doubt {
    /// The message does not quote the key's value.
    unquoted: bool,
    /// The key is required: without it, serde reports it as missing instead.
    needed: bool,
}

/// Judges whether a key may be the faulty one. `without` is the message that remains once the key is removed, or `None` if
/// no fault remains.
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

/// Returns the paths of all keys, except those of non-empty tables.
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
    fn what_serde_says_is_told_with_the_key_and_what_would_do() {
        let of = |text: &str| from_toml::<crate::source::Workload>(text).unwrap_err();
        let steps = |step: &str| of(&format!("trace = 't'\nsteps = [{{ {step} }}]")).1;
        let told = |words: &str, all: &[&str]| {
            for one in all {
                assert!(words.contains(one), "{one} in {words}");
            }
            for serde in ["unknown", "invalid", "missing field", "struct", "u64"] {
                assert!(!words.contains(serde), "{words}");
            }
        };
        let (line, words) = of("generate = { generator = 'uniform', accesses = 'many' }");
        assert_eq!(line, Some(1));
        told(&words, &["is string \"many\": it takes a whole number"]);
        told(&of("trace = 5").1, &["`trace` is integer `5`: it takes"]);
        told(&of("trace = 't'\nread = 3").1, &["it takes a table"]);
        let (line, words) = of("trce = 't'");
        assert_eq!(line, Some(1));
        told(&words, &["no key `trce` here", "did you mean `trace`?"]);
        told(
            &steps("step = 'shrnk'"),
            &["is `shrnk`: it takes one of `", "did you mean `shrink`?"],
        );
        told(
            &steps("step = 'first', acesses = 5"),
            &["no key `acesses` here", "did you mean `accesses`?"],
        );
        told(&steps("step = 'first'"), &["the key `accesses` is missing"]);
        let (line, words) = of("trace = 't'\nreed = 3\nname = 4\njobs = 5");
        // Keys are read in alphabetical order.
        assert_eq!(line, Some(4));
        let all = [
            "`jobs` is",
            "; also `name`",
            "; also there is no key `reed` here",
        ];
        told(&words, &all);
    }

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
