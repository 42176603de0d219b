//! The same reads as bpftrace sees them.
//!
//! Both record at the same time, so that they see the same events of the kernel: what they say of a read differs by the order
//! of their handlers alone.

use crate::{READS, WARM_UP};
use fathom_platform::Phase;
use fathom_platform::measured::{Latencies, Parts};
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread::JoinHandle;

/// The phases between two events that both record.
const PHASES: [Phase; 5] = [
    Phase::FileSystem,
    Phase::Block,
    Phase::Device,
    Phase::Completion,
    Phase::Wake,
];
/// Their times in nanoseconds.
type Times = [f64; PHASES.len()];
/// What the handlers of an event take, in nanoseconds: a phase with less cannot agree to a share of it.
const HANDLERS_NS: f64 = 1_000.0;

/// bpftrace at work.
pub(crate) struct Bpftrace {
    child: Child,
    /// Takes what it writes: a full pipe would make it lose events.
    text: JoinHandle<String>,
}

impl Bpftrace {
    /// Starts it for the reads of a thread from a device; `None`, with a message, if it does not work here.
    pub(crate) fn start(thread: u32, device: u32) -> Option<Self> {
        // Maps, not messages: a message takes longer than many a phase.
        let program = format!(
            "interval:ms:100 /!@ready/ {{ @ready = 1; printf(\"ready\\n\"); }}
             tracepoint:syscalls:sys_enter_pread64 /tid == {thread}/ {{ @n++; @e[@n] = nsecs; }}
             tracepoint:block:block_bio_queue /tid == {thread}/ {{ @b[@n] = nsecs; }}
             tracepoint:block:block_rq_issue /args->dev == {device}/ {{ @i[@n] = nsecs; }}
             tracepoint:block:block_rq_complete /args->dev == {device}/ {{ @c[@n] = nsecs; }}
             tracepoint:sched:sched_waking /args->pid == {thread}/ {{ @w[@n] = nsecs; }}
             tracepoint:sched:sched_switch /args->next_pid == {thread}/ {{ @s[@n] = nsecs; }}"
        );
        let mut command = Command::new("bpftrace");
        command.args(["-q", "-B", "line", "-e", &program]);
        command.env("BPFTRACE_MAP_KEYS_MAX", "8192");
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let Ok(mut child) = command.spawn() else {
            println!("skipped: no bpftrace");
            return None;
        };
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        let mut first = String::new();
        lines.read_line(&mut first).unwrap();
        if first.is_empty() {
            println!("skipped: bpftrace does not work here");
            return None;
        }
        let text = std::thread::spawn(move || rest(lines));
        Some(Self { child, text })
    }

    /// Ends it, and returns the phases of each read in nanoseconds, where its events can be told.
    pub(crate) fn finish(mut self) -> Vec<Option<Times>> {
        // SIGINT lets it write what it has seen.
        let pid = self.child.id().to_string();
        Command::new("kill").args(["-INT", &pid]).status().unwrap();
        self.child.wait().unwrap();
        let text = self.text.join().unwrap();
        (1..=READS + WARM_UP)
            .map(|read| phases(&text, read))
            .collect()
    }
}

fn rest(mut lines: BufReader<ChildStdout>) -> String {
    let mut text = String::new();
    lines.read_to_string(&mut text).unwrap();
    text
}

/// The phases of a read; `None` unless its events came in this order.
fn phases(text: &str, read: usize) -> Option<Times> {
    let at = |name: char| {
        let key = format!("@{name}[{read}]: ");
        let value = text.lines().find_map(|line| line.strip_prefix(&key));
        value?.parse::<i64>().ok()
    };
    let events = ['e', 'b', 'i', 'c', 'w', 's'].map(at);
    let mut times = [0.0; PHASES.len()];
    for (time, pair) in times.iter_mut().zip(events.windows(2)) {
        let passed = pair[1]? - pair[0]?;
        *time = u64::try_from(passed).ok()? as f64;
    }
    Some(times)
}

/// Compares what both say of the reads.
pub(crate) fn agree(name: &str, ours: &Latencies, theirs: &[Option<Times>], ns: f64) {
    let middle = |mut all: Vec<f64>| {
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    };
    println!("{name}: Fathom and bpftrace on the same reads, nanoseconds");
    let whole = |parts: &Parts| parts.time.iter().flatten().sum::<u64>() as f64 * ns;
    let latency = middle(ours.ios.iter().map(whole).collect());
    for (index, phase) in PHASES.into_iter().enumerate() {
        let both: Vec<[f64; 2]> = ours
            .ios
            .iter()
            .filter_map(|parts| {
                let their = theirs[WARM_UP + parts.index]?[index];
                Some([parts.of(phase)? as f64 * ns, their])
            })
            .collect();
        assert!(both.len() * 2 > READS, "{} reads told by both", both.len());
        let of = |side: usize| middle(both.iter().map(|pair| pair[side]).collect());
        let apart = middle(both.iter().map(|pair| (pair[0] - pair[1]).abs()).collect());
        println!(
            "  {:24} {:8.0} {:8.0}, apart {apart:6.0}",
            phase.words(),
            of(0),
            of(1)
        );
        assert!(
            apart <= (0.05 * latency).max(HANDLERS_NS),
            "{}: {apart} ns apart",
            phase.words()
        );
    }
}

/// The number of a device, as the events have it.
pub(crate) fn device(path: &Path) -> u32 {
    fathom_hostio::IoDevices::under(path).unwrap().issued[0]
}
