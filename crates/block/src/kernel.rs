//! Events of a running kernel that an I/O passes: what a recorder of its tracepoints yields and what an evaluation reads.
//!
//! They are here because the recorder (`fathom-hostio`) and the evaluation (`fathom-platform`) must not know each other. A
//! name after a variant is the kernel's own name of the tracepoint.

/// A system call of the interfaces for I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Call {
    /// `read`.
    Read,
    /// `pread64`.
    Pread,
    /// `io_submit`.
    Submit,
    /// `io_getevents`.
    GetEvents,
    /// `io_pgetevents`.
    PgetEvents,
    /// `io_uring_enter`.
    UringEnter,
}

impl Call {
    /// The kernel's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Pread => "pread64",
            Self::Submit => "io_submit",
            Self::GetEvents => "io_getevents",
            Self::PgetEvents => "io_pgetevents",
            Self::UringEnter => "io_uring_enter",
        }
    }
}

/// What interrupts a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Interrupt {
    /// A device, by the number of its line (irq).
    Device(u32),
    /// Deferred work of interrupts, by the kernel's number (softirq).
    Soft(u32),
    /// The timer of the processor.
    Timer,
    /// Another processor asks for a switch of threads.
    Reschedule,
    /// Another processor asks for work, such as the completion of an I/O that this one issued.
    Call,
    /// Work that an interrupt left for later (irq work).
    Work,
}

/// A range of a block device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// Device, as major * 2^20 + minor.
    pub dev: u32,
    /// First sector, of 512 bytes.
    pub sector: u64,
    /// Number of sectors.
    pub sectors: u32,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The thread entered a system call.
    Enter(Call),
    /// The thread leaves a system call with this result.
    Exit(Call, i64),
    /// A bio entered the block layer.
    BioQueue(Span),
    /// A bio was split.
    BioSplit(Span),
    /// A bio is done.
    BioComplete(Span),
    /// A request was allocated.
    GetRequest(Span),
    /// A request went to the scheduler.
    Insert(Span),
    /// A request goes to the driver.
    Issue(Span),
    /// A request came back from the driver to be issued again.
    Requeue(Span),
    /// A request is done.
    Complete(Span),
    /// An interrupt begins.
    Interrupt(Interrupt),
    /// An interrupt ends.
    InterruptEnd(Interrupt),
    /// The processor goes from the record's thread to another.
    Switch {
        /// The thread that runs now; 0 is the idle thread of each processor.
        to: u32,
        /// The thread that ran could have gone on: it was preempted.
        preempted: bool,
    },
    /// A thread is being woken.
    Waking(u32),
    /// A thread is ready to run.
    Woken(u32),
    /// io_uring takes a request from its queue.
    UringSubmit,
    /// io_uring posts a completion.
    UringComplete,
    /// Direct I/O of a file system is done (`iomap`), in the thread that asked for it.
    DirectDone,
    /// Pages of a buffered read are in memory; the copy follows.
    PagesReady,
    /// Events of the record's processor were lost, between `since` and the time of the record.
    Lost {
        /// Time of the last event before the loss; 0 if unknown.
        since: u64,
        /// How many; `None` if the kernel does not say.
        count: Option<u64>,
    },
}

/// An event with its time and place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Time, in the units of the clock of the recording.
    pub at: u64,
    /// Thread that was running, by its number; 0 is the idle thread of each processor.
    pub thread: u32,
    /// Processor.
    pub cpu: u16,
    /// What happened.
    pub event: Event,
}

/// A place in the kernel that reports events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "named after the kernel's tracepoints")]
pub enum Tracepoint {
    Enter(Call),
    Exit(Call),
    BioQueue,
    BioSplit,
    BioComplete,
    GetRequest,
    Insert,
    Issue,
    Requeue,
    Complete,
    IrqEntry,
    IrqExit,
    SoftEntry,
    SoftExit,
    TimerEntry,
    TimerExit,
    RescheduleEntry,
    RescheduleExit,
    CallEntry,
    CallExit,
    CallSingleEntry,
    CallSingleExit,
    WorkEntry,
    WorkExit,
    Switch,
    Waking,
    Wakeup,
    UringSubmit,
    UringComplete,
    DirectDone,
    PagesReady,
}

impl Tracepoint {
    /// The directory of its group in tracefs.
    pub fn group(self) -> &'static str {
        match self {
            Self::Enter(_) | Self::Exit(_) => "syscalls",
            Self::BioQueue | Self::BioSplit | Self::BioComplete | Self::GetRequest => "block",
            Self::Insert | Self::Issue | Self::Requeue | Self::Complete => "block",
            Self::IrqEntry | Self::IrqExit | Self::SoftEntry | Self::SoftExit => "irq",
            Self::Switch | Self::Waking | Self::Wakeup => "sched",
            Self::UringSubmit | Self::UringComplete => "io_uring",
            Self::DirectDone => "iomap",
            Self::PagesReady => "filemap",
            _ => "irq_vectors",
        }
    }

    /// Its name in the group.
    pub fn name(self) -> String {
        let name = match self {
            Self::Enter(call) => return format!("sys_enter_{}", call.name()),
            Self::Exit(call) => return format!("sys_exit_{}", call.name()),
            Self::BioQueue => "block_bio_queue",
            Self::BioSplit => "block_split",
            Self::BioComplete => "block_bio_complete",
            Self::GetRequest => "block_getrq",
            Self::Insert => "block_rq_insert",
            Self::Issue => "block_rq_issue",
            Self::Requeue => "block_rq_requeue",
            Self::Complete => "block_rq_complete",
            Self::IrqEntry => "irq_handler_entry",
            Self::IrqExit => "irq_handler_exit",
            Self::SoftEntry => "softirq_entry",
            Self::SoftExit => "softirq_exit",
            Self::TimerEntry => "local_timer_entry",
            Self::TimerExit => "local_timer_exit",
            Self::RescheduleEntry => "reschedule_entry",
            Self::RescheduleExit => "reschedule_exit",
            Self::CallEntry => "call_function_entry",
            Self::CallExit => "call_function_exit",
            Self::CallSingleEntry => "call_function_single_entry",
            Self::CallSingleExit => "call_function_single_exit",
            Self::WorkEntry => "irq_work_entry",
            Self::WorkExit => "irq_work_exit",
            Self::Switch => "sched_switch",
            Self::Waking => "sched_waking",
            Self::Wakeup => "sched_wakeup",
            Self::UringSubmit => "io_uring_submit_req",
            Self::UringComplete => "io_uring_complete",
            Self::DirectDone => "iomap_dio_complete",
            Self::PagesReady => "mm_filemap_get_pages",
        };
        name.to_owned()
    }

    /// What a kernel without it cannot say.
    pub fn without(self) -> &'static str {
        match self {
            Self::Enter(_) | Self::Exit(_) => {
                "entry and file system, and the program and the kernel, cannot be told apart \
                 (the kernel lacks CONFIG_FTRACE_SYSCALLS)"
            }
            Self::BioQueue => "file system and block layer cannot be told apart",
            Self::Issue => "block layer and driver cannot be told apart",
            Self::Complete => "device and completion cannot be told apart",
            Self::BioSplit | Self::Requeue => {
                "an I/O that was split or requeued is known by its number of requests only"
            }
            Self::BioComplete | Self::GetRequest | Self::Insert => {
                "steps within the block layer cannot be told apart"
            }
            Self::IrqEntry | Self::IrqExit | Self::SoftEntry | Self::SoftExit => {
                "clocks of interrupts are counted for what they interrupt"
            }
            Self::Switch => "threads, waiting and idling cannot be told apart",
            Self::Waking => "completion and waking cannot be told apart",
            Self::Wakeup => "a part of waking is counted for what follows it",
            Self::UringSubmit | Self::UringComplete => {
                "the file system's part is counted for the block layer where io_uring issues several requests at a time"
            }
            Self::DirectDone => "the file system's way back is counted for the context switch",
            Self::PagesReady => "copies cannot be told from the context switch",
            _ => "clocks of this kind of interrupt are counted for what it interrupts",
        }
    }
}
