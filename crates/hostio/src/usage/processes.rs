//! Finds processes that have a target open, mapped or locked.
//!
//! Open files are identified by `stat` of `/proc/PID/fd/N`, whatever their name was when they were opened. A file registered
//! with an io_uring whose descriptor is closed is found by its path in the ring's `fdinfo`. A mapping outlives its
//! descriptor and is listed in `/proc/PID/maps`.

use super::locks::{self, who};
use super::number::FileId;
use super::storage::Storage;
use crate::clock::pause;
use crate::finding::{Finding, Process};
use crate::node::DeviceNumber;
use crate::sysfs::names_in;
use rustix::fs::{AtFlags, CWD, FileType, StatxFlags, makedev, statx};
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::fd::RawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Pauses between scans in milliseconds. A user that is gone at the next scan does not count: udev and blkid probe a drive
/// after every change.
const PAUSES_MS: [u32; 4] = [20, 80, 300, 600];

/// Returns the users that have the target open, mapped or locked, except our `own` descriptors. Rescans for up to a second
/// before it reports any.
pub(crate) fn processes(storage: &Storage, own: &[RawFd]) -> Vec<Finding> {
    let aliases = aliases(storage);
    let look = || {
        let mut scan = Scan {
            storage,
            aliases: &aliases,
            own,
            seen: BTreeMap::new(),
            unseen: Vec::new(),
            found: Vec::new(),
        };
        scan.all();
        scan
    };
    let in_use = |scan: &Scan| !scan.found.is_empty();
    let mut scan = look();
    for pause_ms in PAUSES_MS {
        if !in_use(&scan) {
            break;
        }
        pause(pause_ms);
        scan = look();
    }
    let unseen = (!scan.unseen.is_empty()).then_some(Finding::Unseen {
        processes: scan.unseen,
        by_root: rustix::process::geteuid().is_root(),
    });
    scan.found
        .into_iter()
        .chain(unseen)
        .chain(blind())
        .collect()
}

/// Returns a finding if processes may use the target without being visible here.
fn blind() -> Option<Finding> {
    // <linux/magic.h>: PROC_SUPER_MAGIC; <linux/proc_ns.h>: PROC_PID_INIT_INO
    const PROC: u64 = 0x9fa0;
    const FIRST_NAMESPACE: u64 = 0xefff_fffc;
    let kind = rustix::fs::statfs("/proc").map(|s| s.f_type as u64);
    if kind != Ok(PROC) || !Path::new("/proc/self/fd").exists() {
        return Some(Finding::Hidden {
            why: "/proc is not there, so who has it open cannot be seen".into(),
        });
    }
    let namespace = fs::metadata("/proc/self/ns/pid").map(|m| m.ino());
    if namespace.is_ok_and(|number| number != FIRST_NAMESPACE) {
        return Some(Finding::Blind {
            why: "this is a container: who has it open outside of it could not be seen".into(),
        });
    }
    (!Path::new("/proc/1").exists()).then(|| Finding::Blind {
        why: "/proc hides processes of other users (hidepid); root can see them".into(),
    })
}

/// Returns the character devices that access a shared drive, each with the drive's name.
fn aliases(storage: &Storage) -> BTreeMap<DeviceNumber, String> {
    let drives = storage.devices.iter();
    drives
        .flat_map(|shared| {
            let numbers = shared.node.character_devices().into_iter();
            numbers.map(|number| (number, shared.node.name.clone()))
        })
        .collect()
}

/// The object that a path leads to.
#[derive(Clone, Copy, Debug)]
enum Thing {
    Block(DeviceNumber),
    Character(DeviceNumber),
    File(FileId),
}

struct Scan<'a> {
    storage: &'a Storage,
    aliases: &'a BTreeMap<DeviceNumber, String>,
    own: &'a [RawFd],
    /// Cache of the names of mapped files, by device and inode in `/proc/PID/maps`: thousands of mappings refer to a few
    /// hundred files.
    seen: BTreeMap<(String, String), Option<String>>,
    unseen: Vec<Process>,
    found: Vec<Finding>,
}

impl Scan<'_> {
    fn all(&mut self) {
        let numbers = names_in(Path::new("/proc"));
        let pids = numbers.iter().filter_map(|name| name.parse().ok());
        pids.for_each(|pid: u32| self.process(pid));
        self.locks();
    }

    fn process(&mut self, pid: u32) {
        let dir = PathBuf::from(format!("/proc/{pid}"));
        // A thread may have a descriptor table of its own and may outlive the process's first thread.
        let tasks: Vec<PathBuf> = names_in(&dir.join("task"))
            .into_iter()
            .map(|task| dir.join("task").join(task))
            .collect();
        let (before, mut refused) = (self.found.len(), false);
        for task in &tasks {
            refused |= self
                .descriptors(pid, task)
                .is_err_and(|e| e.kind() == ErrorKind::PermissionDenied);
        }
        dedup(&mut self.found, before);
        self.unseen.extend(refused.then(|| who(pid)));
        let maps = tasks.iter().filter_map(|task| {
            let maps = fs::read_to_string(task.join("maps")).ok()?;
            (!maps.is_empty()).then_some(maps)
        });
        let maps = { maps }.next().unwrap_or_default();
        let mut mapped: Vec<String> = maps
            .lines()
            .filter_map(|line| self.mapping(&dir, line))
            .collect();
        mapped.dedup();
        self.found.extend(
            mapped
                .into_iter()
                .map(|what| Finding::Mapped { what, by: who(pid) }),
        );
    }

    /// Checks everything that a task has open.
    fn descriptors(&mut self, pid: u32, task: &Path) -> io::Result<()> {
        let mut seen = Ok(());
        for entry in fs::read_dir(task.join("fd"))?.flatten() {
            let number: Result<RawFd, _> = entry.file_name().to_string_lossy().parse();
            let own = |fd| pid == std::process::id() && self.own.contains(&fd);
            if !number.is_ok_and(own) {
                // Permission to list the descriptors does not imply permission to follow them (ptrace(2), access mode
                // checking).
                seen = seen.and(self.descriptor(pid, &entry.path()));
            }
        }
        seen
    }

    fn descriptor(&mut self, pid: u32, link: &Path) -> io::Result<()> {
        let info = || {
            let path = link.to_string_lossy().replacen("/fd/", "/fdinfo/", 1);
            fs::read_to_string(path).unwrap_or_default()
        };
        if let Some(what) = thing(link)?.and_then(|thing| self.name(thing)) {
            self.found.push(Finding::Opened {
                what,
                by: who(pid),
                writing: opened_for_writing(&info()),
            });
        } else if fs::read_link(link).is_ok_and(|to| to == Path::new("anon_inode:[io_uring]")) {
            let files = ring_files(&info());
            let taken = files.iter().filter_map(|path| self.shared(path));
            let taken: Vec<Finding> = taken
                .map(|what| Finding::Opened {
                    what,
                    by: who(pid),
                    writing: true,
                })
                .collect();
            self.found.extend(taken);
        }
        Ok(())
    }

    /// Returns the name of the object at a path, if it shares bytes with the target.
    fn shared(&self, path: &Path) -> Option<String> {
        self.name(thing(path).ok()??)
    }

    fn name(&self, thing: Thing) -> Option<String> {
        match thing {
            Thing::Block(number) => self.storage.device(number).map(str::to_owned),
            Thing::Character(number) => self.aliases.get(&number).cloned(),
            Thing::File(id) => Some(self.storage.file(id)?.display().to_string()),
        }
    }

    /// Returns the name of the shared object in a line of `maps`: `from-to perms offset device inode path`.
    fn mapping(&mut self, process: &Path, line: &str) -> Option<String> {
        let mut words = line.splitn(6, ' ').filter(|word| !word.is_empty());
        let range = words.next()?;
        let device = words.nth(2)?;
        let inode = words.next()?;
        let path = words.next()?.trim_start();
        if inode == "0" || !path.starts_with('/') {
            return None;
        }
        let key = (device.to_owned(), inode.to_owned());
        if let Some(known) = self.seen.get(&key) {
            return known.clone();
        }
        // The link stays right for a renamed or unlinked file, but only root may follow it.
        let link = process.join("map_files").join(range);
        let name = self.shared(&link).or_else(|| self.shared(Path::new(path)));
        self.seen.insert(key, name.clone());
        name
    }

    fn locks(&mut self) {
        let own = std::process::id();
        let nodes = self.storage.devices.iter().filter_map(|shared| {
            let path = Path::new("/dev").join(&shared.node.name);
            Some((
                FileId::of(&fs::metadata(path).ok()?),
                shared.node.name.clone(),
            ))
        });
        let files = self.storage.files.iter();
        let files = files.map(|file| (file.id, file.path.display().to_string()));
        let found: Vec<Finding> = nodes
            .chain(files)
            .flat_map(|(id, name)| locks::findings(DeviceNumber::of(id.0), id.1, &name, own))
            .collect();
        self.found.extend(found);
    }
}

/// Identifies the object at a path. Does not query the server of a network file system, which may not answer.
fn thing(path: &Path) -> io::Result<Option<Thing>> {
    let wanted = StatxFlags::TYPE | StatxFlags::INO;
    let stat = match statx(CWD, path, AtFlags::STATX_DONT_SYNC, wanted) {
        // Closed or ended in the meantime.
        Err(Errno::NOENT | Errno::SRCH) => return Ok(None),
        stat => stat?,
    };
    let number = || DeviceNumber(stat.stx_rdev_major, stat.stx_rdev_minor);
    Ok(Some(match FileType::from_raw_mode(stat.stx_mode.into()) {
        FileType::BlockDevice => Thing::Block(number()),
        FileType::CharacterDevice => Thing::Character(number()),
        FileType::RegularFile => Thing::File(FileId(
            makedev(stat.stx_dev_major, stat.stx_dev_minor),
            stat.stx_ino,
        )),
        _ => return Ok(None),
    }))
}

/// Removes duplicate findings: threads with a shared descriptor table have the same files open.
fn dedup(found: &mut Vec<Finding>, from: usize) {
    let mut kept: Vec<Finding> = Vec::new();
    for finding in found.drain(from..) {
        if !kept.contains(&finding) {
            kept.push(finding);
        }
    }
    found.extend(kept);
}

/// Returns true if the octal flags in an `fdinfo` allow writing (`O_ACCMODE`), or if there are none.
fn opened_for_writing(info: &str) -> bool {
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
    flags.is_none_or(|flags| flags & 0o3 != 0)
}

/// Returns the paths of the files registered with a ring: the lines `  0: /path` after `UserFiles:`.
fn ring_files(info: &str) -> Vec<PathBuf> {
    let lines = info
        .lines()
        .skip_while(|line| !line.starts_with("UserFiles:"));
    let file = |line: &str| {
        let (number, path) = line.split_once(':')?;
        let numbered = number.trim().parse::<u32>().is_ok();
        let path = path.trim();
        (numbered && path.starts_with('/')).then(|| path.into())
    };
    lines
        .skip(1)
        .map_while(|line| line.starts_with(' ').then(|| file(line)))
        .flatten()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_descriptor_tells_is_read() {
        assert!(!opened_for_writing("pos:\t0\nflags:\t0100000\n"));
        assert!(opened_for_writing("pos:\t0\nflags:\t0140001\n"));
        assert!(opened_for_writing("pos:\t0\nflags:\t02\n"));
        assert!(opened_for_writing(""));
        let ring = "SqMask:\t0x3\nUserFiles:\t2\n    0: /dev/loop0\n    1: <none>\nUserBufs:\t0\n";
        assert_eq!(ring_files(ring), [PathBuf::from("/dev/loop0")]);
    }

    #[test]
    fn an_open_file_of_ours_is_found_but_for_the_descriptor_that_is_named() {
        use std::os::fd::AsRawFd;
        let file = tempfile::NamedTempFile::new().unwrap();
        let storage = crate::usage::of_file(file.path(), &file.as_file().metadata().unwrap());
        let opened = processes(&storage, &[]);
        let by_us = |f: &Finding| matches!(f, Finding::Opened { by, writing: true, .. } if by.pid == std::process::id());
        assert!(opened.iter().any(by_us), "{opened:?}");
        let ours = processes(&storage, &[file.as_file().as_raw_fd()]);
        assert!(!ours.iter().any(by_us), "{ours:?}");
    }
}
