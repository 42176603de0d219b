//! Any text as a drive file of any kind: refused with a reason, or a drive that is written and read as the same.

use fathom_model::Model;

/// Tries one input.
pub fn try_one(text: &str) {
    match Model::from_toml(text) {
        Ok(model) => {
            let written = model.to_toml();
            assert_eq!(
                Model::from_toml(&written).expect("what is written is read"),
                model
            );
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
