//! Tests `fathom tune`: what it prints, and that it puts back whatever it changes on a loop device.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test fails by panicking; a skipped one says why"
)]

use crate::common::{self, fathom, names, quick_run, schema};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

/// A profile with a clustered page of 768 KiB: 1280 KiB, the longest request by default, is no multiple of it.
const PROFILE: &str = "\
fathom = '0.1.0'
seed = 0
method = 'robust'

[target]
name = 'model:hand'
identity = 'hand'
modelled = true
capacity_bytes = 1073741824
logical_block_bytes = 4096
max_request_bytes = 131072
queue_depth = 32
volatile_cache = true
spec = ''

[cost]
bytes_written = 0
bytes_read = 0
requests = 0
device_ns = 0

[parameters.clustered_page]
value = 786432
unit = 'B'
low = 786432
high = 786432
verdict = 'identified'
method = 'robust'

[parameters.clustered_page.cost]
bytes_written = 0
bytes_read = 0
requests = 0
device_ns = 0

[parameters.clustered_page.evidence]
reason = 'by hand'
";

const ATTRIBUTE: &str = "max_sectors_kb";
const FOUND: &str = "1280";
const ADVISED: &str = "768";

/// The kernel computes it anew when the longest request is written; nothing follows for it from the profile.
const OTHER: &str = "read_ahead_kb";
const KEPT: &str = "128";

/// A loop device with the longest request by default, a profile, a job, and a place for journals.
struct Bench {
    device: common::LoopDevice,
    dir: tempfile::TempDir,
    before: [String; 2],
}

impl Bench {
    fn new(job: &str) -> Option<Self> {
        let dir = tempfile::tempdir().unwrap();
        let device = common::LoopDevice::new(dir.path(), 32 << 20)?;
        fs::write(dir.path().join("profile.toml"), PROFILE).unwrap();
        fs::write(dir.path().join("job.fio"), job).unwrap();
        let mut bench = Self {
            device,
            dir,
            before: Default::default(),
        };
        bench.before = [bench.now(), bench.other()];
        let set = [(ATTRIBUTE, FOUND), (OTHER, KEPT)];
        if set
            .iter()
            .any(|(name, value)| fs::write(bench.file(name), value).is_err())
            || bench.now() != FOUND
        {
            eprintln!("skipped: this loop device has no request of {FOUND} KiB");
            return None;
        }
        Some(bench)
    }

    fn file(&self, attribute: &str) -> PathBuf {
        PathBuf::from(format!("/sys/block/{}/queue/{attribute}", self.device.name))
    }

    fn says(&self, attribute: &str) -> String {
        let text = fs::read_to_string(self.file(attribute)).unwrap();
        text.trim().to_owned()
    }

    fn now(&self) -> String {
        self.says(ATTRIBUTE)
    }

    fn other(&self) -> String {
        self.says(OTHER)
    }

    fn journals(&self) -> Vec<String> {
        names(&self.dir.path().join("run"))
    }

    fn args<'a>(&'a self, rounds: &'a str) -> Vec<&'a str> {
        let mut args = vec![
            "tune",
            "profile.toml",
            "--journal",
            "run",
            "--on",
            &self.device.path,
        ];
        args.extend(["--apply", "--verify", "job.fio", "--rounds", rounds]);
        args
    }

    fn start(&self) -> Child {
        Command::new(assert_cmd::cargo::cargo_bin("fathom"))
            .args(self.args("1000"))
            .current_dir(self.dir.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// Starts a trial and stops its process while the new value is set.
    fn stopped(&self) -> Child {
        let mut child = self.start();
        loop {
            signal(&child, "-STOP");
            if self.now() == ADVISED {
                return child;
            }
            signal(&child, "-CONT");
            assert!(child.try_wait().unwrap().is_none(), "it ended too early");
            common::pause(Duration::from_millis(3));
        }
    }

    fn restore(&self) -> String {
        let mut command = fathom(self.dir.path());
        let output = command
            .args(["tune", "--restore", "--journal", "run"])
            .output();
        let output = output.unwrap();
        assert!(output.status.success());
        flat(&output.stderr)
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        for (name, value) in [ATTRIBUTE, OTHER].iter().zip(&self.before) {
            let _ = fs::write(self.file(name), value);
        }
    }
}

const READS: &str = "[r]\nrw=randread\nioengine=libaio\niodepth=4\nio_size=1m\n";
const WRITES: &str = "[w]\nrw=randwrite\nio_size=1m\n";

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill")
        .args([name, &child.id().to_string()])
        .status();
    assert!(sent.unwrap().success());
}

fn flat(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes).replace('│', " ");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn said(output: &Output) -> (Option<i32>, String) {
    (output.status.code(), flat(&output.stderr))
}

#[test]
fn what_follows_is_printed_and_described() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("profile.toml"), PROFILE).unwrap();
    let tune = |args: &[&str]| {
        let mut command = fathom(dir.path());
        let output = command
            .args(["tune", "profile.toml"])
            .args(args)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    insta::assert_snapshot!("tune", tune(&[]));
    schema::check("tune", &serde_json::from_str(&tune(&["--json"])).unwrap());
    assert!(tune(&["--format", "udev"]).contains("KERNEL==\"DEVICE\""));
    assert!(tune(&["--format", "mkfs"]).contains("\nmkfs.xfs -d su=786432,sw=1 DEVICE\n"));
    // A run of the probe, which need not know every parameter.
    quick_run(dir.path(), "run", &[]);
    let mut command = fathom(dir.path());
    let output = command.args(["tune", "run", "--json"]).output().unwrap();
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    schema::check("tune", &found);
    assert_eq!(found["advice"].as_array().unwrap().len(), 0);
    assert_eq!(
        names(dir.path()),
        ["profile.toml", "run"],
        "nothing is written"
    );
}

#[test]
fn wrong_usage_is_told() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("profile.toml"), PROFILE).unwrap();
    fs::write(dir.path().join("job.fio"), READS).unwrap();
    let wrong: [(&[&str], &str); 9] = [
        (&["tune"], "<RUN>"),
        (
            &["tune", "profile.toml", "--on", "model:nvme"],
            "`--on model:nvme` is a modelled drive",
        ),
        (&["tune", "profile.toml", "--apply"], "--verify"),
        (&["tune", "profile.toml", "--verify", "job.fio"], "--apply"),
        (&["tune", "profile.toml", "--format", "xml"], "postgresql"),
        (
            &["tune", "profile.toml", "--apply", "--verify", "job.fio"],
            "--on TARGET",
        ),
        (
            &["tune", "profile.toml", "--on", "/none/such"],
            "no such file",
        ),
        (&["tune", "none", "--json"], "none"),
        (
            &[
                "tune",
                "profile.toml",
                "--apply",
                "--verify",
                "job.fio",
                "--rounds",
                "2",
            ],
            "3..=1000",
        ),
    ];
    for (args, words) in wrong {
        let output = fathom(dir.path()).args(args).output().unwrap();
        let (code, said) = said(&output);
        assert_eq!(code, Some(2), "{args:?}: {said}");
        assert!(said.contains(words), "{args:?}: {said}");
    }
}

#[test]
fn a_trial_names_what_it_changes_and_puts_it_back() {
    let Some(bench) = Bench::new(READS) else {
        return;
    };
    let mut command = fathom(bench.dir.path());
    let output = command
        .args(bench.args("3"))
        .arg("--json")
        .output()
        .unwrap();
    let (code, said) = said(&output);
    let found: serde_json::Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {said}"));
    schema::check("tune", &found);
    let file = format!("queue/{ATTRIBUTE}: {FOUND} -> {ADVISED}");
    assert!(said.contains(&file), "{said}");
    assert!(
        said.contains("A journal in run has the old values"),
        "{said}"
    );
    assert!(said.contains("Nothing will be written."), "{said}");
    let applied = &found["applied"];
    assert_eq!(applied["rounds"], 3);
    let [low, high] = [0, 1].map(|i| applied["gain_interval"][i].as_f64().unwrap());
    assert!(low <= high);
    let kept = applied["kept"].as_bool().unwrap();
    assert_eq!(kept, low > 0.0, "{applied}");
    assert_eq!(code, Some(if kept { 0 } else { 1 }));
    assert_eq!(bench.now(), if kept { ADVISED } else { FOUND });
    assert_eq!(bench.other(), KEPT);
    assert!(said.contains(&format!("{OTHER} = {KEPT}")), "{said}");
    let undo = applied["undo"].as_array().unwrap().iter();
    let undo: Vec<&str> = undo.map(|one| one["value"].as_str().unwrap()).collect();
    assert_eq!(undo, [FOUND, KEPT], "{applied}");
    assert!(bench.journals().is_empty());
}

#[test]
fn a_job_that_writes_is_refused_on_a_drive() {
    let Some(bench) = Bench::new(WRITES) else {
        return;
    };
    let output = fathom(bench.dir.path())
        .args(bench.args("3"))
        .output()
        .unwrap();
    let (code, said) = said(&output);
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("writes to no drive"), "{said}");
    assert_eq!(bench.now(), FOUND);
    assert!(!bench.dir.path().join("run").exists());
}

/// Another drive may have the name of the one that was probed by now.
#[test]
fn the_settings_of_one_drive_are_not_tried_on_another_of_its_name() {
    let Some(bench) = Bench::new(READS) else {
        return;
    };
    let profile = PROFILE.replacen("model:hand", &bench.device.path, 1);
    let profile = profile.replacen("modelled = true", "modelled = false", 1);
    fs::write(bench.dir.path().join("profile.toml"), profile).unwrap();
    let args = bench.args("3");
    let args = args
        .iter()
        .filter(|arg| **arg != "--on" && **arg != bench.device.path);
    let mut command = fathom(bench.dir.path());
    let (code, said) = said(&command.args(args).output().unwrap());
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("was probed as") && said.contains("--on"),
        "{said}"
    );
    assert_eq!(bench.now(), FOUND);
}

#[test]
fn a_signal_puts_it_back() {
    let Some(bench) = Bench::new(READS) else {
        return;
    };
    for name in ["-INT", "-TERM", "-HUP"] {
        let child = bench.stopped();
        signal(&child, name);
        signal(&child, "-CONT");
        let (code, said) = said(&child.wait_with_output().unwrap());
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains("the old values are back"), "{said}");
        assert_eq!(bench.now(), FOUND, "{name}");
        assert_eq!(bench.other(), KEPT, "{name}");
        assert!(bench.journals().is_empty());
    }
    // A second one ends the process immediately.
    let child = bench.stopped();
    signal(&child, "-INT");
    signal(&child, "-TERM");
    signal(&child, "-CONT");
    let (code, said) = said(&child.wait_with_output().unwrap());
    assert!(matches!(code, Some(1 | 130)), "{code:?}: {said}");
    assert_eq!(bench.now(), FOUND);
    assert!(bench.journals().is_empty());
}

#[test]
fn what_a_killed_trial_has_left_is_put_back_at_the_next_start() {
    let Some(bench) = Bench::new(READS) else {
        return;
    };
    let kill = |mut child: Child| {
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(bench.now(), ADVISED, "nobody was left to put it back");
        assert_eq!(bench.journals(), [format!("{}.journal", bench.device.name)]);
    };
    kill(bench.stopped());
    let told = bench.restore();
    assert!(
        told.contains(&format!("put back: {ATTRIBUTE} = {FOUND}")),
        "{told}"
    );
    assert_eq!([bench.now(), bench.other()], [FOUND, KEPT]);
    assert!(bench.journals().is_empty());
    assert!(bench.restore().contains("Nothing is left"));
    // Any other `fathom tune` does it, too.
    kill(bench.stopped());
    let mut command = fathom(bench.dir.path());
    command
        .args(["tune", "profile.toml", "--journal", "run"])
        .assert()
        .success();
    assert_eq!(bench.now(), FOUND);
    assert!(bench.journals().is_empty());
    // A living process is left alone.
    let child = bench.stopped();
    assert!(
        bench
            .restore()
            .contains("Another `fathom tune` is changing")
    );
    assert_eq!(bench.now(), ADVISED);
    kill(child);
    bench.restore();
}

/// A journal that cannot be understood stays, and is named with what can be done.
#[test]
fn a_damaged_journal_is_kept_and_named() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    fs::create_dir(&run).unwrap();
    let path = run.join("sdz.journal");
    let restore = || {
        let mut command = fathom(dir.path());
        let args = ["tune", "--restore", "--journal", "run"];
        said(&command.args(args).output().unwrap())
    };
    let named = |why: &str| {
        let (code, said) = restore();
        assert_eq!(code, Some(2), "{said}");
        for words in [
            "run/sdz.journal is damaged",
            why,
            "/sys/block/sdz/queue",
            "remove it",
        ] {
            assert!(said.contains(words), "{words}: {said}");
        }
        assert!(
            !said.contains("has no journal") && !said.contains("as root"),
            "{said}"
        );
    };
    let start = "fathom queue journal 2\ndrive\tsdz\t8:400\t\t/sys/none\nkeep\tnr_requests\t8\n";
    for (text, why) in [
        (start.as_bytes(), "`end` is missing"),
        (&start.as_bytes()[..30], "line 2"),
        (b"", "first line"),
        (b"\xff\xfe\n", "it is no text"),
    ] {
        fs::write(&path, text).unwrap();
        named(why);
        assert_eq!(fs::read(&path).unwrap(), text);
    }
    // Any other `fathom tune` names it, and does its work.
    fs::write(dir.path().join("profile.toml"), PROFILE).unwrap();
    let args = ["tune", "profile.toml", "--journal", "run"];
    let output = fathom(dir.path()).args(args).output().unwrap();
    let (code, words) = said(&output);
    assert_eq!(code, Some(0), "{words}");
    assert!(
        words.contains("warning: the journal") && words.contains("remove it"),
        "{words}"
    );
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    named("it is no file");
    assert!(path.is_dir());
    fs::remove_dir(&path).unwrap();
    // A whole one of a drive that is gone.
    fs::write(&path, format!("{start}end\n")).unwrap();
    let (code, said) = restore();
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("which is gone") && !path.exists(), "{said}");
    fs::remove_dir(&run).unwrap();
    fs::write(&run, "").unwrap();
    assert_eq!(restore().0, Some(2), "it is no directory");
}

/// Nothing is announced before the journal is written.
#[test]
fn a_place_for_no_journal_is_told_first() {
    let Some(bench) = Bench::new(READS) else {
        return;
    };
    for place in ["/dev/full", "/etc/passwd", "/proc/none-such"] {
        let mut args = bench.args("3");
        args[3] = place;
        let output = fathom(bench.dir.path()).args(args).output().unwrap();
        let (code, said) = said(&output);
        assert_eq!(code, Some(2), "{said}");
        assert!(
            said.contains("no journal of the old values can be written there"),
            "{said}"
        );
        assert!(said.contains("`--journal`"), "{said}");
        for words in ["These attributes", "A journal in", "old values are back"] {
            assert!(!said.contains(words), "{said}");
        }
        assert_eq!([bench.now(), bench.other()], [FOUND, KEPT]);
    }
}

/// The file of a scratch directory is on a drive, whose attributes are tried.
#[test]
fn a_scratch_file_tries_the_drive_under_it() {
    let Some(bench) = Bench::new("[w]\nrw=randrw\nio_size=256k\n") else {
        return;
    };
    let at = bench.dir.path().join("mnt");
    fs::create_dir(&at).unwrap();
    let run = |program: &str, args: &[&str]| {
        let ran = Command::new(program).args(args).output();
        ran.is_ok_and(|output| output.status.success())
    };
    let path = at.display().to_string();
    let mounted =
        run("mkfs.ext4", &["-q", &bench.device.path]) && run("mount", &[&bench.device.path, &path]);
    if !mounted {
        eprintln!("skipped: no ext4 can be mounted here");
        return;
    }
    let mut command = fathom(bench.dir.path());
    command.args([
        "tune",
        "profile.toml",
        "--journal",
        "run",
        "--on",
        "mnt",
        "--apply",
    ]);
    command.args([
        "--verify", "job.fio", "--rounds", "3", "--size", "4MiB", "--yes", "--json",
    ]);
    let output = command.output();
    let left = names(Path::new(&path));
    assert!(run("umount", &[&path]));
    let output = output.unwrap();
    let (code, said) = said(&output);
    assert!(matches!(code, Some(0 | 1)), "{said}");
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["drive"]["name"], bench.device.name.as_str());
    assert_eq!(found["applied"]["set"][0]["attribute"], ATTRIBUTE);
    assert_eq!(left, ["lost+found"], "the scratch file is gone");
    if code == Some(1) {
        assert_eq!(bench.now(), FOUND);
    }
}
