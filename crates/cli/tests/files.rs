//! Tests files from elsewhere: with a byte order mark, damaged, or only roughly in order.

use crate::common::{fathom, quick_run};
use std::fs;
use std::path::Path;
use std::process::Command;

/// RFC 3629, section 6: U+FEFF at the beginning of a UTF-8 text is a signature, not part of the text.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// Writes a file with a byte order mark.
fn marked(path: &Path, text: impl AsRef<[u8]>) {
    fs::write(path, [MARK, text.as_ref()].concat()).unwrap();
}

fn example(dir: &Path, name: &str) {
    let text = fathom(dir).args(["explain", name]).output().unwrap().stdout;
    marked(&dir.join(name), text);
}

#[test]
fn a_byte_order_mark_is_no_part_of_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    for name in ["drive.toml", "study.toml", "file-server.fio"] {
        example(dir, name);
    }
    // Traces of MSR, Alibaba and SPC are comma-separated.
    marked(&dir.join("t.spc"), "0,0,512,w,0\n0,8,512,r,0.1\n");
    marked(
        &dir.join("t.csv"),
        "0,R,0,4096,1577808144000000\n0,W,4096,4096,1577808144000010\n",
    );
    marked(
        &dir.join("load.toml"),
        "generate = { generator = \"uniform\", accesses = 20 }\n",
    );
    let small = ["--size", "1GiB"];
    for args in [
        &[
            "probe",
            "--method",
            "paper",
            "--only",
            "prefetch",
            "--quiet",
            "model:drive.toml",
        ][..],
        &["study", "study.toml", "--dry"],
        &["run", "t.spc", "--on", "model:ssd-a"],
        &["run", "t.csv", "--on", "model:ssd-a", "--format", "alibaba"],
        &["run", "load.toml"],
        &[
            "run",
            "file-server.fio",
            "--on",
            "model:epo",
            small[0],
            small[1],
        ],
    ] {
        let out = fathom(dir).args(args).output().unwrap();
        let said = String::from_utf8_lossy(&out.stderr);
        assert!(out.status.success(), "{args:?}: {said}");
    }
}

#[test]
fn a_byte_order_mark_is_no_part_of_a_run() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let run = quick_run(dir, "a", &[]);
    let mut replay = fathom(dir);
    replay.args(["run", "generate:uniform", "--accesses", "200", "--out", "b"]);
    replay.assert().success();
    // A file copied out of its set has no checksum.
    fs::create_dir(dir.join("copy")).unwrap();
    marked(
        &dir.join("copy/p.toml"),
        fs::read(run.join("profile.toml")).unwrap(),
    );
    marked(
        &dir.join("copy/r.json"),
        fs::read(dir.join("b/run.json")).unwrap(),
    );
    let diff = ["diff", "copy/p.toml", "copy/p.toml"];
    let compare = ["compare", "copy/r.json", "copy/r.json"];
    for args in [diff, compare] {
        fathom(dir).args(args).assert().success();
    }
}

/// Returns a trace of many lines, compressed by `program`.
fn compressed(dir: &Path, program: &str, ending: &str) -> Vec<u8> {
    let line = |n: u64| {
        format!(
            "0,{},4096,{},{}.{:06}\n",
            n * 7919 % 100_003,
            ["r", "w"][n as usize % 2],
            n / 1000,
            n % 1000 * 1000
        )
    };
    fs::write(dir.join("t"), (0..30_000).map(line).collect::<String>()).unwrap();
    let done = Command::new(program)
        .args(["-k", "-f", "t"])
        .current_dir(dir)
        .status();
    assert!(done.unwrap().success());
    fs::read(dir.join(format!("t.{ending}"))).unwrap()
}

/// gzip detects damage by the CRC at its end (RFC 1952, 2.3.1), xz by the check of each block (xz file format, 3.4). Until
/// then the decompressed data may be anything.
#[test]
fn a_damaged_compressed_file_is_called_damaged() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    for (program, ending) in [("gzip", "gz"), ("xz", "xz")] {
        let whole = compressed(dir, program, ending);
        let name = format!("bad.{ending}");
        let replay = || {
            let mut command = fathom(dir);
            command.args([
                "run",
                &name,
                "--on",
                "model:ssd-a",
                "--step",
                "shrink,capacity=1G,span=1G",
            ]);
            let out = command.output().unwrap();
            (out.status.code(), String::from_utf8(out.stderr).unwrap())
        };
        fs::write(dir.join(&name), &whole).unwrap();
        assert_eq!(replay().0, Some(0), "{ending}");
        let mut places: Vec<usize> = (0..6).map(|n| n * whole.len() / 6).collect();
        places[0] = 2;
        for at in places {
            let mut bad = whole.clone();
            bad[at..at + 4].iter_mut().for_each(|byte| *byte ^= 0x5a);
            fs::write(dir.join(&name), &bad).unwrap();
            let (code, said) = replay();
            assert_eq!(code, Some(2), "{ending} {at}: {said}");
            let told = said.contains("is damaged") && said.contains(&name);
            assert!(
                told || said.contains("ends before its"),
                "{ending} {at}: {said}"
            );
        }
        // The first bytes no longer identify the file as compressed.
        let mut bad = whole.clone();
        bad[0] ^= 0xff;
        fs::write(dir.join(&name), &bad).unwrap();
        let (_, said) = replay();
        assert!(said.contains("it is damaged"), "{said}");
        fs::write(dir.join(&name), &whole[..whole.len() / 2]).unwrap();
        let (_, said) = replay();
        assert!(said.contains("ends before its"), "{said}");
        let mut lenient = fathom(dir);
        lenient.args(["convert", &name, "out.parquet", "--lenient"]);
        let unconfirmed = predicates::str::contains("no checksum confirms the last");
        lenient.assert().success().stderr(unconfirmed);
    }
}

#[test]
fn a_trace_that_is_roughly_in_order_is_set_in_order_by_a_flag() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(
        dir.path().join("t.spc"),
        "0,0,512,w,0\n0,8,512,r,0.2\n0,16,512,r,0.1\n0,16,512,r,0.3\n",
    )
    .unwrap();
    let replay = |more: &[&str]| {
        let mut command = fathom(dir.path());
        command
            .args(["run", "t.spc", "--on", "model:ssd-a"])
            .args(more)
            .output()
            .unwrap()
    };
    let refused = replay(&[]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--reorder 4096"));
    assert!(replay(&["--reorder", "4096"]).status.success());
}
