//! The parser of job files: sections, options, comments, included files and environment variables.

use super::choices::Engine;
use super::error::{FioError, Problem};
use super::harmless::is_harmless;
use super::job::Job;
use super::options::{OPTIONS, supported};
use super::others::{IGNORED, REFUSED, reason};
use std::collections::BTreeSet;

/// Maximum number of included files, so that a file that includes itself ends in an error.
const FILES_MAX: usize = 64;

/// The content of a job file.
#[derive(Clone, Debug, PartialEq)]
pub struct JobFile {
    /// The jobs, in order; at least one.
    pub jobs: Vec<Job>,
    /// The line of each job's section, from 1.
    pub lines: Vec<usize>,
    /// Notes: each ignored option once, with its line and the reason; included files; environment variables; and each
    /// job whose `iodepth` has no effect.
    pub notes: Vec<String>,
}

impl JobFile {
    /// Returns the line of the section of a job; `None` if several have the name.
    pub fn line(&self, name: &str) -> Option<usize> {
        let mut named = self.jobs.iter().zip(&self.lines);
        let (_, line) = named.find(|(job, _)| job.name == name)?;
        named.all(|(job, _)| job.name != name).then_some(*line)
    }
}

/// Access to the environment and to included files.
pub trait Around {
    /// Returns the value of an environment variable, or `None` if it is not set.
    ///
    /// # Errors
    /// The reason why environment variables are not available.
    fn variable(&self, name: &str) -> Result<Option<String>, String>;

    /// Returns the name and the text of an included file. `name` is the name as written in the file `from` ("" for the
    /// job file).
    ///
    /// # Errors
    /// The reason why the file cannot be read.
    fn file(&self, name: &str, from: &str) -> Result<(String, String), String>;
}

/// Provides neither an environment nor files.
struct Alone;

impl Around for Alone {
    fn variable(&self, _: &str) -> Result<Option<String>, String> {
        Err("this text is read without an environment".into())
    }

    fn file(&self, _: &str, _: &str) -> Result<(String, String), String> {
        Err("this text is no file, and includes none".into())
    }
}

/// The state of the parser.
struct Reader<'a> {
    around: &'a dyn Around,
    /// The options of `[global]` so far, for the jobs after it.
    global: Job,
    /// The job that is being read and the line of its section; `None` within `[global]`.
    open: Option<(Job, usize)>,
    any_section: bool,
    jobs: Vec<Job>,
    lines: Vec<usize>,
    notes: Vec<String>,
    noted: BTreeSet<String>,
    /// Number of files included so far.
    files: usize,
}

/// Reads a job file without an environment or included files; see [`parse_with`].
///
/// # Errors
/// The first error, with its line. An environment variable or an `include` is an error.
pub fn parse(text: &str) -> Result<JobFile, FioError> {
    parse_with(text, &Alone)
}

/// Reads a job file. `[global]` applies to the jobs after it. Every other section is a job, even if its name repeats. A
/// comment extends from `;` or `#` to the end of the line. `${NAME}` in a value is replaced by the environment
/// variable, and `include FILE` by the options in the file. Keywords such as `$pagesize` are not supported.
///
/// # Errors
/// The first error, with its line.
pub fn parse_with(text: &str, around: &dyn Around) -> Result<JobFile, FioError> {
    let mut reader = Reader {
        around,
        global: Job::default(),
        open: None,
        any_section: false,
        jobs: Vec::new(),
        lines: Vec::new(),
        notes: Vec::new(),
        noted: BTreeSet::new(),
        files: 0,
    };
    for (line, content) in lines(text) {
        let problem = match content.starts_with('[') {
            true => reader.section(content, line),
            false => reader.line(content, line),
        };
        problem.map_err(|(line, problem)| reader.error(line, problem))?;
    }
    reader.finish()
}

/// Returns the lines that are not empty, without comments, with their numbers from 1.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let content = |line: &str| line.find(['#', ';']).unwrap_or(line.len());
    let all = text.lines().map(move |line| line[..content(line)].trim());
    (1..).zip(all).filter(|(_, content)| !content.is_empty())
}

/// Returns the file name if the line is an `include`.
fn included(content: &str) -> Option<&str> {
    let name = content.strip_prefix("include")?;
    name.starts_with([' ', '\t']).then(|| name.trim())
}

impl Reader<'_> {
    fn error(&self, line: usize, problem: Problem) -> FioError {
        FioError {
            line: Some(line),
            job: self.open.as_ref().map(|(job, _)| job.name.clone()),
            problem,
        }
    }

    fn section(&mut self, content: &str, line: usize) -> Result<(), (usize, Problem)> {
        let name = content
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
            .map(str::trim)
            // fio does not expand variables there: it takes `${NAME}` as part of the name.
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

    /// Reads the options of an included file. `place` is the place of the `include` in the file `from`.
    fn include(&mut self, name: &str, from: &str, place: &str) -> Result<(), Problem> {
        let failed = |what| Problem::Include {
            name: name.to_owned(),
            what,
        };
        if !self.any_section {
            let name = name.to_owned();
            return Err(Problem::IncludeFirst { name });
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

    /// Expands the environment variables in a value. As in fio, a variable that is not set expands to nothing.
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

    /// Ends the current section, and adds its job.
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
        if let Some((job, line)) = self.open.take() {
            self.jobs.push(job);
            self.lines.push(line);
        }
        Ok(())
    }

    fn finish(mut self) -> Result<JobFile, FioError> {
        let closed = self.close();
        closed.map_err(|(line, problem)| self.error(line, problem))?;
        if self.jobs.is_empty() {
            return Err(FioError {
                line: None,
                job: None,
                problem: Problem::NoJobs,
            });
        }
        Ok(JobFile {
            jobs: self.jobs,
            lines: self.lines,
            notes: self.notes,
        })
    }
}
