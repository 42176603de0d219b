//! Any text as a drive file of any kind: refused with a reason, or a drive that is written and read as the same.

#![no_main]

use fathom_lab::model::Model;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match Model::from_toml(text) {
        Ok(model) => {
            let written = model.to_toml();
            assert_eq!(Model::from_toml(&written).expect("what is written is read"), model);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
