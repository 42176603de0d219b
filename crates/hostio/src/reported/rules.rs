//! Rules of consistency for what a drive and the kernel report. Pure functions: each rule looks at a few values and returns
//! what contradicts, or nothing. A missing value never contradicts.

use crate::reported::Reported;
use fathom_base::Bytes;
use serde::Serialize;

/// Values that cannot all be true, or that harm a system which believes them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Inconsistency {
    /// Name of the rule.
    pub rule: &'static str,
    /// What contradicts, and what follows from it.
    pub text: String,
    /// Where the rule comes from: kernel code, specification or a report.
    pub source: &'static str,
}

/// A rule with its name and its source.
struct Rule {
    name: &'static str,
    source: &'static str,
    check: fn(&Reported) -> Option<String>,
}

/// The size that USB bridges report: 65,535 sectors of 512 bytes.
const BRIDGE_IO_OPT_BYTES: u64 = 65_535 * 512;
/// Read-ahead from which a random read wastes most of what is read; the default is 128 KiB.
const MUCH_READ_AHEAD_BYTES: u64 = 4 << 20;
/// Largest physical block that a pool of ZFS takes as its block by itself (`zfs_vdev_max_auto_ashift`, 14).
const LARGE_PHYSICAL_BYTES: u64 = 16 << 10;

const RULES: &[Rule] = &[
    Rule {
        name: "io-opt-of-a-bridge",
        source: "util-linux/util-linux#1221 and pull request 1224; getumbrel/umbrel#2222",
        check: io_opt_of_a_bridge,
    },
    Rule {
        name: "optimal-write-size-is-a-placeholder",
        source: "Azure/azure-vm-utils#99 (NOWS is 65535)",
        check: placeholder_nows,
    },
    Rule {
        name: "read-ahead-from-io-opt",
        source: "disk_update_readahead, block/blk-settings.c, Linux 6.1; Azure/AKS#5743",
        check: read_ahead_from_io_opt,
    },
    Rule {
        name: "io-min-above-io-opt",
        source: "Documentation/ABI/stable/sysfs-block, minimum_io_size and optimal_io_size",
        check: io_min_above_io_opt,
    },
    Rule {
        name: "io-opt-is-no-multiple",
        source: "util-linux/util-linux#1221 (libfdisk ignores such a size)",
        check: io_opt_is_no_multiple,
    },
    Rule {
        name: "block-is-no-power-of-two",
        source: "blk_queue_alignment_offset, block/blk-settings.c, Linux 6.1, masks with the size less one",
        check: no_power_of_two,
    },
    Rule {
        name: "physical-below-logical",
        source: "blk_queue_physical_block_size, block/blk-settings.c, Linux 6.1",
        check: physical_below_logical,
    },
    Rule {
        name: "large-physical-block",
        source: "openzfs/zfs pull request 13798; koverstreet/bcachefs#89",
        check: large_physical,
    },
    Rule {
        name: "write-granularity-above-physical",
        source: "nvme_update_disk_info, drivers/nvme/host/core.c, Linux 6.1; linux-nvme/nvme-cli#2173",
        check: granularity_above_physical,
    },
    Rule {
        name: "optimal-write-size-is-no-multiple",
        source: "NVM command set specification 1.0, NOWS; spdk/spdk#2197",
        check: nows_is_no_multiple,
    },
    Rule {
        name: "preferred-alignment-does-not-divide",
        source: "NVM command set specification 1.0, NPWG and NPDG (multiples of NPWA and NPDA)",
        check: alignment_does_not_divide,
    },
    Rule {
        name: "discards-without-granularity",
        source: "Documentation/ABI/stable/sysfs-block, discard_granularity (0: not supported)",
        check: discards_without_granularity,
    },
    Rule {
        name: "discard-granularity-below-the-drives",
        source: "nvme_config_discard, drivers/nvme/host/core.c, Linux 6.1, sets the logical block",
        check: discard_granularity_below,
    },
    Rule {
        name: "trim-is-not-passed-on",
        source: "ACS-4, IDENTIFY DEVICE word 169; sd_config_discard, drivers/scsi/sd.c, Linux 6.1",
        check: trim_is_not_passed_on,
    },
    Rule {
        name: "first-block-is-not-aligned",
        source: "Documentation/ABI/stable/sysfs-block, alignment_offset and discard_alignment",
        check: not_aligned,
    },
    Rule {
        name: "bridge-changes-the-blocks",
        source: "ACS-4, IDENTIFY DEVICE words 106 and 209",
        check: other_blocks_than_ata,
    },
    Rule {
        name: "requests-above-the-hardware",
        source: "Documentation/ABI/stable/sysfs-block, max_hw_sectors_kb; NVMe base specification 2.0, MDTS",
        check: requests_above_the_hardware,
    },
    Rule {
        name: "flushes-are-switched-off",
        source: "Documentation/ABI/stable/sysfs-block, write_cache (does not change the drive)",
        check: flushes_are_switched_off,
    },
    Rule {
        name: "flash-is-said-to-rotate",
        source: "ACS-4, IDENTIFY DEVICE word 217; actions/runner-images pull request 14553",
        check: flash_rotates,
    },
];

/// Returns what is inconsistent in a report, in the order of the rules.
pub fn inconsistencies(reported: &Reported) -> Vec<Inconsistency> {
    let found = |rule: &Rule| {
        Some(Inconsistency {
            rule: rule.name,
            text: (rule.check)(reported)?,
            source: rule.source,
        })
    };
    RULES.iter().filter_map(found).collect()
}

fn size(bytes: u64) -> String {
    Bytes(bytes).human()
}

fn io_opt_of_a_bridge(r: &Reported) -> Option<String> {
    let io_opt = r.sizes.io_opt_bytes.filter(|&n| n == BRIDGE_IO_OPT_BYTES)?;
    Some(format!(
        "the optimal request is {io_opt} bytes, the largest number of a USB bridge (65535 sectors) and no property of the \
         drive: do not align partitions to it"
    ))
}

fn placeholder_nows(r: &Reported) -> Option<String> {
    let nows = r.nvme.as_ref()?.nows_bytes?;
    let blocks = nows / r.sizes.logical_block_bytes?.max(1);
    (blocks == 65_536).then(|| {
        format!(
            "NOWS is {} or 65536 blocks, the largest value of its field: the drive names no optimal write size",
            size(nows)
        )
    })
}

fn read_ahead_from_io_opt(r: &Reported) -> Option<String> {
    let ahead = r
        .limits
        .read_ahead_bytes
        .filter(|&n| n >= MUCH_READ_AHEAD_BYTES)?;
    let io_opt = r.sizes.io_opt_bytes.filter(|&n| n > 0)?;
    (io_opt < ahead && ahead <= io_opt.saturating_mul(2)).then(|| {
        format!(
            "the kernel reads {} ahead because that is twice the optimal request of {}: random reads of files waste most of \
             it; set read_ahead_kb",
            size(ahead),
            size(io_opt)
        )
    })
}

fn io_min_above_io_opt(r: &Reported) -> Option<String> {
    let (min, opt) = (r.sizes.io_min_bytes?, r.sizes.io_opt_bytes?);
    (opt > 0 && min > opt).then(|| {
        format!(
            "the smallest preferred request of {} exceeds the optimal one of {}",
            size(min),
            size(opt)
        )
    })
}

fn io_opt_is_no_multiple(r: &Reported) -> Option<String> {
    let opt = r.sizes.io_opt_bytes.filter(|&n| n > 0)?;
    let physical = r.sizes.physical_block_bytes.filter(|&n| n > 0)?;
    let min = r
        .sizes
        .io_min_bytes
        .filter(|&n| n > 0 && n <= opt)
        .unwrap_or(physical);
    (opt % physical != 0 || opt % min != 0).then(|| {
        format!(
            "the optimal request of {opt} bytes is no multiple of the physical block ({}) and of the smallest preferred \
             request ({}): what is aligned to it is not aligned to a block",
            size(physical),
            size(min)
        )
    })
}

fn no_power_of_two(r: &Reported) -> Option<String> {
    let odd = |bytes: Option<u64>| bytes.filter(|n| !n.is_power_of_two());
    let wrong = odd(r.sizes.logical_block_bytes).or(odd(r.sizes.physical_block_bytes))?;
    Some(format!(
        "a block of {wrong} bytes is no power of two, and the kernel's alignments assume one"
    ))
}

fn physical_below_logical(r: &Reported) -> Option<String> {
    let (physical, logical) = (r.sizes.physical_block_bytes?, r.sizes.logical_block_bytes?);
    (physical < logical).then(|| {
        format!(
            "the physical block of {} is shorter than the logical one of {}",
            size(physical),
            size(logical)
        )
    })
}

fn large_physical(r: &Reported) -> Option<String> {
    let physical = r.sizes.physical_block_bytes?;
    (physical > LARGE_PHYSICAL_BYTES).then(|| {
        format!(
            "the physical block is {}: it may be the unit of the map or only a preferred size, and a file system or pool \
             that takes it as its block wastes room; measure the unit",
            size(physical)
        )
    })
}

fn granularity_above_physical(r: &Reported) -> Option<String> {
    let granularity = r.nvme.as_ref()?.npwg_bytes?;
    let physical = r.sizes.physical_block_bytes?;
    (granularity > physical).then(|| {
        format!(
            "the drive prefers writes of {} (NPWG), and the kernel reports a physical block of {}: it takes the smaller one \
             of NPWG and the size of atomic writes (AWUPF)",
            size(granularity),
            size(physical)
        )
    })
}

fn nows_is_no_multiple(r: &Reported) -> Option<String> {
    let nvme = r.nvme.as_ref()?;
    let (nows, npwg) = (nvme.nows_bytes?, nvme.npwg_bytes.filter(|&n| n > 0)?);
    let beyond = nvme.max_transfer_bytes.is_some_and(|max| nows > max);
    (nows % npwg != 0 || beyond).then(|| {
        format!(
            "NOWS ({}) is no multiple of NPWG ({}) or exceeds the longest transfer (MDTS)",
            size(nows),
            size(npwg)
        )
    })
}

fn alignment_does_not_divide(r: &Reported) -> Option<String> {
    let nvme = r.nvme.as_ref()?;
    let wrong = |granularity: Option<u64>, alignment: Option<u64>| {
        granularity
            .zip(alignment)
            .is_some_and(|(granularity, alignment)| granularity % alignment.max(1) != 0)
    };
    let writes = wrong(nvme.npwg_bytes, nvme.npwa_bytes);
    let discards = wrong(nvme.npdg_bytes, nvme.npda_bytes);
    (writes || discards).then(|| {
        let what = if writes {
            "NPWG is no multiple of NPWA"
        } else {
            "NPDG is no multiple of NPDA"
        };
        format!("{what}: the preferred sizes of the drive contradict each other")
    })
}

fn discards_without_granularity(r: &Reported) -> Option<String> {
    let max = r.discards.max_bytes.filter(|&n| n > 0)?;
    r.discards.granularity_bytes.filter(|&n| n == 0)?;
    Some(format!(
        "discards of up to {} are allowed, and their granularity is 0: it is unknown",
        size(max)
    ))
}

fn discard_granularity_below(r: &Reported) -> Option<String> {
    let drives = r.nvme.as_ref()?.npdg_bytes?;
    let kernels = r.discards.granularity_bytes.filter(|&n| n > 0)?;
    (kernels < drives).then(|| {
        format!(
            "the kernel discards in units of {}, and the drive prefers {} (NPDG): it may ignore shorter discards",
            size(kernels),
            size(drives)
        )
    })
}

fn trim_is_not_passed_on(r: &Reported) -> Option<String> {
    let trim = r.ata.as_ref()?.trim?;
    let passed = r.discards.max_hw_bytes.or(r.discards.max_bytes)? > 0;
    match (trim, passed) {
        (true, false) => Some(
            "the drive supports TRIM, and its bridge or adapter does not pass it on: the drive never learns what is free"
                .into(),
        ),
        (false, true) => Some("the drive has no TRIM, and the kernel sends discards to it".into()),
        _ => None,
    }
}

fn not_aligned(r: &Reported) -> Option<String> {
    let offset = |bytes: Option<u64>| bytes.filter(|&n| n > 0);
    let what = match (
        offset(r.sizes.alignment_offset_bytes),
        offset(r.discards.alignment_bytes),
    ) {
        (Some(bytes), _) => format!("physical block is at offset {bytes}"),
        (None, Some(bytes)) => format!("unit of discards is at offset {bytes}"),
        (None, None) => return None,
    };
    Some(format!(
        "the first whole {what}: partitions at multiples of the block are not aligned"
    ))
}

fn other_blocks_than_ata(r: &Reported) -> Option<String> {
    let ata = r.ata.as_ref()?;
    let differ = |drive: Option<u64>, kernel: Option<u64>| {
        drive.zip(kernel).filter(|(drive, kernel)| drive != kernel)
    };
    let (drive, kernel, what) = None
        .or(differ(ata.logical_block_bytes, r.sizes.logical_block_bytes)
            .map(|(drive, kernel)| (drive, kernel, "logical")))
        .or(
            differ(ata.physical_block_bytes, r.sizes.physical_block_bytes)
                .map(|(drive, kernel)| (drive, kernel, "physical")),
        )?;
    Some(format!(
        "the drive has {what} blocks of {}, and the kernel sees {}: an adapter or bridge changes them",
        size(drive),
        size(kernel)
    ))
}

fn requests_above_the_hardware(r: &Reported) -> Option<String> {
    let (soft, hard) = (r.sizes.max_request_bytes, r.sizes.max_hw_request_bytes);
    let drive = r.nvme.as_ref().and_then(|nvme| nvme.max_transfer_bytes);
    let above = |a: Option<u64>, b: Option<u64>| a.zip(b).filter(|(a, b)| a > b);
    let (longer, limit) = above(soft, hard).or(above(hard, drive))?;
    Some(format!(
        "requests of {} are allowed, and the hardware takes {}",
        size(longer),
        size(limit)
    ))
}

fn flushes_are_switched_off(r: &Reported) -> Option<String> {
    let nvme = r.nvme.as_ref().and_then(|nvme| nvme.volatile_cache);
    let cache = nvme.or(r.ata.as_ref().and_then(|ata| ata.write_cache))?;
    let through = r.features.write_cache.as_deref()? == "write through";
    (cache && through).then(|| {
        "the drive has a volatile write cache, and the kernel sends no flushes (write through): a power failure loses \
         data that programs believe safe"
            .into()
    })
}

fn flash_rotates(r: &Reported) -> Option<String> {
    let rotates = r.features.rotational?;
    let flash = r.nvme.is_some()
        || r.ata
            .as_ref()
            .is_some_and(|a| a.rotations_per_minute == Some(0));
    (rotates && flash).then(|| {
        "the drive does not rotate, and the kernel believes that it does: schedulers and read-ahead are those of a disk"
            .into()
    })
}
