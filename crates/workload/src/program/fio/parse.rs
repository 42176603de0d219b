//! The text of a job file: sections, options, comments.

use super::error::{FioError, Problem};
use super::job::{Engine, Job};
use super::options::{IGNORED, OPTIONS, is_known, supported};

/// What a job file says.
#[derive(Clone, Debug, PartialEq)]
pub struct JobFile {
    /// Its jobs, in order; at least one.
    pub jobs: Vec<Job>,
    /// What it says that changes nothing here, each with its line and why.
    pub notes: Vec<String>,
}

/// What is read so far.
#[derive(Default)]
struct Reader {
    /// What `[global]` said, for the jobs behind it.
    global: Job,
    /// The job that is being read, with the line of its section; `None` within `[global]`.
    open: Option<(Job, usize)>,
    any_section: bool,
    jobs: Vec<Job>,
    notes: Vec<String>,
}

/// Reads a job file: `[global]` holds for the jobs behind it, every other section is a job, also where its name comes
/// again. Whatever stands behind `;` or `#` is a comment. Includes, environment variables and keywords such as
/// `$pagesize` are not read.
///
/// # Errors
/// The first thing that is wrong, with its line.
pub fn parse(text: &str) -> Result<JobFile, FioError> {
    let mut reader = Reader::default();
    for (index, line) in text.lines().enumerate() {
        let end = line.find(['#', ';']).unwrap_or(line.len());
        let content = line[..end].trim();
        if content.is_empty() {
            continue;
        }
        let problem = if content.starts_with('[') {
            reader.section(content, index + 1)
        } else {
            reader.option(content, index + 1)
        };
        problem.map_err(|(line, problem)| FioError {
            line: Some(line),
            job: reader.open.as_ref().map(|(job, _)| job.name.clone()),
            problem,
        })?;
    }
    reader.finish()
}

impl Reader {
    fn section(&mut self, content: &str, line: usize) -> Result<(), (usize, Problem)> {
        let name = content
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
            .map(str::trim)
            .filter(|name| !name.is_empty())
            .ok_or_else(|| {
                let found = content.to_owned();
                (line, Problem::Section { found })
            })?;
        self.close()?;
        self.any_section = true;
        if name != "global" {
            let name = name.to_owned();
            let job = Job {
                name,
                ..self.global.clone()
            };
            self.open = Some((job, line));
        }
        Ok(())
    }

    fn option(&mut self, content: &str, line: usize) -> Result<(), (usize, Problem)> {
        let (option, value) = content.split_once('=').unwrap_or((content, ""));
        let (option, value) = (option.trim(), value.trim());
        let fail = |problem| Err((line, problem));
        if !self.any_section {
            let option = option.to_owned();
            return fail(Problem::NoSection { option });
        }
        if let Some((name, why)) = IGNORED.iter().find(|(name, _)| *name == option) {
            self.notes
                .push(format!("line {line}: `{name}` is ignored: {why}"));
            return Ok(());
        }
        let Some(entry) = OPTIONS.iter().find(|entry| entry.names.contains(&option)) else {
            let (known, option, supported) = (is_known(option), option.to_owned(), supported());
            return fail(if known {
                Problem::Unsupported { option, supported }
            } else {
                Problem::Unknown { option, supported }
            });
        };
        let job = match &mut self.open {
            Some((job, _)) => job,
            None => &mut self.global,
        };
        if (entry.set)(job, value).is_none() {
            return fail(Problem::Value {
                option: entry.names[0],
                found: value.to_owned(),
                takes: entry.takes,
            });
        }
        Ok(())
    }

    /// Ends the section that is open.
    fn close(&mut self) -> Result<(), (usize, Problem)> {
        let Some((job, line)) = &self.open else {
            return Ok(());
        };
        job.check().map_err(|problem| (*line, problem))?;
        if job.iodepth > 1 && job.ioengine == Engine::Sync {
            self.notes.push(format!(
                "line {line}: job `{}` has an `iodepth` of {} and a synchronous `ioengine` (psync unless another is \
                 named), so that one access at a time is in flight, as in fio: name libaio or io_uring for more",
                job.name, job.iodepth
            ));
        }
        self.jobs.extend(self.open.take().map(|(job, _)| job));
        Ok(())
    }

    fn finish(mut self) -> Result<JobFile, FioError> {
        self.close().map_err(|(line, problem)| FioError {
            line: Some(line),
            job: self.open.as_ref().map(|(job, _)| job.name.clone()),
            problem,
        })?;
        if self.jobs.is_empty() {
            return Err(FioError {
                line: None,
                job: None,
                problem: Problem::NoJobs,
            });
        }
        Ok(JobFile {
            jobs: self.jobs,
            notes: self.notes,
        })
    }
}
