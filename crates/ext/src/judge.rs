//! Whether an image may be opened, from its super block alone: before anything is written.

use crate::crc::checksum;
use crate::disk::BLOCK;
use crate::error::ExtError;
use crate::ffi::SuperBlock;
use crate::inode::sb;
use fathom_fs::ext::Version;

const COMPAT: u32 =
    sb::HAS_JOURNAL | sb::EXT_ATTR | sb::RESIZE_INODE | sb::DIR_INDEX | sb::ORPHAN_FILE;
const INCOMPAT: u32 =
    sb::FILETYPE | sb::RECOVER | sb::EXTENTS | sb::WIDE | sb::FLEX_BG | sb::CSUM_SEED;
const RO_COMPAT: u32 = sb::SPARSE_SUPER
    | sb::LARGE_FILE
    | sb::HUGE_FILE
    | sb::GDT_CSUM
    | sb::DIR_NLINK
    | sb::EXTRA_ISIZE
    | sb::METADATA_CSUM
    | sb::ORPHAN_PRESENT;

/// Names of features that a message can tell.
const NAMES: [(usize, u32, &str); 16] = [
    (sb::COMPAT, sb::FAST_COMMIT, "fast_commit"),
    (sb::COMPAT, 0x200, "sparse_super2"),
    (sb::COMPAT, 0x800, "stable_inodes"),
    (sb::INCOMPAT, 0x8, "journal_dev"),
    (sb::INCOMPAT, 0x10, "meta_bg"),
    (sb::INCOMPAT, 0x100, "mmp"),
    (sb::INCOMPAT, 0x400, "ea_inode"),
    (sb::INCOMPAT, 0x4000, "large_dir"),
    (sb::INCOMPAT, 0x8000, "inline_data"),
    (sb::INCOMPAT, 0x1_0000, "encrypt"),
    (sb::INCOMPAT, 0x2_0000, "casefold"),
    (sb::RO_COMPAT, 0x100, "quota"),
    (sb::RO_COMPAT, 0x200, "bigalloc"),
    (sb::RO_COMPAT, 0x1000, "read-only"),
    (sb::RO_COMPAT, 0x2000, "project"),
    (sb::RO_COMPAT, 0x8000, "verity"),
];

/// The name of a member of the family.
pub(crate) fn name(version: Version) -> &'static str {
    match version {
        Version::Ext2 => "ext2",
        Version::Ext3 => "ext3",
        Version::Ext4 => "ext4",
    }
}

/// Judges an image of `blocks` blocks by its super block.
///
/// # Errors
/// [`ExtError::Foreign`], [`ExtError::Corrupt`], [`ExtError::NeedsReplay`], [`ExtError::Unsupported`],
/// [`ExtError::OtherVersion`].
pub(crate) fn judge(
    superblock: &SuperBlock,
    blocks: u64,
    wanted: Option<Version>,
) -> Result<Version, ExtError> {
    if superblock.u16(sb::MAGIC) != sb::MAGIC_NUMBER {
        let found = superblock.u16(sb::MAGIC);
        return Err(ExtError::Foreign(format!(
            "the magic number at byte 1,080 is {found:#06x} instead of 0xef53"
        )));
    }
    let ro = superblock.u32(sb::RO_COMPAT);
    let corrupt = |what: String| Err(ExtError::Corrupt { what });
    if ro & sb::METADATA_CSUM != 0
        && checksum(u32::MAX, &superblock.0[..sb::CHECKSUM]) != superblock.u32(sb::CHECKSUM)
    {
        return corrupt("the check sum of the super block is wrong".into());
    }
    known_features(superblock)?;
    sizes(superblock, blocks)?;
    let version = version(superblock);
    if let Some(wanted) = wanted
        && wanted != version
    {
        let [found, wanted] = [version, wanted].map(name);
        return Err(ExtError::OtherVersion { found, wanted });
    }
    let state = superblock.u16(sb::STATE);
    if superblock.u32(sb::INCOMPAT) & sb::RECOVER != 0 {
        let what = "the journal has transactions that must be replayed";
        return Err(ExtError::NeedsReplay { what });
    }
    if state & sb::STATE_ERRORS != 0 {
        return corrupt("the kernel has found errors in it".into());
    }
    if state & sb::STATE_VALID == 0 {
        let what = "the file system was not unmounted";
        return Err(ExtError::NeedsReplay { what });
    }
    if superblock.u32(sb::LAST_ORPHAN) != 0 || ro & sb::ORPHAN_PRESENT != 0 {
        let what = "the file system has deleted files that are still in use";
        return Err(ExtError::NeedsReplay { what });
    }
    Ok(version)
}

fn version(superblock: &SuperBlock) -> Version {
    let journal = superblock.u32(sb::COMPAT) & sb::HAS_JOURNAL != 0;
    match superblock.u32(sb::INCOMPAT) & sb::EXTENTS != 0 {
        true => Version::Ext4,
        false if journal => Version::Ext3,
        false => Version::Ext2,
    }
}

fn known_features(superblock: &SuperBlock) -> Result<(), ExtError> {
    let known = [
        (sb::COMPAT, COMPAT),
        (sb::INCOMPAT, INCOMPAT),
        (sb::RO_COMPAT, RO_COMPAT),
    ];
    for (word, known) in known {
        let unknown = superblock.u32(word) & !known;
        if unknown != 0 {
            let name = NAMES
                .iter()
                .find(|(at, bit, _)| *at == word && unknown & bit != 0);
            let what = match name {
                Some((_, _, name)) => format!("the feature {name}"),
                None => format!("unknown features ({unknown:#x})"),
            };
            return Err(ExtError::Unsupported { what });
        }
    }
    Ok(())
}

fn sizes(superblock: &SuperBlock, blocks: u64) -> Result<(), ExtError> {
    let corrupt = |what: &str| Err(ExtError::Corrupt { what: what.into() });
    let unsupported = |what: String| Err(ExtError::Unsupported { what });
    let (shift, inode) = (
        superblock.u32(sb::LOG_BLOCK),
        superblock.u16(sb::INODE_BYTES),
    );
    if superblock.u32(sb::INCOMPAT) & sb::FILETYPE == 0 {
        return unsupported("directories without the types of their entries".into());
    }
    if superblock.u32(sb::REVISION) == 0 {
        return unsupported("revision 0".into());
    }
    if shift > 6 {
        return corrupt("the size of its blocks is out of range");
    }
    if shift != 2 {
        return unsupported(format!(
            "blocks of {} bytes instead of 4,096",
            1024 << shift
        ));
    }
    if inode != 128 && inode != 256 {
        return unsupported(format!("inodes of {inode} bytes"));
    }
    if superblock.u32(sb::GROUP_BLOCKS) != 8 * BLOCK as u32 {
        return unsupported("groups that are not 128 MiB long".into());
    }
    let per_group = superblock.u32(sb::GROUP_INODES);
    if per_group == 0 || per_group > 8 * BLOCK as u32 || !per_group.is_multiple_of(8) {
        return corrupt("the number of inodes of a group is out of range");
    }
    if superblock.blocks() > blocks {
        return corrupt("it is larger than the image");
    }
    if superblock.blocks() < 8 {
        return corrupt("it has no blocks");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sound() -> SuperBlock {
        let mut superblock = SuperBlock::zeroed();
        superblock.set_u16(sb::MAGIC, sb::MAGIC_NUMBER);
        superblock.set_u16(sb::STATE, sb::STATE_VALID);
        superblock.set_u32(sb::REVISION, 1);
        superblock.set_u32(sb::INCOMPAT, sb::FILETYPE);
        superblock.set_u32(sb::LOG_BLOCK, 2);
        superblock.set_u16(sb::INODE_BYTES, 256);
        superblock.set_u32(sb::GROUP_BLOCKS, 32_768);
        superblock.set_u32(sb::GROUP_INODES, 8192);
        superblock.set_blocks(65_536);
        superblock
    }

    fn refused(change: impl FnOnce(&mut SuperBlock)) -> ExtError {
        let mut superblock = sound();
        change(&mut superblock);
        judge(&superblock, 65_536, None).unwrap_err()
    }

    #[test]
    fn each_fault_has_its_error() {
        assert_eq!(judge(&sound(), 65_536, None).unwrap(), Version::Ext2);
        let foreign = refused(|block| block.set_u16(sb::MAGIC, 0));
        assert!(matches!(foreign, ExtError::Foreign(_)), "{foreign}");
        let sum = refused(|block| block.set_u32(sb::RO_COMPAT, sb::METADATA_CSUM));
        assert!(matches!(sum, ExtError::Corrupt { .. }), "{sum}");
        let long = refused(|block| block.set_blocks(65_537));
        assert!(matches!(long, ExtError::Corrupt { .. }), "{long}");
        let replay = refused(|block| block.set_u32(sb::INCOMPAT, sb::FILETYPE | sb::RECOVER));
        assert!(replay.to_string().contains("e2fsck -fy"), "{replay}");
        let dirty = refused(|block| block.set_u16(sb::STATE, 0));
        assert!(matches!(dirty, ExtError::NeedsReplay { .. }), "{dirty}");
        let feature = refused(|block| block.set_u32(sb::RO_COMPAT, 0x200));
        assert!(feature.to_string().contains("bigalloc"), "{feature}");
        let small = refused(|block| block.set_u32(sb::LOG_BLOCK, 0));
        assert!(small.to_string().contains("1024 bytes"), "{small}");
        let other = judge(&sound(), 65_536, Some(Version::Ext4)).unwrap_err();
        assert_eq!(other.to_string(), "the image is ext2, not ext4");
    }
}
