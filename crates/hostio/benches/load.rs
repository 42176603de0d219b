//! Compares the cost of the load's loop with fio's: `cargo bench -p fathom-hostio --bench load`; with
//! `-- --ios 20000 --rounds 3` it takes a quarter of a minute.
//!
//! Both programs do the same random reads of 4 KiB on the same loop device over a file in memory, with the same engine and
//! depth, pinned to one processor; direct, but for one case. They run as child processes in turn, and the order alternates
//! from round to round. The figure is the processor time of the whole process by `getrusage(RUSAGE_CHILDREN)`, for both: that
//! of a long run less that of a short one, divided by the difference of their reads, so that starting does not count. The
//! kernel's threads that serve the loop device are not part of it. The exit code is 1 if the median of the rounds' ratios is
//! above 1.05 in any case, and 0 if there is no fio or loop device.
//!
//! fio submits one read with each system call by default. *one a call* does the same, and is the comparison of the loops;
//! *all* submits what can be submitted, as Fathom does by default. Another program on the processor costs either program
//! cold caches, so the machine should be idle.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    unsafe_code,
    reason = "a table for people; getrusage has no safe wrapper"
)]

use fathom_base::Dur;
use fathom_hostio::load::{self, Caching, ClockFacts, Engine, LoadConfig};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::AtomicBool;

/// Largest ratio of Fathom's processor time to fio's.
const RATIO_MAX: f64 = 1.05;
/// Number of reads of the short runs.
const SHORT_IOS: u64 = 1000;
/// Processor of both programs.
const CPU: u32 = 0;

/// A comparison: the engine, its name in fio, whether the page cache serves the reads, the depth, and the number of reads of
/// a submission.
struct Case {
    engine: Engine,
    fio: &'static str,
    cached: bool,
    depth: u32,
    batch: Option<u32>,
}

const fn case(engine: Engine, fio: &'static str, depth: u32, batch: Option<u32>) -> Case {
    Case {
        engine,
        fio,
        cached: false,
        depth,
        batch,
    }
}

const CASES: [Case; 6] = [
    case(Engine::Pread, "psync", 1, None),
    Case {
        cached: true,
        ..case(Engine::Pread, "psync", 1, None)
    },
    case(Engine::Libaio, "libaio", 32, Some(1)),
    case(Engine::IoUring, "io_uring", 32, Some(1)),
    case(Engine::Libaio, "libaio", 32, None),
    case(Engine::IoUring, "io_uring", 32, None),
];

impl Case {
    fn name(&self) -> String {
        let batch = match (self.depth, self.batch) {
            (1, _) if self.cached => ", page cache",
            (1, _) => "",
            (_, Some(_)) => ", one a call",
            (_, None) => ", all",
        };
        format!("{} QD{}{batch}", self.engine, self.depth)
    }

    /// Returns the command of a program: Fathom's is this program itself.
    fn command(&self, fathom: bool, ios: u64, device: &Path) -> Command {
        let mut command = match fathom {
            true => Command::new(std::env::current_exe().unwrap_or_default()),
            false => Command::new("fio"),
        };
        let (depth, device) = (self.depth, device.display());
        let arguments = match fathom {
            true => {
                let batch = self.batch.unwrap_or(depth);
                let cached = u32::from(self.cached);
                format!(
                    "--child {} {cached} {depth} {batch} {ios} {device}",
                    self.engine
                )
            }
            false => format!(
                "--name=load --filename={device} --rw=randread --bs=4k --direct={} --invalidate=0 --ioengine={} --iodepth={depth} \
                 --number_ios={ios} --io_size=1000g --norandommap --thread --cpus_allowed={CPU} --readonly \
                 --output-format=terse",
                u32::from(!self.cached),
                self.fio
            ),
        };
        command
            .args(arguments.split_whitespace())
            .stdout(Stdio::null());
        command
    }
}

/// Returns the processor time of all children that have ended, in nanoseconds.
fn children_ns() -> u64 {
    // SAFETY: `rusage` consists of integers, for which zeros are valid.
    let mut used: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the call writes one `rusage` to the place given.
    unsafe { libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut used) };
    let ns = |t: libc::timeval| t.tv_sec as u64 * 1_000_000_000 + t.tv_usec as u64 * 1000;
    ns(used.ru_utime) + ns(used.ru_stime)
}

/// Returns the processor time of a run, in nanoseconds.
fn cost_ns(mut command: Command) -> Result<u64, String> {
    let before = children_ns();
    let status = command.status().map_err(|error| error.to_string())?;
    match status.success() {
        true => Ok(children_ns() - before),
        false => Err(format!("{command:?} failed")),
    }
}

/// Returns the processor time of a read, in nanoseconds.
fn per_io_ns(case: &Case, fathom: bool, ios: u64, device: &Path) -> Result<f64, String> {
    // Those from the page cache take a tenth of the time.
    let ios = if case.cached { ios * 10 } else { ios };
    let short = cost_ns(case.command(fathom, SHORT_IOS, device))?;
    let long = cost_ns(case.command(fathom, SHORT_IOS + ios, device))?;
    Ok((long as f64 - short as f64) / ios as f64)
}

/// The child process: one load. Its arguments are those that [`Case::command`] writes.
fn child(arguments: &[String]) -> Result<(), String> {
    let [engine, cached, depth, batch, ios, device] = arguments else {
        return Err("wrong arguments".into());
    };
    let number = |text: &String| text.parse::<u32>().map_err(|error| error.to_string());
    let named = |e: &Engine| e.name() == engine;
    let config = LoadConfig {
        engine: Engine::ALL
            .into_iter()
            .find(named)
            .ok_or("no such engine")?,
        caching: match number(cached)? {
            0 => Caching::Direct,
            _ => Caching::Hit,
        },
        depth: number(depth)?,
        batch_max: Some(number(batch)?),
        cpus: vec![CPU],
        warm_up: Dur::ZERO,
        time_max: Dur::ms(600_000),
        ios_max: Some(u64::from(number(ios)?)),
        ..LoadConfig::new(device)
    };
    let report = load::run(&config, &ClockFacts::measure(), &AtomicBool::new(false));
    report.map(|_| ()).map_err(|error| error.to_string())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Prints the table, and returns true if Fathom is fast enough.
fn compare(ios: u64, rounds: u32, device: &Path) -> Result<bool, String> {
    let clock = ClockFacts::measure();
    let clocks = |ns: f64| match clock.tsc_hz.filter(|_| clock.usable()) {
        Some(hz) => format!("{:.0}", ns * hz / 1e9),
        None => "-".into(),
    };
    println!("{rounds} rounds of {ios} reads; medians of the processor time of a read\n");
    println!("| | fio, ns | Fathom, ns | fio, clocks | Fathom, clocks | ratio | of rounds |");
    println!("|---|--:|--:|--:|--:|--:|--:|");
    let mut enough = true;
    for case in &CASES {
        let mut ns = [Vec::new(), Vec::new()];
        for round in 0..rounds {
            for turn in 0..2 {
                let fathom = (round + turn) % 2 == 1;
                ns[usize::from(fathom)].push(per_io_ns(case, fathom, ios, device)?);
            }
        }
        let ratios: Vec<f64> = ns[0]
            .iter()
            .zip(&ns[1])
            .map(|(fio, own)| own / fio)
            .collect();
        let range = ratios
            .iter()
            .fold([f64::INFINITY, 0.0], |[low, high], &ratio| {
                [ratio.min(low), ratio.max(high)]
            });
        let ([fio, fathom], ratio) = (ns.map(median), median(ratios));
        println!(
            "| {} | {fio:.0} | {fathom:.0} | {} | {} | {ratio:.2} | {:.2} to {:.2} |",
            case.name(),
            clocks(fio),
            clocks(fathom),
            range[0],
            range[1],
        );
        enough &= ratio <= RATIO_MAX;
    }
    Ok(enough)
}

/// A loop device over a file in memory, in the page cache; detached on drop.
struct LoopDevice {
    path: PathBuf,
    /// The kernel drops the pages of a device that nobody has open.
    _open: std::fs::File,
    _dir: tempfile::TempDir,
}

impl LoopDevice {
    fn new(mib: usize) -> Result<Self, String> {
        let shm = Path::new("/dev/shm");
        let dir = match shm.is_dir() {
            true => tempfile::tempdir_in(shm),
            false => tempfile::tempdir(),
        };
        let dir = dir.map_err(|error| error.to_string())?;
        let file = dir.path().join("disk");
        std::fs::write(&file, vec![0x5a; mib << 20]).map_err(|error| error.to_string())?;
        let attached = Command::new("losetup")
            .args(["-f", "--show"])
            .arg(&file)
            .output();
        let attached = attached.map_err(|error| format!("losetup: {error}"))?;
        if !attached.status.success() {
            return Err(String::from_utf8_lossy(&attached.stderr).trim().to_owned());
        }
        let path: PathBuf = String::from_utf8_lossy(&attached.stdout).trim().into();
        let open = std::fs::File::open(&path).map_err(|error| error.to_string())?;
        let read = std::io::copy(&mut &open, &mut std::io::sink());
        read.map_err(|error| error.to_string())?;
        Ok(Self {
            path,
            _open: open,
            _dir: dir,
        })
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let detached = Command::new("losetup").arg("-d").arg(&self.path).status();
        if !detached.is_ok_and(|status| status.success()) {
            eprintln!("{} is still attached", self.path.display());
        }
    }
}

/// Returns the value of an option.
fn option(arguments: &[String], name: &str, default: u64) -> u64 {
    let at = arguments.iter().position(|argument| argument == name);
    let value = at.and_then(|at| arguments.get(at + 1)?.parse().ok());
    value.unwrap_or(default)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let told = |result: Result<bool, String>| match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("load: {why}");
            ExitCode::from(2)
        }
    };
    if let Some(at) = arguments.iter().position(|argument| argument == "--child") {
        return told(child(&arguments[at + 1..]).map(|()| true));
    }
    if !arguments.iter().any(|argument| argument == "--bench") {
        println!("skipped: it is a benchmark, for `cargo bench`");
        return ExitCode::SUCCESS;
    }
    if Command::new("fio").arg("--version").output().is_err() {
        println!("skipped: there is no fio to compare with");
        return ExitCode::SUCCESS;
    }
    match LoopDevice::new(64) {
        Ok(device) => {
            let ios = option(&arguments, "--ios", 100_000);
            let rounds = option(&arguments, "--rounds", 5).max(1) as u32;
            told(compare(ios, rounds, &device.path))
        }
        Err(why) => {
            println!("skipped: no loop device ({why})");
            ExitCode::SUCCESS
        }
    }
}
