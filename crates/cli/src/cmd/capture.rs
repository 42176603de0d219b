//! `fathom capture`: records the block requests of a real program as a trace.

use crate::args::{CaptureArgs, Event};
use crate::failure::{Exit, Failure};
use crate::{out, watch};
use fathom_hostio::{Capture, CaptureConfig, CaptureEvent, Captured, HostError};
use fathom_lab::source::{SaveError, SavedAs, save};
use fathom_lab::store;
use fathom_lab::target::TargetError;
use fathom_report::text::human_bytes;
use rustix::process::{Pid, Signal, kill_process};
use rustix::thread::{Timespec, nanosleep};
use std::path::Path;
use std::process::{Child, Command, ExitStatus};

/// Time between two readings of the kernel's buffers.
const PAUSE: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 20_000_000,
};
/// Number of threads in the summary.
const THREADS_SHOWN: usize = 8;

pub(super) fn run(args: &CaptureArgs) -> Result<Exit, Failure> {
    check(&args.out)?;
    watch::listen()?;
    let mut capture = Capture::start(&CaptureConfig {
        device: args.on.clone(),
        event: match args.event {
            Event::Queue => CaptureEvent::Queue,
            Event::Dispatch => CaptureEvent::Dispatch,
        },
        buffer_bytes: args.buffer.0,
    })
    .map_err(host)?;
    watch::before_the_end(Box::new(capture.at_the_end()));
    let (program, rest) = args.command.split_first().ok_or_else(no_command)?;
    let child = Command::new(program).args(rest).spawn();
    let child = child.map_err(|error| {
        let message = format!("cannot start {}", out::shown(Path::new(program)));
        let failure = Failure::input("fathom::capture::command", message).because(error);
        failure
            .help("give the path of a program, or its name if it is in PATH; nothing was written")
    })?;
    let status = follow(child, &mut capture)?;
    if args.sync {
        rustix::fs::sync();
    }
    let captured = capture.finish().map_err(host)?;
    lost(&captured, args)?;
    write(&captured, args)?;
    summary(&captured);
    Ok(ended(status))
}

fn no_command() -> Failure {
    Failure::input("fathom::capture::command", "no command is given")
        .help("put it after `--`: fathom capture -- COMMAND")
}

fn host(error: HostError) -> Failure {
    TargetError::from(error).into()
}

/// Checks before the command runs that its trace can be written.
fn check(to: &Path) -> Result<(), Failure> {
    if SavedAs::of(to) != Some(SavedAs::Parquet) {
        let message = format!(
            "the ending of {} is none that a capture is written as",
            out::shown(to)
        );
        return Err(Failure::input("fathom::capture::format", message)
            .help("name FILE.parquet; `fathom convert` writes it in other formats"));
    }
    store::single(to)?;
    Ok(())
}

/// Records until the command ends. Ctrl-C or SIGTERM ends the command.
fn follow(child: Child, capture: &mut Capture) -> Result<ExitStatus, Failure> {
    let mut child = child;
    let mut told = false;
    loop {
        let ended = child.try_wait();
        let ended = ended.map_err(|error| {
            Failure::input("fathom::capture::command", "cannot wait for the command").because(error)
        })?;
        let drained = capture.drain().map_err(host);
        if drained.is_err() || (watch::interrupted() && !told) {
            told = true;
            // It may have ended, or may have got the same Ctrl-C.
            let _ended = kill_process(Pid::from_child(&child), Signal::TERM);
        }
        drained?;
        if let Some(status) = ended {
            return Ok(status);
        }
        let _woken_early_is_fine = nanosleep(&PAUSE);
    }
}

/// Refuses a trace with gaps, unless they are allowed.
fn lost(captured: &Captured, args: &CaptureArgs) -> Result<(), Failure> {
    if captured.lost == 0 {
        return Ok(());
    }
    let message = format!(
        "the kernel lost {} events: its buffers of {} for each CPU were full",
        captured.lost, args.buffer
    );
    if args.lossy {
        out::note(&format!("warning: {message}"));
        return Ok(());
    }
    Err(Failure::input("fathom::capture::lost", message).help(
        "use larger ones (`--buffer 64MiB`), or write what was recorded with `--lossy`; nothing was written",
    ))
}

fn write(captured: &Captured, args: &CaptureArgs) -> Result<(), Failure> {
    if captured.accesses.is_empty() {
        let of = args
            .on
            .as_deref()
            .map_or("any device".to_owned(), out::shown);
        let message = format!("no request of {of} was seen");
        let help = "what the command wrote may be in the page cache (`--sync` writes it), and what it read may have been \
                    there; nothing was written";
        return Err(Failure {
            exit: Exit::Negative,
            ..Failure::input("fathom::capture::nothing", message).help(help)
        });
    }
    let accesses = captured.accesses.iter().copied().map(Ok);
    let saved = save(accesses, &args.out, SavedAs::Parquet, true, || false);
    let count = saved.map_err(|error| match error {
        SaveError::Source(error) => error.into(),
        SaveError::Store(error) => error.into(),
        error => Failure::input("fathom::capture::failed", error.to_string()),
    })?;
    out::note(&format!(
        "{} in {}",
        counted(count, "request"),
        out::shown(&args.out)
    ));
    Ok(())
}

fn counted(count: u64, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    }
}

/// Prints the devices, the threads, and what the trace does not say.
fn summary(captured: &Captured) {
    for disk in captured.disks.values() {
        let sum = |(count, bytes): (u64, u64), what: &str| {
            format!("{} of {}", counted(count, what), human_bytes(bytes))
        };
        out::note(&format!(
            "{}: {}, {}, {}, {}",
            disk.name,
            sum(disk.read, "read"),
            sum(disk.written, "write"),
            match disk.flushes {
                1 => "1 flush".to_owned(),
                count => format!("{count} flushes"),
            },
            counted(disk.trims, "trim")
        ));
    }
    let mut threads: Vec<_> = captured.threads.iter().collect();
    threads.sort_by_key(|(number, thread)| (std::cmp::Reverse(thread.count), **number));
    for (number, thread) in threads.iter().take(THREADS_SHOWN) {
        let count = counted(thread.count, "request");
        let bytes = human_bytes(thread.bytes);
        out::note(&format!(
            "process {number} ({}): {count}, {bytes}",
            thread.name
        ));
    }
    if let Some(others) = threads.len().checked_sub(THREADS_SHOWN).filter(|n| *n > 0) {
        out::note(&format!("and {others} more processes"));
    }
    let unsaid = captured.unsaid;
    if unsaid.fua > 0 {
        out::note(&format!(
            "note: {} with force unit access (FUA) recorded as plain",
            counted(unsaid.fua, "write")
        ));
    }
    if unsaid.other > 0 {
        out::note(&format!(
            "note: {} of other kinds left out, such as writing zeros without data",
            counted(unsaid.other, "request")
        ));
    }
}

/// Returns the exit code for the end of the command.
fn ended(status: ExitStatus) -> Exit {
    if watch::interrupted() {
        out::note("Interrupted; the trace ends there.");
        return Exit::Negative;
    }
    if status.success() {
        return Exit::Done;
    }
    out::note(&format!(
        "The command failed ({status}); the trace was written."
    ));
    Exit::Negative
}
