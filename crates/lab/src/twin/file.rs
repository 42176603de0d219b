//! The drive file of a twin: what it was made from and what is assumed, as comments, before the keys.

use super::make::Twin;
use fathom_report::twin::{LEAST, error_percent};

/// Returns the drive file.
pub(super) fn text(twin: &Twin, run: &str) -> String {
    let run: String = run.chars().filter(|c| !c.is_control()).collect();
    let mut out =
        format!("# Twin of the drive that was measured in {run}, made by `fathom twin`.\n");
    if let Some(percent) = error_percent(&twin.figures) {
        let percent = percent.max(LEAST);
        out += &format!(
            "# Half of its {} figures are within {percent:.1} % of the record.\n",
            twin.figures.len()
        );
    }
    if twin.ended_early {
        out += "# The search ended at its limit of work, before it was done.\n";
    }
    if !twin.assumed.is_empty() {
        out += "#\n# Assumed, because the record does not tell:\n";
    }
    for one in &twin.assumed {
        out += &format!("#   {} = {} ({})\n", one.key, one.value, one.why);
    }
    out + "\n" + &twin.spec.to_toml()
}
