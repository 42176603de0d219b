//! Reads a drive's log in a thread of its own, because a command may wait in the drive for as long as the kernel allows.

use crate::clock::monotonic_ns;
use crate::inspect::drive_of;
use crate::log::ask::{self, Known};
use crate::log::commands::Commands;
use crate::log::error::LogError;
use crate::log::way::{self, Protocol, Way};
use fathom_block::DriveLog;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// How long a log is waited for.
pub(crate) const PATIENCE: Duration = Duration::from_secs(2);

type Answer = (Result<DriveLog, LogError>, Known);

/// A read of the log under way.
struct Asked {
    answer: Receiver<Answer>,
    since_ns: u64,
}

impl Asked {
    fn elapsed(&self) -> Duration {
        Duration::from_nanos(monotonic_ns().saturating_sub(self.since_ns))
    }
}

/// Reads the log of one drive, one read at a time.
pub(crate) struct LogReader {
    path: PathBuf,
    /// The way to the log, found at the first read.
    way: Option<Result<Way, LogError>>,
    known: Known,
    asked: Option<Asked>,
    error: Option<LogError>,
}

impl LogReader {
    /// Creates a reader for the drive of a path or under it. Nothing is opened before the first read.
    pub(crate) fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            way: None,
            known: Known::default(),
            asked: None,
            error: None,
        }
    }

    /// Returns why the last read returned nothing.
    pub(crate) fn error(&self) -> Option<&LogError> {
        self.error.as_ref()
    }

    /// Notes why a log was not asked for.
    pub(crate) fn refuse(&mut self, error: LogError) {
        self.error = Some(error);
    }

    fn fail(&mut self, error: LogError) -> LogError {
        self.error = Some(error.clone());
        error
    }

    /// Starts to read the log.
    pub(crate) fn ask(&mut self) -> Result<(), LogError> {
        let path = &self.path;
        let way = self.way.get_or_insert_with(|| way_of(path));
        let way = match way.clone() {
            Ok(way) => way,
            Err(error) => return Err(self.fail(error)),
        };
        if let Some(asked) = &self.asked {
            let waited = asked.elapsed();
            match asked.answer.try_recv() {
                Ok((_late, known)) => self.known = known,
                Err(std::sync::mpsc::TryRecvError::Empty) => return Err(self.fail(slow(waited))),
                Err(std::sync::mpsc::TryRecvError::Disconnected) => {}
            }
            self.asked = None;
        }
        let known = self.known.clone();
        match in_thread(move || read(&way, known)) {
            Ok(asked) => self.asked = Some(asked),
            Err(error) => return Err(self.fail(error)),
        }
        Ok(())
    }

    /// Waits for the log, for `step` or until the patience ends; `None` if it is not there after the step.
    pub(crate) fn answer(&mut self, step: Option<Duration>) -> Option<Result<DriveLog, LogError>> {
        let Some(asked) = self.asked.as_ref() else {
            return Some(Err(self.fail(slow(Duration::ZERO))));
        };
        let waited = asked.elapsed();
        let left = PATIENCE.saturating_sub(waited);
        match asked
            .answer
            .recv_timeout(step.map_or(left, |step| step.min(left)))
        {
            Ok((result, known)) => {
                self.asked = None;
                self.known = known;
                self.error = result.as_ref().err().cloned();
                Some(result)
            }
            Err(RecvTimeoutError::Timeout) if waited < PATIENCE && step.is_some() => None,
            Err(_) => {
                let waited = asked.elapsed();
                Some(Err(self.fail(slow(waited))))
            }
        }
    }
}

fn slow(waited: Duration) -> LogError {
    LogError::Slow {
        waited_ms: waited.as_millis() as u64,
    }
}

/// Returns the way to the log of the drive of a path or under it.
pub(crate) fn way_of(path: &Path) -> Result<Way, LogError> {
    let node = drive_of(path).ok_or_else(|| LogError::NoLog {
        what: path.display().to_string(),
        why: "no drive was found under it; a network or memory file system has none".into(),
    })?;
    way::to(&node)
}

/// Runs a read in a thread. The thread outlives a caller that has given up, and ends with its last command.
fn in_thread(read: impl FnOnce() -> Answer + Send + 'static) -> Result<Asked, LogError> {
    let (to, answer) = channel();
    let thread = thread::Builder::new().name("drive-log".into());
    let started = thread.spawn(move || {
        let _nobody_waits = to.send(read());
    });
    match started {
        Ok(_) => Ok(Asked {
            answer,
            since_ns: monotonic_ns(),
        }),
        Err(error) => Err(LogError::Os {
            node: PathBuf::new(),
            action: "start a thread",
            error: error.to_string(),
        }),
    }
}

/// The node is open only during the read: an open node counts as a user of the drive.
fn read(way: &Way, mut known: Known) -> Answer {
    let result = Commands::open(way).and_then(|mut drive| match &way.protocol {
        Protocol::Nvme => ask::nvme(&mut drive, &mut known),
        Protocol::Ata {
            model,
            sector_bytes,
        } => ask::ata(&mut drive, model, *sector_bytes, &mut known),
    });
    let nothing = |log: &DriveLog| *log == DriveLog::default();
    let result = match result {
        Ok(log) if nothing(&log) => Err(LogError::Garbled {
            node: way.node.clone(),
            what: "a log with any number in it",
        }),
        other => other,
    };
    (result, known)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reader(answer: impl FnOnce() -> Answer + Send + 'static) -> LogReader {
        let mut reader = LogReader::new(Path::new("/"));
        reader.asked = Some(in_thread(answer).unwrap());
        reader.way = Some(Err(LogError::RequestsInFlight));
        reader
    }

    #[test]
    fn a_log_that_comes_in_time_is_returned() {
        let log = DriveLog {
            used_percent: Some(3),
            ..DriveLog::default()
        };
        let mut reader = reader(move || (Ok(log), Known::default()));
        assert_eq!(reader.answer(None), Some(Ok(log)));
        assert_eq!(reader.error(), None);
    }

    /// The drive answers only after the caller has given up; until then no second command is sent.
    #[test]
    fn a_drive_that_does_not_answer_is_not_asked_again() {
        let (release, held) = channel::<()>();
        let mut reader = reader(move || {
            let _released = held.recv();
            (Err(LogError::RequestsInFlight), Known::default())
        });
        assert_eq!(reader.answer(Some(Duration::from_millis(1))), None);
        let begun = reader.asked.as_mut().unwrap();
        begun.since_ns = 0;
        let slow = |error: Option<Result<DriveLog, LogError>>| {
            matches!(error, Some(Err(LogError::Slow { .. })))
        };
        assert!(slow(reader.answer(None)));
        assert!(slow(reader.answer(None)));
        reader.way = Some(Ok(Way {
            node: "/dev/fathom-missing".into(),
            number: crate::node::DeviceNumber(0, 0),
            protocol: Protocol::Nvme,
        }));
        assert!(matches!(reader.ask(), Err(LogError::Slow { .. })));
        release.send(()).unwrap();
        // The late answer is dropped, and the next read finds that there is no such node.
        while reader.ask().is_err() {
            thread::yield_now();
        }
        let told = reader.answer(None).unwrap().unwrap_err();
        assert!(matches!(told, LogError::NoLog { .. }), "{told}");
        assert_eq!(reader.error(), Some(&told));
    }
}
