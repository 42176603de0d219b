//! Whether a method answers what is asked.

use crate::failure::Failure;
use fathom_probe::{Method, Parameter};

/// Refuses methods that answer none of the parameters; `asked` names those for the message.
///
/// # Errors
/// If nothing would be measured.
pub(super) fn by(methods: &[Method], parameters: &[Parameter], asked: &str) -> Result<(), Failure> {
    let answers = |of: &Parameter| {
        let mut methods = methods.iter();
        methods.any(|method| of.about().probe(*method).is_some())
    };
    if parameters.iter().any(answers) {
        return Ok(());
    }
    let names: Vec<&str> = methods.iter().map(|method| method.name()).collect();
    let message = format!(
        "`--method {}` answers nothing of {asked}: nothing would be measured",
        names.join(", ")
    );
    let rest: Vec<Parameter> = Parameter::ALL.into_iter().filter(answers).collect();
    Err(Failure::input("fathom::method", message).help(format!(
        "ask for what it answers: --only {}",
        listed(&rest).replace(", ", ",")
    )))
}

/// Returns the names of parameters.
pub(super) fn listed(parameters: &[Parameter]) -> String {
    let names: Vec<&str> = parameters.iter().map(|of| of.name()).collect();
    names.join(", ")
}
