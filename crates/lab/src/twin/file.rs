//! The drive file of a twin: what it was made from and what is assumed, as comments, before the keys.

use super::make::Twin;
use fathom_report::twin::{LEAST, error_percent, farthest};

/// How a line begins that whoever plays on the drive should see.
const CAUTION: &str = "# Caution: ";
/// What is said of the twin of a run at the quick level.
pub(super) const QUICK: &str = "the run is of the quick level, which leaves much open: what is assumed instead may make writes many \
                                times too fast or too slow; measure the drive with --level full for a twin to rely on";

/// Returns what the first lines of the drive file of a twin warn of.
pub fn cautions(file: &str) -> impl Iterator<Item = &str> {
    let head = file.lines().take_while(|line| line.starts_with('#'));
    head.filter_map(|line| line.strip_prefix(CAUTION))
}

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
    if twin.quick {
        out += &format!("{CAUTION}{QUICK}\n");
    }
    if let Some(far) = farthest(&twin.figures) {
        out += &format!("{CAUTION}the {far}\n");
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
