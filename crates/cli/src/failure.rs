//! Failures of a command, all in one form: code, message, place in a file, advice.

use fathom_lab::platform::PlatformError;
use fathom_lab::replay;
use fathom_lab::source::SourceError;
use fathom_lab::store::StoreError;
use fathom_lab::study::StudyError;
use fathom_lab::target::{DriveFault, TargetError};
use fathom_lab::twin::TwinError;
use fathom_probe::run::RunError;
use fathom_trace::ErrorKind;
use std::error::Error;
use std::ops::Range;
use std::process::ExitCode;

/// Exit status of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Success.
    Done,
    /// Success with a negative result.
    Negative,
    /// Wrong usage or input.
    Input,
    /// Refused for safety.
    Refused,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(match exit {
            Exit::Done => 0,
            Exit::Negative => 1,
            Exit::Input => 2,
            Exit::Refused => 3,
        })
    }
}

/// A command's end without a result.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) code: &'static str,
    pub(crate) message: String,
    pub(crate) cause: Option<Box<dyn Error + Send + Sync>>,
    pub(crate) help: Option<String>,
    pub(crate) source: Option<Box<Source>>,
    /// Lines shown below the message.
    pub(crate) lines: Box<[String]>,
}

/// A place in a text.
#[derive(Debug)]
pub(crate) struct Source {
    /// Name of the text, such as its path.
    pub(crate) name: String,
    pub(crate) text: String,
    /// Range in bytes.
    pub(crate) at: Range<usize>,
}

impl Failure {
    /// Creates a failure of usage or input.
    pub(crate) fn input(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            exit: Exit::Input,
            code,
            message: message.into(),
            cause: None,
            help: None,
            source: None,
            lines: Box::default(),
        }
    }

    /// Creates a refusal for safety.
    pub(crate) fn refused(message: impl Into<String>) -> Self {
        Self {
            exit: Exit::Refused,
            ..Self::input("fathom::refused", message)
        }
    }

    /// Replaces the message.
    pub(crate) fn message(self, message: String) -> Self {
        Self { message, ..self }
    }

    /// Adds the cause.
    pub(crate) fn because(mut self, cause: impl Error + Send + Sync + 'static) -> Self {
        self.cause = Some(Box::new(cause));
        self
    }

    /// Adds advice.
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let code = match &error {
            StoreError::Io { .. } => "fathom::io",
            StoreError::Missing { .. } | StoreError::Gone { .. } => "fathom::run::missing",
            StoreError::NotADirectory { .. } => "fathom::run::not_a_directory",
            StoreError::NotAFile { .. } => "fathom::run::not_a_file",
            StoreError::Occupied { .. }
            | StoreError::Unreadable { .. }
            | StoreError::OtherKind { .. } => "fathom::run::occupied",
            StoreError::Foreign { .. } => "fathom::run::foreign",
            StoreError::NotARun { .. } => "fathom::run::not_a_run",
            StoreError::Truncated { .. } => "fathom::run::truncated",
            StoreError::Damaged { .. } => "fathom::run::damaged",
            StoreError::Newer { .. } => "fathom::run::newer",
            StoreError::Profile { .. } => "fathom::run::profile",
            StoreError::Encode { .. } => "fathom::run::encode",
        };
        let failure = Self::input(code, error.to_string()).help(error.help());
        match error {
            StoreError::Io { source, .. } => failure.because(source),
            StoreError::Unreadable { source, .. } => failure.because(*source),
            _ => failure,
        }
    }
}

impl From<TargetError> for Failure {
    fn from(error: TargetError) -> Self {
        let code = match &error {
            TargetError::UnknownPreset { .. } => "fathom::target::unknown_drive",
            TargetError::DriveFile { .. } => "fathom::target::drive_file",
            TargetError::Bare { .. } => "fathom::target::bare",
            TargetError::Unprefixed { .. } => "fathom::target::unprefixed",
            TargetError::Drive(_) => "fathom::target::drive",
            TargetError::Size { .. } => "fathom::target::size",
            TargetError::DestroyModel { .. } => "fathom::target::destroy",
            TargetError::OtherDrive { .. } => "fathom::target::other_drive",
            TargetError::NoModel { .. } => "fathom::target::no_model",
            TargetError::Setting { .. } | TargetError::NoTable { .. } | TargetError::Set(_) => {
                "fathom::target::setting"
            }
            TargetError::Host(_) => "fathom::target::host",
        };
        let mut failure = if error.refused() {
            Self::refused(error.to_string())
        } else {
            Self::input(code, error.to_string())
        };
        failure.help = error.help();
        match error {
            TargetError::DriveFile { source, .. } => failure.because(source),
            TargetError::Drive(fault) => {
                let DriveFault { place, at, .. } = *fault;
                failure.source = at.map(|at| {
                    Box::new(Source {
                        name: place.name,
                        text: place.text,
                        at,
                    })
                });
                failure
            }
            _ => failure,
        }
    }
}

impl From<SourceError> for Failure {
    fn from(error: SourceError) -> Self {
        let code = match &error {
            SourceError::Open { .. } => "fathom::workload::open",
            SourceError::Trace { .. } | SourceError::Misnamed { .. } => "fathom::trace",
            SourceError::Setting { .. } => "fathom::workload::setting",
            SourceError::Step { .. } | SourceError::Late { .. } => "fathom::workload::step",
            SourceError::Buffer { .. } => "fathom::workload::reshape",
            SourceError::Kind { .. } | SourceError::File { .. } => "fathom::workload::file",
            SourceError::Jobs { .. } => "fathom::workload::jobs",
            SourceError::Program { .. } => "fathom::workload::program",
            SourceError::Verify { .. } | SourceError::KeepsNothing { .. } => {
                "fathom::workload::verify"
            }
        };
        let mut failure = Self::input(code, error.to_string()).help(error.help());
        match error {
            SourceError::Open { source, .. } => failure.because(source),
            SourceError::Trace { path, error } => {
                if let ErrorKind::Unrecognised { tried } = &*error.kind {
                    failure.message = format!("{}: no format fits the first lines", path.display());
                    let line = |(format, why): &(&str, String)| format!("  {format}: {why}");
                    failure.lines = tried.iter().map(line).collect();
                }
                failure
            }
            _ => failure,
        }
    }
}

impl From<replay::RunError> for Failure {
    fn from(error: replay::RunError) -> Self {
        let help = error.help();
        match error {
            replay::RunError::Source(error) => error.into(),
            replay::RunError::Requests(error) => error.into(),
            error => {
                let mut failure = Self::input("fathom::run::failed", error.to_string());
                failure.help = help;
                failure
            }
        }
    }
}

impl From<StudyError> for Failure {
    fn from(error: StudyError) -> Self {
        let error = match error {
            StudyError::Store(error) => return error.into(),
            // The path in the error names the run already.
            StudyError::Run { error, run } => match *error {
                replay::RunError::Requests(error) => return error.into(),
                error => StudyError::Run {
                    error: Box::new(error),
                    run,
                },
            },
            error => error,
        };
        let code = match &error {
            StudyError::Read { .. } => "fathom::study::read",
            StudyError::Syntax { .. } | StudyError::Faults { .. } => "fathom::study::file",
            StudyError::Drive { .. } => "fathom::study::drive",
            StudyError::Run { .. } | StudyError::Interrupted | StudyError::Store(_) => {
                "fathom::study::run"
            }
        };
        let mut failure = Self::input(code, error.to_string());
        failure.help = error.help();
        if let StudyError::Faults { file, faults } = &error
            && faults.len() > 1
        {
            failure.message = format!("{file} has {} errors", faults.len());
            failure.lines = faults.iter().map(|fault| format!("  {fault}")).collect();
        }
        // Only the last cause: the message contains those in between.
        let causes = std::iter::successors(error.source(), |&cause| cause.source());
        let cause = causes.last().map(ToString::to_string);
        failure.cause = cause
            .filter(|cause| !failure.message.contains(cause))
            .map(Into::into);
        failure
    }
}

impl From<PlatformError> for Failure {
    fn from(error: PlatformError) -> Self {
        let help = error.help();
        Self::input("fathom::platform::file", error.to_string()).help(help)
    }
}

impl From<TwinError> for Failure {
    fn from(error: TwinError) -> Self {
        let help = error.help();
        match error {
            TwinError::Store(error) => error.into(),
            error => Self::input("fathom::twin", error.to_string()).help(help),
        }
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        Self::input("fathom::run::failed", error.to_string())
    }
}
