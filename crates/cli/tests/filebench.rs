//! Tests `fathom run` with a text in filebench's language.

use crate::common;
use std::path::Path;
use std::process::Output;

const READERS: &str = "\
set $files=100
define fileset name=pages,path=/srv,size=16k,entries=$files,dirwidth=20,prealloc
define process name=server {
  thread name=reader,instances=3 {
    flowop openfile name=open,filesetname=pages,fd=1
    flowop readwholefile name=read,fd=1,iosize=1m
    flowop closefile name=close,fd=1
  }
}
run 5
";

fn run(dir: &Path, text: &str) -> Output {
    let path = dir.join("readers.f");
    std::fs::write(&path, text).unwrap();
    let mut command = common::fathom(dir);
    let args = ["run", "readers.f", "--on", "model:nvme", "--json"];
    command.args(args).output().unwrap()
}

#[test]
fn a_text_runs_by_its_file() {
    let dir = tempfile::tempdir().unwrap();
    let output = run(dir.path(), READERS);
    assert!(output.status.success(), "{output:?}");
    let outcome: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(outcome["plan"]["workload"]["name"], "readers");
    // Each of the 100 files of 16 KiB is read once from the drive, then it is in memory.
    let read = outcome["totals"]["reads"]["bytes"].as_u64().unwrap();
    assert!((100 * 16_384..2 * 100 * 16_384).contains(&read), "{read}");
}

#[test]
fn an_error_has_the_file_and_the_line() {
    let dir = tempfile::tempdir().unwrap();
    let output = run(dir.path(), &READERS.replace("readwholefile", "readwhole"));
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("readers.f:6: "), "{said}");
    assert!(said.contains("readwholefile"), "{said}");
    assert!(said.contains("docs/filebench.md"), "{said}");
}
