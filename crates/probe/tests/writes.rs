//! Parameters that writes show, over a fake drive.

use crate::fake::{Fake, KIB, MIB, Planted};
use fathom_probe::run::{run, solve};
use fathom_probe::{Estimate, Parameter, RunConfig, Unobserved, Value, Verdict};

/// Returns the answer.
fn answer(drive: &mut Fake, parameter: Parameter) -> Estimate {
    let config = RunConfig {
        seed: 5,
        parameters: vec![parameter],
        ..RunConfig::default()
    };
    let record = run(drive, &config, None, &mut Unobserved).unwrap();
    solve(&record).parameters.remove(&parameter).unwrap()
}

#[test]
fn an_indirection_unit_is_found_and_none_where_writes_cost_their_length() {
    for unit in [4 * KIB, 12 * KIB, 64 * KIB] {
        let planted = Planted {
            unit,
            ..Planted::default()
        };
        let found = answer(
            &mut Fake::new(64 * MIB, planted),
            Parameter::IndirectionUnit,
        );
        assert_eq!(found.value, Some(Value::Bytes(unit)), "{found:?}");
    }
    let none = answer(
        &mut Fake::new(64 * MIB, Planted::default()),
        Parameter::IndirectionUnit,
    );
    assert_ne!(none.verdict, Verdict::Identified, "{none:?}");
}
