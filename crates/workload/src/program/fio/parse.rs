//! The text of a job file: sections, options, comments, what it includes and which variables it names.

use super::choices::Engine;
use super::error::{FioError, Problem};
use super::harmless::is_harmless;
use super::job::Job;
use super::options::{OPTIONS, supported};
use super::others::{IGNORED, REFUSED, reason};
use std::collections::BTreeSet;

/// So many files may be included: one that includes itself has no end.
const FILES_MAX: usize = 64;

/// What a job file says.
#[derive(Clone, Debug, PartialEq)]
pub struct JobFile {
    /// Its jobs, in order; at least one.
    pub jobs: Vec<Job>,
    /// What it says that changes nothing here, once each, with its line and why; and what came from elsewhere.
    pub notes: Vec<String>,
}

/// What a job file may ask for beside its own text.
pub trait Around {
    /// The environment variable of that name.
    ///
    /// # Errors
    /// Why there is none to be had; `None` where it is not set.
    fn variable(&self, name: &str) -> Result<Option<String>, String>;

    /// A file that is included, as its name stands there, by the file `from` ("" for the job file): its own name, and its
    /// text.
    ///
    /// # Errors
    /// Why it cannot be read.
    fn file(&self, name: &str, from: &str) -> Result<(String, String), String>;
}

/// Nothing.
struct Alone;

impl Around for Alone {
    fn variable(&self, _: &str) -> Result<Option<String>, String> {
        Err("this text is read without an environment".into())
    }

    fn file(&self, _: &str, _: &str) -> Result<(String, String), String> {
        Err("this text is no file, and includes none".into())
    }
}

/// What is read so far.
struct Reader<'a> {
    around: &'a dyn Around,
    /// What `[global]` said, for the jobs behind it.
    global: Job,
    /// The job that is being read, with the line of its section; `None` within `[global]`.
    open: Option<(Job, usize)>,
    any_section: bool,
    jobs: Vec<Job>,
    notes: Vec<String>,
    noted: BTreeSet<String>,
    /// Files that were included.
    files: usize,
}

/// Reads a job file that stands for itself: see [`parse_with`].
///
/// # Errors
/// The first thing that is wrong, with its line; also an environment variable and an `include`.
pub fn parse(text: &str) -> Result<JobFile, FioError> {
    parse_with(text, &Alone)
}

/// Reads a job file: `[global]` holds for the jobs behind it, every other section is a job, also where its name comes
/// again. Whatever stands behind `;` or `#` is a comment. `${NAME}` in a value is an environment variable, and `include FILE`
/// stands for the options in a file. Keywords such as `$pagesize` are not read.
///
/// # Errors
/// The first thing that is wrong, with its line.
pub fn parse_with(text: &str, around: &dyn Around) -> Result<JobFile, FioError> {
    let mut reader = Reader {
        around,
        global: Job::default(),
        open: None,
        any_section: false,
        jobs: Vec::new(),
        notes: Vec::new(),
        noted: BTreeSet::new(),
        files: 0,
    };
    for (line, content) in lines(text) {
        let problem = match content.starts_with('[') {
            true => reader.section(content, line),
            false => reader.line(content, line),
        };
        problem.map_err(|(line, problem)| FioError {
            line: Some(line),
            job: reader.open.as_ref().map(|(job, _)| job.name.clone()),
            problem,
        })?;
    }
    reader.finish()
}

/// What a text says, line by line, each with its number.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let content = |line: &str| line.find(['#', ';']).unwrap_or(line.len());
    let all = text.lines().map(move |line| line[..content(line)].trim());
    (1..).zip(all).filter(|(_, content)| !content.is_empty())
}

/// The file that a line includes, if it does.
fn included(content: &str) -> Option<&str> {
    let name = content.strip_prefix("include")?;
    name.starts_with([' ', '\t']).then(|| name.trim())
}

impl Reader<'_> {
    fn section(&mut self, content: &str, line: usize) -> Result<(), (usize, Problem)> {
        let name = content
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
            .map(str::trim)
            // fio takes a variable there for a part of the name.
            .filter(|name| !name.is_empty() && !name.contains("${"))
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

    fn line(&mut self, content: &str, line: usize) -> Result<(), (usize, Problem)> {
        let at = |problem| (line, problem);
        let place = format!("line {line}");
        match included(content) {
            Some(name) => self.include(name, "", &place).map_err(at),
            None => self.option(content, &place).map_err(at),
        }
    }

    /// The options of a file, which is named at `place` of the file `from`.
    fn include(&mut self, name: &str, from: &str, place: &str) -> Result<(), Problem> {
        let failed = |what| Problem::Include {
            name: name.to_owned(),
            what,
        };
        if !self.any_section {
            let option = format!("include {name}");
            return Err(Problem::NoSection { option });
        }
        self.files += 1;
        if self.files > FILES_MAX {
            return Err(failed(format!("it is one of more than {FILES_MAX} files")));
        }
        let (own, text) = self.around.file(name, from).map_err(failed)?;
        self.notes.push(format!("{place}: `include` reads {own}"));
        for (line, content) in lines(&text) {
            let place = format!("{own}, line {line}");
            let read = match included(content) {
                _ if content.starts_with('[') => Err(Problem::Section {
                    found: format!("{content} in a file that is included, which has no sections"),
                }),
                Some(name) => self.include(name, &own, &place),
                None => self.option(content, &place),
            };
            read.map_err(|problem| Problem::Within {
                place,
                problem: Box::new(problem),
            })?;
        }
        Ok(())
    }

    fn option(&mut self, content: &str, place: &str) -> Result<(), Problem> {
        let (option, value) = content.split_once('=').unwrap_or((content, ""));
        let (option, value) = (option.trim(), value.trim());
        if !self.any_section {
            let option = option.to_owned();
            return Err(Problem::NoSection { option });
        }
        if let Some(why) = reason(IGNORED, option) {
            if self.noted.insert(option.to_owned()) {
                self.notes
                    .push(format!("{place}: `{option}` is ignored: {why}"));
            }
            return Ok(());
        }
        if is_harmless(option, value) {
            return Ok(());
        }
        let Some(entry) = OPTIONS.iter().find(|entry| entry.names.contains(&option)) else {
            let (known, option) = (reason(REFUSED, option), option.to_owned());
            return Err(match known {
                Some(why) => Problem::Refused { option, why },
                None => Problem::Unknown {
                    option,
                    supported: supported(),
                },
            });
        };
        let value = self.value(option, value, place)?;
        let job = match &mut self.open {
            Some((job, _)) => job,
            None => &mut self.global,
        };
        if (entry.set)(job, &value).is_none() {
            return Err(Problem::Value {
                option: entry.names[0],
                found: value,
                takes: entry.takes,
            });
        }
        Ok(())
    }

    /// A value with what its environment variables stand for; one that is not set stands for nothing, as in fio.
    fn value(&mut self, option: &str, value: &str, place: &str) -> Result<String, Problem> {
        let (mut full, mut rest) = (String::new(), value);
        while let Some((before, behind)) = rest.split_once("${") {
            let Some((name, after)) = behind.split_once('}') else {
                break;
            };
            let found = self
                .around
                .variable(name)
                .map_err(|what| Problem::Variable {
                    option: option.to_owned(),
                    name: name.to_owned(),
                    what,
                })?;
            self.notes.push(match &found {
                Some(found) => format!("{place}: `${{{name}}}` in `{option}` is \"{found}\""),
                None => {
                    format!(
                        "{place}: `${{{name}}}` in `{option}` is not set, and stands for nothing"
                    )
                }
            });
            full += before;
            full += found.as_deref().unwrap_or_default().trim();
            rest = after;
        }
        Ok(full + rest)
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
