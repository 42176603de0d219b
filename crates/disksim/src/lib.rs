//! The drive `ms-ssd`: a model of the Microsoft SSD extension of DiskSim, the drive of the `epo` paper (IV.A, Table I).
//!
//! It is independent of the general engine in `fathom-ssd` and shares no code with it. It has elements with several
//! planes behind one set of pins each, a page map in every element, greedy cleaning that blocks the element, a channel to
//! the host that carries one page at a time, and a driver that limits the number of requests at the drive. The drive
//! starts full.
//!
//! Times are sums of milliseconds in double precision, added in the same order as in the reference. In exact arithmetic
//! some events would occur at the same instant: an element finishes as the channel becomes free, or a request arrives as
//! a cleaning pass ends. In the reference, the two sums are equal or differ in the last bit, and that bit decides which
//! event comes first. The sums are the same on every machine. A transfer over the pins is added to its program or read
//! before rounding, as in the reference's build. Requests start and complete at whole nanoseconds; completions are
//! rounded up. The sums resolve a nanosecond for a hundred days, and are then restarted (`MsSsd::begin_anew`).
//!
//! Requests that are not whole pages are rounded out to whole pages, also on the channel. The model covers time, not
//! bytes; it has no write cache, no TRIM, no power cut and no bit errors. A block dies after
//! [`spec::Cleaning::endurance`] erases, and a write that finds no room fails with [`IoErrorKind::NoSpace`].
//!
//! For comparisons with the reference, [`MsSsd::keep_cleanings`] records every cleaning pass, and
//! [`Spec::reserve_blocks`], [`Spec::low_blocks`] and [`Spec::pages_per_element`] return numbers that the reference
//! prints.

mod active;
mod channel;
mod clean;
mod counters;
mod driver;
mod element;
mod flash;
mod parts;
mod pass;
pub mod presets;
mod shape;
pub mod spec;
mod wear;

use active::{Active, Channel};
use clean::Cleaner;
pub use counters::{Cleaning, Counters};
use driver::Waiting;
pub use fathom_base::SpecError;
use fathom_base::memory::room_for;
use fathom_base::want;
use fathom_base::{Dur, EventQueue, Slab, Time};
use fathom_block::simulated::{self, Progress, Simulated};
use fathom_block::{
    Busy, Completion, Device, DeviceInfo, DriveStats, IoErrorKind, Op, Request, Subject,
};
use flash::Flash;
use parts::{Batch, Parts, Station};
use shape::{Costs, Shape, latest_at, millis_at, time_at};
pub use spec::Spec;

/// Maximum length of a read or write, in bytes.
const MAX_REQUEST_BYTES: u64 = 32 << 20;
/// Event queue lane for commands, which all take the same time.
const COMMANDS: usize = 0;
/// Event queue lane for the channel, which carries one page after another.
const CHANNEL: usize = 1;
/// Event queue lane for the driver, which acts at once.
const DRIVER: usize = 2;
/// Event queue lane for element operations with the most common durations.
const ELEMENTS: usize = 3;
/// Time after which the sums are restarted, in milliseconds (99 days); larger sums would not resolve a nanosecond.
const ANEW_MS: u64 = 1 << 33;
const NS_PER_MS: u64 = 1_000_000;

/// The events.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// The driver dispatches a request that has waited.
    Issue(u32),
    /// The controller has processed the command of a request.
    Command(u32),
    /// The channel has transferred a request.
    Carried,
    /// An element has executed a part of a request.
    Done(u32),
    /// A gang has finished a cleaning pass.
    Cleaned(u32),
}

/// Converts an instant in milliseconds to a key of the event queue. The bits of non-negative floating-point numbers have
/// the order of the numbers.
#[inline]
fn key(millis: f64) -> Time {
    Time(millis.to_bits())
}

/// A modelled drive. `Clone` forks it with its complete state.
#[derive(Clone, Debug)]
pub struct MsSsd {
    info: DeviceInfo,
    shape: Shape,
    costs: Costs,
    progress: Progress,
    /// Origin of the millisecond sums, a whole number of milliseconds after the start.
    epoch: Time,
    /// Current time, in milliseconds since the epoch.
    millis: f64,
    /// Pending events; their times are [`key`]s.
    events: EventQueue<Event>,
    waiting: Waiting,
    /// Maximum number of requests at the drive, and the current number.
    at_drive: (u32, u32),
    requests: Slab<Active>,
    channel: Channel,
    parts: Parts,
    stations: Vec<Station>,
    batch: Batch,
    flash: Flash,
    cleaner: Cleaner,
    counters: Counters,
    busy_ms: f64,
    cleanings: Option<Vec<Cleaning>>,
}

impl MsSsd {
    /// Creates a new drive, which is full.
    ///
    /// # Errors
    /// Returns the error of [`Spec::check`], or an error if there is not enough memory.
    pub fn new(spec: &Spec) -> Result<MsSsd, SpecError> {
        spec.check()?;
        let shape = Shape::new(spec);
        let bytes = Flash::bytes_of(&shape);
        want(room_for(bytes), "elements", spec.elements, || {
            format!(
                "fewer, or smaller ones: their tables take {} MiB of memory",
                bytes >> 20
            )
        })?;
        let info = DeviceInfo {
            name: spec.name.clone(),
            capacity_bytes: spec.capacity().0,
            logical_block_bytes: 512,
            max_request_bytes: MAX_REQUEST_BYTES,
            queue_depth: spec.driver.depth,
            volatile_cache: false,
            trim: false,
            read_only: false,
            modelled: true,
            rotational: Some(false),
            ..DeviceInfo::default()
        };
        let costs = Costs::new(spec);
        Ok(MsSsd {
            info,
            costs,
            progress: Progress::default(),
            events: EventQueue::default(),
            epoch: Time::ZERO,
            millis: 0.0,
            waiting: Waiting::new(shape.elevator),
            at_drive: (spec.driver.queue_length, 0),
            requests: Slab::default(),
            channel: Channel::default(),
            parts: Parts::default(),
            stations: vec![Station::default(); (shape.elements / shape.gang) as usize],
            batch: Batch::default(),
            flash: Flash::new(&shape),
            cleaner: Cleaner::new(&shape, costs, spec.cleaning.seed),
            counters: Counters::default(),
            busy_ms: 0.0,
            cleanings: None,
            shape,
        })
    }

    /// Returns the work done so far.
    pub fn counters(&self) -> Counters {
        Counters {
            erases: self.counters.cleanings,
            busy: Dur((self.busy_ms * 1e6).round() as u64),
            ..self.counters
        }
    }

    /// Records every cleaning pass from now on for [`MsSsd::cleanings`].
    pub fn keep_cleanings(mut self) -> Self {
        self.cleanings.get_or_insert_default();
        self
    }

    /// Returns the cleaning passes since [`MsSsd::keep_cleanings`], in order of time.
    pub fn cleanings(&self) -> &[Cleaning] {
        self.cleanings.as_deref().unwrap_or_default()
    }

    /// Returns the size of a page in bytes.
    pub fn page_bytes(&self) -> u64 {
        u64::from(self.shape.page_bytes)
    }

    /// Returns the memory in bytes that the drive uses once all of its maps are in use, without requests in flight.
    pub fn state_bytes(&self) -> usize {
        self.flash.bytes() + size_of::<Self>()
    }

    /// Converts a time to milliseconds since the epoch.
    #[inline]
    fn millis_of(&self, time: Time) -> f64 {
        millis_at(self.since_epoch(time))
    }

    #[inline]
    fn since_epoch(&self, time: Time) -> Time {
        Time(time.since(self.epoch).0)
    }

    /// Restarts the millisecond sums at the current time. The number subtracted from every sum is a whole number of
    /// milliseconds and causes no rounding, so the distances between pending events do not change.
    #[cold]
    fn begin_anew(&mut self) {
        let passed = self.progress.now.since(self.epoch).0 / NS_PER_MS;
        let millis = passed as f64;
        self.epoch += Dur(passed * NS_PER_MS);
        self.millis -= millis;
        self.flash.begin_anew(millis);
        let mut events = EventQueue::default();
        while let Some((at, event)) = self.events.pop() {
            events.push(key(f64::from_bits(at.0) - millis), event);
        }
        self.events = events;
    }

    fn note_cleaning(&mut self, cleaning: Cleaning) {
        self.busy_ms += cleaning.cost_ms;
        if let Some(cleanings) = &mut self.cleanings {
            cleanings.push(cleaning);
        }
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Issue(request) => self.issue(request),
            Event::Command(request) => self.arrive(request),
            Event::Carried => self.carried(),
            Event::Done(index) => {
                let part = self.parts.remove(index);
                let gang = self.shape.gang_of(part.element);
                self.stations[gang as usize].at_work -= 1;
                self.part_done(part.parent);
                self.activate(gang);
            }
            Event::Cleaned(gang) => {
                self.stations[gang as usize].at_work = 0;
                self.activate(gang);
            }
        }
    }

    /// Completes a request with its result.
    fn finish(&mut self, request: &Active, result: Result<(), IoErrorKind>) {
        let &Active {
            op, offset, len, ..
        } = request;
        let whole = Request::new(request.id.0, op, offset, len);
        self.progress
            .complete(&whole, request.submitted, result, None);
    }
}

impl Subject for MsSsd {
    /// Events of the current instant may come at the next: their times are rounded to a nanosecond.
    fn next_at(&mut self) -> Option<Time> {
        let now = self.progress.now;
        let next = self.events.next_at().map(|at| {
            let at = self.epoch + Dur(time_at(f64::from_bits(at.0)).0);
            at.max(now + Dur(1))
        });
        let finished = self.progress.has_finished();
        Some(if finished {
            now
        } else {
            next.unwrap_or(Time::MAX)
        })
    }

    fn stats(&self) -> Option<DriveStats> {
        let (counters, page) = (self.counters(), self.page_bytes());
        Some(DriveStats {
            host_bytes_written: counters.pages_written * page,
            flash_bytes_programmed: (counters.pages_written + counters.pages_moved) * page,
            erases: counters.erases,
            collected: counters.cleanings,
            moved_units: counters.pages_moved,
            busy: Some(counters.busy),
            ..DriveStats::default()
        })
    }
}

impl Device for MsSsd {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn now(&self) -> Time {
        self.progress.now
    }

    fn submit(&mut self, request: Request) -> Result<(), Busy> {
        let Some(admitted) = simulated::admit(self, &request) else {
            return Err(Busy(request));
        };
        if self.progress.now.since(self.epoch).0 > ANEW_MS * NS_PER_MS {
            self.begin_anew();
        }
        let active = Active::new(
            &request,
            self.progress.now,
            u64::from(self.shape.page_bytes),
        );
        match admitted.err() {
            None if request.op != Op::Flush => {
                self.millis = self.millis.max(self.millis_of(self.progress.now));
                if request.op == Op::Write {
                    let (element, page) = self.shape.place(active.first);
                    self.flash.fetch_map(&self.shape, element, page);
                }
                let index = self.requests.insert(active);
                self.enqueue(index, active.first);
            }
            // The drive holds nothing back, so a flush completes at once.
            None => self.finish(&active, Ok(())),
            Some(kind) => self.finish(&active, Err(kind)),
        }
        Ok(())
    }

    fn wait(&mut self, until: Time, done: &mut Vec<Completion>) {
        simulated::wait(self, until, done);
    }
}

impl Simulated for MsSsd {
    fn progress(&mut self) -> &mut Progress {
        &mut self.progress
    }

    #[inline]
    fn step(&mut self, limit: Time) -> bool {
        let latest = match self.progress.has_finished() {
            true => latest_at(self.since_epoch(limit)),
            false => self.millis_of(limit),
        };
        let Some((at, event)) = self.events.pop_until(key(latest)) else {
            return false;
        };
        self.millis = f64::from_bits(at.0);
        let now = self.epoch + Dur(time_at(self.millis).0);
        self.progress.now = self.progress.now.max(now.min(limit));
        self.handle(event);
        true
    }

    fn is_still(&self) -> bool {
        self.events.is_empty()
    }

    fn end(&mut self) {
        self.events.clear();
        let in_flight: Vec<u32> = self.requests.ids().collect();
        for id in in_flight {
            if let Some(request) = self.requests.remove(id) {
                self.finish(&request, Err(IoErrorKind::EndOfTime));
            }
        }
    }
}
