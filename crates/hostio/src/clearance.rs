//! Permission to write to a target, checked again right before the first write.
//!
//! Minutes may pass between the first check and the user's confirmation. A file system, a LUKS header or a loop device that
//! appeared in between holds data that the user did not agree to lose, even if `destroy` names the target.

use crate::error::{HostError, Refused};
use crate::finding::Finding;
use crate::inspect::{Inspection, Look, Place};
use crate::safety::judge;
use crate::usage;
use rustix::fd::RawFd;

/// The findings at an opened target, and the data needed to check them again. Valid while the device is open.
#[derive(Clone, Debug)]
pub struct Clearance {
    inspection: Inspection,
    opened: Option<OpenedForWriting>,
}

/// An existing target opened for writing.
#[derive(Clone, Debug)]
struct OpenedForWriting {
    destroy: Option<String>,
    /// Our own descriptors, which do not count as another user.
    own: Vec<RawFd>,
    place: Place,
    stamp: u64,
}

impl Clearance {
    /// Returns a clearance without a second check: nothing is written, or only to our own scratch file.
    pub(crate) fn harmless(inspection: Inspection) -> Self {
        Self {
            inspection,
            opened: None,
        }
    }

    /// Inspects and judges a target that is open for writing at `place`. `own` are our descriptors of it.
    ///
    /// # Errors
    /// [`HostError::Refused`] from the safety lock.
    pub(crate) fn of(
        target: &Inspection,
        destroy: Option<&str>,
        place: Place,
        own: Vec<RawFd>,
    ) -> Result<Self, HostError> {
        let mut opened = OpenedForWriting {
            destroy: destroy.map(str::to_owned),
            own,
            place,
            stamp: 0,
        };
        let look = opened.look(target)?;
        opened.stamp = look.stamp;
        Ok(Self {
            inspection: look.inspection,
            opened: Some(opened),
        })
    }

    /// Returns the inspection of the target.
    pub fn inspection(&self) -> &Inspection {
        &self.inspection
    }

    /// Inspects the target again, after the user's confirmation and before the first write. Takes milliseconds, or up to a
    /// second if another process has the target open.
    ///
    /// # Errors
    /// [`HostError::Refused`] if the safety lock refuses now, if there is a finding that was not there before (except for
    /// `Unseen` and `Sparse`), or if the contents changed.
    pub fn renew(&self) -> Result<(), HostError> {
        let Some(opened) = &self.opened else {
            return Ok(());
        };
        let look = match opened.look(&self.inspection) {
            Err(HostError::NotFound { .. }) => {
                return Err(self.refused(vec![changed(&self.inspection)]));
            }
            other => other?,
        };
        let changed = (look.stamp != opened.stamp).then(|| changed(&self.inspection));
        let before = &self.inspection.findings;
        let new = |finding: &Finding| {
            !matches!(finding, Finding::Unseen { .. } | Finding::Sparse { .. })
                && !before.contains(finding)
        };
        let found = look.inspection.findings.into_iter().filter(new);
        let found: Vec<Finding> = found.chain(changed).collect();
        if found.is_empty() {
            return Ok(());
        }
        Err(self.refused(found))
    }

    fn refused(&self, found: Vec<Finding>) -> HostError {
        let advice =
            "This was not there when leave to write was asked for; see who did it, and start again";
        Refused::of(&self.inspection.path, found, advice).into()
    }
}

impl OpenedForWriting {
    /// Inspects the target in its current state and judges it.
    fn look(&self, target: &Inspection) -> Result<Look, HostError> {
        let mut look = Look::at(&target.path)?;
        let users = usage::processes(&look.storage, &self.own);
        let inspection = &mut look.inspection;
        inspection.findings.extend(users);
        inspection.given.clone_from(&target.given);
        // The open file is no longer the one at this path.
        let exchanged = look.place != self.place;
        inspection
            .findings
            .extend(exchanged.then(|| changed(target)));
        judge(inspection, self.destroy.as_deref())?;
        Ok(look)
    }
}

fn changed(target: &Inspection) -> Finding {
    Finding::Changed {
        what: target.path.display().to_string(),
    }
}
