//! Decodes the pages of a recording into typed records, and merges those of all CPUs.

use super::recorded::Recorded;
use crate::tracing::{Lost, Seen, events, field, id, number};
use fathom_block::kernel::{Event, Interrupt, Record, Span, Tracepoint};
use std::collections::BTreeMap;
use std::ops::Range;

/// The flag in a thread's state for one that was preempted (`TASK_REPORT_MAX`, include/trace/events/sched.h).
const PREEMPTED: u64 = 0x100;

/// Where the fields of an event are, in bytes from the start of its record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    id: u16,
    point: Tracepoint,
    thread: Range<usize>,
    fields: Vec<Range<usize>>,
}

/// Returns the fields that are read.
fn names(point: Tracepoint) -> &'static [&'static str] {
    use Tracepoint as T;
    match point {
        T::Exit(_) => &["ret"],
        T::BioQueue | T::BioSplit | T::BioComplete | T::GetRequest | T::Insert => BLOCK,
        T::Issue | T::Requeue | T::Complete => BLOCK,
        T::IrqEntry | T::IrqExit => &["irq"],
        T::SoftEntry | T::SoftExit => &["vec"],
        T::Switch => &["prev_state", "next_pid"],
        T::Waking | T::Wakeup => &["pid"],
        _ => &[],
    }
}

const BLOCK: &[&str] = &["dev", "sector", "nr_sector"];

impl Layout {
    /// Parses a `format` file. `None` if it lacks one of the fields.
    pub(super) fn parse(point: Tracepoint, text: &str) -> Option<Self> {
        let wanted = names(point).iter().filter(|name| {
            // A split is told by its place alone.
            !(point == Tracepoint::BioSplit && **name == "nr_sector")
        });
        Some(Self {
            id: id(text)?,
            point,
            thread: field(text, "common_pid")?,
            fields: wanted
                .map(|name| field(text, name))
                .collect::<Option<_>>()?,
        })
    }

    /// Returns the thread and the event of a record. `None` if it is too short.
    fn read(&self, record: &[u8]) -> Option<(u32, Event)> {
        let of = |range: &Range<usize>| number(record.get(range.clone())?);
        let thread = of(&self.thread)? as u32;
        let mut values = [0; 3];
        for (value, range) in values.iter_mut().zip(&self.fields) {
            *value = of(range)?;
        }
        Some((thread, event(self.point, values)))
    }
}

fn event(point: Tracepoint, values: [u64; 3]) -> Event {
    use Tracepoint as T;
    let [first, second, third] = values;
    let span = Span {
        dev: first as u32,
        sector: second,
        sectors: third as u32,
    };
    let number = first as u32;
    let begins = |interrupt| Event::Interrupt(interrupt);
    let ends = |interrupt| Event::InterruptEnd(interrupt);
    match point {
        T::Enter(call) => Event::Enter(call),
        T::Exit(call) => Event::Exit(call, first as i64),
        T::BioQueue => Event::BioQueue(span),
        T::BioSplit => Event::BioSplit(span),
        T::BioComplete => Event::BioComplete(span),
        T::GetRequest => Event::GetRequest(span),
        T::Insert => Event::Insert(span),
        T::Issue => Event::Issue(span),
        T::Requeue => Event::Requeue(span),
        T::Complete => Event::Complete(span),
        T::IrqEntry => begins(Interrupt::Device(number)),
        T::IrqExit => ends(Interrupt::Device(number)),
        T::SoftEntry => begins(Interrupt::Soft(number)),
        T::SoftExit => ends(Interrupt::Soft(number)),
        T::TimerEntry => begins(Interrupt::Timer),
        T::TimerExit => ends(Interrupt::Timer),
        T::RescheduleEntry => begins(Interrupt::Reschedule),
        T::RescheduleExit => ends(Interrupt::Reschedule),
        T::CallEntry | T::CallSingleEntry => begins(Interrupt::Call),
        T::CallExit | T::CallSingleExit => ends(Interrupt::Call),
        T::WorkEntry => begins(Interrupt::Work),
        T::WorkExit => ends(Interrupt::Work),
        T::Switch => Event::Switch {
            to: second as u32,
            preempted: first == 0 || first & PREEMPTED != 0,
        },
        T::Waking => Event::Waking(number),
        T::Wakeup => Event::Woken(number),
        T::UringSubmit => Event::UringSubmit,
        T::UringComplete => Event::UringComplete,
        T::DirectDone => Event::DirectDone,
        T::PagesReady => Event::PagesReady,
    }
}

/// Decodes the pages of a recording.
#[derive(Debug)]
pub(super) struct Decoder {
    /// The layouts by the number of their event.
    layouts: BTreeMap<u16, Layout>,
    /// Offset of the events in a page.
    data: usize,
}

impl Decoder {
    pub(super) fn new(data: usize) -> Self {
        Self {
            layouts: BTreeMap::new(),
            data,
        }
    }

    pub(super) fn add(&mut self, layout: Layout) {
        self.layouts.insert(layout.id, layout);
    }

    /// Decodes the pages of all CPUs. `counted` is what the kernel counted as lost.
    pub(super) fn all(
        &self,
        pages: &BTreeMap<u16, Vec<u8>>,
        page_bytes: usize,
        counted: &[Lost],
    ) -> Recorded {
        let mut records = Vec::new();
        let mut lost = 0;
        for (cpu, pages) in pages {
            let mut stream = Stream::new(*cpu);
            for page in pages.chunks(page_bytes.max(1)) {
                self.page(page, &mut stream);
            }
            let of = counted.iter().find(|lost| lost.cpu == *cpu);
            lost += stream.end(of.map_or(0, |lost| lost.events));
            records.append(&mut stream.records);
        }
        // Stable: the records of one CPU and one time keep their order.
        records.sort_by_key(|record| record.at);
        Recorded {
            records,
            lost,
            cpus: pages.len() as u16,
        }
    }

    fn page(&self, page: &[u8], stream: &mut Stream) {
        let first = stream.records.len();
        let seen = events(page, self.data, |at, record| {
            let id = record.get(..2).and_then(number);
            let layout = id.and_then(|id| self.layouts.get(&(id as u16)));
            if let Some((thread, event)) = layout.and_then(|layout| layout.read(record)) {
                stream.push(at, thread, event);
            }
        });
        match seen {
            Seen::All => {}
            Seen::Missed(count) => stream.lost_before(first, count),
            Seen::Broken => stream.lost_before(stream.records.len(), None),
        }
    }
}

/// The records of one CPU.
struct Stream {
    cpu: u16,
    records: Vec<Record>,
    /// Number of lost events whose place in time is known.
    placed: u64,
}

impl Stream {
    fn new(cpu: u16) -> Self {
        Self {
            cpu,
            records: Vec::new(),
            placed: 0,
        }
    }

    fn push(&mut self, at: u64, thread: u32, event: Event) {
        self.records.push(Record {
            at,
            thread,
            cpu: self.cpu,
            event,
        });
    }

    /// Says that events were lost before the record of this index.
    fn lost_before(&mut self, index: usize, count: Option<u64>) {
        let before = index.checked_sub(1).and_then(|i| self.records.get(i));
        let since = before.map_or(0, |record| record.at);
        let next = self.records.get(index);
        let lost = Record {
            at: next.map_or(u64::MAX, |record| record.at),
            thread: next.map_or(0, |record| record.thread),
            cpu: self.cpu,
            event: Event::Lost { since, count },
        };
        self.placed += count.unwrap_or(0);
        self.records.insert(index, lost);
    }

    /// Says what else the kernel counted as lost: at the one place where an unknown number is missing, or else without a place
    /// in time. Returns the number of all lost events.
    fn end(&mut self, counted: u64) -> u64 {
        let rest = counted.saturating_sub(self.placed);
        let mut unknown = self
            .records
            .iter_mut()
            .filter_map(|record| match &mut record.event {
                Event::Lost { count, .. } if count.is_none() => Some(count),
                _ => None,
            });
        let (first, more) = (unknown.next(), unknown.next().is_some());
        let said = first.is_some();
        match first {
            Some(count) if rest > 0 && !more => *count = Some(rest),
            None if rest > 0 => {
                let count = Some(rest);
                self.push(u64::MAX, 0, Event::Lost { since: 0, count });
            }
            _ => {}
        }
        counted.max(self.placed).max(u64::from(said))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lost(stream: &Stream) -> Vec<Record> {
        let lost = |record: &&Record| matches!(record.event, Event::Lost { .. });
        stream.records.iter().filter(lost).copied().collect()
    }

    fn with_two() -> Stream {
        let mut stream = Stream::new(3);
        stream.push(100, 7, Event::UringSubmit);
        stream.push(200, 8, Event::UringSubmit);
        stream
    }

    #[test]
    fn an_unknown_number_follows_from_the_kernels_counters_if_it_is_the_only_one() {
        let counts = |stream: &Stream| -> Vec<Option<u64>> {
            let count = |record: Record| match record.event {
                Event::Lost { count, .. } => count,
                _ => None,
            };
            lost(stream).into_iter().map(count).collect()
        };
        let mut one = with_two();
        one.lost_before(1, Some(5));
        one.lost_before(0, None);
        assert_eq!(one.end(9), 9);
        assert_eq!(counts(&one), [Some(4), Some(5)]);
        let mut two = with_two();
        two.lost_before(1, None);
        two.lost_before(0, None);
        assert_eq!(two.end(9), 9);
        assert_eq!(counts(&two), [None, None]);
    }

    #[test]
    fn a_loss_lies_between_its_neighbours() {
        let mut stream = with_two();
        stream.lost_before(1, Some(5));
        let expected = Record {
            at: 200,
            thread: 8,
            cpu: 3,
            event: Event::Lost {
                since: 100,
                count: Some(5),
            },
        };
        assert_eq!(stream.records[1], expected);
        assert_eq!(stream.end(5), 5);
        assert_eq!(lost(&stream), [expected]);
    }

    #[test]
    fn a_loss_that_only_the_counters_know_may_be_anywhere() {
        let mut stream = with_two();
        stream.lost_before(1, Some(5));
        assert_eq!(stream.end(8), 8);
        let Some(Record { at, event, .. }) = lost(&stream).pop() else {
            panic!("nothing is said");
        };
        let count = Some(3);
        assert_eq!((at, event), (u64::MAX, Event::Lost { since: 0, count }));
        // The kernel did not say how many it lost before a page: these may be they.
        let mut stream = with_two();
        stream.lost_before(1, None);
        assert_eq!(stream.end(8), 8);
        assert_eq!(lost(&stream).len(), 1);
        assert_eq!(with_two().end(0), 0);
    }

    #[test]
    fn a_format_without_a_field_is_none() {
        let format = "ID: 5\n\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\
                      \tfield:long ret;\toffset:8;\tsize:8;\tsigned:1;\n";
        let point = Tracepoint::Exit(fathom_block::kernel::Call::Read);
        let layout = Layout::parse(point, format).unwrap();
        assert_eq!(layout.read(&[0; 12]), None);
        let mut record = [0; 16];
        record[8..].copy_from_slice(&(-5_i64).to_ne_bytes());
        let call = fathom_block::kernel::Call::Read;
        assert_eq!(layout.read(&record), Some((0, Event::Exit(call, -5))));
        assert_eq!(Layout::parse(Tracepoint::Switch, format), None);
        assert_eq!(Layout::parse(point, &format.replace("ID", "Id")), None);
    }
}
