//! What a job file asks of a drive, and what its errors say.

use super::{Kind, SourceError, Workload};
use fathom_block::{DeviceInfo, Op};
use fathom_workload::program::fio::{self, Around, JobFile, Problem};
use std::env::VarError;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Requirements of a workload on the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wants {
    /// True if it writes.
    pub writes: bool,
    /// True if reads must return the data that were written.
    pub data: bool,
}

/// The surroundings of a job file: environment variables and included files. A file name is relative to the working
/// directory, or else to the directory of the including file, as in fio 3.33 (init.c, `__parse_jobs_ini`).
struct Beside<'a>(&'a Path);

impl Around for Beside<'_> {
    #[allow(
        clippy::disallowed_methods,
        reason = "fio's `${NAME}`: the user asks for it in the job file, and the value is told and kept as a note of the run"
    )]
    fn variable(&self, name: &str) -> Result<Option<String>, String> {
        match std::env::var(name) {
            Ok(value) => Ok(Some(value)),
            Err(VarError::NotPresent) => Ok(None),
            Err(VarError::NotUnicode(_)) => Err("it is no text".into()),
        }
    }

    fn file(&self, name: &str, from: &str) -> Result<(String, String), String> {
        let from = match from {
            "" => self.0,
            from => Path::new(from),
        };
        let near = from.parent().unwrap_or(Path::new("")).join(name);
        let path = match Path::new(name).exists() {
            true => PathBuf::from(name),
            false => near,
        };
        let text = crate::text::read(&path).map_err(|error| match error.kind() {
            ErrorKind::NotFound => format!("there is no {}, nor one here", path.display()),
            _ => format!("{}: {error}", path.display()),
        })?;
        Ok((path.display().to_string(), text))
    }
}

impl Workload {
    /// Returns what a job file requires of a drive before it is opened. Any other workload counts as one that writes.
    ///
    /// # Errors
    /// [`SourceError`] with the file and the line.
    pub fn wants(&self) -> Result<Wants, SourceError> {
        let Some(file) = self.job_file()? else {
            return Ok(Wants {
                writes: true,
                data: false,
            });
        };
        Ok(Wants {
            writes: file.jobs.iter().any(|job| job.rw.changes()),
            data: file.jobs.iter().any(|job| job.verify),
        })
    }

    /// Returns notes for the user on a job file: settings that are ignored, and values that came from elsewhere.
    ///
    /// # Errors
    /// [`SourceError`] with the file and the line.
    pub fn job_notes(&self) -> Result<Vec<String>, SourceError> {
        Ok(self.job_file()?.map(|file| file.notes).unwrap_or_default())
    }

    /// Parses the jobs, if the workload has any.
    pub(super) fn job_file(&self) -> Result<Option<JobFile>, SourceError> {
        let read = match &self.kind {
            Kind::JobFile(path) => {
                let text = crate::text::read(path).map_err(|source| SourceError::Open {
                    path: path.clone(),
                    source,
                })?;
                fio::parse_with(&text, &Beside(path))
            }
            Kind::Jobs(text) => fio::parse(text),
            Kind::Trace { .. } | Kind::Generator(_) | Kind::Program(_) => return Ok(None),
        };
        read.map(Some)
            .map_err(|error| wrong(&self.jobs_place(), &error))
    }

    /// Checks that no access of a job file is longer than `most` bytes.
    ///
    /// # Errors
    /// [`SourceError::Jobs`] with the line of the job, and the advice.
    pub(crate) fn check_longest(&self, most: u64, advice: &str) -> Result<(), SourceError> {
        let Some(file) = self.job_file()? else {
            return Ok(());
        };
        for job in &file.jobs {
            let ops = job.rw.ops().iter().filter(|op| **op != Op::Trim);
            let mut long = ops.map(|op| (*op, job.lengths(*op).longest()));
            if let Some((op, bytes)) = long.find(|(_, bytes)| *bytes > most) {
                let name = &job.name;
                return Err(SourceError::Jobs {
                    path: self.jobs_place(),
                    line: file.line(name),
                    detail: format!(
                        "job `{name}`: {op}s of {bytes} bytes are longer than the drive takes at a time, {most} bytes: {advice}"
                    ),
                });
            }
        }
        Ok(())
    }

    /// Returns the place of the jobs' text, for messages.
    pub(super) fn jobs_place(&self) -> PathBuf {
        match &self.kind {
            Kind::JobFile(path) => path.clone(),
            _ => PathBuf::from(&self.name),
        }
    }
}

/// Converts the error of a job that cannot go on.
pub(super) fn failed(path: &Path, file: &JobFile, error: &fio::JobError) -> SourceError {
    let (path, detail) = (path.to_owned(), error.to_string());
    match error {
        fio::JobError::NoData { .. } => SourceError::KeepsNothing { path, detail },
        fio::JobError::Differs { .. } => SourceError::Verify { path, detail },
        fio::JobError::NothingHeld { job, .. } | fio::JobError::NoZone { job, .. } => {
            let line = file.line(job);
            SourceError::Jobs { path, line, detail }
        }
    }
}

/// Checks that a drive has the placement handles that the jobs write with. The drive itself takes an unknown one for handle 0,
/// as the specification says, so that a wrong one would show in the result alone.
pub(super) fn check_handles(
    path: &Path,
    file: &JobFile,
    info: &DeviceInfo,
) -> Result<(), SourceError> {
    let has = info.placement_handles;
    for job in file.jobs.iter().filter(|job| job.placement.fdp) {
        if let Some(plid) = job.placement.plids.iter().find(|plid| **plid >= has) {
            let those = match has {
                0 => "no placement handles".to_owned(),
                _ => format!("{has} of them, from 0"),
            };
            let name = &job.name;
            return Err(SourceError::Jobs {
                path: path.to_owned(),
                line: file.line(name),
                detail: format!(
                    "job `{name}`: `plids` has the placement handle {plid}, and the drive has {those}: name others, leave `fdp` \
                     out, or take a drive that has it (such as model:fdp)"
                ),
            });
        }
    }
    Ok(())
}

pub(super) fn wrong(path: &Path, error: &fio::FioError) -> SourceError {
    SourceError::Jobs {
        path: path.to_owned(),
        line: error.line,
        detail: told(error),
    }
}

/// Formats the error without its line, which the message already begins with.
fn told(error: &fio::FioError) -> String {
    match (&error.job, &error.problem) {
        (Some(job), problem @ Problem::Target { .. }) => format!("job `{job}`: {problem}"),
        (_, problem) => problem.to_string(),
    }
}
