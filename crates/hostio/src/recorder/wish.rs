//! What a recording is for, the events that it takes, and the conditions that keep it small.

use super::devices::IoDevices;
use fathom_block::kernel::{Call, Tracepoint};

/// What a recording is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The parts of the time of single I/Os: the events on the way of an I/O of the threads, and no others.
    Latency,
    /// What all processors do: also interrupts and all switches between threads.
    Clocks,
}

/// Settings of a recording.
#[derive(Clone, Debug)]
pub struct RecorderConfig {
    /// What it is for.
    pub purpose: Purpose,
    /// The system calls of the interface.
    pub calls: Vec<Call>,
    /// The devices whose I/O is recorded; all if empty.
    pub devices: IoDevices,
    /// The threads that do I/O, as the kernel numbers them; all if empty.
    pub threads: Vec<u32>,
    /// Times in clocks of the processor, if the kernel and the processor allow it; nanoseconds otherwise.
    pub clocks: bool,
    /// Size of the kernel's buffer for each CPU, in bytes. An event takes 40 to 60.
    pub buffer_bytes: u64,
}

/// Returns the names of an event, the newest first. Older kernels, such as 6.1, call some of them otherwise.
pub(super) fn names_of(point: Tracepoint) -> impl Iterator<Item = String> {
    let former = match point {
        Tracepoint::UringSubmit => Some("io_uring_submit_sqe".to_owned()),
        _ => None,
    };
    [point.name()].into_iter().chain(former)
}

/// The kernel refuses a condition that does not fit in a page.
const CONDITIONS_MAX: usize = 64;

impl RecorderConfig {
    /// Returns the events.
    pub(super) fn tracepoints(&self) -> Vec<Tracepoint> {
        use Tracepoint as T;
        let calls = self.calls.iter();
        let mut points: Vec<T> = calls.flat_map(|c| [T::Enter(*c), T::Exit(*c)]).collect();
        points.extend([T::BioQueue, T::BioSplit, T::Issue, T::Requeue, T::Complete]);
        points.extend([T::Switch, T::Waking]);
        if self.purpose == Purpose::Clocks {
            points.extend([T::GetRequest, T::Insert, T::BioComplete, T::Wakeup]);
            points.extend([T::IrqEntry, T::IrqExit, T::SoftEntry, T::SoftExit]);
            points.extend([T::TimerEntry, T::TimerExit]);
            points.extend([T::RescheduleEntry, T::RescheduleExit]);
            points.extend([T::CallEntry, T::CallExit]);
            points.extend([T::CallSingleEntry, T::CallSingleExit]);
            points.extend([T::WorkEntry, T::WorkExit]);
            points.extend([T::DirectDone, T::PagesReady]);
            if self.calls.contains(&Call::UringEnter) {
                points.extend([T::UringSubmit, T::UringComplete]);
            }
        }
        points
    }

    /// Returns the condition on an event; empty for none.
    pub(super) fn filter(&self, point: Tracepoint) -> String {
        use Tracepoint as T;
        let latency = self.purpose == Purpose::Latency;
        let (fields, values): (&[&str], _) = match point {
            // A bio that is split or remapped is one of the upper device or the lower.
            T::BioQueue | T::BioSplit | T::BioComplete | T::Issue | T::Requeue | T::Complete => {
                (&["dev"], self.devices.all())
            }
            T::GetRequest | T::Insert => (&["dev"], self.devices.all()),
            T::Enter(_) | T::Exit(_) | T::DirectDone | T::PagesReady => {
                (&["common_pid"], self.threads.clone())
            }
            T::Waking if latency => (&["pid"], self.threads.clone()),
            T::Switch if latency => (&["prev_pid", "next_pid"], self.threads.clone()),
            _ => return String::new(),
        };
        let conditions: Vec<String> = values
            .iter()
            .flat_map(|value| {
                fields
                    .iter()
                    .map(move |field| format!("{field} == {value}"))
            })
            .collect();
        match conditions.len() <= CONDITIONS_MAX {
            true => conditions.join(" || "),
            false => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(purpose: Purpose) -> RecorderConfig {
        RecorderConfig {
            purpose,
            calls: vec![Call::Pread],
            devices: IoDevices {
                queued: vec![7 << 20],
                issued: vec![7 << 20, 1],
            },
            threads: vec![12, 13],
            clocks: true,
            buffer_bytes: 1 << 20,
        }
    }

    #[test]
    fn conditions_keep_the_events_of_others_out() {
        let latency = config(Purpose::Latency);
        let of = |point| latency.filter(point);
        assert_eq!(of(Tracepoint::Issue), "dev == 1 || dev == 7340032");
        assert_eq!(
            of(Tracepoint::Enter(Call::Pread)),
            "common_pid == 12 || common_pid == 13"
        );
        assert_eq!(of(Tracepoint::Waking), "pid == 12 || pid == 13");
        let switches = "prev_pid == 12 || next_pid == 12 || prev_pid == 13 || next_pid == 13";
        assert_eq!(of(Tracepoint::Switch), switches);
        let clocks = config(Purpose::Clocks);
        assert_eq!(clocks.filter(Tracepoint::Switch), "");
        assert_eq!(clocks.filter(Tracepoint::IrqEntry), "");
        let mut many = config(Purpose::Latency);
        many.threads = (1..100).collect();
        assert_eq!(many.filter(Tracepoint::Waking), "");
    }

    #[test]
    fn latencies_need_fewer_events() {
        let latency = config(Purpose::Latency).tracepoints();
        let clocks = config(Purpose::Clocks).tracepoints();
        assert!(latency.iter().all(|point| clocks.contains(point)));
        assert!(latency.len() < 12 && clocks.len() > 20);
        assert!(!clocks.contains(&Tracepoint::UringSubmit));
    }
}
