//! Tests the commands on images of ext2, ext3 and ext4; in a build without them, that they say how to get them.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test fails by panicking; a skipped one says why"
)]

use crate::common::fathom;
use predicates::str::contains;

#[cfg(not(feature = "ext"))]
#[test]
fn without_the_feature_the_commands_say_how_to_build_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let commands: [&[&str]; 4] = [
        &["mkfs", "--fs", "ext3", "--size", "64MiB", "image"],
        &["import", "--alloc", "greedy-space", "image", "."],
        &["export", "image", "out"],
        &[
            "run",
            "operations",
            "--on",
            "image",
            "--alloc",
            "ext4-mballoc",
        ],
    ];
    for args in commands {
        let run = fathom(dir.path()).args(args).assert().code(2);
        run.stderr(contains("--features ext"));
    }
    assert!(!dir.path().join("image").exists());
}

#[cfg(feature = "ext")]
mod with {
    use super::*;
    use std::fs;
    use std::path::Path;
    use std::process::Command;

    fn run(dir: &Path, line: &str) -> assert_cmd::assert::Assert {
        fathom(dir).args(line.split(' ')).assert()
    }

    fn clean(image: &Path) {
        match Command::new("e2fsck").arg("-fn").arg(image).output() {
            Ok(output) => assert!(output.status.success(), "{output:?}"),
            Err(error) => eprintln!("skipped: e2fsck is not there ({error})"),
        }
    }

    #[test]
    fn a_directory_comes_back_as_it_went_in() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::create_dir_all(at("tree/a/b")).unwrap();
        fs::write(at("tree/empty"), "").unwrap();
        fs::write(at("tree/a/small"), "hello").unwrap();
        let large: Vec<u8> = (0..9_000_000_u32).flat_map(u32::to_le_bytes).collect();
        fs::write(at("tree/a/b/large"), &large).unwrap();
        std::os::unix::fs::symlink("../small", at("tree/a/b/short")).unwrap();
        std::os::unix::fs::symlink("x/".repeat(200), at("tree/a/long")).unwrap();
        for (kind, allocator) in [
            ("ext2", "ext3-windows"),
            ("ext3", "greedy-space"),
            ("ext4", "ext4-mballoc"),
        ] {
            run(
                dir.path(),
                &format!("mkfs --fs {kind} --size 256MiB {kind}.img"),
            )
            .success();
            run(
                dir.path(),
                &format!("import --alloc {allocator} {kind}.img tree"),
            )
            .success();
            clean(&at(&format!("{kind}.img")));
            let out = format!("out-{kind}");
            run(dir.path(), &format!("export {kind}.img {out}"))
                .success()
                .stdout(contains(
                    "3 files (34.33 MiB), 2 directories and 2 symbolic links",
                ));
            let mut same = Command::new("diff");
            same.args(["-r", "--no-dereference", "tree", &out]);
            let same = same.current_dir(dir.path()).output().unwrap();
            assert!(same.status.success(), "{same:?}");
        }
    }

    #[test]
    fn operations_run_on_an_image_and_their_figures_are_printed() {
        let dir = tempfile::tempdir().unwrap();
        let image = dir.path().join("image");
        fs::write(
            dir.path().join("ops"),
            "M d\nC d/a 10000\nS\nA d/a 5000\nD d/a\nS\n",
        )
        .unwrap();
        run(
            dir.path(),
            "mkfs --fs ext3 --alloc greedy-space --size 64MiB image",
        )
        .success();
        let ran = "run ops --fs ext3 --alloc greedy-space --logical-block 4MiB --on image";
        run(dir.path(), ran)
            .success()
            .stdout(contains("operations        6 in"))
            // Three blocks of 4 KiB at the first sync, none at the second.
            .stdout(contains("data              12 KiB in 1 requests"))
            .stdout(contains("1.0 of 4 MiB"));
        clean(&image);
        // The stream makes what is there already: the operation is named, and the image stays clean.
        run(dir.path(), "run ops --alloc ext3-windows --on image")
            .code(2)
            .stderr(contains("ops: operation 1: `d` exists"));
        clean(&image);
    }

    #[test]
    fn a_program_ages_an_image_and_performs_its_own_operations() {
        let dir = tempfile::tempdir().unwrap();
        let image = dir.path().join("image");
        run(dir.path(), "mkfs --fs ext3 --size 512MiB image").success();
        let program =
            "program:postmark-cvfs,transactions=1000,sync-every=1000,utilisation-percent=50";
        let ran = format!("run {program} --alloc greedy-space --on image");
        // 50 directories made and removed, 5,000 files made and at the end deleted, 1,000 transactions of two operations
        // (PostMark drops some at a full or an empty table) and a sync every 1,000 operations on files.
        let done = run(dir.path(), &ran).success();
        let text = String::from_utf8(done.get_output().stdout.clone()).unwrap();
        let operations: u64 = text.split_whitespace().nth(1).unwrap().parse().unwrap();
        assert!((12_000..12_200).contains(&operations), "{text}");
        clean(&image);
        // What aged the image stays: about half of it is in use, in Postmark's number of directories.
        run(dir.path(), "export image out").success();
        let directories = fs::read_dir(dir.path().join("out")).unwrap();
        let names = directories.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let aged = names.filter(|name| name.starts_with('a')).count();
        assert_eq!(aged, 50);
        let mut used = 0;
        for directory in 0..50 {
            for file in fs::read_dir(dir.path().join(format!("out/a{directory}"))).unwrap() {
                used += file.unwrap().metadata().unwrap().len();
            }
        }
        let share = used as f64 / f64::from(512 << 20);
        // At most half of what is free (the journal is not), and less than a file of 16 MiB below it.
        assert!((0.40..0.50).contains(&share), "{share}");
    }

    #[test]
    fn what_has_no_operations_on_files_is_refused_before_the_image_is_opened() {
        let dir = tempfile::tempdir().unwrap();
        run(dir.path(), "mkfs --fs ext3 --size 64MiB image").success();
        let before = fs::read(dir.path().join("image")).unwrap();
        fs::write(dir.path().join("ops"), "M d\n").unwrap();
        for (line, words) in [
            ("run generate:uniform", "a generator"),
            ("run program:filebench-varmail", "use Postmark"),
            ("run program:postmark-type-a", "`files` is 0"),
            (
                "run program:postmark-cvfs,read-block=8KiB",
                "`read-block`: has no effect",
            ),
            ("run ops --seed 3", "--seed has no effect"),
        ] {
            let line = format!("{line} --alloc greedy-space --on image");
            run(dir.path(), &line).code(2).stderr(contains(words));
        }
        assert_eq!(fs::read(dir.path().join("image")).unwrap(), before);
    }

    #[test]
    fn what_is_refused_is_as_it_was_and_the_message_says_where_and_what_to_do() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("ops"), "M d\nS\n").unwrap();
        fs::write(at("bad"), "M e\nwhat\n").unwrap();
        fs::write(at("random"), [0x5a; 9000]).unwrap();
        run(dir.path(), "mkfs --fs ext3 --size 64MiB image").success();
        let before = fs::read(at("image")).unwrap();
        let cut = fs::File::create(at("cut")).unwrap();
        std::os::unix::fs::FileExt::write_all_at(&cut, &before[..1 << 20], 0).unwrap();
        for (line, code, words) in [
            (
                "run ops --fs ext4 --alloc ext4-mballoc --on image",
                2,
                ["image: the image is ext3, not ext4", "--fs"],
            ),
            (
                "run ops --alloc best --on image",
                2,
                ["greedy-local", "fathom list allocators"],
            ),
            (
                "run ops --alloc greedy-space --logical-block 5000B --on image",
                2,
                ["no multiple", "4KiB"],
            ),
            (
                "run bad --alloc greedy-space --on image",
                2,
                ["bad: line 2: ", "D FILE"],
            ),
            (
                "import --alloc greedy-space image none",
                2,
                ["none: cannot be read", "No such file"],
            ),
            (
                "run ops --alloc greedy-space --on random",
                2,
                ["random: no ext2", "fathom mkfs"],
            ),
            (
                "run ops --alloc greedy-space --on cut",
                2,
                ["cut: the file", "e2fsck -f cut"],
            ),
            (
                "run ops --alloc greedy-space --on none",
                3,
                ["none: no such file", "fathom"],
            ),
            (
                "mkfs --fs ext4 image",
                3,
                ["image: formatting destroys", "--destroy"],
            ),
        ] {
            let refused = run(dir.path(), line).code(code);
            let text = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
            let text = text.replace("\n  │ ", " ");
            for word in words {
                assert!(text.contains(word), "{line}: {text}");
            }
            assert!(
                before == fs::read(at("image")).unwrap(),
                "written to by {line}"
            );
        }
        assert_eq!(fs::read(at("random")).unwrap(), [0x5a; 9000]);
    }
}
