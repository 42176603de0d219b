//! The search for the structure and the times that the answers leave open.
//!
//! It starts at the drafts. Reads are fitted first, then writes, each with the figures that depend on its times. The search
//! is a function of the record: the seed of all candidates is that of the record.

mod knob;
mod layout;
mod merging;
mod mixed;
mod search;
mod writes;

use super::direct;
use fathom_ssd::Spec;
use knob::Knob;
use layout::{arranged, manners, sized};
use merging::merging;
use mixed::mixed;
use search::{LOAD, MERGES, READS, WRITES};
use writes::{by_one_program, writes};

pub(super) use search::{Fitting, Shared};

/// How much faster than what was seen a link is at the start of a search: one that was not saturated stays so.
const FASTER: f64 = 1.3;

/// The pages, mappings and manners of a fast cache that are fitted to their end.
const FINALISTS: usize = 4;

/// By how much a longer mapping unit must be nearer than the usual one, if the record does not tell it: the page and the block differ
/// with it, and chance makes as much of a difference.
const LONGER_UNIT: f64 = 10.0;

/// The sizes of blocks and of the static part of a fast cache whose times are fitted.
const SIZES: usize = 4;

/// A draft with a manner of its fast cache.
#[derive(Clone)]
struct Entry {
    draft: usize,
    manner: usize,
    spec: Spec,
}

/// Fits a drive: several pages and manners of its fast cache by the times of writes, and the best of them by all figures. Also
/// returns the number of the draft.
pub(super) fn fit(fitting: &Fitting<'_>, drafts: &[Spec]) -> Option<(usize, Spec)> {
    let entries = drafts.iter().enumerate().flat_map(|(draft, spec)| {
        let all = manners(spec).into_iter().enumerate();
        all.map(move |(manner, spec)| Entry {
            draft,
            manner,
            spec,
        })
    });
    let entries: Vec<Entry> = entries.collect();
    let usual = drafts.iter().map(Spec::unit).min();
    let is_longer = |spec: &Spec| Some(spec.unit()) > usual;
    let (longer, entries): (Vec<_>, Vec<_>) = entries
        .into_iter()
        .partition(|entry| is_longer(&entry.spec));
    let far = |part: &Fitting<'_>, entry: Entry| {
        let spec = writes(part, &part.singles(&entry.spec));
        let far = part.distance(&spec, &[WRITES, READS, LOAD]);
        let entry = Entry { spec, ..entry };
        (far, (far, entry))
    };
    let (ranked, longer) = fitting.stage(0, |part| {
        let ranked = part.ranked(entries, far);
        match ranked.first() {
            Some((near, _)) if *near > LONGER_UNIT => (ranked, part.best(longer, far)),
            _ => (ranked, None),
        }
    });
    let ranked = ranked.into_iter().map(|(_, entry)| entry).collect();
    let mut few = finalists(ranked);
    few.extend(longer.map(|(_, entry)| entry));
    fitting.best(few, |part, entry| match whole(part, &entry.spec) {
        Some((far, spec)) => (
            far + LONGER_UNIT * f64::from(u8::from(is_longer(&spec))),
            (entry.draft, spec),
        ),
        None => (f64::MAX, (entry.draft, entry.spec)),
    })
}

/// Returns those of ranked entries that are fitted to their end: the best of each mapping and manner, and the next ones.
fn finalists(ranked: Vec<Entry>) -> Vec<Entry> {
    let mut manners = Vec::new();
    let (mut all, mut others) = (Vec::new(), Vec::new());
    for entry in ranked {
        let manner = (entry.spec.mapping.kind.is_paged(), entry.manner);
        let new = !manners.contains(&manner);
        manners.push(manner);
        if new { &mut all } else { &mut others }.push(entry);
    }
    let more = FINALISTS.saturating_sub(all.len());
    all.extend(others.into_iter().take(more));
    all
}

/// Fits the channels of a drive with the times of reads, and what reads do while something writes. Also returns the distance from
/// all figures.
fn whole(fitting: &Fitting<'_>, spec: &Spec) -> Option<(f64, Spec)> {
    let bus = direct::tells_bus(fitting.recorded, spec.host.logical_block.0);
    let open = [(Knob::Bus, !bus), (Knob::Link, !fitting.link)];
    let open: Vec<Knob> = open
        .iter()
        .filter(|(_, open)| *open)
        .map(|(knob, _)| *knob)
        .collect();
    let faster = if fitting.link { 1.0 } else { FASTER };
    let spec = fitting.stage(1, |part| {
        part.best(arranged(spec, faster), |part, spec| {
            let spec = part.search(&part.singles(&spec), &open, &[READS]);
            let spec = part.singles(&spec);
            (part.distance(&spec, &[READS, LOAD]), spec)
        })
    })?;
    let spec = fitting.stage(2, |part| {
        if spec.fast_cache.is_none() {
            return Some(writes(part, &spec));
        }
        let views = [WRITES, LOAD];
        let far = |part: &Fitting<'_>, spec| (part.distance(&spec, &views), spec);
        let mut sizes = part.ranked(sized(&spec, part.block), far);
        sizes.truncate(SIZES);
        part.best(sizes, |part, spec| {
            let spec = writes(part, &spec);
            (part.distance(&spec, &views), spec)
        })
    })?;
    let spec = match fitting.has(&[MERGES, LOAD]) && !spec.mapping.kind.is_paged() {
        true => fitting.stage(3, |part| merging(part, &spec, bus))?,
        false => spec,
    };
    let (beside, spec) = fitting.stage(4, |part| mixed(part, &spec))?;
    let all = [READS, WRITES, MERGES, LOAD];
    let spec = match fitting.has(&[LOAD]) {
        true => fitting.stage(5, |part| {
            let others = arranged(&spec, 1.0).into_iter();
            let tried = std::iter::once(spec.clone()).chain(others).collect();
            part.best(tried, |part, spec| (part.distance(&spec, &all), spec))
        })?,
        false => spec,
    };
    let spec = by_one_program(fitting, &spec);
    Some((beside + fitting.distance(&spec, &all), spec))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_manner_is_fitted_to_its_end() {
        let spec = Spec::from_toml(fathom_model::find("tlc-dram").unwrap().text).unwrap();
        let entry = |(draft, manner)| Entry {
            draft,
            manner,
            spec: spec.clone(),
        };
        let chosen = |ranked: &[(usize, usize)]| {
            let ranked = ranked.iter().copied().map(entry).collect();
            let all = finalists(ranked).into_iter();
            all.map(|one| (one.draft, one.manner)).collect::<Vec<_>>()
        };
        // The best of both manners, and the two next ones.
        let ranked = [(0, 1), (1, 1), (2, 1), (3, 1), (3, 0), (0, 0)];
        assert_eq!(chosen(&ranked), [(0, 1), (3, 0), (1, 1), (2, 1)]);
        assert_eq!(chosen(&[(0, 0)]), [(0, 0)]);
    }
}
