//! Whether a job with `zonemode=zbd` fits the zones of a drive.

use super::job::Job;
use super::zone_mode::smaller;
use fathom_block::zoned::Zoned;
use fathom_block::{DeviceInfo, Op};

impl Job {
    /// Returns the whole zones between the ends of a region, if the job knows zones.
    pub(super) fn whole_zones(
        &self,
        offset: u64,
        size: u64,
        drive: &DeviceInfo,
    ) -> Result<(u64, u64), String> {
        let Some(Zoned { zone_bytes, .. }) = drive.zoned.filter(|_| self.zones.zbd) else {
            return Ok((offset, size));
        };
        let from = offset.next_multiple_of(zone_bytes);
        let to = (offset + size) / zone_bytes * zone_bytes;
        match to > from {
            true => Ok((from, to - from)),
            false => Err(format!(
                "there is no whole zone in the {size} bytes from {offset} on, and the zones of the drive have {zone_bytes} \
                 bytes: give `offset` and `size` in zones, such as offset=4z and size=2z"
            )),
        }
    }

    /// Checks what a job with `zonemode=zbd` asks of the zones of a drive.
    pub(super) fn check_zones(&self, drive: &DeviceInfo) -> Result<(), String> {
        let Some(zoned) = drive.zoned else {
            return Err(
                "`zonemode=zbd` needs a drive whose zones are known, and this one has none: take a zoned model (such as \
                 model:zns), or leave `zonemode` out"
                    .into(),
            );
        };
        let zone = zoned.zone_bytes;
        if self.zones.zonesize > 0 && self.zones.zonesize != zone {
            return Err(format!(
                "`zonesize` is {}, and the zones of the drive have {zone} bytes: leave it out",
                self.zones.zonesize
            ));
        }
        let most = smaller(zoned.max_open, zoned.max_active);
        if most > 0 && self.zones.max_open_zones > most && !self.zones.ignore_zone_limits {
            return Err(format!(
                "`max_open_zones` is {}, and the drive has at most {most} zones open: make it smaller, or set \
                 `ignore_zone_limits`",
                self.zones.max_open_zones
            ));
        }
        let (limit, what) = match self.zones.zone_append {
            true => (zoned.max_append_bytes, "an append has"),
            false => (zoned.zone_capacity_bytes, "a zone holds"),
        };
        let longest = self.lengths(Op::Write).longest();
        if self.rw.writes() && longest > limit {
            return Err(format!(
                "writes of {longest} bytes are too long: {what} at most {limit} bytes"
            ));
        }
        let trims = self.lengths(Op::Trim);
        if self.rw.ops().contains(&Op::Trim) && !trims.are_all(zone) {
            return Err(format!(
                "a trim resets a zone of {zone} bytes, and `bs` has another length for trims: set bs={zone}"
            ));
        }
        Ok(())
    }
}
