//! Scratch.
use fathom_base::*;
use fathom_block::*;
use fathom_ssd::*;
fn run(d: &mut Ssd, n: u64, qd: u64, mut f: impl FnMut(u64) -> Request) -> u64 {
    let mut done = vec![];
    let (mut i, mut fin) = (0, 0);
    let t0 = d.now();
    let mut inflight = 0;
    while fin < n {
        while i < n && inflight < qd {
            d.submit(f(i)).unwrap();
            i += 1;
            inflight += 1;
        }
        done.clear();
        d.wait(Time::MAX, &mut done);
        fin += done.len() as u64;
        inflight -= done.len() as u64;
        assert!(!done.is_empty());
        for c in &done {
            assert!(c.result.is_ok(), "{:?}", c.result);
        }
    }
    d.now().since(t0).0
}
#[allow(clippy::disallowed_methods)]
fn main() {
    let toml = r#"
name="bench"
capacity="8GiB"
[host]
protocol="nvme"
bandwidth="8GB/s"
command_overhead="100ns"
latency="2us"
queue_depth=256
[flash]
channels=16
packages_per_channel=3
dies_per_package=1
planes_per_die=8
pages_per_block=64
page="4KiB"
bus="400MT/s"
read="25us"
program="200us"
erase="1500us"
clustered_page="4KiB"
clustered_block="256KiB"
[mapping]
kind="page"
over_provisioning_percent=18.0
"#;
    let spec = Spec::from_toml(toml).unwrap();
    let t = std::time::Instant::now();
    let mut d = Ssd::new(&spec, 1).unwrap();
    println!(
        "setup {:?} physical units {}",
        t.elapsed(),
        d.geometry().physical_units()
    );
    let pages = spec.capacity.0 / 4096;
    let mut rng = Rng::new(1, 9);
    for (name, n, op) in [
        ("fresh rand write", 2_000_000u64, Op::Write),
        ("to steady", 4_000_000, Op::Write),
        ("steady", 2_000_000, Op::Write),
        ("rand read", 2_000_000, Op::Read),
    ] {
        let t = std::time::Instant::now();
        let c0 = d.counters();
        let sim = run(&mut d, n, 64, |i| {
            Request::new(i, op, rng.below(pages) * 4096, 4096)
        });
        let e = t.elapsed().as_secs_f64();
        let c = d.counters();
        println!(
            "{name}: {:.0}/s  sim {:.0} IOPS ev/req {:.2} waf {:.2}",
            n as f64 / e,
            n as f64 / (sim as f64 * 1e-9),
            (c.events - c0.events) as f64 / n as f64,
            (c.flash_sectors_programmed - c0.flash_sectors_programmed) as f64
                / ((c.host_sectors_written - c0.host_sectors_written) as f64)
        );
    }
    let t = std::time::Instant::now();
    let sim = run(&mut d, 100_000, 8, |i| {
        Request::new(i, Op::Write, (i * 131072) % (8 << 30), 131072)
    });
    println!(
        "seq 128k: {:.0}/s MB/s sim {:.0}",
        100_000 as f64 / t.elapsed().as_secs_f64(),
        100_000.0 * 131072.0 / (sim as f64 * 1e-3)
    );
    d.check().unwrap();
}
