//! The drive file of a twin: what it was made from and what is assumed, as comments, before the keys.

use super::Twin;
use fathom_report::twin::{Assumed, error_percent};
use fathom_ssd::Spec;

/// Puts the values of the fitted drive in the place of those that were assumed first.
pub(super) fn now(assumed: &mut [Assumed], spec: &Spec) {
    let Ok(root) = spec.to_toml().parse::<toml::Table>() else {
        return;
    };
    for one in assumed {
        let mut parts = one.key.split('.');
        let first = parts.next().and_then(|part| root.get(part));
        let value = parts.fold(first, |value, part| value?.as_table()?.get(part));
        match value {
            Some(toml::Value::String(text)) => one.value.clone_from(text),
            Some(toml::Value::Table(_)) | None => {}
            Some(value) => one.value = value.to_string(),
        }
    }
}

/// Returns the drive file.
pub(super) fn text(twin: &Twin, run: &str) -> String {
    let run: String = run.chars().filter(|c| !c.is_control()).collect();
    let mut out =
        format!("# Twin of the drive that was measured in {run}, made by `fathom twin`.\n");
    if let Some(percent) = error_percent(&twin.figures) {
        out += &format!(
            "# Half of its {} figures are within {percent:.1} % of the record.\n",
            twin.figures.len()
        );
    }
    if !twin.assumed.is_empty() {
        out += "#\n# Assumed, because the record does not tell:\n";
    }
    for one in &twin.assumed {
        out += &format!("#   {} = {} ({})\n", one.key, one.value, one.why);
    }
    out + "\n" + &twin.spec.to_toml()
}
