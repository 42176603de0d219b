//! Zoned devices drawn at random, under layers drawn at random, in the conformance suite: random writes, appends, reads,
//! opens, closes, finishes, resets and reports beside the suite's own shadow of every zone, its limits and its errors.
//!
//! A seed draws everything, and a failure names it.

use crate::common::{Numbered, RealLike};
use fathom_base::{Bytes, Dur, Rate, Rng};
use fathom_block::conformance::{Options, Report, check};
use fathom_block::devices::modelled_info;
use fathom_block::layers::Limit;
use fathom_block::{Device, DeviceInfo, Faulty, Limited, Narrow, Noisy, Zoned, ZonedRam};
use std::collections::BTreeSet;
use std::num::NonZeroU32;

/// The layers of this crate, which all pass zones on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Layer {
    Faulty,
    Limited,
    Narrow,
    Noisy,
    RealLike,
}

const LAYERS: [Layer; 5] = [
    Layer::Faulty,
    Layer::Limited,
    Layer::Narrow,
    Layer::Noisy,
    Layer::RealLike,
];

/// A device and what stands above it.
#[derive(Clone, Debug)]
struct Drawn {
    info: DeviceInfo,
    latency: Dur,
    layers: Vec<Layer>,
}

impl Drawn {
    fn of(seed: u64) -> Self {
        let mut rng = Rng::new(seed, 42);
        let mut upto = |most: u64| rng.below(most + 1);
        let block = [512, 1024, 4096][upto(2) as usize];
        let zone = 3 + upto(30);
        let holds = zone - upto(zone / 2);
        let max_active = upto(5) as u32;
        // No more zones are open than active; 0 is no limit.
        let max_open = match max_active {
            0 => upto(4) as u32,
            active => 1 + upto(u64::from(active) - 1) as u32,
        };
        let most = 1 + upto(20);
        let zoned = Zoned {
            zone_bytes: zone * block,
            zone_capacity_bytes: holds * block,
            max_open,
            max_active,
            max_append_bytes: (1 + upto(most - 1)) * block,
            reads_cross: upto(1) == 0,
        };
        let info = DeviceInfo {
            logical_block_bytes: block as u32,
            max_request_bytes: most * block,
            queue_depth: 1 + upto(15) as u32,
            zoned: Some(zoned),
            placement_handles: upto(3) as u16,
            trim: false,
            ..modelled_info("zoned", (6 + upto(10)) * zone * block)
        };
        let latency = Dur([0, 10, 100_000][upto(2) as usize]);
        let count = upto(3);
        let layers = (0..count).map(|_| LAYERS[upto(4) as usize]).collect();
        Self {
            info,
            latency,
            layers,
        }
    }

    fn make(&self) -> Box<dyn Device> {
        let ram: Box<dyn Device> = Box::new(ZonedRam::zoned(self.info.clone(), self.latency));
        self.layers.iter().fold(ram, |inner, layer| match layer {
            Layer::Faulty => Box::new(Faulty::new(inner, Vec::new(), 4)),
            Layer::Limited => {
                let limit = Limit {
                    operations_per_second: Some(20_000),
                    operations_burst: Some(3),
                    operation_size: Some(Bytes::kib(16)),
                    bandwidth: Rate::new(100_000_000),
                    ..Limit::default()
                };
                Box::new(Limited::new(inner, Some(&limit)))
            }
            Layer::Narrow => Box::new(Narrow::new(inner, NonZeroU32::new(2).unwrap())),
            Layer::Noisy => Box::new(Noisy::new(inner, Numbered::default())),
            Layer::RealLike => Box::new(RealLike::new(inner)),
        })
    }

    fn check(&self, seed: u64) -> Report {
        let options = Options {
            seed,
            operations: 250,
            region: 0..self.info.capacity_bytes,
            ..Options::default()
        };
        check(&mut || self.make(), &options)
            .unwrap_or_else(|violation| panic!("seed {seed}: {violation}\n{self:?}"))
    }
}

#[test]
fn zoned_devices_drawn_at_random_keep_the_rules_under_any_layers() {
    let (mut met, mut compared) = (BTreeSet::new(), 0);
    for seed in 0..150 {
        let drawn = Drawn::of(seed);
        let report = drawn.check(seed);
        for rule in ["zones", "zone limits", "random zones"] {
            assert!(
                !report.skipped.contains_key(rule),
                "seed {seed}: {report:?}"
            );
        }
        met.extend(drawn.layers);
        compared += report.bytes_compared;
    }
    assert_eq!(met.len(), LAYERS.len());
    assert!(compared > 10_000_000, "{compared}");
}
