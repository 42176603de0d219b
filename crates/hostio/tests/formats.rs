//! Compares the table of formats with the mkfs programs and with libblkid. The table must find whatever `blkid` finds, and
//! the remains of a file system whose beginning was wiped.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // A helper that fails is a failed test; a skipped one says why.

mod common;

use common::{Loop, run};
use fathom_hostio::{Finding, inspect};

const MIB: u64 = 1 << 20;

/// Name in our table, program, arguments; the device is appended as the last argument.
const MAKERS: &[(&str, &str, &[&str])] = &[
    ("ext2/3/4", "mkfs.ext2", &["-q", "-F"]),
    ("ext2/3/4", "mkfs.ext4", &["-q", "-F", "-b", "1024"]),
    ("XFS", "mkfs.xfs", &["-q", "-f"]),
    ("Btrfs", "mkfs.btrfs", &["-q", "-f"]),
    ("F2FS", "mkfs.f2fs", &["-q", "-f"]),
    ("NTFS", "mkfs.ntfs", &["-q", "-F", "-f"]),
    ("exFAT", "mkfs.exfat", &[]),
    ("FAT", "mkfs.vfat", &["-F", "32"]),
    ("FAT", "mkfs.vfat", &["-F", "16"]),
    ("NILFS2", "mkfs.nilfs2", &["-q", "-f"]),
    ("ReiserFS", "mkreiserfs", &["-q", "-ff"]),
    ("JFS", "jfs_mkfs", &["-q"]),
    ("UDF", "mkudffs", &[]),
    ("minix", "mkfs.minix", &[]),
    ("minix", "mkfs.minix", &["-3"]),
    ("SCO BFS", "mkfs.bfs", &[]),
    ("swap", "mkswap", &["-f"]),
    (
        "LUKS",
        "cryptsetup",
        &[
            "luksFormat",
            "-q",
            "--type",
            "luks1",
            "--pbkdf-force-iterations",
            "1000",
            "--key-file",
            "/etc/hostname",
        ],
    ),
    (
        "LUKS",
        "cryptsetup",
        &[
            "luksFormat",
            "-q",
            "--type",
            "luks2",
            "--pbkdf",
            "pbkdf2",
            "--pbkdf-force-iterations",
            "1000",
            "--key-file",
            "/etc/hostname",
        ],
    ),
    ("bcache", "make-bcache", &["-B"]),
];

/// Returns the names that the table finds, without those from `blkid` alone.
fn found(disk: &Loop) -> Vec<String> {
    let findings = inspect(&disk.device).unwrap().findings;
    let name = |finding: Finding| match finding {
        Finding::Signature(signature) => signature.offset.map(|_| signature.name.into_owned()),
        _ => None,
    };
    findings.into_iter().filter_map(name).collect()
}

fn wipe(disk: &Loop, bytes: u64) {
    disk.plant(0, &vec![0; bytes as usize]);
}

#[test]
fn every_format_that_can_be_made_here_is_named() {
    let disk = or_skip!(Loop::attach(512 * MIB));
    for (name, program, args) in MAKERS {
        wipe(&disk, 8 * MIB);
        disk.plant(510 * MIB, &vec![0; 2 * MIB as usize]);
        let made = run(program, &[*args, &[disk.path()]].concat());
        if let Err(error) = made {
            println!("skipped: {program} {}: {error}", args.join(" "));
            continue;
        }
        let names = found(&disk);
        assert!(
            names.iter().any(|n| n == name),
            "{program} {args:?}: {names:?}"
        );
        let told = run("blkid", &["--probe", "--output", "export", disk.path()]);
        assert!(
            told.is_ok_and(|told| told.contains("TYPE=")),
            "{program}: blkid finds nothing"
        );
    }
}

/// Users erase a drive with `dd` over its beginning.
#[test]
fn what_is_left_of_a_wiped_file_system_is_found() {
    let disk = or_skip!(Loop::attach(512 * MIB));
    for (left, program, args) in [
        (
            "ext2/3/4 (backup)",
            "mkfs.ext4",
            &["-q", "-F", "-b", "4096"][..],
        ),
        (
            "ext2/3/4 (backup)",
            "mkfs.ext4",
            &["-q", "-F", "-b", "1024"],
        ),
        (
            "ext2/3/4 (backup)",
            "mkfs.ext4",
            &["-q", "-F", "-O", "sparse_super2"],
        ),
        ("Btrfs (copy)", "mkfs.btrfs", &["-q", "-f"]),
        ("XFS (allocation group)", "mkfs.xfs", &["-q", "-f"]),
        ("NTFS", "mkfs.ntfs", &["-q", "-F", "-f"]),
    ] {
        wipe(&disk, 512 * MIB);
        if let Err(error) = run(program, &[args, &[disk.path()]].concat()) {
            println!("skipped: {program}: {error}");
            continue;
        }
        wipe(&disk, 16 * MIB);
        let names = found(&disk);
        assert_eq!(names, [left], "{program} {args:?}");
    }
    wipe(&disk, 512 * MIB);
    assert_eq!(found(&disk), [""; 0]);
}
