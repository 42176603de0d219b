//! The options of a job on a zoned drive (`zonemode=zbd`).

use super::error::Problem;

/// How a job uses the zones of a drive. Fields are named after their options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ZoneMode {
    /// `zonemode=zbd`; without it the job knows no zones.
    pub zbd: bool,
    /// `zonesize`, in bytes; 0 for that of the drive. No other size is accepted.
    pub zonesize: u64,
    /// `read_beyond_wp`: reads go where they are drawn, written or not.
    pub read_beyond_wp: bool,
    /// `max_open_zones`: maximum number of zones that all jobs write at a time; 0 for the drive's own limit.
    pub max_open_zones: u32,
    /// `job_max_open_zones`: the same for a process; 0 for no limit.
    pub job_max_open_zones: u32,
    /// `ignore_zone_limits`: `max_open_zones` may be above the drive's limits.
    pub ignore_zone_limits: bool,
    /// `zone_append` (an option of SPDK's plugin for fio): writes are zone appends.
    pub zone_append: bool,
}

impl ZoneMode {
    /// Returns the first conflict among the options as an error.
    pub(super) fn check(&self) -> Result<(), Problem> {
        let others = [
            (self.read_beyond_wp, "read_beyond_wp"),
            (self.max_open_zones > 0, "max_open_zones"),
            (self.job_max_open_zones > 0, "job_max_open_zones"),
            (self.ignore_zone_limits, "ignore_zone_limits"),
            (self.zone_append, "zone_append"),
        ];
        let clash = |what: String| Err(Problem::Clash { what });
        if self.zbd {
            return Ok(());
        }
        if self.zonesize > 0 {
            return clash(
                "`zonesize` without `zonemode=zbd` means `zonemode=strided` in fio, which is not supported: name \
                 `zonemode=zbd` for the zones of a drive, or part the drive by `offset` and `size`"
                    .into(),
            );
        }
        match others.iter().find(|(set, _)| *set) {
            Some((_, name)) => clash(format!("`{name}` needs `zonemode=zbd`")),
            None => Ok(()),
        }
    }
}

/// Returns the smaller of two limits, of which 0 is none.
pub(super) fn smaller(one: u32, other: u32) -> u32 {
    match (one, other) {
        (0, limit) | (limit, 0) => limit,
        (one, other) => one.min(other),
    }
}
