//! What a drive reports beside what was measured, property by property.

use super::advice::Undecided;
use super::case::Case;
use super::measured::Known;
use crate::words::{bytes, counted, duration};
use fathom_probe::Verdict;
use serde::{Deserialize, Serialize};

/// How a report relates to the measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    /// Both say the same, or the report is a multiple where a multiple does no harm.
    Agrees,
    /// They contradict each other.
    Differs,
    /// One of them is missing, or they cannot be compared.
    CannotTell,
}

impl Relation {
    /// Returns the word of a table: `agrees`, `differs`, `?`.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Relation::Agrees => "agrees",
            Relation::Differs => "differs",
            Relation::CannotTell => "?",
        }
    }
}

/// One property in the drive's report and in the measurement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compared {
    /// The property.
    pub property: String,
    /// Where the report comes from: an attribute of the queue in sysfs, or a field of the namespace.
    pub source: String,
    /// What is reported; `None` if nothing is.
    pub reported: Option<String>,
    /// What was measured; `None` if nothing was identified.
    pub measured: Option<String>,
    /// The parameter that was measured.
    pub parameter: String,
    /// How both relate.
    pub relation: Relation,
    /// What that means, in one sentence.
    pub meaning: String,
}

/// Compares every property of the list.
pub(super) fn all(case: &Case<'_>) -> Vec<Compared> {
    let lengths = LENGTHS.iter().filter_map(|length| length.compare(case));
    let cache = case.reported.queue.contains_key("write_cache");
    lengths
        .chain(cache.then(|| volatile_cache(case)))
        .chain(rotational(case))
        .collect()
}

/// Whether a longer report than measured does harm.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A unit of addresses: it should be no longer than the measured unit.
    Address,
    /// A unit of writes: a multiple of the measured unit is safe.
    Unit,
}

/// A length that drives report.
struct Length {
    property: &'static str,
    source: &'static str,
    kind: Kind,
    measured: fn(&Case<'_>) -> Result<Known, Undecided>,
}

const LENGTHS: [Length; 10] = [
    Length {
        property: "logical block",
        source: "logical_block_size",
        kind: Kind::Address,
        measured: |case| case.write_unit(),
    },
    Length {
        property: "physical block",
        source: "physical_block_size",
        kind: Kind::Unit,
        measured: |case| case.write_unit(),
    },
    Length {
        property: "shortest I/O (io_min)",
        source: "minimum_io_size",
        kind: Kind::Unit,
        measured: |case| case.write_unit(),
    },
    Length {
        property: "best I/O (io_opt)",
        source: "optimal_io_size",
        kind: Kind::Unit,
        measured: |case| case.request_unit(),
    },
    Length {
        property: "granularity of writes (NPWG)",
        source: "NPWG",
        kind: Kind::Unit,
        measured: |case| case.write_unit(),
    },
    Length {
        property: "alignment of writes (NPWA)",
        source: "NPWA",
        kind: Kind::Unit,
        measured: |case| case.write_unit(),
    },
    Length {
        property: "best write (NOWS)",
        source: "NOWS",
        kind: Kind::Unit,
        measured: |case| case.request_unit(),
    },
    Length {
        property: "discard granularity",
        source: "discard_granularity",
        kind: Kind::Unit,
        measured: |case| case.write_unit(),
    },
    Length {
        property: "granularity of discards (NPDG)",
        source: "NPDG",
        kind: Kind::Unit,
        measured: |case| case.write_unit(),
    },
    Length {
        property: "alignment of discards (NPDA)",
        source: "NPDA",
        kind: Kind::Unit,
        measured: |case| case.write_unit(),
    },
];

impl Length {
    /// Compares it; `None` where neither a report nor an answer exists.
    fn compare(&self, case: &Case<'_>) -> Option<Compared> {
        let field = case.reported.namespace.get(self.source).copied();
        let reported = field.or_else(|| case.reported.size(self.source));
        let of_namespace = self.source.bytes().all(|c| c.is_ascii_uppercase());
        let silent = reported.is_none();
        if silent && (of_namespace || case.reported.queue.is_empty()) {
            return None;
        }
        let measured = (self.measured)(case);
        let (relation, meaning) = match (&measured, reported) {
            (Err(why), _) => (Relation::CannotTell, format!("not known: {}", why.why)),
            (Ok(unit), None) => (
                Relation::CannotTell,
                format!(
                    "the drive reports nothing; programs that ask it will not find the unit of {}",
                    unit.said
                ),
            ),
            (Ok(unit), Some(reported)) => self.relate(reported, unit),
        };
        let parameter = match &measured {
            Ok(unit) => unit.parameter,
            Err(why) => why.parameter,
        };
        Some(Compared {
            property: self.property.to_owned(),
            source: self.source.to_owned(),
            reported: reported.map(bytes),
            measured: measured.ok().map(|unit| unit.said),
            parameter: parameter.to_owned(),
            relation,
            meaning,
        })
    }

    fn relate(&self, reported: u64, unit: &Known) -> (Relation, String) {
        let said = bytes(reported);
        let measured = &unit.said;
        match self.kind {
            Kind::Address if reported == unit.value => (
                Relation::Agrees,
                "every write of whole blocks is one of whole units".into(),
            ),
            Kind::Address if reported < unit.value => (
                Relation::Differs,
                format!(
                    "a write of one block makes the drive read and write {measured}; take the unit wherever a program has a choice"
                ),
            ),
            Kind::Address => (
                Relation::Agrees,
                format!("a block of {said} is several units of {measured}"),
            ),
            Kind::Unit if reported == unit.value => (
                Relation::Agrees,
                "programs that ask the drive choose the right unit".into(),
            ),
            Kind::Unit if reported.is_multiple_of(unit.value) => (
                Relation::Agrees,
                format!("a multiple of the measured {measured}, so aligned to it"),
            ),
            Kind::Unit if unit.value.is_multiple_of(reported) => (
                Relation::Differs,
                format!(
                    "less than measured: a program that believes it writes parts of a unit of {measured}"
                ),
            ),
            Kind::Unit => (
                Relation::Differs,
                format!(
                    "no multiple of the measured {measured}: what is aligned to it crosses units"
                ),
            ),
        }
    }
}

/// The write cache: whether the kernel sends flushes, and what one costs.
fn volatile_cache(case: &Case<'_>) -> Compared {
    let write_back = case.reported.now("write_cache").as_deref() == Some("write back");
    let flush = case.measured.known("flush");
    let (relation, meaning) = match (&flush, write_back) {
        (Err(why), true) if why.verdict == Some(Verdict::Absent) => (
            Relation::Differs,
            "a flush takes as long after writes as after none: the cache is protected, or a flush does nothing, which only a \
             power cut tells apart; leave `write_cache` as it is"
                .to_owned(),
        ),
        (Err(why), _) => (Relation::CannotTell, format!("not known: {}", why.why)),
        (Ok(flush), true) => (
            Relation::Agrees,
            format!(
                "the kernel flushes it, and a flush takes {}; leave `write_cache` as it is: `write through` there stops the \
                 flushes and not the cache",
                flush.said
            ),
        ),
        (Ok(flush), false) => (
            Relation::CannotTell,
            format!(
                "the kernel sends no flush; one that was sent took {}",
                flush.said
            ),
        ),
    };
    Compared {
        property: "volatile write cache".to_owned(),
        source: "write_cache".to_owned(),
        reported: case.reported.now("write_cache"),
        measured: match &flush {
            Ok(flush) => Some(format!("a flush takes {}", duration(flush.value))),
            Err(why) if why.verdict == Some(Verdict::Absent) => {
                Some("a flush costs nothing".to_owned())
            }
            Err(_) => None,
        },
        parameter: "flush".to_owned(),
        relation,
        meaning,
    }
}

/// A disk with one actuator completes at most a few hundred random reads per second: a revolution takes 4 ms at 15,000
/// rpm, the highest rate on the market.
const DISK_IOPS_MAX: f64 = 2000.0;

/// A drive that is reported as a rotating disk and is none: the kernel takes other defaults for it.
fn rotational(case: &Case<'_>) -> Option<Compared> {
    let reported = case.reported.number("rotational")? == 1;
    let iops = case.measured.figure("queue_knee", "iops");
    let fast = iops.filter(|iops| *iops > DISK_IOPS_MAX);
    if !reported {
        return None;
    }
    let said = iops.map(|iops| format!("{} a second", counted(iops as u64, "random read")));
    // A disk with one actuator reads one place at a time.
    let parts = case.measured.known("parallelism").ok();
    let parts = parts.filter(|parts| parts.value > 1 && fast.is_none());
    let many = parts.map(|parts| format!("{} reads at once", parts.said));
    let said = many.clone().or(said);
    let (relation, meaning) = match (fast, &said) {
        (None, Some(said)) if many.is_some() => (
            Relation::Differs,
            format!(
                "{said} are no rotating disk's; the kernel takes a disk's defaults for it (`wbt_lat_usec`)"
            ),
        ),
        (Some(_), Some(said)) => (
            Relation::Differs,
            format!(
                "{said} are no rotating disk's; the kernel takes a disk's defaults for it (`wbt_lat_usec`)"
            ),
        ),
        (None, Some(_)) => (Relation::Agrees, "its rate is that of a disk".to_owned()),
        _ => (
            Relation::CannotTell,
            "not known: neither the rate at a queue knee nor the parallelism is identified"
                .to_owned(),
        ),
    };
    Some(Compared {
        property: "rotating".to_owned(),
        source: "rotational".to_owned(),
        reported: Some("yes".to_owned()),
        measured: said,
        parameter: "queue_knee".to_owned(),
        relation,
        meaning,
    })
}
