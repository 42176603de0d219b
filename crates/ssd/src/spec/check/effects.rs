//! Checks what drives of today add to the flash: the fast cache, parity, faults, compression and heat.

use super::range::{IDLE_MAX, STEP_MAX, at_most, within};
use crate::spec::Spec;
use fathom_base::{BadValue, Bytes, Dur, want};

impl Spec {
    pub(super) fn check_fast_cache(&self) -> Result<(), BadValue> {
        let Some(cache) = &self.fast_cache else {
            return Ok(());
        };
        let kind = self.mapping.kind;
        let handles = self.mapping.placement_handles;
        want(handles <= 1, "mapping.placement_handles", handles, || {
            "at most 1 with [fast_cache]: the cache does not separate data by handle".into()
        })?;
        let fits = kind.is_paged() && self.mapping.zone.is_none();
        want(fits, "mapping.kind", kind, || {
            "`page` or `dftl` with [fast_cache]: other mappings have no blocks whose data may go anywhere".into()
        })?;
        within("fast_cache.bits_per_cell", cache.bits_per_cell, 2..=5)?;
        want(
            cache.bits_per_cell <= self.flash.pages_per_block,
            "fast_cache.bits_per_cell",
            cache.bits_per_cell,
            || {
                let pages = self.flash.pages_per_block;
                format!(
                    "at most flash.pages_per_block, which is {pages}: a block in SLC mode has fewer pages"
                )
            },
        )?;
        let percent = cache.dynamic_percent;
        within("fast_cache.dynamic_percent", percent, 0.0..=100.0)?;
        let any = cache.static_capacity > Bytes(0) || percent > 0.0;
        want(
            any,
            "fast_cache.static_capacity",
            cache.static_capacity,
            || "more than 0B, or fast_cache.dynamic_percent more than 0".into(),
        )?;
        at_most("fast_cache.read", cache.read, STEP_MAX)?;
        at_most("fast_cache.program", cache.program, STEP_MAX)?;
        at_most("fast_cache.erase", cache.erase, STEP_MAX)?;
        at_most("fast_cache.idle_delay", cache.idle_delay, IDLE_MAX)
    }

    pub(super) fn check_parity(&self) -> Result<(), BadValue> {
        let (stripe, stations) = (self.flash.parity_stripe, crate::geometry::stations(self));
        let fits = stripe == 0 || (2..=stations).contains(&stripe);
        want(fits, "flash.parity_stripe", stripe, || match stations {
            1 => "0: a clustered page takes all dies, and no other die is left for parity".into(),
            _ => format!("0 for none, or 2 to {stations}, the places that work at the same time"),
        })?;
        let least = 100.0 / f64::from(stripe.max(2) - 1);
        let over = self.mapping.over_provisioning_percent;
        want(
            stripe == 0 || over >= least,
            "mapping.over_provisioning_percent",
            over,
            || format!("at least {least:.3}: parity takes one block of {stripe}"),
        )
    }

    pub(super) fn check_faults(&self) -> Result<(), BadValue> {
        let faults = &self.faults;
        let bad = faults.factory_bad_percent;
        within("faults.factory_bad_percent", bad, 0.0..=20.0)?;
        for (key, probability) in [
            ("faults.read_retry", faults.read_retry),
            (
                "faults.read_retry_per_1000_cycles",
                faults.read_retry_per_1000_cycles,
            ),
            ("faults.read_retry_per_day", faults.read_retry_per_day),
            ("faults.program_fail", faults.program_fail),
            ("faults.erase_fail", faults.erase_fail),
        ] {
            want((0.0..=0.5).contains(&probability), key, probability, || {
                "a probability from 0 to 0.5".into()
            })?;
        }
        within("faults.age_cycles", faults.age_cycles, 0..=1_000_000)?;
        within("faults.age_days", faults.age_days, 0.0..=36_525.0)?;
        within("faults.read_retries_max", faults.read_retries_max, 0..=100)
    }

    pub(super) fn check_compression(&self) -> Result<(), BadValue> {
        let percent = self.compression.as_ref().map_or(0.0, |c| c.zero_percent);
        within("compression.zero_percent", percent, 0.0..=50.0)
    }

    pub(super) fn check_thermal(&self) -> Result<(), BadValue> {
        let Some(thermal) = &self.thermal else {
            return Ok(());
        };
        let ambient = thermal.ambient_celsius;
        within("thermal.ambient_celsius", ambient, -55.0..=125.0)?;
        let programmed = thermal.degrees_per_gib_programmed;
        let key = "thermal.degrees_per_gib_programmed";
        within(key, programmed, 0.0..=1e6)?;
        let read = thermal.degrees_per_gib_read;
        within("thermal.degrees_per_gib_read", read, 0.0..=1e6)?;
        let (light, heavy) = (thermal.light_celsius, thermal.heavy_celsius);
        within("thermal.light_celsius", light, ambient..=200.0)?;
        within("thermal.heavy_celsius", heavy, light..=200.0)?;
        let hysteresis = thermal.hysteresis_celsius;
        within("thermal.hysteresis_celsius", hysteresis, 0.0..=100.0)?;
        let speed = thermal.light_speed_percent;
        within("thermal.light_speed_percent", speed, 1.0..=100.0)?;
        let heavy = thermal.heavy_speed_percent;
        within("thermal.heavy_speed_percent", heavy, 1.0..=speed)?;
        let constant = thermal.time_constant;
        want(
            (Dur::ms(1)..=IDLE_MAX).contains(&constant),
            "thermal.time_constant",
            constant,
            || format!("{} to {IDLE_MAX}", Dur::ms(1)),
        )
    }
}
