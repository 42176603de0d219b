//! Tests the safety lock on real devices: a refused target must stay unchanged, byte for byte.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // A helper that fails is a failed test; a skipped one says why.

mod common;

use common::{Loop, Mounted, config, destroying, found, one, refusal, run};
use fathom_block::{Device, IoErrorKind, Op, Request};
use fathom_hostio::{Finding, HostConfig, HostDevice, HostError, Kind, inspect, open};
use std::path::Path;

const MIB: u64 = 1 << 20;

/// Returns the end of a boot record: one Linux partition of 8 MiB at 1 MiB, and the magic number.
fn partition_table() -> [u8; 66] {
    let mut table = [0; 66];
    table[4] = 0x83;
    table[8..12].copy_from_slice(&2048u32.to_le_bytes());
    table[12..16].copy_from_slice(&16_384u32.to_le_bytes());
    table[64..].copy_from_slice(&[0x55, 0xaa]);
    table
}

fn over(device: &str, backing: &str) -> Finding {
    Finding::LoopBacking {
        device: device.into(),
        backing: backing.into(),
    }
}

fn opened_by_us(finding: &Finding, name: &str) -> bool {
    matches!(finding, Finding::Opened { what, by, .. } if what == name && is_ours(by.pid))
        || matches!(finding, Finding::Locked { what, by: Some(by), .. } if what == name && is_ours(by.pid))
}

/// Whether a process is this one, or a child that another test has started: until it becomes its program it has our files.
fn is_ours(pid: u32) -> bool {
    let us = std::process::id();
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    // The parent is the second field after the name in parentheses.
    let parent = |stat: &str| {
        stat.rsplit_once(") ")?
            .1
            .split(' ')
            .nth(1)?
            .parse::<u32>()
            .ok()
    };
    pid == us || stat.map_or(true, |stat| parent(&stat) == Some(us))
}

fn read_only(path: &Path) -> HostDevice {
    let config = config(path, |c| c.read_only = true);
    open(&config).unwrap()
}

/// Submits every request that could change data to a device opened read-only.
fn attack(mut device: HostDevice) {
    assert!(device.info().read_only && !device.info().trim);
    for op in [Op::Write, Op::Trim] {
        let kind = one(&mut device, Request::new(1, op, 0, 4096))
            .result
            .map_err(|e| e.kind);
        assert_eq!(kind, Err(IoErrorKind::ReadOnly));
    }
    for (op, len) in [(Op::Read, 4096), (Op::Flush, 0)] {
        let done = one(&mut device, Request::new(2, op, 0, len));
        assert_eq!(done.result, Ok(()));
    }
}

#[test]
fn a_mounted_device_is_refused_whatever_is_named_but_may_be_read() {
    let disk = or_skip!(Loop::attach(16 * MIB));
    let mounted = or_skip!(Mounted::ext4(disk.path()));
    let finding = Finding::Mounted {
        device: disk.name().into(),
        at: mounted.at().into(),
    };
    for config in [HostConfig::new(&disk.device), destroying(&disk.device)] {
        assert_eq!(found(refusal(&config)), std::slice::from_ref(&finding));
    }
    let seen = inspect(&disk.device).unwrap();
    let text = seen.describe().join("\n");
    assert!(seen.findings.contains(&finding), "{text}");
    assert!(text.contains("ext2/3/4"), "{text}");
    attack(read_only(&disk.device));
}

#[test]
fn a_device_with_a_file_system_is_refused_until_it_is_named() {
    let disk = or_skip!(Loop::attach(16 * MIB));
    // Magic numbers from the formats' documentation, not from the table under test.
    for (offset, magic) in [
        (0x438, &[0x53, 0xef][..]),
        (0, b"LUKS\xba\xbe"),
        (512, b"EFI PART"),
        (16 * MIB - 512, b"EFI PART"),
        (446, &partition_table()),
    ] {
        disk.plant(offset, magic);
        let before = std::fs::read(&disk.file).unwrap();
        let findings = found(refusal(&HostConfig::new(&disk.device)));
        assert!(matches!(findings[..], [Finding::Signature(_)]));
        let other = config(&disk.device, |c| c.destroy = Some("loop".into()));
        assert!(matches!(refusal(&other), HostError::Refused(_)));
        attack(read_only(&disk.device));
        assert!(before == std::fs::read(&disk.file).unwrap());
        let named = config(&disk.device, |c| c.destroy = Some(disk.name().into()));
        assert!(!open(&named).unwrap().info().read_only);
        disk.plant(offset, &vec![0; magic.len()]);
    }
    let spare = open(&HostConfig::new(&disk.device)).unwrap();
    assert!(!spare.info().read_only, "a spare device needs no word");
    assert_eq!(spare.inspection().kind, Kind::Block);
    assert_eq!(spare.info().capacity_bytes, 16 * MIB);
}

#[test]
fn a_device_that_somebody_claims_is_refused() {
    let disk = or_skip!(Loop::attach(4 * MIB));
    let first = open(&HostConfig::new(&disk.device)).unwrap();
    for config in [HostConfig::new(&disk.device), destroying(&disk.device)] {
        let findings = found(refusal(&config));
        assert!(
            findings.iter().all(|f| opened_by_us(f, disk.name())),
            "{findings:?}"
        );
    }
    drop(first);
    assert!(open(&HostConfig::new(&disk.device)).is_ok());
}

#[test]
fn a_partitioned_device_is_refused_until_named_and_with_a_mounted_partition_always() {
    let disk = or_skip!(Loop::attach(32 * MIB));
    if let Err(error) = run("addpart", &[disk.path(), "1", "2048", "40960"]) {
        println!("skipped: {error}");
        return;
    }
    let partition = format!("{}p1", disk.name());
    let partitioned = Finding::Partitioned {
        partitions: vec![partition.clone()],
    };
    assert_eq!(
        found(refusal(&HostConfig::new(&disk.device))),
        [partitioned]
    );
    drop(open(&destroying(&disk.device)).unwrap());
    let mounted = or_skip!(Mounted::ext4(&format!("/dev/{partition}")));
    let finding = Finding::Mounted {
        device: partition,
        at: mounted.at().into(),
    };
    assert_eq!(found(refusal(&destroying(&disk.device))), [finding]);
}

#[test]
fn an_existing_file_is_not_touched_until_it_is_named() {
    let directory = common::directory();
    let path = directory.path().join("precious");
    let before = vec![0x17; 2 * MIB as usize];
    std::fs::write(&path, &before).unwrap();
    let modified = || std::fs::metadata(&path).unwrap().modified().unwrap();
    let stamp = modified();
    attack(open(&HostConfig::new(&path)).unwrap());
    attack(read_only(&path));
    let wrong = config(&path, |c| c.destroy = Some("treasure".into()));
    assert_eq!(found(refusal(&wrong)), []);
    assert!(before == std::fs::read(&path).unwrap());
    assert_eq!(modified(), stamp);

    let by_name = config(&path, |c| c.destroy = Some("precious".into()));
    let mut device = open(&by_name).unwrap();
    let done = one(&mut device, Request::new(1, Op::Write, 0, 4096));
    assert_eq!(done.result, Ok(()));
    assert!(before != std::fs::read(&path).unwrap());
}

#[test]
fn a_file_under_a_loop_device_is_refused_even_when_named() {
    let disk = or_skip!(Loop::attach(4 * MIB));
    let findings = found(refusal(&destroying(&disk.file)));
    let backing = std::fs::canonicalize(&disk.file).unwrap();
    assert_eq!(
        findings,
        [over(disk.name(), &backing.display().to_string())]
    );
}

#[test]
fn what_is_empty_or_missing_is_told() {
    let directory = common::directory();
    let path = directory.path().join("empty");
    std::fs::write(&path, b"").unwrap();
    let error = refusal(&HostConfig::new(&path));
    assert!(matches!(error, HostError::Unsuitable { .. }), "{error}");
    let missing = directory.path().join("missing");
    let error = refusal(&HostConfig::new(&missing));
    assert!(matches!(error, HostError::NotFound { path } if path == missing));
}

#[test]
fn a_file_or_a_directory_of_somebody_else_is_no_permission() {
    use std::os::unix::fs::PermissionsExt;
    if run("id", &["-u"]).as_deref() == Ok("0") {
        println!("skipped: root may do everything");
        return;
    }
    let directory = common::directory();
    let path = directory.path().join("locked");
    std::fs::write(&path, vec![0; 65_536]).unwrap();
    let mode = |path: &Path, bits| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(bits)).unwrap();
    };
    mode(&path, 0o400);
    assert!(open(&HostConfig::new(&path)).is_ok());
    let error = refusal(&destroying(&path));
    let told = error.to_string();
    assert!(matches!(error, HostError::NoPermission { .. }), "{told}");
    assert!(
        told.contains("read and write") && told.contains("0400"),
        "{told}"
    );
    mode(directory.path(), 0o500);
    let config = config(directory.path(), |c| c.scratch_bytes = Some(65_536));
    let error = refusal(&config);
    mode(directory.path(), 0o700);
    assert!(matches!(error, HostError::NoPermission { .. }), "{error}");
}
