//! Validation of a drive file: ranges of the values and divisibility of the parts.

use super::{Pool, Spec};
use fathom_base::Dur;
use fathom_base::{BadValue, want};

impl Spec {
    /// Checks that such a drive can be built.
    ///
    /// # Errors
    /// Returns [`BadValue`] for the first invalid value.
    pub fn check(&self) -> Result<(), BadValue> {
        self.check_counts()?;
        self.check_shape()?;
        self.check_room()
    }

    fn check_counts(&self) -> Result<(), BadValue> {
        let (e, driver) = (&self.element, &self.driver);
        let counts = [
            ("elements", self.elements, 1, 4096),
            ("stride", self.stride, 1, 65_536),
            ("element.planes", e.planes, 1, 64),
            ("element.blocks_per_plane", e.blocks_per_plane, 4, 1 << 20),
            ("element.pages_per_block", e.pages_per_block, 2, 16_384),
            ("cleaning.endurance", self.cleaning.endurance, 1, 65_534),
            ("driver.queue_length", driver.queue_length, 1, 65_536),
            ("driver.depth", driver.depth, 1, 1 << 20),
        ];
        for (key, n, least, most) in counts {
            let allowed = || format!("{least} to {most}");
            want((least..=most).contains(&n), key, n, allowed)?;
        }
        let t = &self.timing;
        let times = [
            ("timing.read", t.read),
            ("timing.program", t.program),
            ("timing.erase", t.erase),
            ("timing.command_overhead", t.command_overhead),
        ];
        for (key, time) in times {
            want(time <= Dur::ms(10_000), key, time, || "at most 10s".into())?;
        }
        for (key, rate) in [("timing.pins", t.pins), ("timing.host", t.host)] {
            let fits = rate.bytes_per_second() >= 1000;
            want(fits, key, rate, || "at least 1kB/s".into())?;
        }
        Ok(())
    }

    fn check_shape(&self) -> Result<(), BadValue> {
        let (e, a) = (&self.element, &self.allocation);
        let page = e.page.0;
        let fits = (512..=1 << 20).contains(&page) && page.is_multiple_of(512);
        want(fits, "element.page", e.page, || {
            "a multiple of 512B, at most 1MiB".into()
        })?;
        let units = e.parallel_units;
        let fits = matches!(units, 1 | 2 | 4) && e.planes.is_multiple_of(units);
        want(fits, "element.parallel_units", units, || {
            format!("1, 2 or 4, and a divisor of the {} planes", e.planes)
        })?;
        let in_gangs = a.pool == Pool::Gang;
        let fits = a.gang >= 1 && self.elements.is_multiple_of(a.gang) && (in_gangs || a.gang == 1);
        want(fits, "allocation.gang", a.gang, || {
            let n = self.elements;
            format!("1, or with pool = \"gang\" a divisor of the {n} elements")
        })?;
        let simple = e.copy_back && units == 1 && self.stride == 1;
        want(simple || !in_gangs, "allocation.pool", "gang", || {
            "with copy-back, one parallel unit and a stride of 1 only".into()
        })?;
        let wear = self.cleaning.wear_aware;
        want(!wear || e.copy_back, "cleaning.wear_aware", wear, || {
            "true with copy-back only".into()
        })
    }

    fn check_room(&self) -> Result<(), BadValue> {
        let (e, low) = (&self.element, self.low_blocks());
        let min_free = self.cleaning.min_free_percent;
        let fits = (0.0..=50.0).contains(&min_free) && low >= 1;
        want(fits, "cleaning.min_free_percent", min_free, || {
            format!("at least one of the {} blocks", e.blocks_per_plane)
        })?;
        let (percent, reserve) = (self.allocation.reserve_percent, self.reserve_blocks());
        let fits = (0.0..=90.0).contains(&percent) && reserve >= low + 2;
        want(fits, "allocation.reserve_percent", percent, || {
            format!("at most 90, and at least {} blocks", low + 2)
        })?;
        let blocks = u64::from(e.planes) * u64::from(e.blocks_per_plane);
        let pages = blocks * u64::from(e.pages_per_block);
        let all = pages * u64::from(self.elements);
        want(all < 1 << 31, "elements", self.elements, || {
            "at most 2147483647 pages in all".into()
        })?;
        let exported = self.pages_per_element();
        want(
            exported >= u64::from(self.stride),
            "stride",
            self.stride,
            || format!("at most the {exported} pages of an element"),
        )
    }
}
