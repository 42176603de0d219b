//! Arguments of `fathom accuracy`.

use super::value::{SEED_MAX, level, one_of, parameter, seed};
use clap::Args;
use fathom_probe::{Level, Method, Parameter};
use fathom_report::accuracy::Family;

/// The values of `--method`: a method, or several on the same drives.
const METHODS: [(&str, &[Method]); Method::ALL.len() + 2] = [
    ("robust", &[Method::Robust]),
    ("paper", &[Method::Paper]),
    ("both", &[Method::Robust, Method::Paper]),
    ("iotune", &[Method::Iotune]),
    ("ssdcheck", &[Method::Ssdcheck]),
    ("snia-pts", &[Method::SniaPts]),
    ("cliff-70", &[Method::Cliff70]),
    ("knee-95", &[Method::Knee95]),
    ("flashbench", &[Method::Flashbench]),
    ("all", &Method::ALL),
];

#[derive(Debug, Args)]
pub(crate) struct AccuracyArgs {
    /// Where the drives are drawn from
    #[arg(long, value_name = "FAMILY", default_value = "wide", value_parser = one_of(Family::ALL.map(|family| (family.name(), family))))]
    pub(crate) family: Family,
    /// How many drives
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub(crate) drives: u64,
    /// The seed of the drives and of every random choice, at most 2^63 - 1
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = seed)]
    pub(crate) seed: u64,
    /// The index of the first drive
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=SEED_MAX))]
    pub(crate) skip: u64,
    /// Robust statistics, the papers' procedures, both on the same drives, a rule in use elsewhere, or all
    #[arg(long, value_name = "METHOD", default_value = "robust", value_parser = one_of(METHODS))]
    pub(crate) method: &'static [Method],
    /// The papers' grids K times as coarse, with a K-th of the repetitions and totals; a K-th of the rules' times
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) thin: u32,
    /// Measure only these parameters, and those that they need
    #[arg(long, value_name = "PARAMETER", value_delimiter = ',', value_parser = parameter())]
    pub(crate) only: Vec<Parameter>,
    /// Make a twin of each drive from its probe, and compare it with the drive: by a second probe, and by workloads that the
    /// probe does not use
    #[arg(long, conflicts_with_all = ["method", "thin", "only", "drive", "show"])]
    pub(crate) twin: bool,
    /// With --twin: do not probe the twins again
    #[arg(long, requires = "twin")]
    pub(crate) once: bool,
    /// With --twin: how much each probe measures
    #[arg(long, value_name = "LEVEL", requires = "twin", value_parser = level())]
    pub(crate) level: Option<Level>,
    /// Print every answer beside the truth, as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// No progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// Measure the drive with this index alone; print it with every answer
    #[arg(long, value_name = "INDEX", conflicts_with_all = ["drives", "skip"])]
    pub(crate) drive: Option<u64>,
    /// Measure nothing; print the drive with this index, and what is in it
    #[arg(long, value_name = "INDEX", conflicts_with_all = ["drives", "skip", "drive", "method", "thin", "only", "json"])]
    pub(crate) show: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::METHODS;
    use fathom_probe::Method;

    #[test]
    fn every_method_can_be_asked_for_by_its_name() {
        for method in Method::ALL {
            assert!(METHODS.contains(&(method.name(), &[method])), "{method:?}");
        }
    }
}
