//! The mapping, and what tells the blocks of a drive that merges them.

use super::parts::{Assumptions, Layout};
use crate::twin::seen::Seen;
use fathom_base::Bytes;
use fathom_probe::Parameter;
use fathom_ssd::spec::{Mapping, MappingKind};

/// The usual value of what is not known, in percent.
const OVER_PERCENT: f64 = 7.0;
/// The bytes of an entry of a map in flash.
const ENTRY: u64 = 8;

/// A mapping, and why it is assumed if the answers do not tell it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mapped {
    pub(super) kind: MappingKind,
    pub(super) why: Option<&'static str>,
}

/// Returns the mappings that fit the answers.
pub(super) fn mappings_tried(seen: &Seen<'_>) -> Vec<Mapped> {
    let of = |kind, why| vec![Mapped { kind, why }];
    if seen.value(Parameter::MapReach).is_some() {
        return of(MappingKind::Dftl, None);
    }
    let open = |why| of(MappingKind::Fast, Some(why));
    match merged(seen) {
        Some((_, Some(known))) => of(
            known,
            Some("by the sizes of what is merged and reclaimed, and by random overwrites"),
        ),
        Some((_, None)) => open("blocks are merged; which translation layer does it does not show"),
        None if seen.merges() => open(
            "random overwrites are many times as slow as those in order; which translation layer does it does not show",
        ),
        None if seen.may_merge() => {
            let why = Some(
                "random overwrites are slower than those in order or than a fill; the mapping that fits best",
            );
            [MappingKind::Page, MappingKind::Fast]
                .map(|kind| Mapped { kind, why })
                .into()
        }
        None => of(MappingKind::Page, None),
    }
}

/// Returns the mapping of a layout.
pub(super) fn mapping(seen: &Seen<'_>, layout: &Layout, assumed: &mut Assumptions) -> Mapping {
    let over = seen.number(Parameter::OverProvisioning);
    let percent = over.map_or(OVER_PERCENT, |ratio| (ratio * 1e4).round() / 1e2);
    if over.is_none() {
        assumed.add(
            "mapping.over_provisioning_percent",
            percent,
            seen.why_not(Parameter::OverProvisioning),
        );
    }
    let paged = layout.kind.is_paged();
    if !paged {
        assumed.add(
            "mapping.log_blocks",
            8,
            "the number with which random overwrites are as fast",
        );
    }
    let reach = seen.bytes(Parameter::MapReach);
    Mapping {
        unit: Some(Bytes(layout.unit)),
        over_provisioning_percent: percent,
        log_blocks: if paged { 0 } else { 8 },
        map_cache: reach.map(|reach| Bytes((reach / layout.unit * ENTRY).max(64))),
        ..Mapping::new(layout.kind)
    }
}

/// The data blocks that share their blocks in a superblock mapping (Kang et al., EMSOFT 2006), and how near two sizes are that
/// are the same.
const SHARED: f64 = 4.0;
const NEAR: f64 = 0.03;

/// Returns the block and the mapping of a drive that merges blocks. What merges show is the block of most mappings, and all
/// data blocks that share their blocks of a superblock mapping; what is reclaimed is a block.
pub(super) fn merged(seen: &Seen<'_>) -> Option<(u64, Option<MappingKind>)> {
    let merged = seen.bytes(Parameter::ClusteredBlock)?;
    let Some(reclaimed) = seen
        .bytes(Parameter::ReclaimUnit)
        .filter(|bytes| *bytes > 0)
    else {
        return Some((merged, None));
    };
    let times = merged as f64 / reclaimed as f64;
    let shared = (times / SHARED).round() * SHARED;
    Some(match () {
        () if (times - 1.0).abs() < NEAR => (merged, Some(MappingKind::Fast)),
        () if shared >= SHARED && (times / shared - 1.0).abs() < NEAR => (
            (merged as f64 / shared).round() as u64,
            Some(MappingKind::Superblock),
        ),
        () => (merged, None),
    })
}

/// Returns the bytes after which a stream in order waits each time, on a drive that merges: a block, whatever zones at random do.
pub(super) fn waits(seen: &Seen<'_>) -> Option<f64> {
    let apart = seen.figure(Parameter::ReclaimUnit, "dips_apart_bytes");
    apart.filter(|_| seen.may_merge())
}

/// Returns true if what is merged, what is reclaimed, or a stream in order tells the block of a drive that merges.
pub(in crate::twin) fn knows_block(seen: &Seen<'_>) -> bool {
    let of = |parameter| seen.bytes(parameter).is_some_and(|bytes| bytes > 0);
    of(Parameter::ClusteredBlock) || of(Parameter::ReclaimUnit) || waits(seen).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_probe::run::{self, RunConfig};
    use fathom_probe::{Level, Unobserved};
    use fathom_ssd::Spec;

    fn kinds(spec: Spec) -> Vec<MappingKind> {
        spec.check().unwrap();
        let mut drive = fathom_model::Model::Ssd(Box::new(spec)).build(1).unwrap();
        let config = RunConfig {
            seed: 1,
            level: Level::Full,
            parameters: vec![Parameter::FastCache, Parameter::OverProvisioning],
            ..RunConfig::default()
        };
        let record = run::run(&mut drive, &config, None, &mut Unobserved).unwrap();
        let profile = run::solve(&record);
        let all = mappings_tried(&Seen::new(&record, &profile));
        all.into_iter().map(|mapped| mapped.kind).collect()
    }

    /// One log for all blocks of a card, with room for overwrites of many of them: random ones take 2 to 4 times as long as
    /// those in order.
    #[test]
    fn a_card_with_many_log_blocks_may_map_pages_or_merge() {
        let mut spec = Spec::from_toml(fathom_model::find("sd-card").unwrap().text).unwrap();
        spec.capacity = Bytes::mib(512);
        spec.write_buffer = None;
        spec.host.queue_depth = 1;
        (spec.flash.channels, spec.flash.dies_per_package) = (1, 1);
        (spec.flash.packages_per_channel, spec.flash.planes_per_die) = (1, 1);
        (spec.flash.page, spec.flash.clustered_page) = (Bytes::kib(32), Bytes::kib(32));
        spec.flash.pages_per_block = 128;
        spec.flash.clustered_block = Bytes::mib(4);
        spec.mapping = Mapping::new(MappingKind::Fast);
        spec.mapping.log_blocks = 12;
        assert_eq!(kinds(spec.clone()), [MappingKind::Page, MappingKind::Fast]);
        spec.mapping = Mapping::new(MappingKind::Page);
        assert_eq!(kinds(spec), [MappingKind::Page]);
    }
}
