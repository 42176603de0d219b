//! `cargo xtask same OLD NEW`: checks that two builds of `fathom` produce identical results, byte for byte.
//!
//! Each program runs the same commands in its own directory. Exit codes, standard output and all written files are
//! compared. Only modelled drives are used, because a real one never gives the same results twice. Standard error
//! (progress, notes) is not compared. Differences are only reported: a commit that changes results on purpose says so.
//!
//! Workloads run with the verbs `replay` and `bench`, and studies with `study`; a program from before `fathom study` is
//! given `run` instead.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// The commands to run, one per line; `ROOT` stands for the repository. A command may read files written by an earlier
/// one.
const COMMANDS: &str = "
list drives --json
list parameters --json
list ftls --json
list buffers --json
list schedulers --json
list traces --json
list workloads --json
list steps --json
explain drive.toml
explain nvme
probe model:ssd-a --seed 3 --out probe-a
probe model:hitachi-7k160 --seed 1 --out probe-disk
probe model:null-block --method paper --budget 2GiB --out probe-paper
solve probe-a
report probe-a
diff probe-a probe-disk
accuracy --drives 2 --seed 4
accuracy --family narrow --drives 2 --seed 4
accuracy --family noise --drives 3 --seed 4
convert generate:tpcc-like --accesses 3000 trace.parquet
replay trace.parquet --precondition fresh --on model:epo --step shrink,capacity=8GiB --step round-to-pages,page=4KiB --out replay-trace
replay generate:financial1-like --accesses 8000 --precondition fresh --on model:epo --buffer epo --out replay-epo
replay generate:financial1-like --accesses 8000 --precondition fresh --on model:epo --buffer lru --out replay-lru
compare replay-epo replay-lru
replay generate:uniform --accesses 20000 --on model:ms-ssd --out replay-ms
replay generate:uniform --accesses 3000 --on model:seagate-barracuda-iv --step shrink,capacity=1GiB --out replay-disk
replay generate:uniform --accesses 20000 --on model:nvme --arrival closed:64 --precondition random:1 --seed 5 --json
replay generate:uniform --accesses 3000 --on model:ssd-a --ftl page --precondition filled --arrival closed:8 --json
replay generate:uniform --accesses 3000 --on model:ssd-a --ftl dftl --precondition filled --arrival closed:8 --json
replay generate:uniform --accesses 3000 --on model:ssd-a --ftl block --precondition filled --arrival closed:8 --json
replay generate:uniform --accesses 3000 --on model:ssd-a --ftl replacement --precondition filled --arrival closed:8 --json
replay generate:uniform --accesses 3000 --on model:ssd-a --ftl fast --precondition filled --arrival closed:8 --json
replay generate:uniform --accesses 3000 --on model:ssd-a --ftl superblock --precondition filled --arrival closed:8 --json
replay generate:uniform --accesses 3000 --on model:ssd-a --ftl hybrid --precondition filled --arrival closed:8 --json
replay generate:uniform --accesses 3000 --precondition fresh --on model:ssd-b --sched deadline --split pas --profile probe-a --arrival processes:3:8 --out queue
bench ROOT/examples/file-server.fio --precondition fresh --on model:ssd-a --sched bfq --out bench-bfq
bench ROOT/examples/file-server.fio --precondition fresh --on model:ssd-a --ab none,mq-deadline --out bench-ab
study ROOT/examples/study.toml --out buffers
reproduce epo --quick --out paper-epo
";

/// Further commands, which take some minutes of CPU time.
const LONG: &str = "
reproduce irbw --quick --out paper-irbw
reproduce parameter-aware-io --quick --out paper-pai
study ROOT/examples/schedulers.toml --out schedulers
accuracy --drives 10 --seed 9
";

/// Start of the recorded output of a command that succeeded.
const SUCCESS: &[u8] = b"0\n";

/// Names of the verb that runs a study, present and former.
const STUDY: [&str; 2] = ["study", "run"];

/// One of the two programs, and its working directory.
struct Side {
    program: PathBuf,
    directory: PathBuf,
    /// Its name of the verb that runs a study.
    study: &'static str,
}

pub(crate) fn run(args: &[String]) -> ExitCode {
    let (old, new, long) = match args {
        [old, new] => (old, new, ""),
        [old, new, long] if long == "--long" => (old, new, LONG),
        _ => {
            eprintln!("cargo xtask same OLD NEW [--long]: two programs `fathom`");
            return ExitCode::from(2);
        }
    };
    let lines = COMMANDS.lines().chain(long.lines());
    match all(old, new, lines.filter(|line| !line.is_empty())) {
        Ok(0) => {
            println!("the same, to the byte");
            ExitCode::SUCCESS
        }
        Ok(different) => {
            println!("{different} of the commands differ");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

/// Runs all commands. Returns the number that differ. If any differ, the written files are kept.
fn all<'a>(old: &str, new: &str, lines: impl Iterator<Item = &'a str>) -> io::Result<usize> {
    let here = std::env::temp_dir().join(format!("fathom-same-{}", std::process::id()));
    let side = |program: &str, name: &str| {
        let directory = here.join(name);
        fs::create_dir_all(&directory)?;
        let program = fs::canonicalize(program).map_err(|e| named(&e, program))?;
        let study = study_verb(&program)?;
        Ok::<_, io::Error>(Side {
            program,
            directory,
            study,
        })
    };
    let sides = [side(old, "old")?, side(new, "new")?];
    let mut different = 0;
    let mut told = BTreeSet::new();
    for line in lines {
        let (old, new) = (sides[0].said(line)?, sides[1].said(line)?);
        let difference = match first_difference(&old, &new) {
            Some(said) => Some(format!("exit code and standard output: {said}")),
            None => files_differ(&sides, &mut told)?,
        };
        match difference {
            Some(difference) => {
                different += 1;
                println!("differs  {line}\n         {difference}");
            }
            None if old.starts_with(SUCCESS) => println!("same     {line}"),
            None => println!("same     {line} (neither succeeds)"),
        }
    }
    if different == 0 {
        fs::remove_dir_all(&here)?;
    } else {
        println!("what they wrote is in {}", here.display());
    }
    Ok(different)
}

fn named(error: &io::Error, what: &str) -> io::Error {
    io::Error::new(error.kind(), format!("{what}: {error}"))
}

/// Returns a program's name of the verb that runs a study.
fn study_verb(program: &Path) -> io::Result<&'static str> {
    let [now, before] = STUDY;
    let help = Command::new(program).args([now, "--help"]).output()?;
    Ok(if help.status.success() { now } else { before })
}

impl Side {
    /// Returns the exit code and standard output of a command.
    fn said(&self, line: &str) -> io::Result<Vec<u8>> {
        let root = crate::command::root().display().to_string();
        let args = line.split(' ').map(|arg| match arg == STUDY[0] {
            true => self.study.to_owned(),
            false => arg.replace("ROOT", &root),
        });
        let output = Command::new(&self.program)
            .args(args)
            .current_dir(&self.directory)
            .output()
            .map_err(|e| named(&e, &self.program.display().to_string()))?;
        let code = output.status.code().unwrap_or(-1);
        Ok([format!("{code}\n").as_bytes(), &output.stdout].concat())
    }
}

/// Returns the first line in which two texts differ.
fn first_difference(old: &[u8], new: &[u8]) -> Option<String> {
    if old == new {
        return None;
    }
    let shown = |line: Option<&[u8]>| {
        let line = line.unwrap_or_default();
        String::from_utf8_lossy(&line[..line.len().min(160)]).into_owned()
    };
    let (mut old, mut new) = (old.split(|b| *b == b'\n'), new.split(|b| *b == b'\n'));
    (1..).find_map(|number| {
        let (old, new) = (old.next(), new.next());
        let differ = old != new;
        differ.then(|| format!("line {number}: `{}` and `{}`", shown(old), shown(new)))
    })
}

/// Returns the first file that is missing on one side or differs. All such files are added to `told`, so that each is
/// reported only once.
fn files_differ(sides: &[Side; 2], told: &mut BTreeSet<PathBuf>) -> io::Result<Option<String>> {
    let [old, new] = sides.each_ref().map(|side| side.directory.as_path());
    let (ours, theirs) = (files(old, Path::new(""))?, files(new, Path::new(""))?);
    let mut first = None;
    for file in ours.union(&theirs) {
        let difference = if ours.contains(file) && theirs.contains(file) {
            first_difference(&fs::read(old.join(file))?, &fs::read(new.join(file))?)
        } else {
            Some("only one of them has it".to_owned())
        };
        if let Some(difference) = difference
            && told.insert(file.clone())
        {
            first.get_or_insert(format!("{}: {difference}", file.display()));
        }
    }
    Ok(first)
}

/// Returns all files below a directory.
fn files(root: &Path, below: &Path) -> io::Result<BTreeSet<PathBuf>> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(root.join(below))? {
        let entry = entry?;
        let path = below.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            found.extend(files(root, &path)?);
        } else {
            found.insert(path);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_differs_is_told() {
        assert_eq!(first_difference(b"a\nb", b"a\nb"), None);
        assert_eq!(
            first_difference(b"a\nb\nc", b"a\nx\nc").as_deref(),
            Some("line 2: `b` and `x`")
        );
        assert_eq!(
            first_difference(b"a", b"a\nb").as_deref(),
            Some("line 2: `` and `b`")
        );
    }
}
