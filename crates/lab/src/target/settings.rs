//! Settings that replace values of a drive file: `flash.read=40us`, `write_buffer.policy=epo`.

use super::error::{Place, SettingFault, TargetError};
use super::key;
use super::setting::Setting;
use crate::parse::in_words;
use fathom_base::near::meant;
use fathom_base::{BadValue, SpecError, registry};
use fathom_model::Model;
use std::str::FromStr;
use toml::{Table, Value};

/// Parses `key=value`. The value is TOML, or else text without quotes; an empty value removes the key.
impl FromStr for Setting {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<Self, TargetError> {
        let wrong = || TargetError::Setting {
            text: text.to_owned(),
        };
        let (key, value) = text.split_once('=').ok_or_else(wrong)?;
        let (key, value) = (key.trim(), value.trim());
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if !key
            .split('.')
            .all(|part| !part.is_empty() && part.chars().all(plain))
        {
            return Err(wrong());
        }
        if value.is_empty() {
            return Ok(Self::absent(key));
        }
        Ok(Self::new(key, registry::value(value)))
    }
}

/// Returns the drive file with the settings applied.
pub(super) fn apply(drive_file: &str, settings: &[Setting]) -> Result<String, TargetError> {
    let mut root: Table = drive_file.parse().unwrap_or_default();
    for setting in settings {
        set(&mut root, setting)?;
    }
    Ok(toml::to_string(&root).unwrap_or_default())
}

/// Returns the drive of a valid drive file with the settings applied.
///
/// # Errors
/// [`TargetError::Set`] with every setting that has an unknown key or a value of the wrong type, or else with the first that
/// makes no drive: a value's range may depend on the other settings.
pub(super) fn model(place: &Place, settings: &[Setting]) -> Result<Model, TargetError> {
    if let Some(kind) = settings.iter().find(|setting| setting.key == "kind") {
        return Err(TargetError::Set(vec![SettingFault {
            drive: place.name.clone(),
            setting: Some(kind.clone()),
            why: "the kind of a drive cannot be changed: name another drive (`fathom list drives`)"
                .into(),
            meant: None,
            example: place.example(),
        }]));
    }
    let mut settings = settings.to_vec();
    let mut faults = Vec::new();
    loop {
        let text = apply(&place.text, &settings)?;
        let error = match Model::from_toml(&text) {
            Ok(model) if faults.is_empty() => return Ok(model),
            Ok(_) => break,
            Err(error) => error,
        };
        let alone = matches!(error, SpecError::Syntax { .. });
        if (!alone && !faults.is_empty()) || is_consequence(&error, &faults) {
            break;
        }
        let fault = fault(place, &text, &settings, &error);
        let at = settings
            .iter()
            .rposition(|s| fault.setting.as_ref() == Some(s));
        faults.push(fault);
        match at {
            Some(at) if alone => settings.remove(at),
            _ => break,
        };
    }
    Err(TargetError::Set(faults))
}

/// Returns true if a key is missing because its setting was at fault and left out to find further faults.
fn is_consequence(error: &SpecError, faults: &[SettingFault]) -> bool {
    let SpecError::Syntax { message, .. } = error else {
        return false;
    };
    let missing = message.strip_prefix("missing field `");
    let Some(missing) = missing.and_then(|rest| rest.split('`').next()) else {
        return false;
    };
    let mut left_out = faults.iter().filter_map(|fault| fault.setting.as_ref());
    left_out.any(|setting| setting.key.rsplit('.').next() == Some(missing))
}

/// Returns the fault of the drive file `text`, which includes the settings, and the setting that causes it: the last one
/// that sets the key at fault, a table above it or a key below it.
fn fault(place: &Place, text: &str, settings: &[Setting], error: &SpecError) -> SettingFault {
    let key = match error {
        SpecError::Syntax { line, .. } => key::key_at(text, *line),
        SpecError::Value(BadValue { key, .. }) => Some((*key).to_owned()),
    };
    let below = |lower: &str, upper: &str| {
        let rest = lower.strip_prefix(upper);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let at_fault = |setting: &&Setting| {
        let key = key.as_deref().unwrap_or_default();
        below(&setting.key, key) || below(key, &setting.key)
    };
    let setting = settings.iter().rfind(at_fault).cloned();
    let removed = setting
        .as_ref()
        .is_some_and(|setting| setting.value.is_none());
    let (why, meant) = match error {
        SpecError::Syntax { message, .. } if removed && message.starts_with("missing field") => (
            "an empty value removes the key, which the drive needs: write KEY=VALUE".into(),
            None,
        ),
        SpecError::Syntax { message, .. } => (in_words(message, key.as_deref()), meant(message)),
        SpecError::Value(BadValue { found, allowed, .. }) => {
            let is = format!("is {found}; allowed is {allowed}");
            let own = setting.as_ref().map(|setting| &setting.key);
            let other = key.filter(|key| Some(key) != own);
            (
                other.map_or(is.clone(), |key| format!("`{key}` {is}")),
                None,
            )
        }
    };
    SettingFault {
        drive: place.name.clone(),
        setting,
        why,
        meant,
        example: place.example(),
    }
}

/// Applies a setting to a table.
pub(crate) fn set(root: &mut Table, setting: &Setting) -> Result<(), TargetError> {
    let mut table = root;
    let (tables, key) = setting.key.rsplit_once('.').unwrap_or(("", &setting.key));
    for name in tables.split('.').filter(|name| !name.is_empty()) {
        let next = table
            .entry(name)
            .or_insert_with(|| Value::Table(Table::new()));
        table = next.as_table_mut().ok_or_else(|| TargetError::NoTable {
            key: setting.key.clone(),
            under: name.to_owned(),
        })?;
    }
    match &setting.value {
        Some(value) => table.insert(key.to_owned(), value.clone()),
        None => table.remove(key),
    };
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::TargetName;

    #[test]
    fn the_setting_at_fault_is_named() {
        let name = TargetName::parse("model:epo").unwrap();
        let said = |settings: &[&str]| {
            let settings: Vec<Setting> = settings.iter().map(|s| s.parse().unwrap()).collect();
            name.model(&settings).unwrap_err().to_string()
        };
        let unit = said(&["host.queue_depth=8", "flash.read=40", "flash.erase=1ms"]);
        assert!(
            unit.starts_with("`flash.read=40` on model:epo: `flash.read`: `40` has"),
            "{unit}"
        );
        let range = said(&["flash.channels=0"]);
        assert!(
            range.starts_with("`flash.channels=0` on model:epo: is 0"),
            "{range}"
        );
        let table = said(&["spam.egg=1"]);
        assert!(
            table.starts_with("`spam.egg=1` on model:epo: there is no key `spam` here"),
            "{table}"
        );
        // The key that is left out is not missing.
        let policy = said(&["write_buffer=", "write_buffer.policy=lruu"]);
        assert!(!policy.contains("missing"), "{policy}");
        assert!(policy.contains("one of `no-cache`"), "{policy}");
        let all = said(&["flash.raed=40us", "flash.channels=0", "flash.erase=1"]);
        let faults: Vec<&str> = all.split("; ").collect();
        assert!(
            faults.len() == 2
                && faults.iter().any(|f| f.starts_with("`flash.raed=40us`"))
                && faults.iter().any(|f| f.starts_with("`flash.erase=1`")),
            "{all}"
        );
    }

    #[test]
    fn settings_replace_add_and_take_away() {
        let file = "name = \"a\"\n[flash]\nread = \"25us\"\n[write_buffer]\npolicy = \"lru\"\n";
        let settings = [
            "flash.read=40us",
            "gc.choices=3",
            "write_buffer=",
            "host.name=\"x=y\"",
        ];
        let settings: Vec<Setting> = settings.iter().map(|s| s.parse().unwrap()).collect();
        let got: Table = apply(file, &settings).unwrap().parse().unwrap();
        assert_eq!(got["flash"]["read"].as_str(), Some("40us"));
        assert_eq!(got["gc"]["choices"].as_integer(), Some(3));
        assert_eq!(got["host"]["name"].as_str(), Some("x=y"));
        assert!(!got.contains_key("write_buffer"));
        let under = apply(file, &["name.x=1".parse().unwrap()]);
        assert!(
            matches!(under, Err(TargetError::NoTable { .. })),
            "{under:?}"
        );
        for wrong in ["x", "=1", "a..b=1", "a b=1"] {
            assert!(wrong.parse::<Setting>().is_err(), "{wrong}");
        }
    }
}
