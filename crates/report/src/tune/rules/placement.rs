//! Where data is placed: the span of hot data, the host memory buffer, and the room that is left unused.

use super::family::{Family, Rule};
use crate::tune::advice::{Decided, Decision, Undecided};
use crate::tune::case::Case;
use crate::words::{bytes, duration};

pub(super) const FAMILY: Family = Family {
    name: "placement",
    rules: &[
        Rule {
            setting: "span of hot data",
            decide: span,
        },
        Rule {
            setting: "nvme.max_host_mem_size_mb",
            decide: host_memory,
        },
        Rule {
            setting: "unpartitioned",
            decide: unpartitioned,
        },
    ],
};

fn span(case: &Case<'_>) -> Decision {
    let reach = case.measured.known("map_reach")?;
    let figure = |name| case.measured.figure(reach.parameter, name);
    let costs = figure("hit_ns").zip(figure("miss_ns"));
    let costs = costs.map_or_else(String::new, |(hit, miss)| {
        format!(
            ": a random read takes {} within it, and up to {} more beyond",
            duration(hit as u64),
            duration(miss as u64)
        )
    });
    let reason = format!("the drive's memory maps {}{costs}", reach.said);
    Ok(Decided::new(bytes(reach.value), reach.parameter, reason))
}

/// The most host memory that the kernel lends a drive by default, in MiB (max_host_mem_size_mb, drivers/nvme/host/pci.c).
const HOST_MEMORY_MIB: u64 = 128;
const MIB: u64 = 1 << 20;

fn host_memory(case: &Case<'_>) -> Decision {
    let reach = case.measured.known("map_reach")?;
    let Some(&wanted) = case.reported.namespace.get("HMPRE") else {
        let why = "the drive asks for no memory of the host";
        return Err(Undecided::identified(reach.parameter, why));
    };
    let wanted = wanted.div_ceil(MIB);
    if wanted <= HOST_MEMORY_MIB {
        let why = format!("the kernel lends the {wanted} MiB that the drive asks for");
        return Err(Undecided::identified(reach.parameter, why));
    }
    let reason = format!(
        "its memory maps {} of the drive, it asks for {wanted} MiB of the host's for that (HMPRE), and the kernel lends \
         {HOST_MEMORY_MIB} MiB",
        reach.said
    );
    Ok(Decided::new(wanted, reach.parameter, reason))
}

/// The write amplification that is worth leaving room for. Assumption: below it, each further percent gains little.
const AMPLIFICATION: f64 = 3.0;
const UNUSED_MAX_PERCENT: u32 = 40;

/// Returns the write amplification of random overwrites: half of (1 + p) / p, with the over-provisioning p (Agarwal and
/// Marrow, "A closed-form expression for write amplification in NAND flash", GLOBECOM Workshops 2010). Unused room adds to p.
fn amplification(provisioning: f64, unused_percent: u32) -> f64 {
    let used = 1.0 - f64::from(unused_percent) / 100.0;
    let total = (1.0 + provisioning) / used - 1.0;
    (0.5 * (1.0 + total) / total).max(1.0)
}

fn unpartitioned(case: &Case<'_>) -> Decision {
    let parameter = "over_provisioning";
    let answer = case.measured.identified(parameter)?;
    let value = answer.value.as_ref().and_then(|value| value.number());
    let Some(own) = value.filter(|value| value.is_finite() && *value > 0.0) else {
        return Err(Undecided::identified(
            parameter,
            "the share is no number above 0",
        ));
    };
    let (percent, now) = (100.0 * own, amplification(own, 0));
    if now <= AMPLIFICATION {
        let why = format!(
            "its own over-provisioning of {percent:.0} % is enough: random overwrites of the whole drive program {now:.1} \
             bytes for each"
        );
        return Err(Undecided::identified(parameter, why));
    }
    let unused = (1..=UNUSED_MAX_PERCENT)
        .find(|&unused| amplification(own, unused) <= AMPLIFICATION)
        .unwrap_or(UNUSED_MAX_PERCENT);
    let reason = format!(
        "for loads that overwrite at random: with an over-provisioning of {percent:.0} % each byte programs {now:.1}, and \
         with {unused} % of the drive trimmed and unused {:.1}",
        amplification(own, unused)
    );
    Ok(Decided::new(format!("{unused}%"), parameter, reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values of the formula: 1/2 * 1.07 / 0.07 and 1/2 * 1.28 / 0.28.
    #[test]
    fn unused_room_is_over_provisioning() {
        assert!((amplification(0.07, 0) - 7.643).abs() < 0.001);
        assert!((amplification(0.28, 0) - 2.286).abs() < 0.001);
        // 7 % and half of the drive unused: 1.07 / 0.5 - 1 = 1.14.
        assert!((amplification(0.07, 50) - 0.5 * 2.14 / 1.14).abs() < 0.1);
    }
}
