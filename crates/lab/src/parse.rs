//! Reading Fathom's TOML files: error messages with the line and the key.

mod doubt;

use doubt::{MISSING, quotes, suspicion};
use fathom_base::near::meant;
use serde::de::DeserializeOwned;
use std::ops::Range;
use toml::de::{DeTable, DeValue};
use toml::{Table, Value};

/// A fault of a text in TOML.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// The key at fault, after the tables and the numbers of elements that contain it; may end early.
    pub(crate) path: Vec<String>,
    /// The line, counted from 1.
    pub(crate) line: Option<usize>,
    /// What is wrong, and what was probably meant.
    pub(crate) words: String,
}

/// Deserialises a TOML text.
///
/// # Errors
/// The line of the first fault, counted from 1 (where known), and a message with all faults.
pub(crate) fn from_toml<T: DeserializeOwned>(text: &str) -> Result<T, (Option<usize>, String)> {
    match checked(text) {
        (Some(value), faults) if faults.is_empty() => Ok(value),
        (_, faults) => {
            let also = |fault: &Fault| match fault.line {
                Some(line) => format!("also line {line}: {}", fault.words),
                None => format!("also {}", fault.words),
            };
            let first = faults.first();
            let words = first.map(|fault| fault.words.clone()).into_iter();
            let words: Vec<String> = words.chain(faults.iter().skip(1).map(also)).collect();
            Err((first.and_then(|fault| fault.line), words.join("; ")))
        }
    }
}

/// Deserialises a TOML text as far as it can be: without the keys at fault. Returns the faults in the order of the text.
pub(crate) fn checked<T: DeserializeOwned>(text: &str) -> (Option<T>, Vec<Fault>) {
    let error = match toml::from_str(text) {
        Ok(value) => return (Some(value), Vec::new()),
        Err(error) => error,
    };
    let begin = |span: Range<usize>| text.get(..span.start).unwrap_or_default();
    let line = error
        .span()
        .map(|span| begin(span).matches('\n').count() + 1);
    let first = Fault {
        path: Vec::new(),
        line,
        words: in_words(error.message(), None),
    };
    let Ok(table) = text.parse::<Table>() else {
        return (None, vec![first]);
    };
    let (found, left) = found::<T>(&table);
    let fault = |(path, message): (Vec<String>, String)| Fault {
        line: match path.is_empty() {
            true => line.filter(|_| message == error.message()),
            false => line_of(text, &path),
        },
        words: match meant(&message) {
            Some(near) => format!("{}; did you mean `{near}`?", in_words(&message, None)),
            None => in_words(&message, None),
        },
        path,
    };
    let mut faults: Vec<Fault> = found.into_iter().map(fault).collect();
    if faults.is_empty() {
        faults.push(first);
    }
    if faults.iter().all(|fault| fault.line.is_none()) {
        faults[0].line = line;
    }
    faults.sort_by_key(|fault| fault.line.unwrap_or(usize::MAX));
    (left, faults)
}

/// Returns the line of a key, or of the last table or element above it that the text has.
pub(crate) fn line_of(text: &str, path: &[String]) -> Option<usize> {
    let table = DeTable::parse(text).ok()?;
    let mut value = &DeValue::Table(table.into_inner());
    let mut at = None;
    for part in path {
        let next = match value {
            DeValue::Table(table) => {
                let mut keys = table.iter();
                let found = keys.find(|(key, _)| key.get_ref() == part);
                found.map(|(key, value)| (key.span(), value))
            }
            DeValue::Array(array) => {
                let element = part.parse().ok().and_then(|at: usize| array.get(at));
                element.map(|value| (value.span(), value))
            }
            _ => None,
        };
        let Some((span, below)) = next else { break };
        (at, value) = (Some(span.start), below.get_ref());
    }
    Some(text.get(..at?)?.matches('\n').count() + 1)
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
    let (found, wanted) = match message.split_once(", ") {
        Some((found, "there are no fields" | "there are no variants")) => (found, "none"),
        _ => match message
            .split_once(", expected ")
            .or(message.split_once(", wanted "))
        {
            Some(parts) => parts,
            None => return with_key(),
        },
    };
    if let Some(field) = found.strip_prefix("unknown field ") {
        // With the tables above it, if they are known.
        let whole = key.filter(|key| key.ends_with(field.trim_matches('`')));
        let field = whole.map_or_else(|| field.to_owned(), |key| format!("`{key}`"));
        return format!("there is no key {field} here: it takes {wanted}");
    }
    if let Some(length) = found.strip_prefix("invalid length ") {
        let key = key.map_or_else(|| "a list".to_owned(), |key| format!("`{key}`"));
        return format!("{key} has the length {length}: it takes {}", plain(wanted));
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
        "u8" => "a whole number from 0 to 255",
        "u16" => "a whole number from 0 to 65535",
        "u32" => "a whole number from 0 to 4294967295",
        "u64" | "usize" => "a whole number of at least 0",
        "a nonzero u32" => "a whole number from 1 to 4294967295",
        "a nonzero u64" => "a whole number of at least 1",
        "string or table" => "a name, or a table with a name",
        "f32" | "f64" => "a number",
        _ if kind.starts_with("struct ") || kind.contains("tagged enum ") => "a table",
        _ => kind,
    }
}

/// Returns every fault of a table that is to become a `T`: one message for each wrong key, which names the key. Of several
/// missing keys only the first is reported.
pub fn problems<T: DeserializeOwned>(table: &Table) -> Vec<String> {
    let found = found::<T>(table).0.into_iter();
    found.map(|(_, message)| message).collect()
}

/// Returns the faults of a table, each with the path of its key (empty if unknown), and the value without the keys at
/// fault, if there is one.
fn found<T: DeserializeOwned>(table: &Table) -> (Vec<(Vec<String>, String)>, Option<T>) {
    let made = |table: &Table| {
        T::deserialize(Value::Table(table.clone())).map_err(|error| error.message().to_owned())
    };
    let mut table = table.clone();
    let mut found: Vec<(Vec<String>, String)> = Vec::new();
    loop {
        let message = match made(&table) {
            Ok(value) => return (found, Some(value)),
            Err(message) => message,
        };
        if let Some(key) = message
            .strip_prefix(MISSING)
            .and_then(|m| m.split('`').next())
        {
            // The key may be missing only because it was wrong and was removed to find further faults.
            if !found
                .iter()
                .any(|(path, _)| path.last().is_some_and(|last| last == key))
            {
                found.push((Vec::new(), message));
            }
            return (found, None);
        }
        let candidates = leaves(&table).into_iter().filter_map(|path| {
            let mut without = table.clone();
            remove(&mut without, &path);
            suspicion(&table, path, &message, made(&without).err())
        });
        // Where two keys have the same fault, the message remains without either of them.
        let same = || (leaves(&table).into_iter()).find_map(|path| quotes(&table, path, &message));
        let best = candidates.min();
        let Some((doubt, path)) = best.filter(|(doubt, _)| !doubt.excludes()).or_else(same) else {
            found.push((Vec::new(), message));
            return (found, None);
        };
        let key = path.last().map_or("", String::as_str);
        let named = message.starts_with(&format!("unknown field `{key}`"));
        let tag = doubt.needed && message.starts_with("unknown variant");
        let message = match named || tag {
            true => message,
            false => format!("`{key}`: {message}"),
        };
        remove(&mut table, &path);
        found.push((path, message));
    }
}

/// Returns the paths of all keys, except those of non-empty tables and of lists of tables.
fn leaves(table: &Table) -> Vec<Vec<String>> {
    let of_key = |(key, value): (&String, &Value)| below(vec![key.clone()], value);
    table.iter().flat_map(of_key).collect()
}

fn below(path: Vec<String>, value: &Value) -> Vec<Vec<String>> {
    let deeper = |part: String| [&path[..], &[part]].concat();
    match value {
        Value::Table(table) if !table.is_empty() => {
            let below = table
                .iter()
                .map(|(key, value)| below(deeper(key.clone()), value));
            below.flatten().collect()
        }
        Value::Array(array) if array.iter().any(Value::is_table) => {
            let elements = array.iter().enumerate();
            let below = elements.map(|(index, value)| below(deeper(index.to_string()), value));
            below.flatten().collect()
        }
        _ => vec![path],
    }
}

/// Removes a key. Elements of lists stay, so that the others keep their number.
fn remove(table: &mut Table, path: &[String]) {
    let Some((key, above)) = path.split_last() else {
        return;
    };
    let Some((first, rest)) = above.split_first() else {
        table.remove(key);
        return;
    };
    let holder = rest.iter().try_fold(table.get_mut(first), |value, part| {
        Some(match value? {
            Value::Table(table) => table.get_mut(part),
            Value::Array(array) => array.get_mut(part.parse::<usize>().ok()?),
            _ => None,
        })
    });
    if let Some(Some(Value::Table(table))) = holder {
        table.remove(key);
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
        assert_eq!(line, Some(2));
        let all = [
            "there is no key `reed` here",
            "; also line 3: `name`",
            "; also line 4: `jobs` is",
        ];
        told(&words, &all);
        // A fault within a list is found beside others, with its line.
        let step = "[[steps]]\nstep = 'shrink'\ncapacity = '2G'\n";
        let (line, words) = of(&format!(
            "trace = 't'\nreed = 3\n{step}page = 4\n{step}spam = -1"
        ));
        assert_eq!(line, Some(2));
        let all = [
            "also line 6: `page`: `4` has no unit",
            "also line 10: there is no key `spam` here",
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
