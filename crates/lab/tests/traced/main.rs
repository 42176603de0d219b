//! Real reads of a loop device and of a file, recorded and split into phases and layers: the parts against the wall clock.
//!
//! A program of its own, because it measures the machine. It needs root, tracefs and `losetup`, and says if it skips.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails by panicking"
)]

mod bpf;

use fathom_block::kernel::Call;
use fathom_hostio::load::ClockFacts;
use fathom_hostio::{
    HostError, IoDevices, Purpose, Recorded, Recorder, RecorderConfig, TraceClock,
};
use fathom_platform::measured::{
    Clocks, Io, Latencies, Load, Part, Rejection, Route, TracingCost, clocks, latencies,
};
use fathom_platform::{Layer, Phase};
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;

const BLOCK: usize = 4096;
const BLOCKS: u64 = 4096;
const ROUNDS: usize = 20;
const READS: usize = 600;
/// Reads before those that count.
const WARM_UP: usize = 50;

/// `O_DIRECT`, which differs between processors.
const DIRECT: i32 = if cfg!(target_arch = "x86_64") {
    0x4000
} else {
    0x1_0000
};

/// A loop device; detached on drop.
struct Disk {
    device: PathBuf,
    file: PathBuf,
    _dir: tempfile::TempDir,
}

impl Disk {
    fn attach() -> Option<Self> {
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let file = dir.path().join("disk");
        fs::write(&file, vec![7; BLOCK * BLOCKS as usize]).unwrap();
        let output = Command::new("losetup")
            .args(["-f", "--show"])
            .arg(&file)
            .output();
        let output = output.ok().filter(|output| output.status.success());
        let Some(output) = output else {
            println!("skipped: no loop device");
            return None;
        };
        Some(Self {
            device: String::from_utf8(output.stdout).unwrap().trim().into(),
            file,
            _dir: dir,
        })
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _already = Command::new("losetup").arg("-d").arg(&self.device).status();
    }
}

/// Number of this thread, as the kernel has it.
fn thread() -> u32 {
    let link = fs::read_link("/proc/thread-self").unwrap();
    link.file_name().unwrap().to_str().unwrap().parse().unwrap()
}

fn reads(file: &File, clock: TraceClock, count: usize) -> Vec<Io> {
    let mut room = vec![0; 2 * BLOCK];
    let start = room.as_ptr().align_offset(BLOCK);
    let buffer = &mut room[start..start + BLOCK];
    let thread = thread();
    let mut place = 1_u64;
    let mut ios = Vec::with_capacity(count);
    for _ in 0..count {
        place = place
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let offset = (place >> 40) % BLOCKS * BLOCK as u64;
        let before = clock.now();
        file.read_exact_at(buffer, offset).unwrap();
        let after = clock.now();
        ios.push(Io {
            thread,
            before,
            after,
        });
    }
    ios
}

fn config(purpose: Purpose, path: &Path) -> RecorderConfig {
    RecorderConfig {
        purpose,
        calls: vec![Call::Pread],
        devices: IoDevices::under(path).unwrap(),
        threads: vec![thread()],
        clocks: true,
        buffer_bytes: 8 << 20,
    }
}

fn start(purpose: Purpose, path: &Path) -> Option<Recorder> {
    match Recorder::start(&config(purpose, path)) {
        Ok(recorder) => Some(recorder),
        Err(error @ (HostError::NoTracefs | HostError::NoPermission { .. })) => {
            println!("skipped: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

fn route(path: &Path) -> Route {
    let IoDevices { queued, issued } = IoDevices::under(path).unwrap();
    Route {
        queued,
        issued,
        ..Route::default()
    }
}

fn median(mut all: Vec<u64>) -> f64 {
    all.sort_unstable();
    all.get(all.len() / 2).map_or(0.0, |value| *value as f64)
}

fn took(ios: &[Io]) -> Vec<u64> {
    ios.iter().map(|io| io.after - io.before).collect()
}

/// Returns how far the medians of the middle half of the rounds are apart.
fn spread(rounds: &[Vec<Io>]) -> f64 {
    let mut medians: Vec<f64> = rounds.iter().map(|ios| median(took(ios))).collect();
    medians.sort_by(f64::total_cmp);
    medians[medians.len() * 3 / 4] - medians[medians.len() / 4]
}

/// A recording, and its reads.
struct Traced {
    clock: TraceClock,
    recorded: Recorded,
    ios: Vec<Io>,
}

fn traced(purpose: Purpose, path: &Path, file: &File) -> Option<Traced> {
    let recorder = start(purpose, path)?;
    assert_eq!(recorder.missing(), []);
    reads(file, recorder.clock(), WARM_UP);
    let ios = reads(file, recorder.clock(), READS);
    let clock = recorder.clock();
    let recorded = recorder.finish().unwrap();
    assert_eq!(recorded.lost, 0);
    Some(Traced {
        clock,
        recorded,
        ios,
    })
}

/// The same reads with and without tracing, in turns.
#[derive(Default)]
struct Both {
    clock: Option<TraceClock>,
    untraced: Vec<Vec<Io>>,
    traced: Vec<Vec<Io>>,
    found: Vec<Latencies>,
}

fn both(path: &Path, file: &File) -> Option<Both> {
    let mut both = Both::default();
    for _ in 0..ROUNDS {
        let clock = start(Purpose::Latency, path)?.clock();
        both.clock = Some(clock);
        reads(file, clock, WARM_UP);
        both.untraced.push(reads(file, clock, READS));
        let Traced { recorded, ios, .. } = traced(Purpose::Latency, path, file)?;
        both.found
            .push(latencies(&recorded.records, &ios, &route(path)));
        both.traced.push(ios);
    }
    Some(both)
}

/// What an I/O took, and how many events it has.
#[derive(Debug)]
struct Medians {
    untraced: f64,
    traced: f64,
    events: f64,
}

impl Medians {
    /// Of every other round.
    fn of(both: &Both, first: usize) -> Self {
        let rounds: Vec<usize> = (first..ROUNDS).step_by(2).collect();
        let all = |of: &[Vec<Io>]| median(rounds.iter().flat_map(|r| took(&of[*r])).collect());
        let ios = rounds.iter().flat_map(|round| &both.found[*round].ios);
        let events = ios.map(|parts| u64::from(parts.all_events()));
        Self {
            untraced: all(&both.untraced),
            traced: all(&both.traced),
            events: median(events.collect()),
        }
    }
}

fn sums_are_the_wall_clock(both: &Both) {
    let mut rejected = std::collections::BTreeMap::<Rejection, u64>::new();
    let mut told = 0;
    for (found, ios) in both.found.iter().zip(&both.traced) {
        told += found.ios.len();
        for parts in &found.ios {
            let Io { before, after, .. } = ios[parts.index];
            assert_eq!(parts.time.iter().flatten().sum::<u64>(), after - before);
        }
        for (reason, count) in &found.rejected {
            *rejected.entry(*reason).or_default() += count;
        }
    }
    let all = ROUNDS * READS;
    for (reason, count) in rejected {
        println!("  rejected {count} of {all}: {}", reason.words());
    }
    println!("  told {told} of {all}");
    assert!(told * 10 >= all * 9, "{told} of {all}");
}

/// Prints the medians of the phases, with the tracing and without.
fn print(both: &Both, cost: TracingCost) {
    let of = |phase: &Phase| {
        let ios = both.found.iter().flat_map(|found| &found.ios);
        let passed =
            ios.filter_map(|io| Some((io.of(*phase)?, u64::from(io.events[*phase as usize]))));
        let (times, events): (Vec<u64>, Vec<u64>) = passed.unzip();
        let told = !times.is_empty();
        let (time, events) = (median(times), median(events));
        told.then_some((*phase, Part { time, events }))
    };
    let (phases, parts): (Vec<Phase>, Vec<Part>) = Phase::ALL.iter().filter_map(of).unzip();
    let rests = cost.without(&parts);
    for (phase, (Part { time, events }, rest)) in phases.iter().zip(parts.iter().zip(rests)) {
        let name = phase.words();
        println!("  {name:24} {time:8.0} {events:4.0} events, without them {rest:8.0}");
    }
}

fn latency_of(name: &str, path: &Path, file: &File) -> Option<()> {
    let both = both(path, file)?;
    let (even, odd) = (Medians::of(&both, 0), Medians::of(&both, 1));
    let cost = TracingCost::between(even.untraced, even.traced, even.events);
    println!(
        "{name}: {:?}, an event costs {:.0}",
        both.clock, cost.per_event
    );
    print(&both, cost);
    sums_are_the_wall_clock(&both);
    // What the even rounds say of the cost holds for the odd ones, as far as untraced rounds agree with each other: others
    // use the machine.
    let whole = Part {
        time: odd.traced,
        events: odd.events,
    };
    let without: f64 = cost.without(&[whole]).iter().sum();
    println!(
        "  {even:?}, {odd:?}, without its cost {without:.0}, rounds {:.0}",
        spread(&both.untraced)
    );
    let apart = (without - odd.untraced).abs();
    let noise = spread(&both.untraced);
    let overhead = (odd.traced - odd.untraced).abs();
    let most = (0.05 * odd.untraced).max(noise).max(overhead);
    assert!(apart <= most, "{apart} of {odd:?}");
    Some(())
}

fn clocks_of(name: &str, path: &Path, file: &File) -> Option<()> {
    let Traced { recorded, ios, .. } = traced(Purpose::Clocks, path, file)?;
    let load = Load {
        threads: vec![thread()],
        route: route(path),
        from: ios.first()?.before,
        to: ios.last()?.after,
        cpus: recorded.cpus,
        missing: Vec::new(),
    };
    let found: Clocks = clocks(&recorded.records, &load);
    let whole = load.to - load.from;
    for cpu in &found.cpus {
        assert_eq!(cpu.time.iter().sum::<u64>() + cpu.unattributed, whole);
    }
    let per_io = |count: u64| count as f64 / READS as f64;
    println!(
        "{name}: {:.0} in each of {} processors",
        per_io(whole),
        found.cpus.len()
    );
    for layer in Layer::ALL {
        if let Some(time) = found.of(layer).filter(|time| *time > 0) {
            let events = per_io(found.events(layer));
            println!(
                "  {:28} {:8.0} {events:6.1} events",
                layer.words(),
                per_io(time)
            );
        }
    }
    let unknown = per_io(found.unattributed());
    println!(
        "  unattributed {unknown:.0}, unseen switches {:.2}, switches {:.2}, the caller's {:.2}",
        per_io(found.unseen_switches),
        per_io(found.switches),
        per_io(found.own_switches)
    );
    // Others may use the drive of the file.
    assert!(found.completions >= READS as u64);
    assert!(found.of(Layer::Block) > Some(0) && found.of(Layer::Driver) > Some(0));
    Some(())
}

/// Compares the phases with those of bpftrace.
fn against_bpftrace(name: &str, path: &Path, file: &File) -> Option<()> {
    let bpftrace = bpf::Bpftrace::start(thread(), bpf::device(path))?;
    let Traced {
        clock,
        recorded,
        ios,
    } = traced(Purpose::Latency, path, file)?;
    let theirs = bpftrace.finish();
    let ours = latencies(&recorded.records, &ios, &route(path));
    let ns = match clock {
        TraceClock::Tsc => 1e9 / ClockFacts::measure().tsc_hz?,
        TraceClock::Monotonic => 1.0,
    };
    bpf::agree(name, &ours, &theirs, ns);
    Some(())
}

/// Keeps this thread on a processor, where the tool for it exists: how often a wake-up goes to another one changes from
/// second to second, and costs more than all of the tracing.
fn pin() {
    let thread = thread().to_string();
    let mut taskset = Command::new("taskset");
    let pinned = taskset.args(["-pc", "0", &thread]).output();
    if !pinned.is_ok_and(|output| output.status.success()) {
        println!("not pinned: no taskset");
    }
}

/// One test, so that no other runs beside it.
#[test]
fn the_parts_are_the_whole_and_tracing_can_be_taken_out() {
    let Some(disk) = Disk::attach() else {
        return;
    };
    pin();
    for (name, path) in [("loop device", &disk.device), ("file", &disk.file)] {
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(DIRECT)
            .open(path);
        let Ok(file) = file else {
            println!("skipped: no direct I/O on {}", path.display());
            continue;
        };
        if IoDevices::under(path).is_err() {
            println!("skipped: no block device under {}", path.display());
            continue;
        }
        let done = latency_of(name, path, &file).and_then(|()| clocks_of(name, path, &file));
        if done.is_none() {
            return;
        }
        let _skipped = against_bpftrace(name, path, &file);
    }
}
