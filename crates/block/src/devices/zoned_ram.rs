//! The zoned RAM device: zones in memory, for tests of the code above a zoned drive.
//!
//! Requests take effect in order of submission, and nothing is lost. The whole rest of a zone reads as zero.

use super::fixed::{Fixed, Serve, Served};
use super::{Pages, Zones};
use crate::zoned::{Zone, ZoneAction, ZoneState};
use crate::{DeviceInfo, IoErrorKind, Op, Request};
use fathom_base::Dur;

/// Stores bytes in zones in memory; completes everything after a fixed time.
pub type ZonedRam = Fixed<ZonedPages>;

/// Bytes, and the zones that they are in.
#[derive(Clone, Debug)]
pub struct ZonedPages {
    pages: Pages,
    zones: Zones,
}

impl ZonedRam {
    /// Creates a device of empty zones, which `info` describes, that completes everything after `latency`.
    pub fn zoned(info: DeviceInfo, latency: Dur) -> Self {
        let served = ZonedPages {
            pages: Pages::default(),
            zones: Zones::new(&info),
        };
        Self::over(served, info, latency)
    }

    /// Makes the zone that holds byte `offset` read-only or offline.
    pub fn fail_zone(&mut self, offset: u64, state: ZoneState) {
        self.served.zones.fail(offset, state);
    }
}

impl Serve for ZonedPages {
    fn serve(&mut self, request: &Request) -> Result<Served, IoErrorKind> {
        let &Request {
            op, offset, len, ..
        } = request;
        let data = request.data.as_deref();
        if op.is_write() && data.is_some_and(|data| data.len() as u64 != len) {
            return Err(IoErrorKind::Misaligned);
        }
        let at = self.zones.execute(request)?;
        match (op, data) {
            (Op::Read, _) => return Ok(Served::read(self.pages.read(offset, len))),
            (Op::Write | Op::Append, Some(data)) => self.pages.write(at, data),
            (Op::Zone(ZoneAction::Reset), _) => self.forget_empty(offset, len),
            _ => {}
        }
        Ok(match op {
            Op::Append => Served::placed(at),
            _ => Served::default(),
        })
    }

    fn zones(&self, from: u64, count: usize) -> Vec<Zone> {
        self.zones.report(from, count)
    }
}

impl ZonedPages {
    /// Forgets the bytes of the zones in a range that are empty.
    fn forget_empty(&mut self, offset: u64, len: u64) {
        for zone in self.zones.report(offset, usize::MAX) {
            if zone.start < offset + len && zone.state == ZoneState::Empty {
                self.pages.zero(zone.start, zone.capacity_bytes);
            }
        }
    }
}
