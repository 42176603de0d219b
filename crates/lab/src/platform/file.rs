//! The platform file of a measured machine.

use fathom_base::Frequency;
use fathom_platform::{Clocks, Interface, Layer, Platform};
use fathom_report::platform::{Cost, PlatformReport};

/// Returns the platform of a measurement; `None` if the layers were not measured.
///
/// Its drive is open: a measurement of a host says nothing of the inside of its drives. Half of the context switches is taken
/// to be before the thread sleeps, and overlaps with the drive.
pub fn measured_platform(report: &PlatformReport) -> Option<Platform> {
    let clock = report.clock_hz.and_then(Frequency::new)?;
    let of = |interface| {
        let mut costs = report.costs.iter();
        costs.find(|cost| cost.path.interface == interface && !cost.path.buffered)
    };
    let sync = of(Interface::Pread).filter(|cost| !cost.layers.is_empty())?;
    let cores = report.scaling.iter().map(|row| row.cores).max();
    let copy = report.copy.as_ref();
    Some(Platform {
        name: format!("measured: {}", report.subject),
        clock,
        cores: cores.unwrap_or(1),
        clocks: Clocks {
            copy_per_byte: copy.map_or(0.0, |copy| copy.per_byte.max(0.0)),
            libaio: of(Interface::Libaio).map_or(0, |aio| own(aio, sync)),
            io_uring: of(Interface::IoUring).map_or(0, |ring| own(ring, sync)),
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

/// What an asynchronous interface's own management costs an I/O, beyond what `pread` costs there.
fn own(interface: &Cost, sync: &Cost) -> u64 {
    let calls = |cost: &Cost| layer(cost, Layer::SystemCall) + layer(cost, Layer::FileSystem);
    calls(interface).saturating_sub(calls(sync))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_report::platform::Path;

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
        let with = |interface, calls| Cost {
            path: Path {
                interface,
                ..Path::default()
            },
            layers: [(Layer::SystemCall, calls)].into(),
            ..Cost::default()
        };
        let rings = [
            with(Interface::Libaio, 1_900.0),
            with(Interface::IoUring, 700.0),
        ];
        let mut report = PlatformReport {
            clock_hz: Some(2_000_000_000),
            costs: [cost].into_iter().chain(rings).collect(),
            ..PlatformReport::default()
        };
        let platform = measured_platform(&report).unwrap();
        assert_eq!(platform.check(), Ok(()));
        let clocks = &platform.clocks;
        assert_eq!((clocks.system_call, clocks.block), (400, 1_000));
        assert_eq!((clocks.libaio, clocks.io_uring), (1_500, 300));
        assert_eq!((clocks.driver, clocks.sleep, clocks.wake), (0, 650, 651));
        report.costs[0].layers.clear();
        assert_eq!(measured_platform(&report), None);
    }
}
