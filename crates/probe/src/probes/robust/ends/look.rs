//! What a scan shows.

use super::PARAMETER;
use super::scan::{Kind, MULTIPLES_MIN, Scan};
use crate::probes::robust::of_step;
use crate::record::Record;
use crate::solve::teeth::{Fit, Place, Places, Tooth, Wanted};

/// How strongly multiples must differ from other places (standard normal): those of one among all sizes, and those of one size
/// that is looked at again.
const STRONG: f64 = 6.0;
const STRONG_AGAIN: f64 = 4.0;

/// A clustered page that is not known, in bytes.
const PAGE: u64 = 16 << 10;

/// Memory that takes flushed writes shows what one of them costs so many writes later, at most, and that is meant where it explains
/// the places so many times as well as the writes themselves.
const LATER: u64 = 16;
const BETTER: f64 = 1.1;

impl Scan {
    /// The sizes that it shows, by what tells them.
    pub(super) fn shows(&self, record: &Record) -> Vec<(Tooth, Fit)> {
        let teeth: &[Tooth] = match self.kind {
            Kind::Reads => &[Tooth::Halved],
            Kind::Writes => &[Tooth::First],
            Kind::LongWrites => &[Tooth::First, Tooth::Either],
        };
        let fits = teeth.iter().map(|&tooth| (tooth, self.fit(record, tooth)));
        fits.filter_map(|(tooth, fit)| Some((tooth, fit?)))
            .collect()
    }

    /// Whether a record has it.
    pub(super) fn measured(&self, record: &Record) -> bool {
        of_step(record, PARAMETER, &self.name(false)).is_some()
    }

    /// Whether it has shown a size that was then looked at again. What it shows takes some time to compute.
    pub(super) fn measured_again(&self, record: &Record) -> bool {
        let begin = self.again_begin();
        let mut names = record.steps.iter().filter(|s| s.parameter == PARAMETER);
        names.any(|step| step.name.starts_with(&begin))
    }

    fn fit(&self, record: &Record, tooth: Tooth) -> Option<Fit> {
        let fit = self.best(record, tooth, (self.sizes(), STRONG))?;
        // As far as a broad dip at the last multiple reaches.
        let margin = (self.len + self.pitch) * fit.period / self.covered.max(1);
        let between = (fit.between.0 - margin, fit.between.1 + margin);
        Some(Fit { between, ..fit })
    }

    /// Whether it shows a size that another scan has shown. Memory that survives a power cut delays what a write costs, so
    /// that the size is no more exact than before.
    pub(super) fn shows_at(&self, record: &Record, tooth: Tooth, fit: &Fit) -> Option<Fit> {
        let again = self.best(record, tooth, (fit.between, STRONG_AGAIN))?;
        let ratio = again.ratio;
        let fit = Fit { ratio, ..*fit };
        self.differs(tooth, ratio).then_some(fit)
    }

    fn best(
        &self,
        record: &Record,
        tooth: Tooth,
        (sizes, strength): ((u64, u64), f64),
    ) -> Option<Fit> {
        let wanted = Wanted {
            sizes,
            grain: u64::from(record.meta.target.logical_block_bytes),
            teeth: MULTIPLES_MIN as usize,
            strength,
            factor: self.factor(),
        };
        let accesses = (self.len, self.pitch);
        self.likeliest(|later| {
            places(record, &self.name(false), tooth, accesses, later)?.best(&wanted)
        })
    }

    /// Of what is shown by the writes themselves, or by those some writes later, what explains the places best.
    fn likeliest(&self, shown: impl Fn(u64) -> Option<Fit>) -> Option<Fit> {
        let latest = match self.kind {
            Kind::Reads => 0,
            Kind::Writes | Kind::LongWrites => LATER,
        };
        let fits = (0..=latest).filter_map(shown);
        fits.reduce(|best, fit| match fit.explains > BETTER * best.explains {
            true => fit,
            false => best,
        })
    }

    /// The size that it shows again, more exactly.
    pub(super) fn shows_again(&self, record: &Record, tooth: Tooth, fit: &Fit) -> Option<Fit> {
        let block = u64::from(record.meta.target.logical_block_bytes);
        let (len, pitch) = self.again_len(block);
        let name = self.again_name(fit.period);
        let around = |later| places(record, &name, tooth, (len, pitch), later);
        let wanted = Wanted {
            sizes: fit.between,
            grain: block,
            teeth: fit.teeth.saturating_sub(1).min(MULTIPLES_MIN as usize),
            strength: STRONG_AGAIN,
            factor: self.factor(),
        };
        let again = match tooth {
            Tooth::Halved => {
                let again = around(0)?.middle(&wanted, len / 2)?;
                // A dip is lopsided where pages alternate between the lanes of a block.
                let margin = len / 2 * again.period / self.covered.max(1);
                let (low, high) = again.between;
                let between = (
                    low.min(again.period - margin),
                    high.max(again.period + margin),
                );
                Fit { between, ..again }
            }
            Tooth::First | Tooth::Either => {
                let again = self.likeliest(|later| around(later)?.nearest(&wanted))?;
                // With FAST the first clustered page of a block has to be whole, and protected memory delays merges: both show
                // the ends later than they are.
                let margin =
                    (6 * len.max(PAGE)).max(2 * self.pitch) * again.period / self.covered.max(1);
                let between = (again.between.0 - margin, again.between.1 + margin);
                Fit { between, ..again }
            }
        };
        self.differs(tooth, again.ratio).then_some(again)
    }

    /// Whether multiples differ enough.
    pub(super) fn differs(&self, tooth: Tooth, ratio: f64) -> bool {
        match tooth {
            Tooth::Halved => ratio * self.factor() <= 1.0,
            Tooth::First | Tooth::Either => ratio >= self.factor(),
        }
    }

    /// The factor by which the multiples must differ: many accesses tell a small one, and a merge is no small one.
    fn factor(&self) -> f64 {
        match self.kind {
            Kind::Reads => 1.08,
            Kind::Writes | Kind::LongWrites => 1.5,
        }
    }
}

/// The accesses of a step, where it was made; each with what was seen so many accesses later.
pub(super) fn places(
    record: &Record,
    name: &str,
    tooth: Tooth,
    (len, pitch): (u64, u64),
    later: u64,
) -> Option<Places> {
    let samples = of_step(record, PARAMETER, name)?;
    let places = samples.map(|s| Place {
        from: s.offset.saturating_sub(later * pitch),
        len,
        value: s.ns as f64,
    });
    Some(Places::new(tooth, pitch, places.collect()))
}
