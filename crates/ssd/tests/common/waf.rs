//! Write amplification of uniform random writes: the models of the literature, and measurements on a modelled drive.
//!
//! The models assume `n` blocks of `b` pages, all of them full except the one being filled, with a share `rho` of valid
//! pages. A modelled drive has more: erased blocks, and a second open block. When a victim is chosen, two blocks of a
//! group are erased or about to be (the exchange), the host's open block is full, and the block that receives moved pages
//! is half full on average. So `n` is the number of blocks of the group minus 2, or minus 2.5 if moved pages have a block
//! of their own.
#![allow(dead_code, reason = "the test and the example use their own parts")]
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use fathom_base::{Bytes, Rng, Time};
use fathom_block::{Device, Op, Request};
use fathom_ssd::spec::{Separation, Victim};
use fathom_ssd::{Spec, Ssd};

/// Pages per block.
pub(crate) const PAGES: u32 = 64;
/// Relative difference between windows of writes that counts as steady state.
const STEADY: f64 = 0.005;

const DRIVE: &str = r#"
name = "one group"
capacity = "512MiB"
[host]
protocol = "nvme"
bandwidth = "64GB/s"
command_overhead = "1ns"
queue_depth = 64
[flash]
channels = 1
packages_per_channel = 1
dies_per_package = 1
planes_per_die = 1
pages_per_block = 64
page = "4KiB"
bus = "4800MT/s"
read = "1us"
program = "1us"
erase = "1us"
clustered_page = "4KiB"
clustered_block = "256KiB"
[mapping]
kind = "page"
over_provisioning_percent = 0.0
"#;

/// Creates a drive of one group of about `blocks` blocks, with `over` percent of its capacity spare. The more blocks, the
/// smaller the influence of half a block.
pub(crate) fn one_group(case: &Case, blocks: u32, over: f64) -> Spec {
    let mut spec = Spec::from_toml(DRIVE).unwrap();
    let block = spec.flash.clustered_block.0;
    spec.capacity = Bytes((f64::from(blocks) / (1.0 + over / 100.0)) as u64 * block);
    spec.mapping.over_provisioning_percent = over;
    let gc = &mut spec.gc;
    (gc.victim, gc.choices, gc.separate) = (case.victim, case.choices, case.separate);
    spec
}

/// Returns the share of valid pages as defined by the models; see the header.
pub(crate) fn utilisation(drive: &Ssd, spec: &Spec) -> f64 {
    let g = drive.geometry();
    let open = match spec.gc.separate {
        Separation::Nothing => 2.0,
        _ => 2.5,
    };
    let holding = f64::from(g.cblocks_per_group) - open;
    f64::from(g.logical_units) / (holding * f64::from(g.units_per_cblock))
}

/// Sends uniform random writes of one page each at queue depth 32. Returns the pages programmed per page written.
fn window(drive: &mut Ssd, rng: &mut Rng, writes: u64) -> f64 {
    let pages = u64::from(drive.geometry().logical_units);
    let before = drive.counters();
    let (mut sent, mut finished, mut done) = (0, 0, Vec::new());
    while finished < writes {
        while sent < writes && sent - finished < 32 {
            let at = rng.below(pages) * 4096;
            drive
                .submit(Request::new(sent, Op::Write, at, 4096))
                .unwrap();
            sent += 1;
        }
        done.clear();
        drive.wait(Time::MAX, &mut done);
        finished += done.len() as u64;
    }
    let after = drive.counters();
    let flash = after.flash_sectors_programmed - before.flash_sectors_programmed;
    flash as f64 / (after.host_sectors_written - before.host_sectors_written) as f64
}

/// Returns the write amplification in the steady state over `windows` windows of as many writes as there are pages, and
/// the share of valid pages. First writes every page once, and then windows until the last four together differ from the
/// four before by less than [`STEADY`].
pub(crate) fn measured(spec: &Spec, seed: u64, windows: u32) -> (f64, f64) {
    let mut drive = Ssd::new(spec, seed).unwrap();
    let pages = u64::from(drive.geometry().logical_units);
    let mut rng = Rng::new(seed, 50);
    for page in 0..pages {
        let write = Request::new(page, Op::Write, page * 4096, 4096);
        drive.submit(write).unwrap();
        drive.wait(Time::MAX, &mut Vec::new());
    }
    let mut series: Vec<f64> = Vec::new();
    loop {
        series.push(window(&mut drive, &mut rng, pages));
        let four = |end: usize| series[end - 4..end].iter().sum::<f64>();
        let n = series.len();
        if n >= 8 && (four(n) / four(n - 4) - 1.0).abs() < STEADY {
            break;
        }
    }
    drive.check().unwrap();
    let waf = window(&mut drive, &mut rng, pages * u64::from(windows));
    (waf, utilisation(&drive, spec))
}

/// Returns the principal branch of Lambert's function, for -1/e to 0: Newton's method on w e^w = x.
pub(crate) fn lambert_w(x: f64) -> f64 {
    let mut w = x;
    for _ in 0..200 {
        let e = w.exp();
        w -= (w * e - x) / (e * (w + 1.0));
    }
    w
}

/// FIFO (LRU) cleaning: Desnoyers, "Analytic modeling of SSD write performance" (SYSTOR 2012, 4.1), with `a = 1 / rho`;
/// identical to Xiang and Kurkoski (arXiv:1110.4245) and Menon (1995). Independent of page and block size.
pub(crate) fn fifo(rho: f64) -> f64 {
    let a = 1.0 / rho;
    a / (a + lambert_w(-a * (-a).exp()))
}

/// Greedy cleaning in closed form: Desnoyers 2012, 4.2.
pub(crate) fn greedy_closed(rho: f64, b: u32) -> f64 {
    let (a, b) = (1.0 / rho, f64::from(b));
    let c = (1.0 + 0.5 / b) * a;
    let least = 0.5 - b / a * lambert_w(-c * (-c).exp());
    b / (b - (least - 1.0))
}

/// Returns the fixed point of Van Houdt's mean field (SIGMETRICS 2013, section 4) for d-choices.
///
/// With `M_i` the share of blocks with at least `i` valid pages, a victim has at least `i` with probability `M_i^d`; it
/// is full again afterwards. Between two collections every valid page is invalidated with equal probability, `theta / n`.
/// In equilibrium as many blocks enter the set with at least `i` valid pages as leave it: `1 - M_i^d = theta i (M_i -
/// M_(i+1))`, solved from `i = b` down; `theta` is such that all blocks together hold `rho b` pages on average.
pub(crate) fn d_choices(rho: f64, b: u32, d: f64) -> f64 {
    let shares = |theta: f64| {
        let (mut above, mut all) = (0.0, Vec::new());
        for i in (1..=b).rev() {
            let flow = |m: f64| theta * f64::from(i) * (m - above) - (1.0 - m.powf(d));
            above = root(above, 1.0, flow);
            all.push(above);
        }
        all
    };
    let held = |theta: f64| shares(theta).iter().sum::<f64>();
    // The more pages are invalidated, the fewer are held.
    let theta = root(1e-6, 1e6, |theta| rho * f64::from(b) - held(theta));
    let moved: f64 = shares(theta).iter().map(|m| m.powf(d)).sum();
    f64::from(b) / (f64::from(b) - moved)
}

/// Two kinds of data that share no block, each cleaned greedily: the smallest amplification of any division of spare
/// blocks between them (Desnoyers, "Analytic models of SSD write performance", ACM TOS 10(2), 2014). `hot` is the hot
/// share of the data, `writes` its share of the writes, `spare` the number of spare blocks per block of data.
pub(crate) fn best_division(hot: f64, writes: f64, spare: f64, b: u32) -> f64 {
    let of = |data: f64, spare: f64| greedy_closed(data / (data + spare), b);
    let divisions = (1..1000).map(|i| {
        let to_hot = spare * f64::from(i) / 1000.0;
        writes * of(hot, to_hot) + (1.0 - writes) * of(1.0 - hot, spare - to_hot)
    });
    divisions.fold(f64::INFINITY, f64::min)
}

/// Greedy cleaning: d-choices with more choices than a drive has blocks.
pub(crate) fn greedy(rho: f64, b: u32) -> f64 {
    d_choices(rho, b, 1e7)
}

/// Returns the zero of an increasing function.
fn root(low: f64, high: f64, rising: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (low, high);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if rising(middle) < 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// A workload and policy, with its model in the literature.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) victim: Victim,
    pub(crate) choices: u32,
    pub(crate) separate: Separation,
}

impl Case {
    /// Returns the write amplification that the literature predicts for `rho`.
    pub(crate) fn expected(&self, rho: f64) -> f64 {
        match self.victim {
            Victim::Fifo => fifo(rho),
            Victim::DChoices => d_choices(rho, PAGES, f64::from(self.choices)),
            Victim::Greedy | Victim::CostBenefit => greedy(rho, PAGES),
        }
    }
}

const fn case(name: &'static str, victim: Victim, choices: u32, separate: Separation) -> Case {
    Case {
        name,
        victim,
        choices,
        separate,
    }
}

/// All compared cases.
pub(crate) const CASES: [Case; 7] = [
    case("greedy", Victim::Greedy, 1, Separation::Nothing),
    case(
        "greedy, copies apart",
        Victim::Greedy,
        1,
        Separation::Copies,
    ),
    case("FIFO", Victim::Fifo, 1, Separation::Nothing),
    case("FIFO, copies apart", Victim::Fifo, 1, Separation::Copies),
    case("2 choices", Victim::DChoices, 2, Separation::Nothing),
    case("10 choices", Victim::DChoices, 10, Separation::Nothing),
    case(
        "10 choices, copies apart",
        Victim::DChoices,
        10,
        Separation::Copies,
    ),
];
