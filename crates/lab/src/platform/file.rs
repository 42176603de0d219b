//! The platform file of a measured machine.

use fathom_base::Frequency;
use fathom_platform::{Clocks, Interface, Layer, Platform};
use fathom_report::platform::{Cost, PlatformReport};

/// Returns the platform file of a measurement; `None` if the layers were not measured.
///
/// Its drive is open: a measurement of a host says nothing of the inside of its drives. Half of the context switches is taken
/// to be before the thread sleeps, and overlaps with the drive.
pub fn measured_platform(report: &PlatformReport) -> Option<String> {
    let sync = sync(report)?;
    let platform = of(report, sync)?;
    let mut head = format!(
        "# {}, measured by Fathom {}: the layers of pread, direct. Half of the context switch is taken to be before the thread\n\
         # sleeps. The drive is open: give one with --drive.\n",
        report.subject, report.fathom
    );
    let unknown: Vec<&str> = KEYS
        .iter()
        .filter(|(_, layer)| !sync.layers.contains_key(layer))
        .map(|(key, _)| *key)
        .collect();
    if !unknown.is_empty() {
        head += &format!(
            "# Not measured apart, and 0 here because it is in its neighbours: {}.\n",
            unknown.join(", ")
        );
    }
    Some(head + &platform.to_toml())
}

/// The keys of the layers.
const KEYS: [(&str, Layer); 8] = [
    ("application", Layer::Application),
    ("system-call", Layer::SystemCall),
    ("vfs", Layer::FileSystem),
    ("block", Layer::Block),
    ("protocol", Layer::Protocol),
    ("driver", Layer::Driver),
    ("interrupt", Layer::Interrupt),
    ("uncached-reads", Layer::UncachedReads),
];

/// The cost of direct reads by `pread`, if its layers were measured.
fn sync(report: &PlatformReport) -> Option<&Cost> {
    cost_of(report, Interface::Pread).filter(|cost| !cost.layers.is_empty())
}

fn cost_of(report: &PlatformReport, interface: Interface) -> Option<&Cost> {
    let mut costs = report.costs.iter();
    costs.find(|cost| cost.path.interface == interface && !cost.path.buffered)
}

fn of(report: &PlatformReport, sync: &Cost) -> Option<Platform> {
    let clock = report.clock_hz.and_then(Frequency::new)?;
    let cores = report.scaling.iter().map(|row| row.cores).max();
    let copy = report.copy.as_ref();
    Some(Platform {
        name: format!("measured: {}", report.subject),
        clock,
        cores: cores.unwrap_or(1),
        clocks: Clocks {
            copy_per_byte: copy.map_or(0.0, |copy| copy.per_byte.max(0.0)),
            interface: cost_of(report, Interface::IoUring).map_or(0, |ring| interface(ring, sync)),
            ..clocks(sync)
        },
        ..Platform::default()
    })
}

fn layer(cost: &Cost, layer: Layer) -> u64 {
    let clocks = cost.layers.get(&layer);
    clocks.map_or(0, |clocks| clocks.round() as u64)
}

fn clocks(cost: &Cost) -> Clocks {
    let switches = layer(cost, Layer::ContextSwitch);
    Clocks {
        application: layer(cost, Layer::Application),
        system_call: layer(cost, Layer::SystemCall),
        vfs: layer(cost, Layer::FileSystem),
        block: layer(cost, Layer::Block),
        protocol: layer(cost, Layer::Protocol),
        driver: layer(cost, Layer::Driver),
        sleep: switches / 2,
        interrupt: layer(cost, Layer::Interrupt),
        driver_return: 0,
        completion: layer(cost, Layer::Completion),
        wake: switches - switches / 2,
        ..Clocks::default()
    }
}

/// What io_uring's own management costs an I/O, beyond what `pread` costs there.
fn interface(ring: &Cost, sync: &Cost) -> u64 {
    let own = |cost: &Cost| layer(cost, Layer::SystemCall) + layer(cost, Layer::FileSystem);
    own(ring).saturating_sub(own(sync))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layers_become_clocks_and_nothing_is_lost() {
        let layers = [
            (Layer::SystemCall, 400.4),
            (Layer::Block, 1_000.0),
            (Layer::ContextSwitch, 1_301.0),
            (Layer::Other, 70_000.0),
        ];
        let cost = Cost {
            layers: layers.into(),
            ..Cost::default()
        };
        let mut report = PlatformReport {
            clock_hz: Some(2_000_000_000),
            costs: vec![cost],
            ..PlatformReport::default()
        };
        let text = measured_platform(&report).unwrap();
        assert!(
            text.contains("in its neighbours: application, vfs, protocol, driver, "),
            "{text}"
        );
        let platform = Platform::from_toml(&text).unwrap();
        assert_eq!(platform.check(), Ok(()));
        let clocks = &platform.clocks;
        assert_eq!((clocks.system_call, clocks.block), (400, 1_000));
        assert_eq!((clocks.driver, clocks.sleep, clocks.wake), (0, 650, 651));
        report.costs[0].layers.clear();
        assert_eq!(measured_platform(&report), None);
    }
}
