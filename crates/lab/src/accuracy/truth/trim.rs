//! Ground truth of the TRIM: a modelled drive takes note of it when it has processed the command.
//!
//! Its own work, such as records of mappings, comes later and is not waited for. A limit in front of a volume counts a TRIM
//! as an operation, and may delay it.

use super::right::{Right, Sight, Truth};
use super::speeds::Speeds;
use fathom_probe::Value;
use fathom_ssd::Spec;

pub(super) fn truth(spec: &Spec) -> Truth {
    let command = Speeds::of(spec).command();
    let value = |ns: f64| Value::Nanoseconds(ns as u64);
    if spec.limit.is_some() {
        let right = vec![Right::Between(value(0.5 * command), value(1e9))];
        return Truth::new(Sight::Faint, right, "a limit may delay it");
    }
    let right = vec![Right::Between(value(0.5 * command), value(1.5 * command))];
    match command >= 1.0 {
        true => Truth::new(Sight::Identifiable, right, ""),
        false => Truth::new(Sight::Faint, right, "a command takes no time"),
    }
}
