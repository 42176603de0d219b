//! The methods of measuring: Fathom's own, that of the papers, and rules in use elsewhere.

use serde::{Deserialize, Serialize};

/// How parameters are measured. Each method other than the first answers only some of the parameters.
///
/// The rules in use elsewhere are our reading of them: their constants are their own, and what a person reads off a plot is
/// replaced by a fixed rule, which the page of the parameter states. They are there to be judged on the same drives.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Tests against explicit null models, with adaptive sampling.
    #[default]
    Robust,
    /// Procedures 1-6 of `parameter-aware-io` and the experiment of `greedy-space` IV.A.
    Paper,
    /// Our reading of Seastar's iotune (`apps/iotune/iotune.cc`, 2026): rates over fixed times; the physical block is the
    /// first of two sizes in a row whose rates of random writes do not differ by more than 5 %.
    Iotune,
    /// Our reading of SSDcheck (Kim et al., MICRO 2018, and its scripts): the write buffer is the most common interval
    /// between slow reads beside paced writes; volumes are found by fixing one bit of the address at a time.
    Ssdcheck,
    /// Our reading of SNIA's Performance Test Specification (SSS PTS 2.0.2): rounds of a minute until five of them lie within
    /// 20 % and their slope within 10 % of the mean.
    SniaPts,
    /// Our reading of the rule of drive tests: the fast cache ends at the first window below 70 % of the first speed.
    #[serde(rename = "cliff-70")]
    Cliff70,
    /// Our reading of AnandTech's tests of 2021: the lowest depth, a power of two, with 95 % of the highest rate.
    #[serde(rename = "knee-95")]
    Knee95,
    /// Our reading of flashbench `-a` (Bergmann 2011): the least of repeated reads across, before and after boundaries at
    /// powers of two. What its reader judges by eye is a rule of ours.
    Flashbench,
}

impl Method {
    /// All methods, Fathom's own first.
    pub const ALL: [Self; 8] = [
        Self::Robust,
        Self::Paper,
        Self::Iotune,
        Self::Ssdcheck,
        Self::SniaPts,
        Self::Cliff70,
        Self::Knee95,
        Self::Flashbench,
    ];

    /// Returns the name that options, records and profiles use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Robust => "robust",
            Self::Paper => "paper",
            Self::Iotune => "iotune",
            Self::Ssdcheck => "ssdcheck",
            Self::SniaPts => "snia-pts",
            Self::Cliff70 => "cliff-70",
            Self::Knee95 => "knee-95",
            Self::Flashbench => "flashbench",
        }
    }

    /// Returns what it is, for a heading.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Robust => "Robust method",
            Self::Paper => "The papers' procedures",
            Self::Iotune => "Our reading of Seastar's iotune",
            Self::Ssdcheck => "Our reading of SSDcheck (MICRO 2018)",
            Self::SniaPts => "Our reading of SNIA's steady state (PTS 2.0.2)",
            Self::Cliff70 => "Our reading of the 70 % threshold for a cliff",
            Self::Knee95 => "Our reading of the depth with 95 % of the peak (AnandTech 2021)",
            Self::Flashbench => "Our reading of flashbench",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Method;
    use serde::Deserialize;
    use serde::de::IntoDeserializer;
    use serde::de::value::{Error, StrDeserializer};

    #[test]
    fn records_use_the_names_of_the_options() {
        for method in Method::ALL {
            let name: StrDeserializer<'_, Error> = method.name().into_deserializer();
            assert_eq!(Method::deserialize(name), Ok(method));
        }
    }
}
