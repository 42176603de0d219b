//! `cargo xtask whole`: what a run of `fathom` costs as a whole process, beside the inner loop and a floor.
//!
//! Each case is a command line of `fathom run`, measured by the CPU time of the process: its start, the preparation of the
//! drive, the workload and the report. Peers are measured in the same way on the same trace, where their programs are given.
//! The table goes to the terminal; files go into a directory of the system's for temporary files, and are removed.

mod disksim;
mod process;

use crate::command::{root, succeeds};
use crate::dist::Programs;
use crate::guided;
use crate::performance::inner_loop;
use disksim::{DiskSim, Served};
use process::{Cost, instructions, measured};
use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// The numbers of requests of the table, and with `--long`.
const REQUESTS: [u64; 2] = [100_000, 3_000_000];
const LONG: u64 = 30_000_000;
/// How often a case is measured; the table has the median.
const RUNS: usize = 3;
/// The part of `model:epo` that is used, in pages of 4 KiB: 160 GiB.
const PAGES: u64 = 160 << 18;
/// The pages of the smaller drive that collects: an eighth of the blocks, of which 86.5 % can be addressed.
const SMALL_PAGES: u64 = 21_216 << 8;
/// The time between requests of a trace, in milliseconds: 20,000 a second, which a drive of 20 requests at a time can serve.
const INTERVAL_MS: f64 = 0.05;

const USAGE: &str = "\
Usage: cargo xtask whole [--guided] [--long | --requests N] [--runs N] [--only TEXT] [--count] [--disksim PROGRAM PARAMETERS]
  --guided   the programs of `cargo xtask guided`
  --long     30 million requests, too
  --requests this number of requests only
  --runs N   runs of each case, 3 unless given; the table has the median
  --only     the cases whose names have TEXT
  --count    count the instructions of 100,000 requests, too, where the drive is new (valgrind)
  --disksim  the program of DiskSim with its SSD extension and a parameter file, such as xtask/disksim/ms-ssd.parv: two rows
             more, from the traces; not with 30 million requests, for which DiskSim would collect";

/// The cases: the load of the inner loop beside it (drive and load of the example `performance`, or `-`), the workload, the
/// options of `fathom run`, and the name of the row, divided by `|`. `OUT` stands for a directory. A number behind the workload
/// is the part of the drive that is used, in GiB.
const CASES: &str = "
epo fresh|writes|--precondition fresh --arrival closed:32|random writes, new drive
-|in-order|--precondition fresh --arrival closed:32|sequential writes, new drive
epo reads|reads|--arrival closed:32|random reads, filled drive
-|writes|--arrival closed:32|random writes, filled drive
tight-8 steady|all-writes|--size 21216MiB --set mapping.over_provisioning_percent=13.574660633484163 --precondition random:1.5 --arrival closed:32|random writes, collecting, 21 GiB
-|writes|--precondition fresh --arrival closed:32 --out OUT|random writes, new drive, every request recorded
-|writes|--precondition fresh --arrival closed:32 --sched mq-deadline|random writes, new drive, through mq-deadline
-|writes|--precondition fresh --arrival closed:1|random writes, new drive, 1 in flight
-|writes|--precondition fresh --arrival closed:8|random writes, new drive, 8 in flight
-|writes|--precondition fresh --arrival closed:128|random writes, new drive, 128 in flight
-|writes|--precondition fresh --arrival closed:1024|random writes, new drive, 1,024 in flight
-|writes:14|--precondition fresh --arrival closed:32 --size 16GiB|random writes, new drive of 16 GiB
-|writes:180|--precondition fresh --arrival closed:32 --size 192GiB|random writes, new drive of 192 GiB
-|writes:1000|--precondition fresh --arrival closed:32 --size 1TiB|random writes, new drive of 1 TiB
-|writes|--precondition fresh --arrival closed:32 --set flash.channels=8|random writes, new drive, 8 elements
-|writes|--precondition fresh --arrival closed:32 --set flash.channels=32|random writes, new drive, 32 elements
-|writes|--precondition fresh --arrival closed:32 --set flash.channels=128|random writes, new drive, 128 elements
-|writes.trace|--precondition fresh --arrival closed:32|from a DiskSim trace: random writes, new drive
-|reads.trace|--arrival closed:32|from a DiskSim trace: random reads, filled drive
-|writes.trace|--on model:ms-ssd --arrival open|from a DiskSim trace at its times: random writes, `ms-ssd`
-|reads.trace|--on model:ms-ssd --arrival open|from a DiskSim trace at its times: random reads, `ms-ssd`
";

/// A row of [`CASES`].
#[derive(Clone, Copy, Debug)]
struct Case<'a> {
    inner: Option<(&'a str, &'a str)>,
    workload: &'a str,
    options: &'a str,
    name: &'a str,
}

impl<'a> Case<'a> {
    fn of(line: &'a str) -> Option<Self> {
        let mut parts = line.split('|');
        let mut next = || parts.next();
        Some(Self {
            inner: next()?.split_once(' '),
            workload: next()?,
            options: next()?,
            name: next()?,
        })
    }

    /// Returns true if the row can be compared with others: 30 million writes on the drive of DiskSim would make it collect.
    fn is_for(&self, requests: u64) -> bool {
        requests != LONG || !self.options.contains("ms-ssd")
    }

    /// Returns true if the drive is not written before the workload, which would take long in valgrind.
    fn is_new(&self) -> bool {
        self.options.contains("--precondition fresh")
    }
}

/// What was asked for on the command line.
#[derive(Debug, Default)]
struct Options {
    guided: bool,
    long: bool,
    requests: Option<u64>,
    runs: Option<usize>,
    only: Option<String>,
    count: bool,
    disksim: Option<DiskSim>,
}

impl Options {
    fn of(args: &[String]) -> Option<Self> {
        let mut options = Self::default();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--guided" => options.guided = true,
                "--long" => options.long = true,
                "--requests" => options.requests = Some(args.next()?.parse().ok()?),
                "--runs" => options.runs = Some(args.next()?.parse().ok()?),
                "--only" => options.only = Some(args.next()?.clone()),
                "--count" => options.count = true,
                "--disksim" => options.disksim = Some(DiskSim::new(args.next()?, args.next()?)),
                _ => return None,
            }
        }
        Some(options)
    }

    fn wants(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|only| name.contains(only))
    }

    /// The numbers of requests of the table.
    fn requests(&self) -> Vec<u64> {
        let usual = REQUESTS.into_iter().chain(self.long.then_some(LONG));
        match self.requests {
            Some(only) => vec![only],
            None => usual.collect(),
        }
    }

    fn runs(&self) -> usize {
        self.runs.unwrap_or(RUNS).max(1)
    }
}

/// Prints the table.
pub(crate) fn run(args: &[String]) -> ExitCode {
    let Some(options) = Options::of(args) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let dir = std::env::temp_dir().join(format!("fathom-whole-{}", std::process::id()));
    let done = table(&options, &dir);
    // What is left over is of no use to anybody.
    let _removed = fs::remove_dir_all(&dir);
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn table(options: &Options, dir: &Path) -> Result<(), String> {
    let programs = guided::chosen(options.guided)?;
    fs::create_dir_all(dir).map_err(|e| e.to_string())?;
    let floor = compiled_floor(dir)?;
    if options.disksim.is_none() {
        println!("DiskSim: skipped, no --disksim PROGRAM PARAMETERS\n");
    }
    println!(
        "| case | requests | CPU, s | of it in the kernel | whole process, million/s | inner loop, million/s | times the floor | instructions a request | resident, MiB |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|");
    let runs = options.runs();
    let mut notes = Vec::new();
    for requests in options.requests() {
        let least = || Ok(command(&floor, &[&requests.to_string()]));
        if options.wants("floor") {
            let (cost, beside) = (median(runs, least)?, Beside::default());
            row(
                "floor: a loop in C that updates the tables",
                requests,
                cost,
                beside,
            );
        }
        let cases = CASES.lines().filter_map(Case::of);
        for case in cases.filter(|case| case.is_for(requests) && options.wants(case.name)) {
            let writes = matches!(case.workload, "writes" | "writes.trace");
            let (cost, times) = match writes {
                true => ratio(runs, || fathom(&programs, &case, requests, dir), least)?,
                false => (
                    median(runs, || fathom(&programs, &case, requests, dir))?,
                    None,
                ),
            };
            let inner = case
                .inner
                .map(|inner| inner_loop(&programs, inner, requests));
            let counts = options.count && requests == REQUESTS[0] && case.is_new();
            let counted = counts
                .then(|| fathom(&programs, &case, requests, dir))
                .transpose()?;
            let beside = Beside {
                inner: inner.transpose()?,
                times,
                instructions: counted.and_then(|command| instructions(&command)),
            };
            row(case.name, requests, cost, beside);
        }
        if let Some(disksim) = options.disksim.as_ref().filter(|_| requests != LONG) {
            notes.extend(peer(disksim, options, requests, dir)?);
        }
    }
    if !notes.is_empty() {
        println!("\n{}", notes.join("\n"));
    }
    Ok(())
}

/// Prints the rows of DiskSim. Returns what it says of its requests.
fn peer(
    disksim: &DiskSim,
    options: &Options,
    requests: u64,
    dir: &Path,
) -> Result<Vec<String>, String> {
    let mut notes = Vec::new();
    for op in ["writes", "reads"] {
        let name = format!("DiskSim with its SSD extension, the same trace: random {op}");
        if !options.wants(&name) {
            continue;
        }
        let trace = trace(op, requests, dir)?;
        let cost = median(options.runs(), || Ok(disksim.command(&trace)))?;
        let served = Served::of(&trace, requests)?;
        row(&name, requests, cost, Beside::default());
        notes.push(format!("- DiskSim, {requests} {op}: {served}"));
    }
    Ok(notes)
}

/// What stands beside the cost of a case, where it was measured.
#[derive(Clone, Copy, Debug, Default)]
struct Beside {
    /// Requests a second of the inner loop.
    inner: Option<f64>,
    /// Ratio to the time of the floor.
    times: Option<f64>,
    instructions: Option<u64>,
}

fn row(name: &str, requests: u64, cost: Cost, beside: Beside) {
    let cell = |figure: Option<f64>| figure.map_or_else(|| "-".to_owned(), |f| format!("{f:.2}"));
    let each = |count: u64| (count / requests).to_string();
    println!(
        "| {name} | {requests} | {:.3} | {:.3} | {:.2} | {} | {} | {} | {} |",
        cost.seconds(),
        cost.system,
        requests as f64 / cost.seconds() / 1e6,
        cell(beside.inner.map(|per_second| per_second / 1e6)),
        cell(beside.times),
        beside.instructions.map_or_else(|| "-".to_owned(), each),
        cost.peak_kib >> 10,
    );
}

/// Measures a command several times. Returns the median by CPU time.
fn median(runs: usize, of: impl Fn() -> Result<Command, String>) -> Result<Cost, String> {
    let all: Result<Vec<Cost>, String> = (0..runs).map(|_| measured(&of)).collect();
    middle(all?, Cost::seconds)
}

/// Measures a command and the floor in turn. Returns the median cost, and the median ratio of the two CPU times.
fn ratio(
    runs: usize,
    of: impl Fn() -> Result<Command, String>,
    floor: impl Fn() -> Result<Command, String>,
) -> Result<(Cost, Option<f64>), String> {
    let (mut costs, mut ratios) = (Vec::new(), Vec::new());
    for _ in 0..runs {
        let (least, cost) = (measured(&floor)?, measured(&of)?);
        ratios.push(cost.seconds() / least.seconds());
        costs.push(cost);
    }
    let middle_ratio = middle(ratios, |ratio| *ratio)?;
    Ok((middle(costs, Cost::seconds)?, Some(middle_ratio)))
}

fn middle<T: Copy>(mut all: Vec<T>, by: impl Fn(&T) -> f64) -> Result<T, String> {
    all.sort_by(|a, b| by(a).total_cmp(&by(b)));
    let middle = all.get(all.len() / 2).copied();
    middle.ok_or_else(|| "no run".to_owned())
}

fn command(program: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(args);
    command
}

/// Returns the command of a case.
fn fathom(
    programs: &Programs,
    case: &Case<'_>,
    requests: u64,
    dir: &Path,
) -> Result<Command, String> {
    let workload = match case.workload.strip_suffix(".trace") {
        Some(op) => trace(op, requests, dir)?,
        None => generated(case.workload, requests, dir)?,
    };
    let out = dir.join("out");
    let _none_yet = fs::remove_dir_all(&out);
    let mut command = Command::new(programs.fathom());
    command.arg("run").arg(workload);
    if !case.options.contains("--on ") {
        command.args(["--on", "model:epo"]);
    }
    let options = case.options.split(' ');
    command.args(options.map(|word| match word {
        "OUT" => out.clone().into_os_string(),
        word => word.into(),
    }));
    Ok(command)
}

/// Writes the workload file of a generator.
fn generated(load: &str, requests: u64, dir: &Path) -> Result<PathBuf, String> {
    let (generator, reads) = match load {
        "in-order" => ("sequential", 0),
        "reads" => ("uniform", 100),
        _ => ("uniform", 0),
    };
    let pages = match load.split_once(':') {
        Some((_, gib)) => gib.parse::<u64>().map_err(|e| e.to_string())? << 18,
        None if load == "all-writes" => SMALL_PAGES,
        None => PAGES,
    };
    let text = format!(
        "[generate]\ngenerator = \"{generator}\"\naccesses = {requests}\nread-percent = {reads}\n\
         range = {{ start = \"0B\", len = \"{}KiB\" }}\n",
        4 * pages
    );
    let path = dir.join(format!("{}.toml", load.replace(':', "-")));
    fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(path)
}

/// Writes a trace in DiskSim's format, unless it is there: pages at random places.
fn trace(op: &str, requests: u64, dir: &Path) -> Result<PathBuf, String> {
    let path = dir.join(format!("{op}-{requests}.trace"));
    if path.exists() {
        return Ok(path);
    }
    let flags = u8::from(op == "reads");
    let file = fs::File::create(&path).map_err(|e| e.to_string())?;
    let mut file = BufWriter::new(file);
    let mut state = 88_172_645_463_325_252_u64;
    for i in 0..requests {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let page = (u128::from(state) * u128::from(PAGES)) >> 64;
        let time = i as f64 * INTERVAL_MS;
        writeln!(file, "{time:.6} 0 {} 8 {flags}", page * 8).map_err(|e| e.to_string())?;
    }
    file.flush().map_err(|e| e.to_string())?;
    Ok(path)
}

/// Compiles the floor with the C compiler that Rust links with.
fn compiled_floor(dir: &Path) -> Result<PathBuf, String> {
    let to = dir.join("floor");
    let from = root().join("crates/ssd/benches/floor.c");
    let mut cc = Command::new("cc");
    cc.arg("-O2").arg("-o").arg(&to).arg(from);
    match succeeds(&mut cc) {
        true => Ok(to),
        false => Err("the C compiler `cc` does not compile the floor".to_owned()),
    }
}

#[test]
fn every_row_is_a_case() {
    let rows = CASES.trim().lines();
    assert!(rows.map(Case::of).all(|case| case.is_some()));
}
