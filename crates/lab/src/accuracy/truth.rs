//! What there is to find in a drive, from its drive file alone.
//!
//! A parameter is *hidden* only where the mechanism keeps it from whoever sees requests and their times, and by these
//! rules:
//! - Page mapping puts every mapped unit anywhere and collects by valid units. No aligned size is switched or merged as
//!   one, so neither the clustered block nor the logical block exists for the host.
//! - Battery-backed memory completes a flush at once. A flushed write is then as fast into a partly written unit as into
//!   a whole one, and the memory can never be emptied on purpose: clustered page, write buffer and write policy are hidden.
//!
//! Everything else that is there counts as identifiable, however small its effect:
//! - A partly written unit is read before it is programmed, in this order: a flushed write is longer by tR and a transfer.
//! - A second read of up to the capacity of the read buffer is shorter by tR and the transfer of its first page, because
//!   no byte crosses the link before; one beyond the capacity is not, because lines leave in order of last use.
//! - A write into an empty write buffer waits for a program as soon as it exceeds the capacity, and not before.
//! - Of a read that follows others, as much as was read ahead comes from memory at once: it is shorter by tR and a
//!   transfer, as long as the read buffer serves reads of its size.
//! - Half of a cache's capacity, written again and again, never waits for a program; in a first-in-first-out buffer it
//!   waits once a capacity.
//! - With block mapping a random write of one clustered block switches, and a smaller one merges: clustered and logical
//!   block are both the clustered block.

use fathom_probe::{Parameter, Value};
use fathom_ssd::Spec;
use fathom_ssd::spec::{WriteBuffer, WritePolicy};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// What there is to find of one parameter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Truth {
    /// A value: bytes or a choice.
    Is(Value),
    /// The drive has no such thing.
    Nothing,
    /// It has one, which cannot be seen from outside; why.
    Hidden(&'static str),
}

const BY_PAGES: &str = "page mapping";
const BATTERY: &str = "battery-backed write memory";

impl Truth {
    /// Of every parameter.
    pub fn all(spec: &Spec) -> BTreeMap<Parameter, Truth> {
        let of = |parameter| (parameter, Truth::of(spec, parameter));
        Parameter::ALL.into_iter().map(of).collect()
    }

    /// Of one parameter.
    pub fn of(spec: &Spec, parameter: Parameter) -> Truth {
        match parameter {
            Parameter::ClusteredPage => clustered_page(spec),
            Parameter::ClusteredBlock | Parameter::LogicalBlock => match spec.mapping.kind {
                kind if kind.is_paged() => Truth::Hidden(BY_PAGES),
                _ => size(spec.flash.clustered_block.0),
            },
            Parameter::ReadBuffer => {
                let buffer = spec.read_buffer.as_ref();
                buffer.map_or(Truth::Nothing, |buffer| size(buffer.capacity.0))
            }
            Parameter::Prefetch => {
                let prefetch = spec.read_buffer.as_ref().and_then(|b| b.prefetch.as_ref());
                prefetch.map_or(Truth::Nothing, |_| choice("read-ahead"))
            }
            Parameter::WriteBuffer => write_memory(spec, |buffer| size(buffer.capacity.0)),
            Parameter::WritePolicy => write_memory(spec, |buffer| {
                choice(match buffer.policy {
                    WritePolicy::Fifo => "buffer",
                    _ => "cache",
                })
            }),
        }
    }

    /// Whether a probe can find it.
    pub fn is_identifiable(&self) -> bool {
        matches!(self, Truth::Is(_))
    }
}

impl fmt::Display for Truth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Truth::Is(Value::Bytes(bytes)) => write!(f, "{bytes}"),
            Truth::Is(Value::Choice(choice)) => f.write_str(choice),
            Truth::Nothing => f.write_str("nothing"),
            Truth::Hidden(why) => write!(f, "hidden by {why}"),
        }
    }
}

/// The mapped unit: what is read, modified and written where a write covers part of it.
fn clustered_page(spec: &Spec) -> Truth {
    if spec.unit() == spec.host.logical_block.0 {
        return Truth::Nothing;
    }
    match &spec.write_buffer {
        Some(buffer) if buffer.battery => Truth::Hidden(BATTERY),
        _ => size(spec.unit()),
    }
}

fn write_memory(spec: &Spec, of: impl Fn(&WriteBuffer) -> Truth) -> Truth {
    match &spec.write_buffer {
        None => Truth::Nothing,
        Some(buffer) if buffer.battery => Truth::Hidden(BATTERY),
        Some(buffer) => of(buffer),
    }
}

fn size(bytes: u64) -> Truth {
    Truth::Is(Value::Bytes(bytes))
}

fn choice(name: &str) -> Truth {
    Truth::Is(Value::Choice(name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_base::Bytes;
    use fathom_ssd::presets;

    fn preset(name: &str) -> Spec {
        Spec::from_toml(presets::find(name).unwrap().toml).unwrap()
    }

    fn truths(spec: &Spec) -> Vec<Truth> {
        Truth::all(spec).into_values().collect()
    }

    /// `parameter-aware-io` Table 3 and 4.2.3 to 4.3 for SSD-A and SSD-C.
    #[test]
    fn the_drives_of_the_paper_hold_what_the_paper_says() {
        let (kib, none) = (|n: u64| size(n << 10), Truth::Nothing);
        let a = [
            kib(16),
            kib(4096),
            kib(4096),
            kib(256),
            kib(255),
            none.clone(),
            choice("buffer"),
        ];
        assert_eq!(truths(&preset("ssd-a")), a);
        let c = [
            none.clone(),
            kib(5120),
            kib(5120),
            kib(3072),
            kib(112),
            none,
            choice("buffer"),
        ];
        assert_eq!(truths(&preset("ssd-c")), c);
    }

    #[test]
    fn page_mapping_and_a_battery_hide() {
        let nvme = preset("nvme");
        assert_eq!(Truth::of(&nvme, Parameter::ClusteredPage), Truth::Nothing);
        assert_eq!(
            Truth::of(&nvme, Parameter::ClusteredBlock),
            Truth::Hidden(BY_PAGES)
        );
        assert_eq!(
            Truth::of(&nvme, Parameter::LogicalBlock),
            Truth::Hidden(BY_PAGES)
        );
        let mut a = preset("ssd-a");
        a.write_buffer.as_mut().unwrap().battery = true;
        for parameter in [
            Parameter::ClusteredPage,
            Parameter::WriteBuffer,
            Parameter::WritePolicy,
        ] {
            assert_eq!(Truth::of(&a, parameter), Truth::Hidden(BATTERY));
        }
        assert_eq!(Truth::of(&a, Parameter::ClusteredBlock), size(4 << 20));
        // Nothing is there to be hidden where a unit is never partly written.
        a.mapping.unit = Some(Bytes(512));
        assert_eq!(Truth::of(&a, Parameter::ClusteredPage), Truth::Nothing);
    }
}
