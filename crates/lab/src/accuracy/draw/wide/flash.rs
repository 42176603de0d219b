//! The flash array of a random drive.

use crate::accuracy::dice::{divisors, log_uniform, log_whole, pick, rate, whole};
use crate::accuracy::draw::units::{KIB, MIB};
use fathom_base::{Bytes, Dur, Rng};
use fathom_ssd::spec::{Arbitration, Flash, ProgramMode, Striping};

/// Range of sizes of a clustered block, in bytes. The width in planes is chosen to reach it where any width does.
const CLUSTERED_BLOCK: std::ops::RangeInclusive<u64> = 256 * KIB..=64 * MIB;

pub(super) fn draw(rng: &mut Rng) -> Flash {
    let page = pick(rng, &[2, 4, 8, 16]) * KIB;
    let pages_per_block = log_whole(rng, 60, 2304);
    let channels = log_whole(rng, 1, 8);
    let packages = whole(rng, 1, 2);
    let dies_per_package = log_whole(rng, 1, 4);
    let planes_per_die = whole(rng, 1, 6);
    let dies = channels * packages * dies_per_package;
    let block = page * pages_per_block;
    let width = width(rng, block, dies, planes_per_die);
    let wide = wide(rng, block, dies * planes_per_die, width);
    let times = [(20.0, 100.0), (150.0, 2500.0), (1000.0, 10_000.0)];
    let [read, program, erase] =
        times.map(|(low, high)| Dur::us(log_uniform(rng, low, high).round() as u64));
    let arbitration = pick(
        rng,
        &[
            Arbitration::CommandFirst,
            Arbitration::InOrder,
            Arbitration::ReadFirst,
            Arbitration::Suspend,
        ],
    );
    let drawn = Dur::us(whole(rng, 0, 50));
    let suspended = match arbitration {
        Arbitration::Suspend => drawn,
        _ => Dur::ZERO,
    };
    Flash {
        channels: channels as u32,
        packages_per_channel: packages as u32,
        dies_per_package: dies_per_package as u32,
        planes_per_die: planes_per_die as u32,
        pages_per_block: pages_per_block as u32,
        page: Bytes(page),
        bus: rate(log_uniform(rng, 20.0, 1600.0), 1.0e6),
        read,
        program,
        erase,
        clustered_page: Bytes(page * width),
        clustered_block: Bytes(block * wide),
        program_steps: Vec::new(),
        program_mode: ProgramMode::Page,
        suspend_latency: suspended,
        suspend_overhead: suspended,
        arbitration,
        copy_back: rng.chance(0.2),
        parity_stripe: 0,
    }
}

/// Draws the planes of a clustered page: some planes of one die, or all planes of several dies. Each possible number is
/// equally likely.
fn width(rng: &mut Rng, block: u64, dies: u64, per_die: u64) -> u64 {
    let within = divisors(per_die, per_die);
    let across = divisors(dies, dies).into_iter().map(|n| n * per_die);
    let mut widths: Vec<u64> = within.into_iter().chain(across).collect();
    widths.sort_unstable();
    widths.dedup();
    among(rng, &widths, block)
}

/// Draws the planes of a clustered block: a number of whole clustered pages that divides all planes.
fn wide(rng: &mut Rng, block: u64, planes: u64, width: u64) -> u64 {
    let lanes = divisors(planes / width, planes);
    let wides: Vec<u64> = lanes.into_iter().map(|n| n * width).collect();
    among(rng, &wides, block)
}

/// Draws one of the widths that make a clustered block of [`CLUSTERED_BLOCK`], or takes the narrowest.
fn among(rng: &mut Rng, widths: &[u64], block: u64) -> u64 {
    let largest = CLUSTERED_BLOCK.end() / block;
    let fits: Vec<u64> = widths.iter().copied().filter(|w| *w <= largest).collect();
    let enough = |w: &u64| CLUSTERED_BLOCK.contains(&(w * block));
    let best: Vec<u64> = fits.iter().copied().filter(enough).collect();
    let from = if best.is_empty() { &fits } else { &best };
    match from.is_empty() {
        true => widths[0],
        false => pick(rng, from),
    }
}

/// Draws one of the static orders.
pub(super) fn striping(rng: &mut Rng) -> Striping {
    use Striping::*;
    pick(
        rng,
        &[
            Cwdp, Cwpd, Cdwp, Cdpw, Cpwd, Cpdw, Wcdp, Wcpd, Wdcp, Wdpc, Wpcd, Wpdc, Dcwp, Dcpw,
            Dwcp, Dwpc, Dpcw, Dpwc, Pcwd, Pcdw, Pwcd, Pwdc, Pdcw, Pdwc,
        ],
    )
}
