//! Checks output against the JSON Schema in docs/schema, with the keywords used there (JSON Schema, draft 2020-12).

use serde_json::Value;

/// Returns the schema of this name.
fn schema(name: &str) -> Value {
    let path = format!(
        "{}/../../docs/schema/{name}.json",
        env!("CARGO_MANIFEST_DIR")
    );
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    serde_json::from_str(&text).unwrap()
}

/// Fails if an output violates the schema or has a key that the schema does not describe.
pub(crate) fn check(name: &str, output: &Value) {
    let mut wrong = Vec::new();
    walk(&schema(name), output, name, &mut wrong);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Returns true if the value has the type, or one of several; an integer is also a number.
fn fits(types: &Value, value: &Value) -> bool {
    let one = |name: &Value| {
        let (name, found) = (name.as_str().unwrap(), kind(value));
        name == found || (name == "number" && found == "integer")
    };
    match types {
        Value::Array(all) => all.iter().any(one),
        name => one(name),
    }
}

fn walk(schema: &Value, value: &Value, place: &str, wrong: &mut Vec<String>) {
    // The schema `true` allows anything.
    let Some(keywords) = schema.as_object() else {
        return;
    };
    for (keyword, says) in keywords {
        match keyword.as_str() {
            "$schema" | "title" | "description" | "properties" => {}
            "type" if !fits(says, value) => {
                wrong.push(format!("{place}: is {}, and should be {says}", kind(value)));
            }
            "const" if says != value => {
                wrong.push(format!("{place}: is {value}, and should be {says}"))
            }
            "type" | "const" => {}
            "required" => {
                for key in says.as_array().unwrap().iter().filter_map(Value::as_str) {
                    if value.get(key).is_none() {
                        wrong.push(format!("{place}: lacks {key}"));
                    }
                }
            }
            "items" => {
                for item in value.as_array().into_iter().flatten() {
                    walk(says, item, &format!("{place}[]"), wrong);
                }
            }
            "additionalProperties" => {}
            other => wrong.push(format!(
                "{place}: the schema says `{other}`, which nothing here checks"
            )),
        }
    }
    let (named, more) = (
        keywords.get("properties"),
        keywords.get("additionalProperties"),
    );
    for (key, value) in value.as_object().into_iter().flatten() {
        let below = format!("{place}.{key}");
        match named.and_then(|named| named.get(key)).or(more) {
            Some(schema) => walk(schema, value, &below, wrong),
            None if named.is_some() => wrong.push(format!("{below}: is not described")),
            None => {}
        }
    }
}
