//! Any text as a drive file: refused with a reason, or a drive that is written and read as the same.

#![no_main]

use fathom_ssd::Spec;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match Spec::from_toml(text) {
        Ok(spec) => {
            let written = spec.to_toml();
            assert_eq!(Spec::from_toml(&written).expect("what is written is read"), spec);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
