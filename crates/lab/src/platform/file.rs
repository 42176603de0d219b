//! The platform file of a measured machine.

use fathom_base::Frequency;
use fathom_platform::{Clocks, Interface, Layer, Platform};
use fathom_report::platform::{Cost, PlatformReport};

/// Returns the platform file of a measurement; `None` if the layers were not measured.
///
/// Its drive is open: a measurement of a host says nothing of the inside of its drives. Half of the context switches is taken
/// to be before the thread sleeps, and overlaps with the drive. Each interface that was measured has its own clocks.
pub fn measured_platform(report: &PlatformReport) -> Option<String> {
    let sync = sync(report)?;
    let platform = of(report, sync)?;
    let mut head = format!(
        "# {}, measured by Fathom {}: the layers of direct reads.\n\
         # Half of a context switch is taken to be before the thread sleeps.\n\
         # The drive is open: give one with --drive.\n",
        report.subject, report.fathom
    );
    let unknown: Vec<&str> = KEYS
        .iter()
        .filter(|(_, layer)| !sync.layers.contains_key(layer))
        .map(|(key, _)| *key)
        .collect();
    if !unknown.is_empty() {
        head += &format!(
            "# Not measured apart, and 0 in [clocks] because it is in its neighbours:\n# {}.\n",
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
    ("driver-return", Layer::Interrupt),
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
    let copy = copy.map_or(0.0, |copy| copy.per_byte.max(0.0));
    let direct = report.costs.iter().filter(|cost| !cost.path.buffered);
    let others = direct.filter(|cost| cost.path.interface != Interface::Pread);
    let others = others.filter(|cost| !cost.layers.is_empty());
    Some(Platform {
        name: format!("measured: {}", report.subject),
        clock,
        cores: cores.unwrap_or(1),
        clocks: clocks(sync, copy),
        interfaces: others
            .map(|cost| (cost.path.interface, clocks(cost, copy)))
            .collect(),
        ..Platform::default()
    })
}

/// The clocks of a cost. What a measurement has for each I/O of a batch becomes that of a call, or of a sleep: the model
/// has batches of its own.
fn clocks(cost: &Cost, copy_per_byte: f64) -> Clocks {
    let layer = |layer: Layer| cost.layers.get(&layer).copied().unwrap_or_default();
    let whole = |clocks: f64| clocks.round() as u64;
    let each = |layer: f64, count: Option<f64>| {
        let count = count.filter(|count| *count > 0.0);
        whole(count.map_or(layer, |count| layer / count.min(1.0)))
    };
    let switch = each(layer(Layer::ContextSwitch), cost.switches);
    Clocks {
        application: whole(layer(Layer::Application)),
        system_call: each(layer(Layer::SystemCall), cost.system_calls),
        vfs: whole(layer(Layer::FileSystem)),
        copy_per_byte,
        block: whole(layer(Layer::Block)),
        protocol: whole(layer(Layer::Protocol)),
        driver: whole(layer(Layer::Driver)),
        sleep: switch / 2,
        interrupt: 0,
        driver_return: whole(layer(Layer::Interrupt)),
        completion: whole(layer(Layer::Completion)),
        wake: switch - switch / 2,
        ..Clocks::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_report::platform::Path;

    fn cost(interface: Interface, layers: &[(Layer, f64)]) -> Cost {
        Cost {
            path: Path {
                interface,
                ..Path::default()
            },
            layers: layers.iter().copied().collect(),
            ..Cost::default()
        }
    }

    #[test]
    fn the_layers_become_clocks_and_nothing_is_lost() {
        let sync = [
            (Layer::SystemCall, 400.4),
            (Layer::Block, 1_000.0),
            (Layer::ContextSwitch, 1_301.0),
            (Layer::Interrupt, 70.0),
            (Layer::Other, 70_000.0),
        ];
        let ring = [
            (Layer::SystemCall, 100.0),
            (Layer::ContextSwitch, 60.0),
            (Layer::Block, 900.0),
        ];
        let ring = Cost {
            system_calls: Some(0.2),
            switches: Some(0.05),
            ..cost(Interface::IoUring, &ring)
        };
        let mut report = PlatformReport {
            clock_hz: Some(2_000_000_000),
            costs: vec![cost(Interface::Pread, &sync), ring],
            ..PlatformReport::default()
        };
        let text = measured_platform(&report).unwrap();
        assert!(
            text.contains("in its neighbours:\n# application, vfs, protocol, driver, "),
            "{text}"
        );
        let platform = Platform::from_toml(&text).unwrap();
        let clocks = &platform.clocks;
        assert_eq!((clocks.system_call, clocks.block), (400, 1_000));
        assert_eq!((clocks.driver, clocks.sleep, clocks.wake), (0, 650, 651));
        assert_eq!((clocks.interrupt, clocks.driver_return), (0, 70));
        // A system call of five I/Os, and a sleep of twenty.
        let ring = &platform.interfaces[&Interface::IoUring];
        assert_eq!((ring.system_call, ring.block), (500, 900));
        assert_eq!(ring.sleep + ring.wake, 1_200);
        report.costs[0].layers.clear();
        assert_eq!(measured_platform(&report), None);
    }
}
