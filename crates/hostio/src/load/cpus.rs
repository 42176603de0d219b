//! What every processor did, by the kernel's counters in /proc/stat.

use crate::clock::Clock;
use crate::sysfs::text;
use std::path::Path;

/// What a processor did during a load, in nanoseconds, for all programs. The kernel counts in ticks of 10 ms (`USER_HZ`), at
/// its timer interrupts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuTimes {
    /// Number of the processor.
    pub cpu: u32,
    /// In programs, in nanoseconds.
    pub user_ns: u64,
    /// In the kernel, without interrupts, in nanoseconds. Includes threads of the kernel.
    pub system_ns: u64,
    /// In interrupts, in nanoseconds; part of the other times on kernels that do not account for it.
    pub irq_ns: u64,
    /// In deferred work of interrupts, in nanoseconds; as exact as `irq_ns`.
    pub softirq_ns: u64,
    /// Taken by the machine's host, in nanoseconds.
    pub steal_ns: u64,
    /// Idle, in nanoseconds, whether a program waits for I/O or not.
    pub idle_ns: u64,
}

/// A look at what all processors do, from its start.
#[derive(Debug)]
pub struct CpuWatch {
    before: Vec<CpuTimes>,
    clock: Clock,
}

impl CpuWatch {
    /// Starts a look.
    pub fn start() -> Self {
        Self {
            before: CpuTimes::now(),
            clock: Clock::start(),
        }
    }

    /// Returns what every processor has done since, and how long that is, in nanoseconds of `CLOCK_MONOTONIC`.
    pub fn seen(&self) -> (Vec<CpuTimes>, u64) {
        (CpuTimes::since(&self.before), self.clock.now().0)
    }
}

impl CpuTimes {
    /// Returns the processors' times since boot; empty if the kernel shows none.
    fn now() -> Vec<Self> {
        let tick_ns = 1_000_000_000 / rustix::param::clock_ticks_per_second().max(1);
        let stat = text(Path::new("/proc/stat")).unwrap_or_default();
        stat.lines()
            .filter_map(|line| Self::parse(line, tick_ns))
            .collect()
    }

    /// Parses a line of one processor (proc_stat(5)).
    fn parse(line: &str, tick_ns: u64) -> Option<Self> {
        let (cpu, counts) = line.strip_prefix("cpu")?.split_once(' ')?;
        let counts: Vec<u64> = counts.split(' ').map_while(|n| n.parse().ok()).collect();
        let &[user, nice, system, idle, iowait, irq, softirq, steal, ..] = counts.as_slice() else {
            return None;
        };
        Some(Self {
            cpu: cpu.parse().ok()?,
            user_ns: (user + nice) * tick_ns,
            system_ns: system * tick_ns,
            irq_ns: irq * tick_ns,
            softirq_ns: softirq * tick_ns,
            steal_ns: steal * tick_ns,
            idle_ns: (idle + iowait) * tick_ns,
        })
    }

    /// Returns what every processor did since `before`.
    fn since(before: &[Self]) -> Vec<Self> {
        let now = Self::now().into_iter();
        let both = now.filter_map(|now| Some((before.iter().find(|b| b.cpu == now.cpu)?, now)));
        // The kernel's counters of idle time may go back a little.
        let pairs = both.map(|(then, now)| Self {
            cpu: now.cpu,
            user_ns: now.user_ns.saturating_sub(then.user_ns),
            system_ns: now.system_ns.saturating_sub(then.system_ns),
            irq_ns: now.irq_ns.saturating_sub(then.irq_ns),
            softirq_ns: now.softirq_ns.saturating_sub(then.softirq_ns),
            steal_ns: now.steal_ns.saturating_sub(then.steal_ns),
            idle_ns: now.idle_ns.saturating_sub(then.idle_ns),
        });
        pairs.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_the_times_of_one_processor() {
        let line = "cpu11 1 2 3 4 5 6 7 8 9 10";
        let expected = CpuTimes {
            cpu: 11,
            user_ns: 30,
            system_ns: 30,
            irq_ns: 60,
            softirq_ns: 70,
            steal_ns: 80,
            idle_ns: 90,
        };
        assert_eq!(CpuTimes::parse(line, 10), Some(expected));
        for other in [
            "cpu  1 2 3 4 5 6 7 8 9 10",
            "cpu1 1 2 3",
            "intr 1 2 3 4 5 6 7 8",
        ] {
            assert_eq!(CpuTimes::parse(other, 10), None);
        }
    }

    #[test]
    fn this_machine_has_processors() {
        let before = CpuTimes::now();
        assert!(!before.is_empty());
        assert_eq!(CpuTimes::since(&before).len(), before.len());
    }
}
