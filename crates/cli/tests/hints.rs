//! Tests the advice in error messages: the name that was meant, the key and the unit, the complete command.

use crate::common::fathom;
use std::path::Path;

/// Returns the message of a command that must be refused, on one line.
fn said(dir: &Path, args: &[&str]) -> String {
    let out = fathom(dir).args(args).output().unwrap();
    assert_eq!(out.status.code(), Some(2), "{args:?}");
    let text = String::from_utf8(out.stderr).unwrap();
    let words = text.split_whitespace().filter(|word| *word != "│");
    words.collect::<Vec<_>>().join(" ")
}

/// Checks that the message for `args` contains all of these texts.
pub(crate) fn tells(dir: &Path, args: &str, all: &[&str]) {
    let args: Vec<&str> = args.split(' ').collect();
    let said = said(dir, &args);
    for words in all {
        assert!(said.contains(words), "{args:?}: no {words:?} in {said}");
    }
}

#[test]
fn what_was_probably_meant_is_named() {
    let dir = tempfile::tempdir().unwrap();
    for (args, words) in [
        ("probe ssd-a", "did you mean model:ssd-a? "),
        ("run generate:uniform --on epo", "did you mean model:epo? "),
        ("run jobs.fio --on epo", "jobs.fio"),
        ("run uniform", "did you mean generate:uniform?"),
        ("run postmark-fixed", "did you mean program:postmark-fixed?"),
        ("run generate:unifrom", "did you mean generate:uniform?"),
        ("run program:postmark", "program:postmark-fixed"),
        (
            "run generate:uniform --sched mq-deadlin",
            "did you mean `mq-deadline`?",
        ),
        (
            "run generate:uniform --set flash.raed=40us",
            "did you mean `read`?",
        ),
        ("run generate:uniform --buffer ep", "did you mean `epo`?"),
        (
            "run generate:uniform --reshape policy",
            "it takes one of `no-cache`",
        ),
        ("explain unifrom", "did you mean uniform?"),
        (
            "run generate:uniform --sched deadline,name=noop",
            "`name` is given twice",
        ),
        (
            "run generate:uniform --buffer lru,capacity=8MiB,capacity=4MiB",
            "`write_buffer.capacity` is given twice",
        ),
        (
            "run generate:uniform --buffer lru --set write_buffer.policy=epo",
            "`write_buffer.policy` is given twice: by `--buffer lru` and `--set write_buffer.policy=epo`",
        ),
        (
            "run generate:uniform --set flash.read=40us --set flash.read=50us",
            "`flash.read` is given twice",
        ),
        (
            "run generate:uniform --ftl dftl --set mapping.kind=fast",
            "`mapping.kind` is given twice",
        ),
        (
            "run generate:uniform --buffer none --set write_buffer.capacity=1MiB",
            "`write_buffer.capacity` is given twice",
        ),
        (
            "run generate:uniform --size 1GiB --set capacity=2GiB",
            "`capacity` is given twice",
        ),
        (
            "run generate:uniform --buffer lru,capacity",
            "`capacity` is no setting: write KEY=VALUE",
        ),
        ("run generate:uniform --accesses 0", "at least 1"),
        (
            "run generate:uniform --on model:ms-ssd --precondition fresh",
            "begins with data",
        ),
    ] {
        tells(dir.path(), args, &[words]);
    }
    // An existing file is a trace, whatever its name.
    std::fs::write(dir.path().join("uniform"), "nothing").unwrap();
    tells(dir.path(), "run uniform", &["no format fits"]);
}

/// fio, HOWTO, "Parameter types": `4g` with `kb_base=1024` is 4 GiB; coreutils, "Block size": G is 1024^3.
#[test]
fn a_size_may_end_in_a_letter() {
    let dir = tempfile::tempdir().unwrap();
    let replay = |more: &[&str]| {
        let mut command = fathom(dir.path());
        command.args(["run", "generate:uniform", "--accesses", "20", "--json"]);
        let out = command.args(more).output().unwrap();
        assert!(out.status.success(), "{more:?}");
        String::from_utf8(out.stdout).unwrap()
    };
    for (short, long) in [("4G", "4GiB"), ("8192M", "8GiB")] {
        assert_eq!(replay(&["--size", short]), replay(&["--size", long]));
        let step = |size: &str| replay(&["--step", &format!("shrink,capacity={size},page=4K")]);
        assert_eq!(step(short), step(long));
    }
    let buffer = |size: &str| {
        replay(&[
            "--buffer",
            "lru",
            "--set",
            &format!("write_buffer.capacity={size}"),
        ])
    };
    assert_eq!(buffer("64K"), buffer("64KiB"));
    let budget = ["probe", "--budget", "5m"];
    assert!(said(dir.path(), &budget).contains("5MiB or 5min"));
}

#[test]
fn a_number_without_a_unit_is_named_with_its_key() {
    let dir = tempfile::tempdir().unwrap();
    let replay = "run generate:uniform";
    for (args, key, unit) in [
        (
            "--set flash.read=40",
            "`--set flash.read=40`",
            "such as 40us",
        ),
        (
            "--sched mq-deadline,read_expire=5",
            "`read_expire`: `5`",
            "such as 5us",
        ),
        (
            "--step shrink,capacity=4",
            "`capacity`: `4`",
            "such as 4B or 16KiB",
        ),
    ] {
        tells(
            dir.path(),
            &format!("{replay} {args}"),
            &[key, "has no unit", unit],
        );
    }
}

#[test]
fn all_that_is_wrong_is_told_at_once() {
    let dir = tempfile::tempdir().unwrap();
    tells(
        dir.path(),
        "run generate:uniform --sched mq-deadline,read_expire=5,fifo_batch=x,spam=1",
        &["`read_expire`: `5`", "`fifo_batch`", "no key `spam` here"],
    );
    tells(
        dir.path(),
        "run generate:uniform --sched irbw-fifo --split pasa",
        &[
            "`irbw-fifo` needs",
            "`bundle`",
            "`pasa` needs",
            "`read_boundary`",
            "--profile",
            "--split pasa,read=",
        ],
    );
    tells(
        dir.path(),
        "run generate:uniform --step shrink,page=4",
        &[
            "`page`: `4`",
            "the key `capacity` is missing",
            "--step shrink,capacity=2GiB",
        ],
    );
}

/// No word of a library is left in a message, and the range and the units are told.
#[test]
fn what_is_wrong_is_told_in_plain_words() {
    let dir = tempfile::tempdir().unwrap();
    for (args, all) in [
        (
            "--sched noop,spam=1",
            ["there is no key `spam` here", "it takes none"],
        ),
        (
            "--sched none,quantum=3",
            ["takes no keys", "fathom list schedulers"],
        ),
        (
            "--sched irbw-fifo,bundle=0B",
            ["`bundle` is 0B", "--profile"],
        ),
        (
            "--sched kyber,read_lat=0us",
            ["`read_lat` is 0", "fathom explain kyber"],
        ),
        (
            "--sched cfq,quantum=-1",
            ["`quantum` is integer `-1`", "from 0 to 4294967295"],
        ),
        (
            "--size 1000000007B",
            [
                "`--size 1000000007B`: the capacity of this drive is a positive multiple of",
                "choose another `--size`",
            ],
        ),
        (
            "--size 1EiB",
            ["`1EiB` is not a length", "the units are B, KiB, MiB"],
        ),
        (
            "--set flash.read=10h",
            ["`10h` is not a duration", "the units are ns, us"],
        ),
        (
            "--set flash.read=",
            ["an empty value removes the key", "write KEY=VALUE"],
        ),
        (
            "--set kind=hdd",
            [
                "the kind of a drive cannot be changed",
                "fathom list drives",
            ],
        ),
        (
            "--on model:hitachi-7k160 --set zones=[[3]]",
            ["`zones` has the length 1", "it takes a table"],
        ),
    ] {
        tells(dir.path(), &format!("run generate:uniform {args}"), &all);
    }
}

#[test]
fn an_option_of_another_kind_of_workload_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("jobs.fio"), "[a]\nrw=randread\nsize=1m\n").unwrap();
    std::fs::write(dir.path().join("t.spc"), "0,8,512,r,0.2\n").unwrap();
    let streams = "is for traces and generators, and";
    for (args, words) in [
        ("run jobs.fio --step writes-only", streams),
        ("run jobs.fio --arrival open", streams),
        (
            "run program:postmark-fixed --reshape epo,capacity=64KiB",
            streams,
        ),
        ("run generate:uniform --lenient", "is for traces, and"),
        (
            "convert generate:uniform --reorder 3 a.parquet",
            "is for traces, and",
        ),
        ("run jobs.fio --accesses 3", streams),
        ("run t.spc --ab none,bfq", "is for fio's jobs, and"),
        (
            "run generate:uniform --destroy x",
            "`--destroy x` names a real drive",
        ),
        ("run jobs.fio --on . --ftl dftl", "is for modelled drives"),
        (
            "run generate:uniform --on . --precondition fresh",
            "is for modelled drives",
        ),
    ] {
        tells(dir.path(), args, &[words]);
    }
}

#[test]
fn the_old_verbs_do_what_run_does_and_name_it() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("jobs.fio"), "[a]\nrw=randread\nsize=1m\n").unwrap();
    let ran = |verb: &str, workload: &str| {
        let out = fathom(dir.path()).args([verb, workload, "--json"]).output();
        let out = out.unwrap();
        assert!(out.status.success(), "{out:?}");
        let said = String::from_utf8(out.stderr).unwrap();
        // A slow machine shows progress as well.
        let notes = said.lines().filter(|line| line.starts_with("note: "));
        (out.stdout, notes.collect::<Vec<_>>().join("\n"))
    };
    for (old, workload) in [("replay", "generate:uniform"), ("bench", "jobs.fio")] {
        let (printed, said) = ran("run", workload);
        let (before, note) = ran(old, workload);
        assert!(printed == before, "{old}");
        assert!(said.is_empty(), "{said}");
        let named = format!("`fathom {old}` is now `fathom run`");
        assert!(note.contains(&named) && note.lines().count() == 1, "{note}");
    }
    let help = fathom(dir.path()).arg("--help").output().unwrap().stdout;
    let help = String::from_utf8(help).unwrap();
    assert!(
        !help.contains("replay") && !help.contains("bench"),
        "{help}"
    );
}

#[test]
fn a_study_needs_a_place_for_its_runs() {
    let dir = tempfile::tempdir().unwrap();
    let example = fathom(dir.path()).args(["explain", "study.toml"]).output();
    std::fs::write(dir.path().join("study.toml"), example.unwrap().stdout).unwrap();
    tells(dir.path(), "study study.toml", &["--out DIR"]);
    fathom(dir.path())
        .args(["study", "study.toml", "--dry"])
        .assert()
        .success();
}

#[test]
fn a_misspelled_step_or_key_of_one_is_told_with_what_was_meant() {
    let dir = tempfile::tempdir().unwrap();
    for (step, meant) in [
        ("shrnk,capacity=2G", "shrink"),
        ("shrink,capacty=2G", "capacity"),
    ] {
        tells(
            dir.path(),
            &format!("run generate:uniform --step {step}"),
            &[
                &format!("did you mean `{meant}`?"),
                "such as --step shrink,capacity=2GiB",
            ],
        );
    }
    let workload = "generate = { generator = \"uniform\" }\nsteps = [{ step = \"frist\" }]\n";
    std::fs::write(dir.path().join("w.toml"), workload).unwrap();
    tells(dir.path(), "run w.toml", &["did you mean `first`?"]);
}

#[test]
fn a_profile_that_is_not_there_is_told_where_nothing_needs_it() {
    let dir = tempfile::tempdir().unwrap();
    tells(
        dir.path(),
        "run generate:uniform --profile nosuch",
        &["nosuch"],
    );
}

/// `fathom list buffers` shows it.
#[test]
fn no_cache_is_no_write_buffer() {
    let dir = tempfile::tempdir().unwrap();
    let run = |more: &[&str]| {
        let mut command = fathom(dir.path());
        command.args(["run", "generate:uniform", "--accesses", "200", "--json"]);
        let out = command
            .args(["--on", "model:ssd-a"])
            .args(more)
            .output()
            .unwrap();
        assert!(out.status.success(), "{more:?}: {out:?}");
        String::from_utf8(out.stdout).unwrap()
    };
    let none = run(&["--buffer", "none"]);
    assert_eq!(run(&["--buffer", "no-cache"]), none);
    assert_ne!(run(&[]), none);
    let front = run(&["--step", "writes-only", "--reshape", "no-cache"]);
    assert!(front.contains("\"reshaped\""), "{front}");
}

#[test]
fn a_run_that_measures_nothing_says_why_and_is_negative() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("w.spc"), "0,0,512,w,0\n0,8,512,w,1\n").unwrap();
    std::fs::write(dir.path().join("junk"), "this\nis\nno trace\n").unwrap();
    for args in [
        "run w.spc --step reads-only",
        "run junk --format spc --lenient",
    ] {
        let out = fathom(dir.path()).args(args.split(' ')).output().unwrap();
        assert_eq!(out.status.code(), Some(1), "{args}");
        let text = String::from_utf8(out.stdout).unwrap();
        let text: Vec<&str> = text.split_whitespace().collect();
        let text = text.join(" ");
        assert!(text.contains("Nothing was measured"), "{args}: {text}");
        assert!(text.contains("change the steps"), "{args}: {text}");
    }
}

/// 2^64 - 1 ns are 584 years; `Time::END` is after 500 years.
#[test]
fn an_access_after_the_end_of_time_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let late = "0,0,512,w,0\n0,8,512,w,18446744073.709551615\n";
    std::fs::write(dir.path().join("late.spc"), late).unwrap();
    tells(
        dir.path(),
        "run late.spc --on model:ssd-a",
        &["access 2", "584 years", "--arrival closed:N"],
    );
}

/// Each process would hold the file open, with a window of 256 KiB.
#[test]
fn a_run_has_a_limit_of_processes_and_a_trace_a_lower_one() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("w.spc"), "0,0,512,w,0\n").unwrap();
    tells(
        dir.path(),
        "run w.spc --arrival processes:1000",
        &["`arrival` is processes:1000:1", "at most 512"],
    );
    tells(
        dir.path(),
        "run generate:uniform --arrival processes:100000",
        &["processes:100000", "at most 4096"],
    );
}

#[test]
fn an_error_of_a_setting_is_told_of_the_option_that_made_it() {
    let dir = tempfile::tempdir().unwrap();
    for (args, all) in [
        (
            "--set flash.channels=0",
            ["`--set flash.channels=0` on model:epo: is 0", "1 to 256"],
        ),
        (
            "--set spam=1",
            ["`--set spam=1` on model:epo", "no key `spam` here"],
        ),
        (
            "--ftl dfdl",
            ["`--ftl dfdl` on model:epo", "did you mean `dftl`"],
        ),
        (
            "--buffer lru,capacity=1",
            ["`--buffer lru,capacity=1` on model:epo", "has no unit"],
        ),
        (
            "--ftl dftl --on model:hitachi-7k160",
            ["is a disk", "no translation layer"],
        ),
        (
            "--buffer lru --on model:hitachi-7k160",
            ["is a disk", "no write buffer"],
        ),
    ] {
        tells(dir.path(), &format!("run generate:uniform {args}"), &all);
        let args: Vec<&str> = args.split(' ').collect();
        let said = said(
            dir.path(),
            &[&["run", "generate:uniform"], &args[..]].concat(),
        );
        assert!(
            !said.contains("╭") && !said.contains("with settings"),
            "{said}"
        );
    }
}

/// `--ab` refuses `--sched` and `--split`, and its names take no keys.
#[test]
fn what_a_stack_lacks_is_advised_in_a_way_that_it_takes() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("jobs.fio"), "[a]\nrw=randread\nsize=1m\n").unwrap();
    for stack in ["noop+pas", "irbw-fifo"] {
        let said = said(
            dir.path(),
            &["run", "jobs.fio", "--ab", &format!("none,{stack}")],
        );
        assert!(said.contains("`--profile DIR`"), "{said}");
        assert!(
            !said.contains("--split") && !said.contains("--sched"),
            "{said}"
        );
    }
}

/// The conditions are those of the contract's `DeviceInfo::check`.
/// A program's settings may be tables of their own; what is wrong with one is told, and not that the program is unknown.
#[test]
fn settings_of_a_program_are_read_as_in_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let tables = "program:postmark-fsl,files=20,transactions=50,\
                  file-system={format=\"ext4\",allocator=\"greedy-space\",logical-block=\"4MiB\"},\
                  sizes={min=\"1KiB\",max=\"2KiB\"}";
    let args = ["run", tables, "--on", "model:nvme", "--size", "64MiB"];
    fathom(dir.path()).args(args).assert().success();
    let run = |settings: &str, all: &[&str]| {
        tells(
            dir.path(),
            &format!("run program:postmark-fsl,{settings} --on model:nvme"),
            all,
        );
    };
    run(
        "files=2,files=3",
        &["`files` is given twice", "fathom explain postmark-fsl"],
    );
    run("fils=2", &["did you mean files?"]);
    tells(
        dir.path(),
        "run generate:uniform,read-percent=0",
        &["takes no settings on the command line", "[generate]"],
    );
}

/// A study ends before its first run, with the line of the point.
#[test]
fn a_file_system_that_no_run_can_have_ends_a_study_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let study = "name = \"s\"\ndrive = \"model:ssd-a\"\nseeds = [1]\n\
        [[workload]]\nname = \"pm\"\n[workload.program]\nprogram = \"postmark-fsl\"\n\
        [[axis]]\nname = \"fs\"\n\
        [[axis.point]]\nname = \"a\"\nworkload = { \"program.file-system\" = { format = \"ext3\" } }\n\
        [[axis.point]]\nname = \"b\"\nworkload = { \"program.file-system\" = { allocator = \"log-structured\" } }\n";
    std::fs::write(dir.path().join("s.toml"), study).unwrap();
    let words = ["s.toml:15", "log-structured", "not for ext3"];
    tells(dir.path(), "study s.toml --out runs", &words);
    assert!(!dir.path().join("runs").exists());
    let study = study.replace("[[axis]]", "system = { processors = 0 }\n[[axis]]");
    std::fs::write(dir.path().join("s.toml"), study).unwrap();
    tells(
        dir.path(),
        "study s.toml --out runs",
        &["system.processors", "at least 1"],
    );
}

/// A file system has blocks of 4 KiB, and no step rounds what a program asks for.
#[test]
fn a_drive_with_longer_blocks_than_a_file_system_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    tells(
        dir.path(),
        "run program:postmark-fsl --on model:nvme --size 64MiB --set mapping.unit=64KiB --set host.logical_block=16KiB",
        &["in blocks of 4KiB", "multiples of 16KiB"],
    );
}

#[test]
fn an_access_that_the_drive_cannot_take_is_told_why_and_the_step() {
    let dir = tempfile::tempdir().unwrap();
    let spc = |name: &str, line: &str| {
        std::fs::write(dir.path().join(name), format!("0,0,512,w,0\n{line}\n")).unwrap()
    };
    spc("short.spc", "0,8,777,r,0.2");
    spc("far.spc", "0,1000000000,512,w,0.1");
    let replay =
        |name: &str, all: &[&str]| tells(dir.path(), &format!("run {name} --on model:ssd-a"), all);
    replay(
        "short.spc",
        &[
            "its length is no multiple",
            "multiples of 512 B",
            "--step round-to-pages,page=4KiB",
        ],
    );
    replay("far.spc", &["(2 GiB)", "--step shrink,capacity=2GiB"]);
    std::fs::write(
        dir.path().join("trim.csv"),
        "at_us,op,offset,len\n0,write,0,4096\n1,trim,0,4096\n",
    )
    .unwrap();
    tells(
        dir.path(),
        "run trim.csv --on model:ms-ssd",
        &[
            "access 2",
            "trim of 4096 bytes at offset 0",
            "takes no trims",
            "--step writes-only",
        ],
    );
}
