//! What a load used of the processors.

use fathom_hostio::load::{LoadReport, ThreadLoad};

/// What a load used, for each I/O.
#[derive(Clone, Copy, Debug)]
pub(super) struct Used {
    /// I/Os in a second.
    pub(super) iops: f64,
    /// Nanoseconds of processor time in the threads of the load and those of the kernel that work for them.
    pub(super) cpu_ns: f64,
    /// The same of the threads of the load alone.
    pub(super) own_ns: f64,
    /// Nanoseconds in which any processor was not idle, whoever used it, by the kernel's counters of idle time.
    pub(super) busy_ns: Option<f64>,
    /// Context switches of the threads.
    pub(super) switches: f64,
    /// System calls.
    pub(super) calls: f64,
    /// Share of the time for which the threads of the load had a processor; above 1 with several.
    pub(super) utilisation: f64,
}

pub(super) fn used(report: &LoadReport) -> Used {
    let threads = &report.threads;
    let sum =
        |of: &dyn Fn(&ThreadLoad) -> u64| -> f64 { threads.iter().map(of).sum::<u64>() as f64 };
    let ios = sum(&|thread| thread.ios).max(1.0);
    let own = sum(&|thread| thread.usage.cpu_ns);
    let kernel = sum(&|thread| thread.kernel_threads.iter().map(|k| k.cpu_ns).sum());
    let walls = threads.iter().map(|thread| thread.usage.wall_ns);
    let wall = walls.max().unwrap_or_default().max(1) as f64;
    let switches = sum(&|t| t.usage.voluntary_switches + t.usage.involuntary_switches);
    Used {
        iops: ios * 1e9 / wall,
        cpu_ns: (own + kernel) / ios,
        own_ns: own / ios,
        busy_ns: busy_ns(report).map(|busy| busy / ios),
        switches: switches / ios,
        calls: sum(&|thread| thread.calls) / ios,
        utilisation: own / wall,
    }
}

impl Used {
    /// The mean of several loads.
    pub(super) fn mean(all: &[Self]) -> Self {
        let mean = |of: fn(&Self) -> f64| all.iter().map(of).sum::<f64>() / all.len().max(1) as f64;
        let counted = !all.is_empty() && all.iter().all(|one| one.busy_ns.is_some());
        Self {
            iops: mean(|one| one.iops),
            cpu_ns: mean(|one| one.cpu_ns),
            own_ns: mean(|one| one.own_ns),
            busy_ns: counted.then(|| mean(|one| one.busy_ns.unwrap_or_default())),
            switches: mean(|one| one.switches),
            calls: mean(|one| one.calls),
            utilisation: mean(|one| one.utilisation),
        }
    }
}

/// Nanoseconds in which the processors were not idle; `None` if the kernel does not count. Time that the machine's host took
/// is none of them.
fn busy_ns(report: &LoadReport) -> Option<f64> {
    let all = report.cpus_wall_ns as f64 * report.cpus.len() as f64;
    let free = report.cpus.iter().map(|cpu| cpu.idle_ns + cpu.steal_ns);
    let busy = all - free.sum::<u64>() as f64;
    (all > 0.0).then_some(busy.max(0.0))
}
