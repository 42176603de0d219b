//! Sends commands that read to a drive through its device node, and tells why one failed.

use crate::ioctl::{self, NvmeCommand, ScsiStatus};
use crate::log::ask::{AtaDrive, NvmeDrive};
use crate::log::error::LogError;
use crate::log::way::Way;
use crate::node::DeviceNumber;
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags, fstat};
use rustix::io::Errno;
use std::path::PathBuf;

// Opcodes of the NVMe base specification 2.0, Figure 138.
const GET_LOG_PAGE: u8 = 0x02;
const IDENTIFY: u8 = 0x06;
const IDENTIFY_BYTES: usize = 4096;
/// All namespaces.
const ALL: u32 = 0xffff_ffff;

/// An open device node.
pub(crate) struct Commands {
    node: PathBuf,
    file: OwnedFd,
}

impl Commands {
    /// Opens the node of a drive for reading, and checks that it is that drive's.
    pub(crate) fn open(way: &Way) -> Result<Self, LogError> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let failed = |errno, action| failure(way.node.clone(), action, errno, OPENING);
        let file = rustix::fs::open(&way.node, flags, Mode::empty())
            .map_err(|errno| failed(errno, "open the drive"))?;
        let stat = fstat(&file).map_err(|errno| failed(errno, "look at the drive"))?;
        if DeviceNumber::of(stat.st_rdev) != way.number {
            return Err(LogError::NoLog {
                what: way.node.display().to_string(),
                why: "the node is not that of the drive in sysfs; a container shows other nodes"
                    .into(),
            });
        }
        Ok(Self {
            node: way.node.clone(),
            file,
        })
    }

    /// Returns the number of the namespace.
    pub(crate) fn namespace(&self) -> Result<u32, LogError> {
        ioctl::nvme_namespace(&self.file)
            .map_err(|errno| failure(self.node.clone(), "ask for the namespace", errno, ADMIN))
    }

    /// Sends an admin command and returns the data.
    fn admin(
        &self,
        command: NvmeCommand,
        len: usize,
        name: &'static str,
    ) -> Result<Vec<u8>, LogError> {
        let mut data = vec![0; len];
        let status = ioctl::nvme_admin(&self.file, command, &mut data)
            .map_err(|errno| failure(self.node.clone(), "send an NVMe command", errno, ADMIN))?;
        self.unless(status, name).map(|()| data)
    }

    fn unless(&self, status: u32, command: &'static str) -> Result<(), LogError> {
        match status {
            0 => Ok(()),
            status => Err(LogError::Refused {
                node: self.node.clone(),
                command,
                status,
            }),
        }
    }

    /// Sends Identify with a CNS, a command set and a namespace.
    pub(crate) fn identify_of(&self, cns: u8, set: u8, nsid: u32) -> Result<Vec<u8>, LogError> {
        let mut command = NvmeCommand::new(IDENTIFY, nsid);
        command.dwords[0] = u32::from(cns);
        command.dwords[1] = u32::from(set) << 24;
        self.admin(command, IDENTIFY_BYTES, "Identify")
    }
}

/// What opening a node needs.
const OPENING: &str = "read access to the drive (root, or the group `disk`)";
/// What `nvme_user_cmd` needs (drivers/nvme/host/ioctl.c, 6.1).
const ADMIN: &str = "CAP_SYS_ADMIN";
/// What `scsi_cmd_allowed` needs (drivers/scsi/scsi_ioctl.c, 6.1).
const RAW: &str = "CAP_SYS_RAWIO";

fn failure(node: PathBuf, action: &'static str, errno: Errno, needs: &'static str) -> LogError {
    match errno {
        Errno::ACCESS | Errno::PERM => LogError::NoPermission {
            node,
            action,
            needs,
        },
        Errno::NOTTY | Errno::INVAL | Errno::OPNOTSUPP | Errno::NOSYS => LogError::NoLog {
            what: node.display().to_string(),
            why: format!("the kernel's driver does not pass such a command on ({errno})"),
        },
        Errno::NODEV | Errno::NXIO | Errno::NOENT => LogError::NoLog {
            what: node.display().to_string(),
            why: format!("the drive or its node is not there ({errno})"),
        },
        _ => LogError::Os {
            node,
            action,
            error: errno.to_string(),
        },
    }
}

impl NvmeDrive for Commands {
    fn identify(&mut self, cns: u8) -> Result<Vec<u8>, LogError> {
        self.identify_of(cns, 0, 0)
    }

    fn log_page(&mut self, page: u8, uuid: u8, len: usize) -> Result<Vec<u8>, LogError> {
        let mut command = NvmeCommand::new(GET_LOG_PAGE, ALL);
        // A 0's based number of dwords.
        let dwords = (len as u32 / 4).saturating_sub(1);
        command.dwords[0] = u32::from(page) | (dwords & 0xffff) << 16;
        command.dwords[1] = dwords >> 16;
        // Bits 6:0 of dword 14 are the UUID index.
        command.dwords[4] = u32::from(uuid) & 0x7f;
        self.admin(command, len, "Get Log Page")
    }
}

impl AtaDrive for Commands {
    fn read(&mut self, command: &[u8; 16], name: &'static str) -> Result<Vec<u8>, LogError> {
        let mut data = vec![0; 512];
        let ScsiStatus { status, host } = ioctl::scsi_read(&self.file, command, &mut data)
            .map_err(|errno| failure(self.node.clone(), "send an ATA command", errno, RAW))?;
        self.unless(u32::from(status) | u32::from(host) << 8, name)
            .map(|()| data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::way::Protocol;

    #[test]
    fn a_failure_says_what_is_needed() {
        let told = |errno| failure("/dev/x".into(), "send it", errno, ADMIN).to_string();
        for errno in [Errno::ACCESS, Errno::PERM] {
            let told = told(errno);
            assert!(
                told.contains("CAP_SYS_ADMIN") && told.contains("root"),
                "{told}"
            );
        }
        assert!(told(Errno::NOTTY).contains("does not pass"));
        assert!(told(Errno::NXIO).contains("not there"));
        assert!(told(Errno::IO).contains("cannot send it"));
    }

    /// /dev/null is a character device: it takes no such command, and it is no drive of the number in sysfs.
    #[test]
    fn a_node_that_is_no_drive_is_refused() {
        let mut way = Way {
            node: "/dev/null".into(),
            number: DeviceNumber(259, 0),
            protocol: Protocol::Nvme,
        };
        let refusal = |way: &Way| Commands::open(way).map(|_| ()).unwrap_err().to_string();
        assert!(refusal(&way).contains("not that of the drive"));
        way.number = DeviceNumber(1, 3);
        let mut null = Commands::open(&way).unwrap();
        assert!(matches!(null.identify(1), Err(LogError::NoLog { .. })));
        assert!(matches!(
            null.read(&[0; 16], "x"),
            Err(LogError::NoLog { .. })
        ));
        assert!(null.namespace().is_err());
        way.node = "/dev/fathom-missing".into();
        assert!(refusal(&way).contains("not there"));
    }
}
