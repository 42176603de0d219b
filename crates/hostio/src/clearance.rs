//! Leave to write to a target: as it was when it was judged, to be looked at again before the first byte is written.
//!
//! Between the first look and the user's word minutes may pass. A file system, a LUKS header or a loop device that came in
//! between is data that nobody agreed to lose, whatever `destroy` names.

use crate::error::{HostError, Refused};
use crate::finding::Finding;
use crate::inspect::{Inspection, Look, Place};
use crate::safety::judge;
use crate::usage;
use rustix::fd::RawFd;

/// What was found at an opened target, and what it takes to find it again. It speaks for as long as the device is open.
#[derive(Clone, Debug)]
pub struct Clearance {
    inspection: Inspection,
    opened: Option<OpenedForWriting>,
}

/// A target that existed before and is going to be written to.
#[derive(Clone, Debug)]
struct OpenedForWriting {
    destroy: Option<String>,
    /// The descriptors of ours that are no other user.
    own: Vec<RawFd>,
    place: Place,
    stamp: u64,
}

impl Clearance {
    /// Leave that needs no second look: nothing is written, or only a file of our own.
    pub(crate) fn harmless(inspection: Inspection) -> Self {
        Self {
            inspection,
            opened: None,
        }
    }

    /// Looks at a target that is open for writing at `place`, and judges it. `own` are our descriptors of it.
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

    /// What was found.
    pub fn inspection(&self) -> &Inspection {
        &self.inspection
    }

    /// Looks once more, after the user's word and before the first byte is written. Takes milliseconds, and up to a second
    /// where somebody has the target open.
    ///
    /// # Errors
    /// [`HostError::Refused`] where the safety lock refuses now, where anything is found that was not there before, or
    /// where the contents were changed.
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
    /// Looks at the target as it is now, and judges it.
    fn look(&self, target: &Inspection) -> Result<Look, HostError> {
        let mut look = Look::at(&target.path)?;
        let users = usage::processes(&look.storage, &self.own);
        let inspection = &mut look.inspection;
        inspection.findings.extend(users);
        inspection.given.clone_from(&target.given);
        // What is open now lies no longer at this path.
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
