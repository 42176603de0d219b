//! Reads a study file, and collects everything that is wrong with it.

use super::faults::Found;
use super::plan;
use super::{Fault, Study, StudyError};
use crate::parse;
use std::path::Path;

impl Study {
    /// Reads a study file. Relative paths of traces, drive files and profiles are resolved against its directory.
    ///
    /// # Errors
    /// [`StudyError::Read`], or [`StudyError::Faults`] with everything that is wrong: the keys, and what no run can have.
    pub fn from_file(path: &Path) -> Result<Study, StudyError> {
        let text = crate::text::read(path).map_err(|source| StudyError::Read {
            path: path.to_owned(),
            source,
        })?;
        let (study, wrong) = parse::checked::<Study>(&text);
        let file = path.display().to_string();
        let study = study.map(|study| study.within(path).of_text(&text, Some(file.clone())));
        match study {
            Some(study) if wrong.is_empty() => Ok(study),
            study => {
                let planned = study.as_ref().map(plan::faults).unwrap_or_default();
                let planned = planned.into_iter().filter(|fault| !follows(fault, &wrong));
                let mut faults: Vec<Fault> = planned.map(|fault| fault.at(&text)).collect();
                faults.extend(wrong.iter().map(|fault| Fault {
                    line: fault.line,
                    detail: fault.words.clone(),
                    help: None,
                }));
                faults.sort_by_key(|fault| fault.line.unwrap_or(usize::MAX));
                Err(StudyError::Faults { file, faults })
            }
        }
    }
}

/// Returns true if a fault may be there only because a wrong key beside it was left out.
fn follows(fault: &Found, wrong: &[parse::Fault]) -> bool {
    let mut paths = wrong.iter().filter_map(|wrong| wrong.path.split_last());
    paths.any(|(_, above)| !above.is_empty() && fault.path.starts_with(above))
}
