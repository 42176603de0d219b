//! The search for the structure and the times that the answers leave open.
//!
//! It starts at the drafts. Reads are fitted first, then writes, each with the figures that depend on its times. The search
//! is a function of the record: the seed of all candidates is that of the record.

mod knob;
mod layout;
mod mixed;
mod search;

use super::direct;
use super::figures::What;
use fathom_ssd::Spec;
use knob::Knob;
use layout::{arranged, caches, logs};
use mixed::mixed;
use search::{MERGES, READS, View, WRITES};

pub(super) use search::{Fitting, Shared};

/// How much faster than what was seen a link is at the start of a search: one that was not saturated stays so.
const FASTER: f64 = 1.3;

/// The share of the link's rate from which a fill with a flush behind each piece is as fast as the link.
const BY_LINK: f64 = 0.7;

/// Fits a drive: its page and its fast cache by the times of writes, its channels with the times of reads, and what reads do
/// while something writes. Also returns the number of the draft.
pub(super) fn fit(fitting: &Fitting<'_>, drafts: &[Spec]) -> Option<(usize, Spec)> {
    let numbered = drafts.iter().enumerate();
    let tried = numbered.flat_map(|(n, spec)| caches(spec).into_iter().map(move |spec| (n, spec)));
    let (number, spec) = fitting.stage(0, |part| {
        part.best(tried.collect(), |part, (number, spec)| {
            let spec = writes(part, &part.singles(&spec));
            (part.distance(&spec, &[WRITES, READS]), (number, spec))
        })
    })?;
    let bus = direct::tells_bus(fitting.recorded, spec.host.logical_block.0);
    let open = [(Knob::Bus, !bus), (Knob::Link, !fitting.link)];
    let open: Vec<Knob> = open
        .iter()
        .filter(|(_, open)| *open)
        .map(|(knob, _)| *knob)
        .collect();
    let faster = if fitting.link { 1.0 } else { FASTER };
    let spec = fitting.stage(1, |part| {
        part.best(arranged(&spec, faster), |part, spec| {
            let spec = part.search(&part.singles(&spec), &open, &[READS]);
            let spec = part.singles(&spec);
            (part.distance(&spec, &[READS]), spec)
        })
    })?;
    let spec = fitting.stage(2, |part| writes(part, &spec));
    let spec = match fitting.has(&[MERGES]) && !spec.mapping.kind.is_paged() {
        true => fitting.stage(3, |part| {
            part.best(logs(&spec), |part, spec| {
                (part.distance(&spec, &[MERGES]), spec)
            })
        })?,
        false => spec,
    };
    let spec = fitting.stage(4, |part| mixed(part, &spec))?;
    Some((number, spec))
}

fn writes(fitting: &Fitting<'_>, spec: &Spec) -> Spec {
    let fast = View {
        of: |what| what == What::FastFill,
        ..WRITES
    };
    // Fills at the rate of the link do not show it.
    let link = spec.host.bandwidth.bytes_per_second() as f64;
    let shows = fitting
        .goal(What::FastFill)
        .is_some_and(|rate| rate < BY_LINK * link);
    let knobs: &[Knob] = if shows { &[Knob::FastProgram] } else { &[] };
    let spec = fitting.search(spec, knobs, &[fast]);
    fitting.search(&spec, &[Knob::Program], &[WRITES])
}
