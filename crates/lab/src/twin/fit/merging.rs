//! The search for the translation layer of a drive that merges blocks, its blocks, and what it programs and reads them with.

use super::knob::Knob;
use super::layout::{blocks, buses, layers, nearby, with_dies};
use super::mixed::turns;
use super::search::{Fitting, LOAD, MERGES, READS, WRITES};
use super::writes::writes;
use fathom_ssd::Spec;

/// The structures whose times are fitted: the best of each translation layer, and the next ones.
const FITTED: usize = 6;

/// By how much more dies must be nearer than fewer, if the record does not tell their number: chance makes as much of a difference.
const MORE_DIES: f64 = 5.0;

/// Fits the structure of a drive that merges by overwrites, the times of the best ones, and their log blocks and order of reads and
/// programs by all figures. Overwrites come first because they wait for one after the other: loops also depend on all times, which
/// are those of another structure at first. `bus` says that reads tell the bus.
pub(super) fn merging(fitting: &Fitting<'_>, spec: &Spec, bus: bool) -> Option<Spec> {
    let by = match fitting.has(&[MERGES]) {
        true => [MERGES],
        false => [LOAD],
    };
    let far = |part: &Fitting<'_>, spec| (part.distance(&spec, &by), spec);
    let sizes = match fitting.block {
        true => vec![spec.clone()],
        false => blocks(spec),
    };
    let sizes: Vec<Spec> = match fitting.dies {
        true => sizes,
        false => sizes.iter().flat_map(with_dies).collect(),
    };
    let ranked = fitting.ranked(sizes.iter().flat_map(layers).collect(), far);
    let counted = fitted(ranked)
        .into_iter()
        .filter_map(|spec| fitting.best(nearby(&spec), far));
    let mut counted: Vec<Spec> = counted.collect();
    counted.dedup();
    let all = [READS, WRITES, MERGES, LOAD];
    let dies = |spec: &Spec| spec.flash.channels * spec.flash.dies_per_package;
    let few = dies(spec);
    fitting.best(counted, |part, spec| {
        let more = if dies(&spec) > few { MORE_DIES } else { 0.0 };
        let spec = timed(part, &spec, bus).unwrap_or(spec);
        let near = nearby(&spec).into_iter().flat_map(|spec| turns(&spec));
        let near = part.best(near.collect(), |part, spec| {
            let far = part.distance(&spec, &all) + more;
            (far, (far, spec))
        });
        near.unwrap_or((f64::MAX, spec))
    })
}

/// Returns those of ranked structures whose times are fitted.
fn fitted(ranked: Vec<Spec>) -> Vec<Spec> {
    let mut layers = Vec::new();
    let (mut all, mut others) = (Vec::new(), Vec::new());
    for spec in ranked {
        let layer = (spec.mapping.kind, spec.flash.pages_per_block);
        let new = !layers.contains(&layer);
        layers.push(layer);
        if new { &mut all } else { &mut others }.push(spec);
    }
    all.truncate(FITTED);
    let more = FITTED.saturating_sub(all.len());
    all.extend(others.into_iter().take(more));
    all
}

/// Fits the times of a drive, and its bus if reads do not tell it: what waits for a page in a merge, and in loops, does.
fn timed(fitting: &Fitting<'_>, spec: &Spec, bus: bool) -> Option<Spec> {
    let link: &[Knob] = if fitting.link { &[] } else { &[Knob::Link] };
    let rates = if bus { vec![spec.clone()] } else { buses(spec) };
    fitting.best(rates, |part, spec| {
        let spec = part.search(&part.singles(&spec), link, &[READS]);
        let spec = writes(part, &part.singles(&spec));
        let views = [READS, WRITES, MERGES, LOAD];
        (part.distance(&spec, &views), spec)
    })
}
