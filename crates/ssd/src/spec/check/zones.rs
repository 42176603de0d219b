//! Checks the zones of a drive.

use crate::spec::{Spec, WritePolicy};
use fathom_base::{BadValue, Bytes, want};

impl Spec {
    pub(super) fn check_zones(&self) -> Result<(), BadValue> {
        let (mapping, block) = (&self.mapping, self.flash.clustered_block);
        let Some(zone) = mapping.zone else {
            return Ok(());
        };
        let plain = self.compression.is_none() && self.flash.parity_stripe == 0;
        want(plain, "mapping.zone", zone, || {
            "left out with [compression] and flash.parity_stripe: every unit of a zone has its place".into()
        })?;
        want(
            self.host.queues == 1,
            "host.queues",
            self.host.queues,
            || "1 for zones: the drive takes the writes of several queues out of order".into(),
        )?;
        let fits = zone.0 > 0 && zone.0.is_multiple_of(block.0);
        want(
            fits && self.capacity.0.is_multiple_of(zone.0),
            "mapping.zone",
            zone,
            || format!("clustered blocks of {block}, in a number that divides the capacity"),
        )?;
        let held = mapping.zone_capacity.unwrap_or(zone);
        let fits = held.0 > 0 && held.0.is_multiple_of(block.0) && held <= zone;
        want(fits, "mapping.zone_capacity", held, || {
            format!("a multiple of the clustered block of {block}, at most the zone of {zone}")
        })?;
        let (open, active) = (mapping.max_open_zones, mapping.max_active_zones);
        let fits = active == 0 || (1..=active).contains(&open);
        want(fits, "mapping.max_open_zones", open, || {
            format!("1 to max_active_zones, {active}: an open zone is active")
        })?;
        let unit = Bytes(self.unit());
        want(
            self.host.logical_block == unit,
            "mapping.unit",
            unit,
            || {
                format!(
                    "the logical block of {}: a unit of a zone is programmed once",
                    self.host.logical_block
                )
            },
        )?;
        let whole = unit == self.flash.clustered_page;
        want(
            whole || mapping.partial_program,
            "mapping.partial_program",
            "false",
            || {
                "true, or a unit of a whole clustered page: every unit of a zone has its place"
                    .into()
            },
        )?;
        self.check_zone_buffer(unit)
    }

    /// The buffer of a zoned drive keeps the order of writes, and holds whole units.
    fn check_zone_buffer(&self, unit: Bytes) -> Result<(), BadValue> {
        let Some(buffer) = &self.write_buffer else {
            return Ok(());
        };
        let in_order = buffer.policy == WritePolicy::Fifo;
        want(in_order, "write_buffer.policy", buffer.policy, || {
            "fifo for zones: they are programmed in the order of writes".into()
        })?;
        let whole = buffer.capacity.0.is_multiple_of(unit.0);
        want(whole, "write_buffer.capacity", buffer.capacity, || {
            format!("a multiple of the unit of {unit} for zones")
        })
    }
}
