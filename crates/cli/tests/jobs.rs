//! Tests `fathom run` with jobs on modelled drives and on a scratch file, with two stacks in turn, and refused jobs.

use crate::common;
use std::path::Path;
use std::process::Output;

fn fathom(args: &[&str]) -> Output {
    let mut command = common::fathom(Path::new("."));
    command.args(args).output().unwrap()
}

fn job(dir: &Path, text: &str) -> String {
    let path = dir.join("jobs.fio");
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

const READERS: &str = "[global]\nioengine=libaio\nbs=4k\nsize=16m\noffset_increment=16m\nio_size=400k\n[r]\nrw=randread\nnumjobs=3\niodepth=4\n";

#[test]
fn every_process_does_what_its_job_says() {
    let dir = tempfile::tempdir().unwrap();
    let args = [
        "run",
        &job(dir.path(), READERS),
        "--on",
        "model:nvme",
        "--precondition",
        "filled",
        "--json",
    ];
    let output = fathom(&args);
    assert!(output.status.success(), "{output:?}");
    let outcome: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let processes = outcome["totals"]["processes"].as_array().unwrap();
    let counts: Vec<u64> = processes
        .iter()
        .map(|p| p["count"].as_u64().unwrap())
        .collect();
    assert_eq!(counts, [100, 100, 100]);
}

/// Returns the mean numbers of accesses that the jobs wait for and that the drive has, by Little's law.
fn depths(output: &Output) -> (f64, f64) {
    assert!(output.status.success(), "{output:?}");
    let outcome: fathom_run::RunRecord = serde_json::from_slice(&output.stdout).unwrap();
    let side = outcome.totals.all.unwrap();
    let per_ns = side.count as f64 / outcome.totals.duration.0 as f64;
    let had = match &outcome.queue {
        Some(queue) => queue.mean_in_flight(),
        None => side.service_mean_ns * per_ns,
    };
    (side.response_ns.mean * per_ns, had)
}

/// fio's `iodepth` is "Number of I/O units to keep in flight" (HOWTO.rst, 3.33). This counts all accesses that a job waits
/// for, including those that the drive does not have yet.
#[test]
fn what_the_drive_does_not_have_yet_is_waited_for_as_well() {
    let dir = tempfile::tempdir().unwrap();
    let text = "[r]\nrw=randread\nbs=4k\nsize=64m\nioengine=libaio\niodepth=128\n";
    let jobs = job(dir.path(), text);
    let drive = ["--on", "model:nvme", "--set", "host.queue_depth=16"];
    let filled = ["--precondition", "filled", "--json"];
    for (flags, depth) in [
        (vec!["--sched", "none"], 16.0),
        (vec!["--sched", "none", "--depth", "3"], 3.0),
        (vec!["--sched", "noop"], 16.0),
        (vec!["--sched", "noop", "--depth", "3"], 3.0),
    ] {
        let output = fathom(&[&["run", &jobs], &drive[..], &filled, &flags].concat());
        let (waited, had) = depths(&output);
        // At the end fewer are in flight; 128 of 16384 accesses account for that.
        let kept = |number: f64, all: f64| number <= all + 0.01 && number > all * 0.98;
        assert!(
            kept(waited, 128.0),
            "{flags:?}: {waited} of 128 are waited for"
        );
        assert!(
            kept(had, depth),
            "{flags:?}: the drive has {had} of {depth}"
        );
    }
}

#[test]
fn two_stacks_take_turns() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("ab");
    let jobs = job(dir.path(), READERS);
    let args = [
        "run",
        &jobs,
        "--on",
        "model:nvme",
        "--precondition",
        "filled",
        "--ab",
        "none,bfq",
        "--rounds",
        "3",
        "--out",
        out.to_str().unwrap(),
    ];
    let output = fathom(&args);
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.starts_with("bfq against none: 3 rounds each"),
        "{text}"
    );
    assert!(text.contains("accesses a second"), "{text}");
    let page = std::fs::read_to_string(out.join("report.html")).unwrap();
    assert!(page.contains("What is between them"));
    let ab: serde_json::Value =
        serde_json::from_slice(&std::fs::read(out.join("ab.json")).unwrap()).unwrap();
    assert_eq!(ab["rounds"].as_array().unwrap().len(), 3);
}

#[test]
fn what_was_written_is_read_back() {
    let dir = tempfile::tempdir().unwrap();
    let text = "[w]\nrw=randwrite\nbs=4k\nsize=2m\nverify=crc32c\niodepth=8\nioengine=libaio\n";
    let jobs = job(dir.path(), text);
    for on in [
        "model:ssd-a",
        "model:hitachi-7k160",
        dir.path().to_str().unwrap(),
    ] {
        let output = fathom(&[
            "run",
            &jobs,
            "--on",
            on,
            "--size",
            "64MiB",
            "--sched",
            "mq-deadline",
            "--json",
            "--yes",
        ]);
        assert!(output.status.success(), "{output:?}");
        let outcome: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(outcome["totals"]["writes"]["count"], 512, "{on}");
        // Verified blocks are read; adjacent ones may be merged.
        assert_eq!(outcome["totals"]["reads"]["bytes"], 2 << 20, "{on}");
    }
    // A model that keeps no data has nothing to read back, but has lost nothing.
    let output = fathom(&["run", &jobs, "--on", "model:ms-ssd"]);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("needs a drive that keeps bytes"), "{said}");
    assert!(!said.contains("kernel"), "{said}");
    // The model of a simulator keeps no data.
    let output = fathom(&["run", &jobs, "--on", "model:ms-ssd"]);
    assert_eq!(output.status.code(), Some(2));
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("keeps"), "{told}");
}

#[test]
fn a_bad_job_is_told_with_its_line() {
    let dir = tempfile::tempdir().unwrap();
    let jobs = job(dir.path(), "[a]\nrw=randread\nzonemode=strided\n");
    let output = fathom(&["run", &jobs, "--on", "model:nvme"]);
    assert_eq!(output.status.code(), Some(2));
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        told.contains("jobs.fio:3") && told.contains("zonemode"),
        "{told}"
    );
}

const ZONES: &str = "[global]\nzonemode=zbd\nbs=128k\nsize=8z\n[fill]\nrw=write\n[random]\nstonewall\nrw=randwrite\n\
                     max_open_zones=2\n[read]\nstonewall\nrw=randread\n[empty]\nstonewall\nrw=trim\nbs=32m\n";

/// 8 zones of 32 MiB that hold 17 MiB each.
#[test]
fn jobs_write_the_zones_of_a_zoned_drive() {
    let dir = tempfile::tempdir().unwrap();
    for precondition in ["filled", "fresh"] {
        let jobs = job(dir.path(), ZONES);
        let args = ["run", &jobs, "--on", "model:zns", "--json"];
        let output = fathom(&[&args[..], &["--precondition", precondition]].concat());
        let totals = outcome(&output).totals;
        // What the zones hold, and as much as their addresses at random.
        let written = (8 * 17 + 8 * 32) << 20;
        assert_eq!(totals.writes.unwrap().bytes, written);
        assert_eq!(totals.reads.unwrap().bytes, (8 * 32) << 20);
        let resets = totals.zone_resets.unwrap();
        assert_eq!(resets.bytes, 0);
        assert!(resets.count >= 16, "{resets:?}");
    }
}

#[test]
fn jobs_that_do_not_fit_zones_or_the_longest_request_are_told_what_does() {
    let dir = tempfile::tempdir().unwrap();
    let refused = |text: &str, on: &str, parts: &[&str]| {
        let output = fathom(&["run", &job(dir.path(), text), "--on", on]);
        assert_eq!(output.status.code(), Some(2), "{text}");
        let told = String::from_utf8_lossy(&output.stderr).replace("\n  │ ", " ");
        let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in parts {
            assert!(told.contains(part), "{part}: {told}");
        }
    };
    refused(
        "[a]\nzonemode=zbd",
        "model:nvme",
        &["jobs.fio:1: job `a`", "model:zns"],
    );
    refused("[a]\nbs=128k\nrw=write", "model:zns", &["zonemode=zbd"]);
    refused(
        "[a]\nbs=16k\n[b]\nbs=1m\nrw=write",
        "model:nvme",
        &[
            "jobs.fio:3: job `b`",
            "`bs` to at most 128KiB",
            "--sched noop",
        ],
    );
    let nothing = "[a]\nzonemode=zbd\nbs=16k\n[b]\nstonewall\nrw=write\nbs=16k";
    let output = fathom(&[
        "run",
        &job(dir.path(), nothing),
        "--on",
        "model:zns",
        "--precondition",
        "fresh",
    ]);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        told.contains("jobs.fio:1") && told.contains("holds data"),
        "{told}"
    );
}

#[test]
fn stacks_that_cannot_be_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let jobs = job(dir.path(), READERS);
    let refused = |flags: &[&str], part: &str| {
        let output = fathom(&[&["run", &jobs, "--on", "model:nvme"], flags].concat());
        assert_eq!(output.status.code(), Some(2), "{flags:?}");
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(told.contains(part), "{flags:?}: {told}");
    };
    refused(&["--ab", "none"], "takes two");
    refused(&["--ab", "none,nonesuch"], "nonesuch");
    refused(&["--sched", "none", "--split", "nopas"], "no block layer");
    refused(&["--sched", "irbw-fifo"], "bundle");
}

#[test]
fn of_many_processes_the_rest_are_told_together() {
    let dir = tempfile::tempdir().unwrap();
    let text = "[r]\nrw=randread\nbs=4k\nsize=1m\nio_size=40k\nnumjobs=20\n";
    let jobs = job(dir.path(), text);
    let output = fathom(&["run", &jobs, "--on", "model:nvme"]);
    let told = String::from_utf8(output.stdout).unwrap();
    let row = told.lines().find(|line| line.starts_with("4 others"));
    // Ten reads each.
    assert!(
        row.is_some_and(|row| row.split_whitespace().nth(2) == Some("40")),
        "{told}"
    );
    // Numbered as in `priorities`.
    let mut rows = told
        .lines()
        .skip_while(|line| !line.starts_with("process "));
    assert!(
        rows.nth(1).is_some_and(|row| row.starts_with("0 ")),
        "{told}"
    );
}

fn outcome(output: &Output) -> fathom_run::RunRecord {
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// fio 3.33, HOWTO.rst, `ramp_time`: "the amount of time the workload will run before logging any performance numbers".
#[test]
fn a_job_that_ends_within_its_ramp_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let jobs = job(
        dir.path(),
        "[r]\nrw=randread\nsize=400k\nrate_iops=500\nramp_time=300ms\n",
    );
    let told = String::from_utf8(fathom(&["run", &jobs, "--on", "model:nvme"]).stdout).unwrap();
    assert!(
        told.contains("Nothing was measured") && told.contains("`ramp_time`"),
        "{told}"
    );
}

/// Nothing is written for jobs that cannot run on the drive: the file of 1 MiB is not filled first.
#[test]
fn jobs_that_do_not_fit_are_refused_before_a_scratch_file_is_written() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let jobs = job(dir.path(), "[w]\nrw=randread\nsize=4m\n");
    let on = dir.path().to_str().unwrap();
    let output = fathom(&["run", &jobs, "--on", on, "--size", "1MiB", "--yes"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("`size` is 4194304"), "{said}");
    assert!(!said.contains("Writing the scratch file"), "{said}");
}

/// The time that a job waits behind a `stonewall` is not its own, as in fio's summary of each job.
#[test]
fn equal_jobs_one_after_the_other_have_equal_rates() {
    let dir = tempfile::tempdir().unwrap();
    let jobs = job(
        dir.path(),
        "[global]\nrw=randread\nsize=4m\nstonewall\n[a]\n[b]\n[c]\n",
    );
    let args = ["run", &jobs, "--on", "model:ssd-a"];
    let totals = outcome(&fathom(&[&args[..], &["--json"]].concat())).totals;
    let [a, b, c] = &totals.processes[..] else {
        panic!("{totals:?}")
    };
    assert!(b.began >= a.finished && c.began >= b.finished, "{totals:?}");
    for other in [b, c] {
        let ratio = other.bytes_per_second() / a.bytes_per_second();
        assert!((0.98..1.02).contains(&ratio), "{ratio}");
    }
    assert_eq!(totals.fairness(), None);
    let told = String::from_utf8(fathom(&args).stdout).unwrap();
    assert!(
        told.contains("done after") && !told.contains("Jain"),
        "{told}"
    );
}

/// fio 3.33, HOWTO.rst, `fsync`: "Issue a fsync after the specified number of writes"; its output has a block `fsync/fdatasync`
/// with latencies, beside those of reads, writes and trims.
#[test]
fn flushes_and_trims_are_told_with_their_latency() {
    let dir = tempfile::tempdir().unwrap();
    let text = "[w]\nrw=write\nsize=64k\nfsync=4\n[t]\nstonewall\nrw=trim\nsize=32k\n";
    let jobs = job(dir.path(), text);
    let args = ["run", &jobs, "--on", "model:nvme"];
    let totals = outcome(&fathom(&[&args[..], &["--json"]].concat())).totals;
    let (flushes, trims) = (totals.flushes.unwrap(), totals.trims.unwrap());
    // After every fourth of 16 writes, except for the last, which ends the job.
    assert!((3..=4).contains(&flushes.count), "{flushes:?}");
    assert_eq!((trims.count, trims.bytes), (8, 32 << 10));
    assert!(flushes.response_ns.mean > 0.0 && flushes.max_ns > 0 && trims.p50_ns > 0);
    assert_eq!(totals.others, flushes.count + trims.count);
    let told = String::from_utf8(fathom(&args).stdout).unwrap();
    let row = |name: &str| told.lines().find(|line| line.starts_with(name)).unwrap();
    assert!(
        row("flushes").contains(&format!(" {} ", flushes.count)),
        "{told}"
    );
    assert!(row("trims").contains(" 8 "), "{told}");
    let of = format!(
        "{} accesses, of which {} flushes and 8 trims,",
        24 + flushes.count,
        flushes.count
    );
    assert!(told.contains(&of), "{told}");
}

/// fio 3.33 reported `issued rwts: total=301` and `IOPS=1000` for this job (null engine), and logged 501 accesses.
#[test]
fn a_ramp_counts_in_no_figure() {
    let dir = tempfile::tempdir().unwrap();
    let text = "[r]\nrw=read\nsize=4m\nrate_iops=1000\nramp_time=200ms\nruntime=300ms\n";
    let jobs = job(dir.path(), text);
    let out = dir.path().join("out");
    let args = ["run", &jobs, "--on", "model:nvme", "--json", "--out"];
    let found = outcome(&fathom(&[&args[..], &[out.to_str().unwrap()]].concat()));
    let count = found.totals.all.unwrap().count;
    assert!((300..=301).contains(&count), "{count}");
    let ms = found.totals.duration.0 as f64 / 1e6;
    assert!((299.0..=300.1).contains(&ms), "{ms} ms");
    let rate = found.totals.accesses_per_second();
    assert!((999.0..=1005.0).contains(&rate), "{rate}");
    // The timeline contains the counted accesses only.
    let bytes: u64 = found
        .totals
        .timeline
        .iter()
        .map(|bucket| bucket.bytes)
        .sum();
    assert_eq!(bytes, count * 4096);
    // So do the drive's counters.
    let jobs = job(dir.path(), &text.replace("rw=read", "rw=write"));
    let found = outcome(&fathom(&["run", &jobs, "--on", "model:nvme", "--json"]));
    let writes = found.totals.writes.unwrap().bytes;
    assert_eq!(found.work.unwrap().host_bytes_written, writes);
    // One process has a ramp of 10 ms, the other has none: the run begins with the first access that counts, at 0 ms.
    let text = "[a]\nrw=read\nrate_iops=1000\nruntime=50ms\nramp_time=10ms\n[b]\nrw=read\nrate_iops=1000\nsize=40k\n";
    let jobs = job(dir.path(), text);
    let found = outcome(&fathom(&["run", &jobs, "--on", "model:nvme", "--json"]));
    let ms = found.totals.duration.0 as f64 / 1e6;
    assert!((59.0..=60.1).contains(&ms), "{ms} ms");
}

/// fio 3.33, HOWTO.rst: "Settings pulled into a section apply to that section only", and `SIZE=64m fio jobfile.fio`.
#[test]
fn a_job_file_includes_files_and_names_the_environment() {
    let dir = tempfile::tempdir().unwrap();
    let below = dir.path().join("below");
    std::fs::create_dir(&below).unwrap();
    std::fs::write(below.join("deep.fio"), "include size.fio\nbs=4k\n").unwrap();
    std::fs::write(below.join("size.fio"), "size=${FATHOM_TEST_SIZE}\n").unwrap();
    let text =
        "[r]\nrw=read\ngroup_reporting\ninclude below/deep.fio\n[w]\ngroup_reporting\nsize=8k\n";
    let jobs = job(dir.path(), text);
    let run = |size: Option<&str>, more: &[&str]| {
        let mut command = common::fathom(Path::new("."));
        command
            .args(["run", &jobs, "--on", "model:nvme"])
            .args(more);
        match size {
            Some(size) => command.env("FATHOM_TEST_SIZE", size),
            None => command.env_remove("FATHOM_TEST_SIZE"),
        };
        command.output().unwrap()
    };
    let found = outcome(&run(Some("64k"), &["--json"]));
    let counts: Vec<u64> = found.totals.processes.iter().map(|p| p.count).collect();
    assert_eq!(counts, [16, 2]);
    // The record keeps what the run depended on.
    let kept = |part: &str| found.notes.iter().any(|note| note.contains(part));
    assert!(
        kept("`${FATHOM_TEST_SIZE}` in `size` is \"64k\""),
        "{:?}",
        found.notes
    );
    // Notes are printed to standard error, once.
    let output = run(Some("64k"), &[]);
    let [printed, said] = [&output.stdout, &output.stderr].map(|b| String::from_utf8_lossy(b));
    assert_eq!(
        said.matches("`group_reporting` is ignored").count(),
        1,
        "{said}"
    );
    assert!(!printed.contains("group_reporting"), "{printed}");
    let output = run(None, &[]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        said.contains("size.fio, line 1") && said.contains("jobs.fio:4"),
        "{said}"
    );
    std::fs::remove_file(below.join("size.fio")).unwrap();
    let output = run(Some("64k"), &[]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    // The message may be wrapped.
    let said = said.replace("\n  │", "");
    assert!(
        said.contains("include size.fio") && said.contains("there is no"),
        "{said}"
    );
}
