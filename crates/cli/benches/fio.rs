//! Compares Fathom with fio: `cargo bench -p fathom-cli --bench fio`; with `-- --seconds 0.1 --rounds 3` it takes less than
//! half a minute.
//!
//! fio and `fathom run --sched none` run the same job files in turn on the same file, and on the same loop device where one
//! can be made. The order alternates from round to round. The exit code is 1 if Fathom reaches less than 0.90 of fio's
//! accesses per second in any case, and 0 if fio is not installed.
//!
//! fio's jobs are threads (`thread`): an fio process starts a session of its own, and Linux's autogroups give such a session
//! a larger share of a contended processor.
//!
//! The benchmark does not measure the speed of a drive. Other load on the machine slows down both programs, and by different
//! amounts from round to round; therefore the range of the rounds' ratios is printed beside the ratio of the medians. A
//! single access at a time on a loop device can be slow or four times as fast, depending on where the kernel places its
//! worker.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a table for people"
)]

use clap::Parser;
use fathom_base::Dur;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output};

/// Minimum ratio of Fathom's to fio's accesses per second.
const RATIO_MIN: f64 = 0.90;

/// A job: its name, the contents of its section, and whether it writes.
struct Case(&'static str, &'static str, bool);

const CASES: [Case; 6] = [
    Case("4k randread QD1", "rw=randread\nbs=4k\niodepth=1", false),
    Case("4k randread QD32", "rw=randread\nbs=4k\niodepth=32", false),
    Case(
        "4k randread QD128",
        "rw=randread\nbs=4k\niodepth=128",
        false,
    ),
    Case("4k randwrite QD32", "rw=randwrite\nbs=4k\niodepth=32", true),
    Case("64k read QD8", "rw=read\nbs=64k\niodepth=8", false),
    Case(
        "4k randread QD16, 2 processes",
        "rw=randread\nbs=4k\niodepth=16\nnumjobs=2\ngroup_reporting",
        false,
    ),
];

/// Compares fio and Fathom on the same jobs.
#[derive(Parser)]
struct Args {
    /// Seconds for which each program runs a job
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
    /// Number of rounds: runs of a job by each program
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(3..))]
    rounds: u32,
    /// Size of the target, in MiB
    #[arg(long, default_value_t = 256)]
    mib: u32,
    /// Directory of the target file [default: in the target directory]
    #[arg(long)]
    dir: Option<PathBuf>,
    /// Processor of both programs; any, if not given
    #[arg(long)]
    cpu: Option<u32>,
    /// Only jobs with one of these in their name, which begins with `fio`
    names: Vec<String>,
    /// Passed by `cargo bench`; without it nothing is measured
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> ExitCode {
    let args = Args::parse();
    if !args.bench {
        println!("skipped: it is a benchmark, for `cargo bench`");
        return ExitCode::SUCCESS;
    }
    let version = match Command::new("fio").arg("--version").output() {
        Ok(output) => String::from_utf8_lossy(&output.stdout).trim().to_owned(),
        Err(error) => {
            println!("skipped: there is no fio to compare with ({error})");
            return ExitCode::SUCCESS;
        }
    };
    match compare(&args, &version) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("fio: {why}");
            ExitCode::from(2)
        }
    }
}

/// Returns true if Fathom is fast enough in all cases.
fn compare(args: &Args, version: &str) -> Result<bool, String> {
    let chosen = |case: &&Case| {
        let name = format!("fio {}", case.0);
        args.names.is_empty() || args.names.iter().any(|part| name.contains(part))
    };
    let cases: Vec<&Case> = CASES.iter().filter(chosen).collect();
    if cases.is_empty() {
        return Ok(true);
    }
    let parent = args.dir.as_deref();
    let parent = parent.unwrap_or_else(|| Path::new(env!("CARGO_TARGET_TMPDIR")));
    let dir = tempfile::tempdir_in(parent).map_err(|e| format!("{}: {e}", parent.display()))?;
    println!(
        "{version} and fathom, {} rounds of {} s each, on {} MiB",
        args.rounds, args.seconds, args.mib
    );
    let file = dir.path().join("file");
    let mut enough = on("a file", &file, args, &cases)?;
    match LoopDevice::over(&dir.path().join("image"), args.mib) {
        Ok(device) => enough &= on("a loop device", &device.0, args, &cases)?,
        Err(why) => println!("\nskipped: a loop device ({why})"),
    }
    Ok(enough)
}

/// Prints the table of one target and returns true if Fathom is fast enough on it.
fn on(what: &str, target: &Path, args: &Args, cases: &[&Case]) -> Result<bool, String> {
    lay_out(target, args.mib)?;
    println!(
        "\n{:<30} {:>29} {:>29} {:>7} {:>13}  at least {RATIO_MIN:.2}",
        format!("on {what}"),
        "fio, IOPS (range)",
        "fathom, IOPS (range)",
        "ratio",
        "of rounds"
    );
    let mut enough = true;
    for case in cases {
        let rounds = play(case, target, args)?;
        let fio = Rounds::of(rounds.iter().map(|round| round.0));
        let fathom = Rounds::of(rounds.iter().map(|round| round.1));
        let ratios = Rounds::of(rounds.iter().map(|round| round.1 / round.0));
        let ratio = fathom.median / fio.median;
        let says = if ratio >= RATIO_MIN { "yes" } else { "NO" };
        println!(
            "{:<30} {:>29} {:>29} {ratio:>7.2} {:>13}  {says}",
            case.0,
            fio.to_string(),
            fathom.to_string(),
            format!("{:.2} to {:.2}", ratios.low, ratios.high)
        );
        enough &= ratio >= RATIO_MIN;
    }
    Ok(enough)
}

/// Returns the accesses per second of fio and of Fathom, per round.
fn play(case: &Case, target: &Path, args: &Args) -> Result<Vec<(f64, f64)>, String> {
    let text = format!(
        "[global]\nioengine=io_uring\ndirect=1\nthread\ntime_based\nruntime={}ms\nsize={}m\nfilename={}\n[job]\n{}\n",
        (args.seconds * 1000.0).round(),
        args.mib,
        target.display(),
        case.1
    );
    let jobs = tempfile::NamedTempFile::new().map_err(|e| e.to_string())?;
    std::fs::write(&jobs, text).map_err(|e| e.to_string())?;
    let fio = || fio(jobs.path(), args.cpu);
    let fathom = || fathom(jobs.path(), target, case.2, args.cpu);
    let round = |number: u32| {
        if number.is_multiple_of(2) {
            let first = fio()?;
            Ok((first, fathom()?))
        } else {
            let first = fathom()?;
            Ok((fio()?, first))
        }
    };
    (0..args.rounds).map(round).collect()
}

/// A figure of several rounds.
struct Rounds {
    median: f64,
    low: f64,
    high: f64,
}

impl Rounds {
    fn of(figures: impl Iterator<Item = f64> + Clone) -> Self {
        Self {
            median: median(figures.clone()),
            low: figures.clone().fold(f64::INFINITY, f64::min),
            high: figures.fold(0.0, f64::max),
        }
    }
}

impl std::fmt::Display for Rounds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { median, low, high } = self;
        write!(f, "{median:.0} ({low:.0} to {high:.0})")
    }
}

/// Returns the command of a program that runs on processor `cpu`, if one is given.
fn on_cpu(program: &str, cpu: Option<u32>) -> Command {
    let Some(cpu) = cpu else {
        return Command::new(program);
    };
    let mut command = Command::new("taskset");
    command.args(["-c", &cpu.to_string(), program]);
    command
}

fn fio(jobs: &Path, cpu: Option<u32>) -> Result<f64, String> {
    let mut command = on_cpu("fio", cpu);
    let said = json(command.arg("--output-format=json").arg(jobs))?;
    let sides = ["read", "write"].map(|side| said["jobs"][0][side]["iops"].as_f64());
    positive("fio", sides.into_iter().flatten().sum())
}

fn fathom(jobs: &Path, target: &Path, writes: bool, cpu: Option<u32>) -> Result<f64, String> {
    let mut command = on_cpu(env!("CARGO_BIN_EXE_fathom"), cpu);
    command.arg("run").arg(jobs).arg("--on").arg(target);
    command.args(["--sched", "none", "--json"]);
    if writes {
        command.arg("--yes").arg("--destroy").arg(target);
    }
    let said = json(&mut command)?;
    let totals = &said["totals"];
    let count = totals["all"]["count"].as_f64().unwrap_or(0.0);
    let took: Option<Dur> = totals["duration"].as_str().and_then(|d| d.parse().ok());
    let ns = took.map_or(f64::INFINITY, |took| took.0 as f64);
    positive("fathom", count / ns * 1e9)
}

fn positive(who: &str, iops: f64) -> Result<f64, String> {
    if iops > 0.0 {
        Ok(iops)
    } else {
        Err(format!("{who} says nothing of accesses a second"))
    }
}

/// Returns the JSON that a command prints, from its first brace on; fio may print notes before it.
fn json(command: &mut Command) -> Result<Value, String> {
    let output = succeed(command)?;
    let text = String::from_utf8_lossy(&output.stdout);
    let start = text.find('{').unwrap_or(0);
    serde_json::from_str(&text[start..]).map_err(|e| format!("{command:?}: {e}"))
}

fn succeed(command: &mut Command) -> Result<Output, String> {
    let output = command.output().map_err(|e| format!("{command:?}: {e}"))?;
    if output.status.success() {
        return Ok(output);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{command:?}: {}: {}", output.status, said.trim()))
}

/// Writes the target once, sequentially: reads of unwritten space do not reach the drive.
fn lay_out(target: &Path, mib: u32) -> Result<(), String> {
    let mut command = Command::new("fio");
    command.args(["--name=layout", "--rw=write", "--bs=1m", "--direct=1"]);
    command.args(["--ioengine=io_uring", "--iodepth=8", "--end_fsync=1"]);
    command.arg(format!("--size={mib}m"));
    command.arg(format!("--filename={}", target.display()));
    succeed(&mut command).map(drop)
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len().is_multiple_of(2) {
        (values[middle - 1] + values[middle]) / 2.0
    } else {
        values[middle]
    }
}

/// A loop device over a file of its own, detached on drop. Its file is in the page cache, so that the drive does not matter.
struct LoopDevice(PathBuf);

impl LoopDevice {
    fn over(image: &Path, mib: u32) -> Result<Self, String> {
        let user = succeed(Command::new("id").arg("-u"))?;
        if user.stdout != b"0\n" {
            return Err("only root can make one".into());
        }
        let file = std::fs::File::create(image).map_err(|e| e.to_string())?;
        file.set_len(u64::from(mib) << 20)
            .map_err(|e| e.to_string())?;
        let mut command = Command::new("losetup");
        let made = succeed(command.args(["--find", "--show"]).arg(image))?;
        Ok(Self(String::from_utf8_lossy(&made.stdout).trim().into()))
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let detached = succeed(Command::new("losetup").arg("--detach").arg(&self.0));
        if let Err(why) = detached {
            eprintln!("fio: {why}");
        }
    }
}
