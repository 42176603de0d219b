//! Checks for conflicting options of a job that do not depend on the drive.

use super::choices::{Amount, Each};
use super::content::HEADER_BYTES;
use super::error::Problem;
use super::job::Job;
use fathom_block::Op;

/// Maximum length of a verified block, in bytes; its content is made in memory.
const VERIFIED_MAX: u64 = 64 << 20;

fn clash(what: impl Into<String>) -> Result<(), Problem> {
    let what = what.into();
    Err(Problem::Clash { what })
}

impl Job {
    /// Returns the first conflict as an error.
    pub(super) fn check(&self) -> Result<(), Problem> {
        if self.ends.time_based && self.ends.runtime.is_none() {
            return clash("`time_based` needs a `runtime`");
        }
        if self.pace.rate != Each::all(0) && self.pace.rate_iops != Each::all(0) {
            return clash("`rate` and `rate_iops` exclude each other, as in fio");
        }
        if self.placement.fdp && self.placement.plids.is_empty() {
            return clash(
                "`fdp` needs `plids`: the placement handles that the job writes with, such as plids=0,1",
            );
        }
        for &op in self.rw.ops() {
            let shortest = self.shortest(op);
            if let Some(bytes) = self.lengths(op).odd(shortest) {
                let option = if self.blocks.bssplit.is_some() {
                    "bssplit"
                } else {
                    "bsrange"
                };
                return clash(format!(
                    "`{option}` has blocks of {bytes} bytes, no multiple of the smallest of {op}s, {shortest} bytes, to \
                     which fio would cut them down"
                ));
            }
        }
        self.zones.check()?;
        self.check_zone_options()?;
        if self.verify {
            self.check_verify()
        } else {
            Ok(())
        }
    }

    /// Checks what zones do not go with.
    fn check_zone_options(&self) -> Result<(), Problem> {
        let area = &self.area;
        let in_zones = |amount: &Amount| matches!(amount, Amount::Zones(_));
        let zones = [Some(area.offset), Some(area.offset_increment), area.size];
        if !self.zones.zbd {
            return match zones.iter().flatten().any(in_zones) {
                true => clash("a number of zones, such as 4z, needs `zonemode=zbd`"),
                false => Ok(()),
            };
        }
        if self.rw.writes() && self.order.rw_skip > 0 {
            return clash("`rw=write:N` leaves out bytes, and a zone is written without gaps");
        }
        if self.verify && self.zones.zone_append {
            return clash(
                "`verify` puts the place of a write into its header, and `zone_append` lets the drive choose it: leave one \
                 of them out",
            );
        }
        Ok(())
    }

    fn check_verify(&self) -> Result<(), Problem> {
        if !self.rw.writes() {
            return clash(
                "`verify` needs a job that writes: what another job or run wrote is not verified",
            );
        }
        if self.rw.is_random() && !(self.covers() && self.is_drawn_throughout()) && self.depth() > 1
        {
            return clash(
                "`verify` with an `iodepth` above 1 needs the random map: without it (`norandommap`, `blockalign`, zipf, \
                 pareto, `percentage_random`, a number behind `rw`) two writes of one block may be in flight, and which is the last is not known",
            );
        }
        if self.shortest(Op::Write) < HEADER_BYTES as u64 {
            return clash(format!(
                "`verify` puts a header of {HEADER_BYTES} bytes into each block: `bs` is too small"
            ));
        }
        if self.lengths(Op::Write).longest() > VERIFIED_MAX {
            return clash("`verify` takes blocks of at most 64m: `bs` is too large");
        }
        Ok(())
    }
}
