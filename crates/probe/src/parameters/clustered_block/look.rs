//! Evaluates a scan: the sizes that it shows.

use super::scan::{Kind, MULTIPLES_MIN, Scan};
use crate::robust::samples::of_step;
use crate::{Parameter, Record};
use fathom_stats::teeth::{Fit, Place, Places, Seen, Tooth, Wanted};

const PARAMETER: Parameter = Parameter::ClusteredBlock;

/// By how much multiples must differ from other places (standard normal): for one size among all, and for one size that is
/// looked at again.
const STRONG: f64 = 6.0;
const STRONG_AGAIN: f64 = 4.0;

/// The clustered page if it is not known, in bytes.
const PAGE: u64 = 16 << 10;

/// Memory that takes flushed writes may show the cost of a write this many writes later, at most. A longer delay is accepted
/// only if it explains the places better than a shorter one by this factor.
const LATER: u64 = 16;
const BETTER: f64 = 1.1;

/// What marks the multiples of a size: which accesses differ there, and how many accesses later that is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sign {
    pub(crate) tooth: Tooth,
    pub(crate) later: u64,
}

impl Scan {
    /// Returns the sizes that the scan shows, each with the sign that shows it.
    pub(crate) fn shows(&self, record: &Record) -> Vec<(Sign, Fit)> {
        let teeth: &[Tooth] = match self.kind {
            Kind::Reads => &[Tooth::Halved],
            Kind::Writes => &[Tooth::First],
            Kind::LongWrites => &[Tooth::First, Tooth::Either],
        };
        let fits = teeth.iter().map(|&tooth| self.fit(record, tooth));
        fits.flatten().collect()
    }

    /// Returns true if the record contains the scan.
    pub(crate) fn measured(&self, record: &Record) -> bool {
        of_step(record, PARAMETER, &self.name(false)).is_some()
    }

    /// Returns true if the scan has shown a size that was then looked at again. Computing what it shows would take longer.
    pub(crate) fn measured_again(&self, record: &Record) -> bool {
        let begin = self.again_begin();
        let mut names = record.steps.iter().filter(|s| s.parameter == PARAMETER);
        names.any(|step| step.name.starts_with(&begin))
    }

    /// Returns the fit that explains the places best, among the accesses themselves and those some accesses later.
    fn fit(&self, record: &Record, tooth: Tooth) -> Option<(Sign, Fit)> {
        let latest = match self.kind {
            Kind::Reads => 0,
            Kind::Writes | Kind::LongWrites => LATER,
        };
        let places = places(record, &self.name(false), tooth, self.len, self.pitch)?;
        let wanted = self.wanted(record, self.sizes(), STRONG);
        let each = Seen::best_of_each(&places, &wanted, latest);
        let fits = (0..).zip(each);
        let fits = fits.filter_map(|(later, fit)| Some((Sign { tooth, later }, fit?)));
        let (sign, fit) =
            fits.reduce(
                |best, one| match one.1.explains > BETTER * best.1.explains {
                    true => one,
                    false => best,
                },
            )?;
        // A broad dip at the last multiple leaves this much uncertainty.
        let margin = (self.len + self.pitch) * fit.period / self.covered.max(1);
        let between = (fit.between.0 - margin, fit.between.1 + margin);
        Some((sign, Fit { between, ..fit }))
    }

    /// Returns the fit if this scan also shows a size that another scan has shown. Memory that survives a power cut delays
    /// the cost of a write, so the size is no more exact than before.
    pub(crate) fn shows_at(&self, record: &Record, sign: Sign, fit: &Fit) -> Option<Fit> {
        let places = places(record, &self.name(false), sign.tooth, self.len, self.pitch)?;
        let wanted = self.wanted(record, fit.between, STRONG_AGAIN);
        let again = Seen::new(&places, sign.later).best(&wanted)?;
        let ratio = again.ratio;
        let fit = Fit { ratio, ..*fit };
        self.differs(sign.tooth, ratio).then_some(fit)
    }

    fn wanted(&self, record: &Record, sizes: (u64, u64), strength: f64) -> Wanted {
        Wanted {
            sizes,
            grain: u64::from(record.meta.target.logical_block_bytes),
            teeth: MULTIPLES_MIN as usize,
            strength,
            factor: self.factor(),
        }
    }

    /// Returns the size that the second look shows, more exactly. Not possible for delayed signs, because writes of another
    /// length are not delayed by the same number of writes.
    pub(crate) fn shows_again(&self, record: &Record, sign: Sign, fit: &Fit) -> Option<Fit> {
        if sign.later > 0 {
            return None;
        }
        let block = u64::from(record.meta.target.logical_block_bytes);
        let (len, pitch) = self.again_len(block);
        let places = places(record, &self.again_name(fit.period), sign.tooth, len, pitch)?;
        let places = Seen::new(&places, 0);
        let wanted = Wanted {
            sizes: fit.between,
            grain: block,
            teeth: fit.teeth.saturating_sub(1).min(MULTIPLES_MIN as usize),
            strength: STRONG_AGAIN,
            factor: self.factor(),
        };
        let again = match sign.tooth {
            Tooth::Halved => {
                let again = places.middle(&wanted, len / 2)?;
                // A dip is lopsided if pages alternate between the lanes of a block.
                let margin = len / 2 * again.period / self.covered.max(1);
                let (low, high) = again.between;
                let between = (
                    low.min(again.period - margin),
                    high.max(again.period + margin),
                );
                Fit { between, ..again }
            }
            Tooth::First | Tooth::Either => {
                let again = places.nearest(&wanted)?;
                // With FAST the first clustered page of a block must be whole, and protected memory delays merges: both show
                // the ends later than they are.
                let margin =
                    (6 * len.max(PAGE)).max(2 * self.pitch) * again.period / self.covered.max(1);
                let between = (again.between.0 - margin, again.between.1 + margin);
                Fit { between, ..again }
            }
        };
        self.differs(sign.tooth, again.ratio).then_some(again)
    }

    /// Returns true if the multiples differ enough.
    pub(crate) fn differs(&self, tooth: Tooth, ratio: f64) -> bool {
        match tooth {
            Tooth::Halved => ratio * self.factor() <= 1.0,
            Tooth::First | Tooth::Either => ratio >= self.factor(),
        }
    }

    /// Returns the factor by which the multiples must differ. It is small for reads, of which there are many; a merge is a
    /// large difference.
    fn factor(&self) -> f64 {
        match self.kind {
            Kind::Reads => 1.08,
            Kind::Writes | Kind::LongWrites => 1.5,
        }
    }
}

/// Returns the accesses of a step; `None` if it was not made.
pub(crate) fn places(
    record: &Record,
    name: &str,
    tooth: Tooth,
    len: u64,
    pitch: u64,
) -> Option<Places> {
    let samples = of_step(record, PARAMETER, name)?;
    let places = samples.map(|s| Place {
        from: s.offset,
        len,
        value: s.ns as f64,
    });
    Some(Places::new(tooth, pitch, places.collect()))
}
