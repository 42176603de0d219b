//! Classifies drives along several axes, so that failures can be related to a kind of drive.

use super::units::MIB;
use fathom_base::Dur;
use fathom_ssd::spec::{Drain, Protocol};
use fathom_ssd::{Geometry, Spec};
use std::collections::BTreeMap;

/// Maps the name of an axis to the value on it.
pub type Axes = BTreeMap<&'static str, String>;

pub(super) fn of(spec: &Spec) -> Axes {
    let mut axes = Axes::new();
    let mut set = |axis, value: &str| {
        axes.insert(axis, value.to_owned());
    };
    set("mapping", spec.mapping.kind.name());
    set("unit", unit(spec));
    set("clustered page", power_of_two(spec.flash.clustered_page.0));
    set(
        "clustered block",
        power_of_two(spec.flash.clustered_block.0),
    );
    set("planes", &spec.flash.planes_per_die.to_string());
    set("capacity", capacity(spec.capacity.0));
    set("logical block", &spec.host.logical_block.to_string());
    set("link", link(spec));
    set(
        "depth",
        if spec.host.queue_depth == 1 {
            "1"
        } else {
            "2 or more"
        },
    );
    set("write memory", memory(spec));
    set("protected", protected(spec));
    set("drain", drain(spec));
    set("write-back", write_back(spec));
    set("read memory", read_memory(spec));
    set("jitter", jitter(spec));
    let stalls = spec.noise.background_interval > Dur::ZERO;
    set("stalls", if stalls { "yes" } else { "no" });
    let faults = spec.faults.factory_bad_percent > 0.0 || spec.faults.read_retry > 0.0;
    set("faults", if faults { "yes" } else { "no" });
    axes
}

fn unit(spec: &Spec) -> &'static str {
    match spec.unit().cmp(&spec.flash.page.0) {
        std::cmp::Ordering::Less => "below the flash page",
        std::cmp::Ordering::Equal => "the flash page",
        std::cmp::Ordering::Greater => "above the flash page",
    }
}

fn power_of_two(bytes: u64) -> &'static str {
    match bytes.is_power_of_two() {
        true => "a power of two",
        false => "another size",
    }
}

fn capacity(bytes: u64) -> &'static str {
    match bytes / MIB {
        0..512 => "below 512 MiB",
        512..2048 => "512 MiB to 2 GiB",
        _ => "2 GiB and more",
    }
}

fn link(spec: &Spec) -> &'static str {
    let fast = spec.host.bandwidth.bytes_per_second() >= 600_000_000;
    match (spec.host.protocol, fast) {
        (Protocol::Sata, false) => "half duplex, below 600 MB/s",
        (Protocol::Sata, true) => "half duplex, 600 MB/s and more",
        (Protocol::Nvme, false) => "full duplex, below 600 MB/s",
        (Protocol::Nvme, true) => "full duplex, 600 MB/s and more",
    }
}

fn memory(spec: &Spec) -> &'static str {
    let buffer = spec.write_buffer.as_ref();
    buffer.map_or("none", |buffer| buffer.policy.name())
}

fn protected(spec: &Spec) -> &'static str {
    match &spec.write_buffer {
        None => "no memory",
        Some(buffer) if buffer.battery => "yes",
        Some(_) => "no",
    }
}

fn drain(spec: &Spec) -> &'static str {
    match spec.write_buffer.as_ref().map(|buffer| buffer.drain) {
        None => "no memory",
        Some(Drain::OnFull) => "when full",
        Some(Drain::Idle) => "when idle",
    }
}

/// Compares the program rate of the flash array with the bandwidth of the link.
fn write_back(spec: &Spec) -> &'static str {
    let (flash, page) = (&spec.flash, spec.flash.clustered_page.0);
    let stations = u64::from(Geometry::new(spec).stations);
    let channels = stations.min(u64::from(flash.channels));
    let bus = flash.bus.transfer(page).0;
    let ns = flash.program.0 / stations + bus / channels;
    match ns < spec.host.bandwidth.transfer(page).0 {
        true => "above the link",
        false => "below the link",
    }
}

fn read_memory(spec: &Spec) -> &'static str {
    match &spec.read_buffer {
        None => "none",
        Some(buffer) if buffer.prefetch.is_some() => "reads ahead",
        Some(buffer) if buffer.min_request.0 > 512 => "for long reads",
        Some(_) => "plain",
    }
}

fn jitter(spec: &Spec) -> &'static str {
    let percent = spec.noise.command_percent.max(spec.noise.flash_percent);
    match percent {
        p if p <= 0.0 => "none",
        p if p <= 10.0 => "up to 10 %",
        p if p <= 30.0 => "10 to 30 %",
        _ => "30 to 100 %",
    }
}
