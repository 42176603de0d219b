//! The table of magic numbers and their offsets: the formats of util-linux's libblkid, and some more.
//!
//! Based on the kernel's documentation of its formats and on util-linux's libblkid (superblocks and partitions). Formats
//! with a magic number of less than two bytes are left out.

/// Possible offsets of a magic number, in bytes.
#[derive(Clone, Copy)]
pub(super) enum Place {
    /// From the start.
    At(u64),
    /// Any of these, from the start.
    Any(&'static [u64]),
    /// Back from the end.
    BeforeEnd(u64),
    /// Any of these numbers of 512-byte sectors back from the end, plus an offset into that sector.
    EndSectors(&'static [u64], u64),
    /// The device's end rounded down to a multiple of the first number, minus the second.
    Rounded(u64, u64),
    /// The uberblock rings of the four labels, two at each end (OpenZFS on-disk format, 1.2).
    ZfsLabels,
}
use Place::{Any, At, BeforeEnd, EndSectors, Rounded, ZfsLabels};

const KIB: u64 = 1 << 10;
const MD_MAGIC: &[u8] = &[0xfc, 0x4e, 0x2b, 0xa9];
const BCACHE: &[u8] = &[
    0xc6, 0x85, 0x73, 0xf6, 0x4e, 0x1a, 0x45, 0xca, 0x82, 0x65, 0xf5, 0x7f, 0x48, 0xba, 0x6d, 0x81,
];
const BCACHEFS: &[u8] = &[
    0xc6, 0x85, 0x73, 0xf6, 0x66, 0xce, 0x90, 0xa9, 0xd9, 0x6a, 0x60, 0xcf, 0x80, 0x3d, 0xf7, 0xef,
];
/// A swap header ends with its page, whose size is that of the machine that made it.
const SWAP: Place = Any(&[0xff6, 0x1ff6, 0x3ff6, 0x7ff6, 0xfff6]);
/// The volume descriptors begin at sector 16, of 2 KiB each.
const OPTICAL: Place = Any(&[0x8001, 0x8801, 0x9001]);
const MINIX: Place = Any(&[0x410, 0x418]);
/// Offsets of the superblock plus the offset of the magic number in it.
const UFS: Place = Any(&[0x55c, 8 * KIB + 0x55c, 64 * KIB + 0x55c, 256 * KIB + 0x55c]);
const SYSV: Place = Any(&[0x3f8, 9 * KIB + 0x3f8, 15 * KIB + 0x3f8, 18 * KIB + 0x3f8]);
/// The third block, of 512 to 4096 bytes.
const DASD: Place = Any(&[1024, 2048, 4096, 8192]);
const PROMISE: &[u64] = &[
    63, 255, 256, 16, 399, 591, 675, 735, 911, 974, 991, 951, 3087,
];

/// Name, offsets, magic number.
pub(super) const KNOWN: &[(&str, Place, &[u8])] = &[
    ("ext2/3/4", At(0x438), &[0x53, 0xef]),
    ("XFS", At(0), b"XFSB"),
    ("XFS log", At(0), &[0xfe, 0xed, 0xba, 0xbe]),
    ("Btrfs", At(0x1_0040), b"_BHRfS_M"),
    ("F2FS", Any(&[0x400, 0x1400]), &[0x10, 0x20, 0xf5, 0xf2]),
    ("ReiserFS", Any(&[0x1_0034, 0x2034, 0x2014]), b"ReIsEr"),
    ("Reiser4", At(0x1_0000), b"ReIsEr4"),
    ("JFS", Any(&[0x8000, 0xf000]), b"JFS1"),
    ("NILFS2", At(0x406), &[0x34, 0x34]),
    ("NILFS2", EndSectors(&[8], 6), &[0x34, 0x34]),
    ("GFS or GFS2", At(0x1_0000), &[0x01, 0x16, 0x19, 0x70]),
    ("OCFS", At(0x2000), b"OracleCFS"),
    ("OCFS2", Any(&[0x400, 0x800, 0x1000, 0x2000]), b"OCFSV2"),
    ("SquashFS", At(0), b"hsqs"),
    ("SquashFS", At(0), b"sqsh"),
    ("EROFS", At(0x400), &[0xe2, 0xe1, 0xf5, 0xe0]),
    ("cramfs", At(0), &[0x45, 0x3d, 0xcd, 0x28]),
    ("cramfs", At(0), &[0x28, 0xcd, 0x3d, 0x45]),
    ("romfs", At(0), b"-rom1fs-"),
    ("UBI", At(0), b"UBI#"),
    ("UBIFS", At(0), &[0x31, 0x18, 0x10, 0x06]),
    ("zonefs", At(0), b"SFOZ"),
    ("minix", MINIX, &[0x7f, 0x13]),
    ("minix", MINIX, &[0x8f, 0x13]),
    ("minix", MINIX, &[0x68, 0x24]),
    ("minix", MINIX, &[0x78, 0x24]),
    ("minix", MINIX, &[0x5a, 0x4d]),
    ("minix", MINIX, &[0x13, 0x7f]),
    ("minix", MINIX, &[0x13, 0x8f]),
    ("minix", MINIX, &[0x24, 0x68]),
    ("minix", MINIX, &[0x24, 0x78]),
    ("minix", MINIX, &[0x4d, 0x5a]),
    ("UFS", UFS, &[0x54, 0x19, 0x01, 0x00]),
    ("UFS", UFS, &[0x00, 0x01, 0x19, 0x54]),
    ("UFS", UFS, &[0x19, 0x01, 0x54, 0x19]),
    ("UFS", UFS, &[0x19, 0x54, 0x01, 0x19]),
    ("UFS", UFS, &[0x12, 0x56, 0x19, 0x00]),
    ("UFS", UFS, &[0x00, 0x19, 0x56, 0x12]),
    ("UFS", UFS, &[0x14, 0x50, 0x09, 0x00]),
    ("UFS", UFS, &[0x00, 0x09, 0x50, 0x14]),
    ("UFS", UFS, &[0x95, 0x21, 0x61, 0x00]),
    ("UFS", UFS, &[0x00, 0x61, 0x21, 0x95]),
    ("UFS", UFS, &[0x94, 0x19, 0x23, 0x05]),
    ("UFS", UFS, &[0x05, 0x23, 0x19, 0x94]),
    ("VxFS", At(0x400), &[0xf5, 0xfc, 0x01, 0xa5]),
    ("VxFS", At(0x2000), &[0xa5, 0x01, 0xfc, 0xf5]),
    ("System V", SYSV, &[0x20, 0x7e, 0x18, 0xfd]),
    ("System V", SYSV, &[0xfd, 0x18, 0x7e, 0x20]),
    ("Xenix", At(0x800), &[0x2b, 0x55, 0x44]),
    ("Xenix", At(0x800), &[0x44, 0x55, 0x2b]),
    ("SCO BFS", At(0), &[0xce, 0xfa, 0xad, 0x1b]),
    ("BeFS", Any(&[0x20, 0x220]), b"BFS1"),
    ("BeFS", Any(&[0x20, 0x220]), b"1SFB"),
    ("HPFS", At(0x2000), &[0x49, 0xe8, 0x95, 0xf9]),
    ("NetWare", At(0x1000), b"SPB5"),
    ("ScoutFS", At(0x1_0004), &[0x8b, 0x42, 0x3c, 0x10]),
    ("EXFS", At(0), b"EXFS"),
    ("mpool", At(0), b"mpoolDev"),
    ("NTFS", At(3), b"NTFS    "),
    ("NTFS", BeforeEnd(509), b"NTFS    "),
    ("ReFS", At(3), b"ReFS\0"),
    ("BitLocker", At(3), b"-FVE-FS-"),
    ("BitLocker To Go", At(0), b"\xeb\x58\x90MSWIN4.1"),
    ("FileVault 2", At(88), b"CS"),
    ("exFAT", Any(&[3, 0x1803, 0xc003]), b"EXFAT   "),
    ("FAT", At(54), b"FAT1"),
    ("FAT", At(54), b"FAT     "),
    ("FAT", At(54), b"MSDOS"),
    ("FAT", Any(&[82, 0xc52, 0x6052]), b"FAT32"),
    ("FAT", At(82), b"MSWIN"),
    ("APFS", At(32), b"NXSB"),
    ("HFS", At(0x400), b"BD"),
    ("HFS", BeforeEnd(1024), b"BD"),
    ("HFS+", At(0x400), b"H+"),
    ("HFS+", BeforeEnd(1024), b"H+"),
    ("HFSX", At(0x400), b"HX"),
    ("HFSX", BeforeEnd(1024), b"HX"),
    ("ISO 9660", OPTICAL, b"CD001"),
    ("ISO 9660", At(0x8009), b"CDROM"),
    ("UDF", OPTICAL, b"BEA01"),
    ("UDF", OPTICAL, b"NSR02"),
    ("UDF", OPTICAL, b"NSR03"),
    ("UDF", OPTICAL, b"BOOT2"),
    ("UDF", OPTICAL, b"CDW02"),
    ("UDF", OPTICAL, b"TEA01"),
    ("swap", SWAP, b"SWAPSPACE2"),
    ("swap", SWAP, b"SWAP-SPACE"),
    ("hibernated system", SWAP, b"S1SUSPEND"),
    ("hibernated system", SWAP, b"S2SUSPEND"),
    ("hibernated system", SWAP, b"ULSUSPEND"),
    ("hibernated system", SWAP, b"LINHIB0001"),
    (
        "hibernated system",
        At(0),
        &[0xed, 0xc3, 0x02, 0xe9, 0x98, 0x56, 0xe5, 0x0c],
    ),
    ("LVM1 physical volume", At(0), b"HM"),
    (
        "LVM2 physical volume",
        Any(&[0, 512, 1024, 1536]),
        b"LABELONE",
    ),
    ("LVM snapshot store", At(0), b"SnAp"),
    ("dm-verity", At(0), b"verity\0\0"),
    ("dm-integrity", At(0), b"integrt\0"),
    ("LUKS", At(0), b"LUKS\xba\xbe"),
    (
        "LUKS (second header)",
        Any(&[
            0x4000, 0x8000, 0x1_0000, 0x2_0000, 0x4_0000, 0x8_0000, 0x10_0000, 0x20_0000, 0x40_0000,
        ]),
        b"SKUL\xba\xbe",
    ),
    ("VDO", At(0), b"dmvdo001"),
    (
        "Stratis",
        Any(&[512 + 4, 9 * 512 + 4]),
        b"!Stra0tis\x86\xff\x02^\x41rh",
    ),
    ("DRBD", BeforeEnd(4096 - 60), &[0x83, 0x74, 0x02, 0x6b]),
    ("DRBD", BeforeEnd(4096 - 60), &[0x83, 0x74, 0x02, 0x6c]),
    ("DRBD", BeforeEnd(4096 - 60), &[0x83, 0x74, 0x02, 0x6d]),
    ("drbdmanage control volume", At(0), b"$DRBDmgr=q"),
    ("DRBD proxy log", At(0), b"DRBDdlh*"),
    ("Linux RAID 1.1", At(0), MD_MAGIC),
    ("Linux RAID 1.2", At(4096), MD_MAGIC),
    ("Linux RAID 1.0", Rounded(4096, 8192), MD_MAGIC),
    ("Linux RAID 0.90", Rounded(65_536, 65_536), MD_MAGIC),
    ("Intel RAID", BeforeEnd(1024), b"Intel Raid ISM Cfg Sig. "),
    ("Intel RAID", BeforeEnd(8192), b"Intel Raid ISM Cfg Sig. "),
    (
        "DDF RAID",
        EndSectors(&[1, 257], 0),
        &[0xde, 0x11, 0xde, 0x11],
    ),
    ("NVIDIA RAID", EndSectors(&[2], 0), b"NVIDIA  "),
    ("LSI RAID", EndSectors(&[1], 0), b"$XIDE$"),
    (
        "Adaptec RAID",
        EndSectors(&[1], 0),
        &[0x37, 0xfc, 0x4d, 0x1e],
    ),
    ("JMicron RAID", EndSectors(&[1], 0), b"JM"),
    (
        "Silicon Image RAID",
        EndSectors(&[1], 0x60),
        &[0x00, 0x00, 0x00, 0x2f],
    ),
    ("VIA RAID", EndSectors(&[1], 0), &[0x55, 0xaa]),
    (
        "Promise RAID",
        EndSectors(PROMISE, 0),
        b"Promise Technology, Inc.",
    ),
    (
        "HighPoint RAID",
        EndSectors(&[11], 0),
        &[0xf3, 0x16, 0x78, 0x5a],
    ),
    (
        "HighPoint RAID",
        EndSectors(&[11], 0),
        &[0xfd, 0x16, 0x78, 0x5a],
    ),
    ("HighPoint RAID", At(0x1220), &[0xf0, 0x16, 0x78, 0x5a]),
    ("HighPoint RAID", At(0x1220), &[0xfd, 0x16, 0x78, 0x5a]),
    ("ZFS", ZfsLabels, &[0x0c, 0xb1, 0xba, 0, 0, 0, 0, 0]),
    ("ZFS", ZfsLabels, &[0, 0, 0, 0, 0, 0xba, 0xb1, 0x0c]),
    ("bcache", At(0x1018), BCACHE),
    ("bcachefs", At(0x1018), BCACHEFS),
    ("Ceph BlueStore", At(0), b"bluestore block device"),
    ("Oracle ASM", At(32), b"ORCLDISK"),
    ("VMFS", At(0x20_0000), &[0x5e, 0xf1, 0xab, 0x2f]),
    (
        "VMFS volume member",
        At(0x10_0000),
        &[0x0d, 0xd0, 0x01, 0xc0],
    ),
    ("GEOM provider", EndSectors(&[1], 0), b"GEOM::"),
    (
        "Amiga partitions",
        Any(&[0, 512, 1024, 1536, 2048, 2560, 3072, 3584, 4096]),
        b"RDSK",
    ),
    ("Windows dynamic disk", At(3072), b"PRIVHEAD"),
    ("Windows dynamic disk", EndSectors(&[1], 0), b"PRIVHEAD"),
    ("GPT", Any(&[512, 4096]), b"EFI PART"),
    ("GPT (backup)", BeforeEnd(512), b"EFI PART"),
    ("GPT (backup)", BeforeEnd(4096), b"EFI PART"),
    ("MBR or boot sector", At(510), &[0x55, 0xaa]),
    ("AIX disk", At(0), &[0xc9, 0xc2, 0xd4, 0xc1]),
    (
        "BSD disk label",
        Any(&[64, 128, 512]),
        &[0x57, 0x45, 0x56, 0x82],
    ),
    ("Mac partition map", At(0), b"ER"),
    ("SGI disk label", At(0), &[0x0b, 0xe5, 0xa9, 0x41]),
    ("Sun disk label", At(508), &[0xda, 0xbe]),
    ("Solaris x86 partitions", At(524), &[0xee, 0xde, 0x0d, 0x60]),
    ("UnixWare partitions", At(14_852), &[0x0d, 0x60, 0xe5, 0xca]),
    ("Ultrix disk label", At(16_312), &[0x57, 0x29, 0x03, 0x00]),
    ("DASD volume", DASD, &[0xe5, 0xd6, 0xd3, 0xf1]),
    ("DASD volume", DASD, &[0xd3, 0xd5, 0xe7, 0xf1]),
    ("DASD volume", DASD, &[0xc3, 0xd4, 0xe2, 0xf1]),
];

impl Place {
    /// Returns the offsets on the device for a format that begins at `start`, except those that depend on its end.
    pub(super) fn from(self, start: u64) -> Vec<u64> {
        match self {
            At(offset) => vec![start + offset],
            Any(offsets) => offsets.iter().map(|offset| start + offset).collect(),
            BeforeEnd(_) | EndSectors(..) | Rounded(..) | ZfsLabels => Vec::new(),
        }
    }

    /// Returns every possible offset on a device of `size` bytes.
    pub(super) fn offsets(self, size: u64) -> Vec<u64> {
        match self {
            At(offset) => vec![offset],
            Any(offsets) => offsets.to_vec(),
            BeforeEnd(back) => size.checked_sub(back).into_iter().collect(),
            EndSectors(sectors, inside) => {
                let whole = size / 512;
                let at = |back: &u64| Some(whole.checked_sub(*back)? * 512 + inside);
                sectors.iter().filter_map(at).collect()
            }
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
