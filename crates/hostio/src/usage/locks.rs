//! File locks, leases and delegations, from `/proc/locks` (proc(5)).

use crate::finding::{Finding, Process};
use crate::node::DeviceNumber;
use crate::sysfs::text;
use std::fs;
use std::path::Path;

/// One held lock.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Lock {
    kind: String,
    /// `None` if no single process holds it.
    pid: Option<u32>,
    device: DeviceNumber,
    inode: u64,
}

/// Returns the locks on a file, given by its device and inode number and called `name`, except those of process `own`.
pub(super) fn findings(device: DeviceNumber, inode: u64, name: &str, own: u32) -> Vec<Finding> {
    let text = fs::read_to_string("/proc/locks").unwrap_or_default();
    let on_it = |lock: &Lock| (lock.device, lock.inode) == (device, inode);
    text.lines()
        .filter_map(parse)
        .filter(|lock| on_it(lock) && lock.pid != Some(own))
        .map(|lock| Finding::Locked {
            what: name.to_owned(),
            kind: lock.kind,
            by: lock.pid.map(who),
        })
        .collect()
}

/// Parses a line such as `1: FLOCK  ADVISORY  WRITE 1234 08:01:5678 0 EOF`. Returns `None` for waiters (`1: -> ...`), which
/// hold no lock.
fn parse(line: &str) -> Option<Lock> {
    let mut words = line.split_whitespace().skip(1);
    let kind = match words.next()? {
        "->" => return None,
        "FLOCK" => "flock",
        "POSIX" => "a POSIX lock",
        "OFDLCK" => "an OFD lock",
        "LEASE" => "a lease",
        "DELEG" => "a delegation",
        other => other,
    };
    let pid: i64 = words.nth(2)?.parse().ok()?;
    let mut place = words.next()?.split(':');
    let mut hex = || u32::from_str_radix(place.next()?, 16).ok();
    let device = DeviceNumber(hex()?, hex()?);
    Some(Lock {
        kind: kind.to_owned(),
        pid: u32::try_from(pid).ok(),
        device,
        inode: place.next()?.parse().ok()?,
    })
}

/// Returns a process with its command name.
pub(super) fn who(pid: u32) -> Process {
    let command = text(Path::new(&format!("/proc/{pid}/comm")));
    Process {
        pid,
        command: command.unwrap_or_else(|| "?".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locks_are_read_and_waiters_are_none() {
        let lock = parse("3: FLOCK  ADVISORY  WRITE 1234 fe:0a:5678 0 EOF").unwrap();
        let device = DeviceNumber(0xfe, 10);
        assert_eq!((lock.kind.as_str(), lock.pid), ("flock", Some(1234)));
        assert_eq!((lock.device, lock.inode), (device, 5678));
        let shared = parse("4: OFDLCK ADVISORY  READ -1 00:1b:7 0 EOF").unwrap();
        assert_eq!((shared.pid, shared.inode), (None, 7));
        let lease = parse("9: LEASE  ACTIVE    WRITE 77 08:01:9 0 EOF").unwrap();
        assert_eq!(lease.kind, "a lease");
        for none in ["", "3: -> FLOCK  ADVISORY  WRITE 1 fe:0a:5 0 EOF", "x: y"] {
            assert_eq!(parse(none), None, "{none}");
        }
    }
}
