//! Why the kernel makes no trace instance.

use crate::error::HostError;
use std::path::Path;

/// Says what a kernel that is locked down does not: its tracefs is empty, or refuses everything, also to root. `lockdown` is
/// the kernel's state of it, with the state in brackets.
pub(super) fn explained(error: HostError, instances: &Path, lockdown: Option<&str>) -> HostError {
    let unsuitable = |what: &str, advice| HostError::Unsuitable {
        path: instances.to_owned(),
        what: what.to_owned(),
        advice,
    };
    let locked = lockdown.is_some_and(|state| state.contains("[confidentiality]"));
    match error {
        _ if locked => unsuitable(
            "the kernel is locked down for confidentiality and refuses tracing",
            "start it without lockdown=confidentiality (/sys/kernel/security/lockdown shows the state)",
        ),
        HostError::NotFound { .. } => unsuitable(
            "this kernel has no trace instances",
            "use one that is built with CONFIG_FTRACE and not started with lockdown=confidentiality",
        ),
        error => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::os_error;
    use std::io::ErrorKind;

    #[test]
    fn a_kernel_that_refuses_tracing_is_named_as_the_reason() {
        let instances = Path::new("/no/tracing/instances");
        let said = |lockdown| {
            let failed = os_error(
                instances,
                "create a trace instance",
                ErrorKind::NotFound.into(),
            );
            explained(failed, instances, lockdown).to_string()
        };
        let locked = said(Some("none integrity [confidentiality]"));
        assert!(
            locked.contains("locked down for confidentiality"),
            "{locked}"
        );
        // Linux 6.1 leaves tracefs empty then; the state can be read only where securityfs is mounted.
        for lockdown in [None, Some("none [integrity] confidentiality")] {
            let said = said(lockdown);
            assert!(said.contains("no trace instances; use one"), "{said}");
        }
        let denied = || {
            os_error(
                instances,
                "create a trace instance",
                ErrorKind::PermissionDenied.into(),
            )
        };
        let said = explained(denied(), instances, None).to_string();
        assert!(said.contains("no permission to create"), "{said}");
    }
}
