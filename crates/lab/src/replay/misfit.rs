//! Explains why a drive can never take an access: the condition that fails, the limits, and a step that makes the workload
//! fit.

use crate::advice::{Step, Written};
use fathom_base::Bytes;
use fathom_block::{DeviceInfo, IoError, IoErrorKind, Op};

/// An access that a drive can never take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// The condition that fails, with the drive's limits.
    pub why: String,
    remedy: Remedy,
}

/// How to make accesses fit.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Remedy {
    /// Addresses below this capacity, or a larger drive.
    Addresses(Bytes),
    /// Steps in this order.
    Steps(Vec<Step>),
    /// Leaving the access out.
    LeaveOut,
    /// Leaving trims out, or another drive.
    NoTrims,
    /// Leaving out what zones take, or a zoned drive.
    NoZones,
    /// Shorter blocks in the jobs, or a block layer that splits them.
    Blocks(Shorter),
}

/// The longest block that a drive takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shorter {
    longest: Bytes,
    /// True if a block layer may stand above the drive.
    splits: bool,
}

impl Shorter {
    pub(super) fn new(info: &DeviceInfo) -> Self {
        let block = u64::from(info.logical_block_bytes).max(1);
        Self {
            longest: Bytes(info.max_request_bytes / block * block),
            splits: info.zoned.is_none(),
        }
    }

    /// Returns advice for a job file.
    pub(super) fn help(self, written: Written) -> String {
        let bs = format!("set `bs` to at most {} in the job", self.longest);
        let layer = match written {
            Written::CommandLine => "`--sched noop`",
            Written::StudyFile => "`queue = { scheduler = { name = \"noop\" } }`",
        };
        match self.splits {
            true => format!(
                "{bs}, or put a block layer above the drive, which splits longer accesses ({layer})"
            ),
            false => format!("{bs} (no block layer can split above a zoned drive)"),
        }
    }
}

impl Misfit {
    /// Explains a refusal by the drive's limits ([`DeviceInfo::check`]); `None` for any other failure.
    pub(super) fn of(error: &IoError, info: &DeviceInfo) -> Option<Self> {
        match error.kind {
            IoErrorKind::Misaligned => Some(Self::of_shape(error, info)),
            IoErrorKind::OutOfRange => Some(Self::of_place(error, info)),
            IoErrorKind::Unsupported if error.op == Op::Trim => Some(Self {
                why: "the drive takes no trims".into(),
                remedy: Remedy::NoTrims,
            }),
            IoErrorKind::Unsupported if matches!(error.op, Op::Append | Op::Zone(_)) => {
                Some(Self {
                    why: "the drive has no zones".into(),
                    remedy: Remedy::NoZones,
                })
            }
            _ => None,
        }
    }

    /// The same for an access of a job file, which takes no steps.
    pub(super) fn of_job(error: &IoError, info: &DeviceInfo) -> Option<Self> {
        let misfit = Self::of(error, info)?;
        Some(match error.op {
            Op::Read | Op::Write if error.len > info.max_request_bytes => Self {
                remedy: Remedy::Blocks(Shorter::new(info)),
                ..misfit
            },
            _ => misfit,
        })
    }

    /// Returns advice on how to make it fit.
    pub(super) fn help(&self, written: Written) -> String {
        let at = |step: &Step| step.at(written);
        match &self.remedy {
            Remedy::Addresses(capacity) => {
                let of = |name| Step::new(name, &[("capacity", capacity)]);
                let clip = Step::new("clip", &[("capacity", capacity), ("past-end", &"drop")]);
                let size = match written {
                    Written::CommandLine => "`--size` of a modelled one",
                    Written::StudyFile => "`capacity` in `set`",
                };
                format!(
                    "make the addresses fit with {}, which scales them, {} or {}; or take a larger drive ({size})",
                    at(&of("shrink")),
                    at(&of("wrap")),
                    at(&clip)
                )
            }
            Remedy::Steps(steps) => {
                let steps: Vec<String> = steps.iter().map(at).collect();
                format!(
                    "make the workload fit with {} (docs/workloads.md)",
                    steps.join(" ")
                )
            }
            Remedy::NoZones => format!(
                "take a zoned drive (such as model:zns), or keep the reads alone: {}",
                at(&Step::new("reads-only", &[]))
            ),
            Remedy::Blocks(shorter) => shorter.help(written),
            Remedy::LeaveOut => "leave the access out of the trace".into(),
            Remedy::NoTrims => format!(
                "take a drive that has trims, or leave them out: {} keeps the writes alone, {} the reads",
                at(&Step::new("writes-only", &[])),
                at(&Step::new("reads-only", &[]))
            ),
        }
    }

    fn of_place(error: &IoError, info: &DeviceInfo) -> Self {
        let capacity = Bytes(info.capacity_bytes);
        let end = error.offset.saturating_add(error.len);
        Self {
            why: format!(
                "it ends at byte {end}, past the end of the drive, which has {} bytes ({})",
                capacity.0,
                capacity.human()
            ),
            remedy: Remedy::Addresses(capacity),
        }
    }

    fn of_shape(error: &IoError, info: &DeviceInfo) -> Self {
        let block = u64::from(info.logical_block_bytes);
        let longest = match error.op {
            Op::Trim => u64::MAX,
            _ => info.max_request_bytes,
        };
        let page = Bytes(block.max(4096));
        let longest_step = Bytes(longest - longest % page.0.min(longest.max(1)));
        let (mut why, mut steps) = (Vec::new(), Vec::new());
        if !error.len.is_multiple_of(block) {
            why.push("its length is no multiple of the drive's block");
        }
        if !error.offset.is_multiple_of(block) {
            why.push("its offset is no multiple of the drive's block");
        }
        // First, because rounding makes accesses longer.
        if !why.is_empty() {
            steps.push(Step::new("round-to-pages", &[("page", &page)]));
        }
        if error.len == 0 {
            why.insert(0, "it has no bytes");
        }
        if error.len > longest {
            why.insert(0, "it is longer than the drive takes at a time");
            steps.push(Step::new("split", &[("longest", &longest_step)]));
        }
        Self {
            why: format!(
                "{}; the drive takes multiples of {}, up to {} at a time",
                why.join(", and "),
                Bytes(block).human(),
                Bytes(info.max_request_bytes).human()
            ),
            remedy: match steps.is_empty() {
                true => Remedy::LeaveOut,
                false => Remedy::Steps(steps),
            },
        }
    }

    /// Returns the error message for a failed access.
    pub(super) fn words(misfit: &Option<Self>, error: &IoError) -> String {
        match misfit {
            None => error.to_string(),
            Some(misfit) => format!(
                "{} of {} bytes at offset {}: {}",
                error.op, error.len, error.offset, misfit.why
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(len: u64, offset: u64) -> Misfit {
        let info = DeviceInfo {
            name: "drive".into(),
            logical_block_bytes: 512,
            max_request_bytes: 1 << 20,
            capacity_bytes: 2 << 30,
            queue_depth: 1,
            volatile_cache: false,
            trim: false,
            read_only: false,
            modelled: true,
            rotational: None,
            ..DeviceInfo::default()
        };
        let kind = match offset {
            0..0x8000_0000 => IoErrorKind::Misaligned,
            _ => IoErrorKind::OutOfRange,
        };
        let error = IoError {
            kind,
            op: Op::Read,
            offset,
            len,
        };
        Misfit::of(&error, &info).unwrap()
    }

    #[test]
    fn a_job_is_told_to_take_shorter_blocks() {
        let mut info = DeviceInfo {
            max_request_bytes: 128 << 10,
            ..DeviceInfo::default()
        };
        let error = IoError {
            kind: IoErrorKind::Misaligned,
            op: Op::Write,
            offset: 0,
            len: 1 << 20,
        };
        let help = |info: &DeviceInfo| {
            let misfit = Misfit::of_job(&error, info).unwrap();
            misfit.help(Written::CommandLine)
        };
        assert_eq!(
            help(&info),
            "set `bs` to at most 128KiB in the job, or put a block layer above the drive, which splits longer accesses \
             (`--sched noop`)"
        );
        info.zoned = Some(fathom_block::zoned::Zoned {
            zone_bytes: 1 << 20,
            zone_capacity_bytes: 1 << 20,
            max_open: 0,
            max_active: 0,
            max_append_bytes: 1 << 20,
            reads_cross: true,
        });
        assert!(!help(&info).contains("--sched"), "{}", help(&info));
    }

    /// Covers the conditions of [`DeviceInfo::check`].
    #[test]
    fn the_condition_that_fails_is_told_with_the_limits() {
        let help = |misfit: &Misfit| misfit.help(Written::CommandLine);
        let limits = "; the drive takes multiples of 512 B, up to 1 MiB at a time";
        let short = of(777, 512);
        assert_eq!(
            short.why,
            format!("its length is no multiple of the drive's block{limits}")
        );
        assert!(
            help(&short).contains("--step round-to-pages,page=4KiB"),
            "{}",
            help(&short)
        );
        let long = of(2 << 20, 512);
        assert_eq!(
            long.why,
            format!("it is longer than the drive takes at a time{limits}")
        );
        assert!(
            help(&long).contains("--step split,longest=1MiB"),
            "{}",
            help(&long)
        );
        assert!(of(512, 3).why.starts_with("its offset is no multiple"));
        assert!(of(0, 0).why.starts_with("it has no bytes"));
        let far = of(4096, 3 << 30);
        assert_eq!(
            far.why,
            "it ends at byte 3221229568, past the end of the drive, which has 2147483648 bytes (2 GiB)"
        );
        assert!(
            help(&far).contains("--step shrink,capacity=2GiB"),
            "{}",
            help(&far)
        );
    }
}
