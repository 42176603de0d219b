//! The kernel's threads that work for a thread's ring: the submission thread and the workers.
//!
//! They are threads of this process, with names that end in the number of the thread that they work for: `iou-sqp-N`
//! (io_uring/sqpoll.c) and `iou-wrk-N` (io_uring/io-wq.c).

use super::usage::read_bytes;
use crate::sysfs::{names_in, text};
use std::path::Path;

/// A thread of the kernel that worked for a thread of the load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelThread {
    /// Its name: `iou-sqp-N` for a submission thread, `iou-wrk-N` for a worker that does what would block.
    pub name: String,
    /// Its number.
    pub tid: u32,
    /// Its processor time in the measured part, in nanoseconds. A submission thread polls, so it is busy until it has been
    /// idle for [`crate::load::LoadConfig::sq_idle_ms`].
    pub cpu_ns: u64,
    /// Bytes that it requested from drives; `None` where the kernel does not count them.
    pub device_read_bytes: Option<u64>,
}

/// Returns the processor time of a thread of this process, in nanoseconds: its `schedstat`, or its `stat`, which counts
/// whole ticks, where the kernel has none.
fn cpu_ns(task: &Path) -> Option<u64> {
    let exact = text(&task.join("schedstat"));
    let exact = exact.and_then(|t| t.split(' ').next()?.parse().ok());
    exact.or_else(|| {
        let stat = text(&task.join("stat"))?;
        // The name in parentheses may have spaces. utime and stime are fields 14 and 15 (proc_pid_stat(5)).
        let fields = stat.rsplit_once(") ")?.1.split(' ').skip(11).take(2);
        let ticks: u64 = fields.filter_map(|f| f.parse::<u64>().ok()).sum();
        Some(ticks * (1_000_000_000 / rustix::param::clock_ticks_per_second()))
    })
}

/// Returns the kernel's threads that work for thread `tid` of this process, with what they used since their start.
pub(super) fn of(tid: u32) -> Vec<KernelThread> {
    let tasks = Path::new("/proc/self/task");
    let named = names_in(tasks).into_iter().filter_map(|number| {
        let task = tasks.join(&number);
        let name = text(&task.join("comm")).filter(|name| name.starts_with("iou-"))?;
        Some((number.parse::<u32>().ok()?, name, task))
    });
    let named: Vec<_> = named.collect();
    let submission = format!("iou-sqp-{tid}");
    let polls = named.iter().find(|t| t.1 == submission).map(|t| t.0);
    let workers = [Some(tid), polls].map(|t| t.map(|t| format!("iou-wrk-{t}")));
    let ours = named.into_iter().filter(|(_, name, _)| {
        *name == submission || workers.iter().flatten().any(|worker| worker == name)
    });
    let read = ours.filter_map(|(tid, name, task)| {
        Some(KernelThread {
            name,
            tid,
            cpu_ns: cpu_ns(&task)?,
            device_read_bytes: read_bytes(&task.join("io")),
        })
    });
    read.collect()
}

/// Adds to `sums` what the threads used between two looks. A thread that began in between counts from its start; what a
/// worker used that ended in between is not known.
pub(super) fn add_since(
    sums: &mut Vec<KernelThread>,
    before: &[KernelThread],
    after: Vec<KernelThread>,
) {
    for mut thread in after {
        let past = before.iter().find(|b| b.tid == thread.tid);
        let past_bytes = past.map_or(Some(0), |p| p.device_read_bytes);
        thread.cpu_ns = thread.cpu_ns.saturating_sub(past.map_or(0, |p| p.cpu_ns));
        thread.device_read_bytes = thread
            .device_read_bytes
            .and_then(|bytes| Some(bytes.saturating_sub(past_bytes?)));
        match sums.iter_mut().find(|sum| sum.tid == thread.tid) {
            Some(sum) => {
                sum.cpu_ns += thread.cpu_ns;
                let bytes = sum.device_read_bytes.zip(thread.device_read_bytes);
                sum.device_read_bytes = bytes.map(|(a, b)| a + b);
            }
            None => sums.push(thread),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thread(tid: u32, cpu_ns: u64, bytes: Option<u64>) -> KernelThread {
        KernelThread {
            name: format!("iou-wrk-{tid}"),
            tid,
            cpu_ns,
            device_read_bytes: bytes,
        }
    }

    #[test]
    fn windows_add_up_and_new_threads_count_from_their_start() {
        let mut sums = Vec::new();
        let at = |a, b| vec![thread(1, a, Some(a * 2)), thread(2, b, None)];
        add_since(&mut sums, &at(10, 5)[..1], at(13, 9));
        add_since(&mut sums, &at(20, 20), at(21, 22));
        assert_eq!(sums, [thread(1, 4, Some(8)), thread(2, 11, None)]);
    }
}
