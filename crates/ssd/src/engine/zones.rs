//! Zones: their states, and what a finish, a reset and a power cut do to them.
//!
//! The states change when a request is submitted ([`Zones`](fathom_block::devices::Zones)), the flash when it starts: a
//! request waits for the earlier ones in its zone to arrive ([`super::order`]). A reset forgets what the buffer holds of its
//! zone, and completes at once; the blocks are erased meanwhile, and a write waits only if no erased block is left. A finish
//! first drains the buffer, then pads the blocks of the zone, and completes when that is done.

use super::Ssd;
use super::issue::Issue;
use super::ticket::NO_BATCH;
use fathom_base::SECTOR_BYTES;
use fathom_block::{IoErrorKind, Op, Request, Zone, ZoneAction, ZoneState};

impl Ssd {
    /// Changes the zone of a request. An append gets the offset of its place.
    pub(super) fn enter_zone(&mut self, request: &mut Request) -> Result<(), IoErrorKind> {
        let at = self.zones.execute(request)?;
        if request.op == Op::Append {
            request.offset = at;
        }
        Ok(())
    }

    fn zone_bytes(&self) -> u64 {
        self.info.zoned.map_or(u64::MAX, |zoned| zoned.zone_bytes)
    }

    /// Starts an action on zones.
    pub(super) fn act_on_zone(&mut self, id: u32, action: ZoneAction) {
        match action {
            ZoneAction::Open | ZoneAction::Close => self.complete(id, Ok(())),
            ZoneAction::Finish => self.flush_through(id),
            ZoneAction::Reset => self.reset_zones(id),
        }
    }

    fn reset_zones(&mut self, id: u32) {
        let Some((first, sectors)) = self.host.sectors(id) else {
            return;
        };
        let of_zone = self.zone_bytes() / SECTOR_BYTES;
        for zone in first / of_zone..(first + sectors) / of_zone {
            self.forget_lines(zone * of_zone, (zone + 1) * of_zone);
            self.reads.invalidate(zone * of_zone, of_zone);
            if let Some(zones) = self.ftl.zones() {
                zones.reset(zone as u32, &mut self.ops);
            }
        }
        self.issue_own();
        self.complete(id, Ok(()));
        self.unblock();
    }

    /// Pads the zone that starts at `start`: its data is in the flash array.
    pub(super) fn pad_zone(&mut self, id: u32, start: u64) {
        let zone = (start / self.zone_bytes()) as u32;
        if let Some(zones) = self.ftl.zones() {
            zones.pad(zone, &mut self.ops);
        }
        let issue = Issue {
            request: id,
            releases: NO_BATCH,
            ..Issue::own()
        };
        match self.flash.issue(&mut self.ops, issue, &mut self.clock) {
            0 => self.complete(id, Ok(())),
            programs => self.host.await_programs(id, programs),
        }
    }

    /// The drive is worn out: its zones can be read and no longer written.
    pub(super) fn retire_zones(&mut self) {
        for zone in self.zones.report(0, usize::MAX) {
            self.zones.fail(zone.start, ZoneState::ReadOnly);
        }
    }

    /// Sets the states of the zones after a power cut: each ends where its data in flash and in a protected buffer does.
    pub(super) fn restart_zones(&mut self) {
        let zone_bytes = self.zone_bytes();
        let unit_bytes = u64::from(self.g.sectors_per_unit) * SECTOR_BYTES;
        let (g, lines) = (&self.g, &self.memory.lines);
        let Some(ftl) = self.ftl.zones() else {
            return;
        };
        let is_kept = |at: u64| {
            let (cline, first) = g.line_of_sector(at / SECTOR_BYTES);
            (first..first + g.sectors_per_unit).all(|sector| lines.holds(cline, sector))
        };
        self.zones.restart(|zone: &Zone| {
            let index = (zone.start / zone_bytes) as u32;
            let mut at = zone.start + u64::from(ftl.written(index)) * unit_bytes;
            while at < zone.end() && !lines.is_empty() && is_kept(at) {
                at += unit_bytes;
            }
            at
        });
        for zone in self.zones.report(0, usize::MAX) {
            let index = (zone.start / zone_bytes) as u32;
            let end = zone.start + u64::from(ftl.written(index)) * unit_bytes;
            if zone.state == ZoneState::Full && end < zone.end() && zone.write_pointer < zone.end()
            {
                ftl.seal(index);
            }
        }
        if self.health.worn_out {
            self.retire_zones();
        }
    }
}
