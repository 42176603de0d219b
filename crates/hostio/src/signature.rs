//! What the first and last bytes of a device say about its contents.
//!
//! A table of magic numbers, as `wipefs` of util-linux has one. It names what is there; it does not check that it is whole,
//! and it knows nothing of data without a magic number (a database on the raw device, an encrypted disk without a header).

use std::fmt;
use std::io;

/// How much of either end is looked at, in bytes.
const END_BYTES: u64 = (1 << 20) + 4096;

/// A known kind of contents, and where it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// What it is: `ext2/3/4`, `LUKS`, `GPT`.
    pub name: &'static str,
    /// Where its magic number is, in bytes from the start.
    pub offset: u64,
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.name, self.offset)
    }
}

/// Where a magic number may be.
#[derive(Clone, Copy)]
enum Place {
    /// From the start.
    At(u64),
    /// Before the end.
    BeforeEnd(u64),
    /// At the end, rounded down to a multiple of the first, less the second.
    Rounded(u64, u64),
    /// In the ring of uberblocks of the four labels, two at either end (OpenZFS on-disk format, 1.2).
    ZfsLabels,
}
use Place::{At, BeforeEnd, Rounded, ZfsLabels};

const MD_MAGIC: &[u8] = &[0xfc, 0x4e, 0x2b, 0xa9];
const BCACHE: &[u8] = &[
    0xc6, 0x85, 0x73, 0xf6, 0x4e, 0x1a, 0x45, 0xca, 0x82, 0x65, 0xf5, 0x7f, 0x48, 0xba, 0x6d, 0x81,
];
const BCACHEFS: &[u8] = &[
    0xc6, 0x85, 0x73, 0xf6, 0x66, 0xce, 0x90, 0xa9, 0xd9, 0x6a, 0x60, 0xcf, 0x80, 0x3d, 0xf7, 0xef,
];

/// Name, place, magic number: the on-disk formats of the kernel's documentation and of util-linux' libblkid.
const KNOWN: &[(&str, Place, &[u8])] = &[
    ("ext2/3/4", At(0x438), &[0x53, 0xef]),
    ("XFS", At(0), b"XFSB"),
    ("Btrfs", At(0x1_0040), b"_BHRfS_M"),
    ("F2FS", At(0x400), &[0x10, 0x20, 0xf5, 0xf2]),
    ("ReiserFS", At(0x1_0034), b"ReIsEr"),
    ("JFS", At(0x8000), b"JFS1"),
    ("NILFS2", At(0x406), &[0x34, 0x34]),
    ("GFS2", At(0x1_0000), &[0x01, 0x16, 0x19, 0x70]),
    ("OCFS2", At(0x2000), b"OCFSV2"),
    ("SquashFS", At(0), b"hsqs"),
    ("EROFS", At(0x400), &[0xe2, 0xe1, 0xf5, 0xe0]),
    ("NTFS", At(3), b"NTFS    "),
    ("BitLocker", At(3), b"-FVE-FS-"),
    ("exFAT", At(3), b"EXFAT   "),
    ("FAT", At(54), b"FAT1"),
    ("FAT", At(82), b"FAT32"),
    ("APFS", At(32), b"NXSB"),
    ("HFS+", At(0x400), b"H+"),
    ("ISO 9660", At(0x8001), b"CD001"),
    ("UDF", At(0x8001), b"BEA01"),
    ("swap", At(4086), b"SWAPSPACE2"),
    ("swap", At(16_374), b"SWAPSPACE2"),
    ("swap", At(65_526), b"SWAPSPACE2"),
    ("hibernated system", At(4086), b"S1SUSPEND"),
    ("LVM2 physical volume", At(0), b"LABELONE"),
    ("LVM2 physical volume", At(512), b"LABELONE"),
    ("LVM2 physical volume", At(1024), b"LABELONE"),
    ("LVM2 physical volume", At(1536), b"LABELONE"),
    ("LUKS", At(0), b"LUKS\xba\xbe"),
    ("LUKS (second header)", At(0x4000), b"SKUL\xba\xbe"),
    ("Linux RAID 1.1", At(0), MD_MAGIC),
    ("Linux RAID 1.2", At(4096), MD_MAGIC),
    ("Linux RAID 1.0", Rounded(4096, 8192), MD_MAGIC),
    ("Linux RAID 0.90", Rounded(65_536, 65_536), MD_MAGIC),
    ("Intel RAID", BeforeEnd(1024), b"Intel Raid ISM Cfg Sig. "),
    ("DDF RAID", BeforeEnd(512), &[0xde, 0x11, 0xde, 0x11]),
    ("ZFS", ZfsLabels, &[0x0c, 0xb1, 0xba, 0, 0, 0, 0, 0]),
    ("ZFS", ZfsLabels, &[0, 0, 0, 0, 0, 0xba, 0xb1, 0x0c]),
    ("bcache", At(0x1018), BCACHE),
    ("bcachefs", At(0x1018), BCACHEFS),
    ("Ceph BlueStore", At(0), b"bluestore block device"),
    ("Oracle ASM", At(32), b"ORCLDISK"),
    ("VMFS", At(0x10_0000), &[0x0d, 0xd0, 0x01, 0xc0]),
    ("GPT", At(512), b"EFI PART"),
    ("GPT", At(4096), b"EFI PART"),
    ("GPT (backup)", BeforeEnd(512), b"EFI PART"),
    ("GPT (backup)", BeforeEnd(4096), b"EFI PART"),
    ("MBR or boot sector", At(510), &[0x55, 0xaa]),
];

impl Place {
    /// Every offset that it stands for on a device of `size` bytes.
    fn offsets(self, size: u64) -> Vec<u64> {
        match self {
            At(offset) => vec![offset],
            BeforeEnd(back) => size.checked_sub(back).into_iter().collect(),
            Rounded(unit, back) => (size - size % unit).checked_sub(back).into_iter().collect(),
            ZfsLabels => zfs_uberblocks(size).collect(),
        }
    }
}

fn zfs_uberblocks(size: u64) -> impl Iterator<Item = u64> {
    const LABEL: u64 = 256 << 10;
    const RING: u64 = 128 << 10;
    const SLOT: u64 = 1 << 10;
    let end = size - size % LABEL;
    let labels = [
        Some(0),
        Some(LABEL),
        end.checked_sub(2 * LABEL),
        end.checked_sub(LABEL),
    ];
    labels
        .into_iter()
        .flatten()
        .flat_map(|label| (label + RING..label + LABEL).step_by(SLOT as usize))
}

/// The first and last bytes of something.
pub(crate) struct Ends {
    size: u64,
    head: Vec<u8>,
    tail: Vec<u8>,
}

impl Ends {
    /// Reads both ends of what `read` fills from an offset.
    pub(crate) fn read(
        size: u64,
        mut read: impl FnMut(u64, &mut [u8]) -> io::Result<()>,
    ) -> io::Result<Self> {
        let len = size.min(END_BYTES);
        let mut head = vec![0; len as usize];
        let mut tail = vec![0; len as usize];
        read(0, &mut head)?;
        read(size - len, &mut tail)?;
        Ok(Self { size, head, tail })
    }

    fn at(&self, offset: u64, len: usize) -> Option<&[u8]> {
        let end = offset.checked_add(len as u64)?;
        if end <= self.head.len() as u64 {
            return self.head.get(offset as usize..end as usize);
        }
        let tail_start = self.size - self.tail.len() as u64;
        let start = offset.checked_sub(tail_start)?;
        self.tail.get(start as usize..(end - tail_start) as usize)
    }

    /// Every known kind of contents, at most one of a name, in the order of the table.
    pub(crate) fn signatures(&self) -> Vec<Signature> {
        let mut found: Vec<Signature> = Vec::new();
        for &(name, place, magic) in KNOWN {
            if found.iter().any(|s| s.name == name) {
                continue;
            }
            let mut offsets = place.offsets(self.size).into_iter();
            if let Some(offset) = offsets.find(|&o| self.at(o, magic.len()) == Some(magic)) {
                found.push(Signature { name, offset });
            }
        }
        found
    }

    /// Whether both ends are all zeros or all ones, as an unused or erased device reads.
    pub(crate) fn blank(&self) -> bool {
        let bytes = || self.head.iter().chain(&self.tail);
        bytes().all(|&b| b == 0) || bytes().all(|&b| b == 0xff)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SIZE: u64 = 8 << 20;

    fn ends_of(disk: &[u8]) -> Ends {
        Ends::read(disk.len() as u64, |offset, bytes| {
            let start = offset as usize;
            bytes.copy_from_slice(&disk[start..start + bytes.len()]);
            Ok(())
        })
        .unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn every_planted_magic_is_found(
            entry in 0..KNOWN.len(), which in any::<prop::sample::Index>(), extra in 0u64..4096,
        ) {
            let (name, place, magic) = KNOWN[entry];
            let mut disk = vec![0u8; (SIZE + extra * 512) as usize];
            prop_assert!(ends_of(&disk).blank());
            let offsets = place.offsets(disk.len() as u64);
            let offset = *which.get(&offsets);
            disk[offset as usize..][..magic.len()].copy_from_slice(magic);
            let ends = ends_of(&disk);
            prop_assert!(!ends.blank());
            let planted = Signature { name, offset };
            prop_assert!(ends.signatures().contains(&planted));
        }

        #[test]
        fn a_tiny_device_never_panics(disk in prop::collection::vec(any::<u8>(), 0..5000)) {
            let _ = ends_of(&disk).signatures();
        }
    }

    /// Offsets worked out by hand, so that a wrong formula does not find its own plant.
    #[test]
    fn superblocks_at_the_end_are_where_their_formats_say() {
        // 100 MiB + 37 KiB = 204874 sectors; md 1.0: (sectors - 16) & ~7 = 204856; md 0.90: 64 KiB blocks.
        let size = 104_895_488;
        assert_eq!(Rounded(4096, 8192).offsets(size), [204_856 * 512]);
        assert_eq!(Rounded(65_536, 65_536).offsets(size), [104_792_064]);
        let zfs = ZfsLabels.offsets(size);
        assert_eq!(zfs[..2], [131_072, 132_096]);
        // The last label begins at 399 * 256 KiB, its ring 128 KiB later.
        assert_eq!(zfs[zfs.len() - 128], 399 * 262_144 + 131_072);
    }

    #[test]
    fn an_empty_disk_has_no_signature() {
        assert_eq!(ends_of(&vec![0; SIZE as usize]).signatures(), []);
        assert!(ends_of(&vec![0xff; SIZE as usize]).blank());
    }
}
