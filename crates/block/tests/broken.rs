//! The conformance suite finds faults: one device for each way to break the contract.

#[allow(dead_code, reason = "shared; not every test file needs all of it")]
use crate::common::ram;
use fathom_base::{Dur, Time};
use fathom_block::conformance::{Breach, Options, Violation, check};
use fathom_block::{
    Busy, Completion, Device, DeviceInfo, IoErrorKind, Op, RamDevice, Request, RequestId,
};

/// The fault of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flaw {
    Nothing,
    DropsCompletion,
    NeverFlushes,
    CompletesTwice,
    RepeatsMuchLater,
    InventsId,
    ChangesOp,
    BackdatesSubmission,
    CompletesBeforeSubmission,
    CompletesInTheFuture,
    ReversesBatch,
    SplitsBatch,
    ClearsList,
    ClockGoesBack,
    ClockMovesOnSubmit,
    ClockMovesOnCollect,
    Overshoots,
    ReturnsEarly,
    RunsToTheEndOfTime,
    LosesDataOfBusyRequest,
    TakesTooMany,
    TakesTooFew,
    LeaksOnError,
    TakesWrongRequests,
    GivesWrongErrorKind,
    GivesWrongErrorPlace,
    FailsRightRequests,
    WritesBeforeItRefuses,
    TakesShortBuffers,
    ReadsGarbage,
    ReadsNothing,
    ReadsTooMuch,
    WritesToTheNextBlock,
    ForgetsTheLastBlock,
    TrimsTooMuch,
    TrimsNothing,
    LetsReadsOvertakeWrites,
    WritesThoughReadOnly,
}
use Flaw::*;

struct Broken {
    inner: RamDevice,
    info: DeviceInfo,
    flaw: Flaw,
    completions: u64,
    leaked: u32,
    back: bool,
    kept: Vec<Completion>,
    held: Option<Request>,
}

impl Broken {
    fn new(flaw: Flaw) -> Self {
        let honest = ram(Dur(100));
        let info = DeviceInfo {
            read_only: flaw == WritesThoughReadOnly,
            queue_depth: match flaw {
                TakesTooMany => 7,
                TakesTooFew => 9,
                _ => 8,
            },
            ..honest.info().clone()
        };
        Self {
            inner: honest,
            info,
            flaw,
            completions: 0,
            leaked: 0,
            back: false,
            kept: Vec::new(),
            held: None,
        }
    }

    fn pass_held(&mut self) {
        if let Some(request) = self.held.take() {
            self.inner.submit(request).expect("there is room");
        }
    }

    /// Faults applied to requests.
    fn spoil_request(&mut self, request: &mut Request) {
        let wrong = self.info.check(request).is_err();
        match (self.flaw, request.op) {
            (WritesBeforeItRefuses, Op::Write) if wrong && request.offset < 1 << 19 => {
                let copy = Request::new(u64::MAX, Op::Trim, 0, 512);
                self.inner.submit(copy).expect("there is room");
            }
            (TakesShortBuffers, Op::Write) => {
                if let Some(data) = &mut request.data {
                    let mut long = data.to_vec();
                    long.resize(request.len as usize, 0);
                    *data = long.into();
                }
            }
            (WritesToTheNextBlock, Op::Write) if request.offset == 512 * 7 => request.offset += 512,
            (ForgetsTheLastBlock, Op::Write) if request.len > 512 => {
                if let Some(data) = &mut request.data {
                    let at = data.len().saturating_sub(512);
                    data[at..].fill(0);
                }
            }
            (TrimsTooMuch, Op::Trim) if !wrong => request.len += 512,
            (TrimsNothing, Op::Trim) if !wrong => request.offset = 1 << 19,
            _ => {}
        }
    }

    /// Faults applied to completions.
    fn spoil_completion(&mut self, completion: &mut Completion) {
        match self.flaw {
            TakesWrongRequests => completion.result = Ok(()),
            InventsId => completion.id = RequestId(completion.id.0 + 1000),
            ChangesOp if completion.op == Op::Flush => completion.op = Op::Write,
            BackdatesSubmission => completion.submitted = Time(completion.submitted.0 / 2),
            CompletesBeforeSubmission => completion.completed = Time(completion.submitted.0 / 2),
            CompletesInTheFuture => completion.completed += Dur(1),
            FailsRightRequests if completion.result.is_ok() && completion.op == Op::Trim => {
                completion.result = Err(fathom_block::IoError {
                    kind: IoErrorKind::Medium,
                    op: Op::Trim,
                    offset: 0,
                    len: 0,
                });
            }
            _ => {}
        }
        match (self.flaw, &mut completion.result, &mut completion.data) {
            (GivesWrongErrorKind, Err(error), _) if error.kind == IoErrorKind::OutOfRange => {
                error.kind = IoErrorKind::Misaligned;
            }
            (GivesWrongErrorPlace, Err(error), _) => error.offset += 1,
            (ReadsGarbage, _, Some(data)) if data.len() == 8 * 512 => data[8 * 512 - 1] ^= 1,
            (ReadsNothing, _, data) => *data = None,
            (ReadsTooMuch, _, Some(data)) => *data = vec![0; data.len() + 1].into(),
            _ => {}
        }
    }

    fn spoil_batch(&mut self, came: &mut Vec<Completion>) {
        came.retain(|c| c.id.0 != u64::MAX);
        for completion in came.iter_mut() {
            self.completions += 1;
            self.spoil_completion(completion);
            if self.flaw == LeaksOnError && completion.result.is_err() {
                self.leaked += 1;
            }
            if self.flaw == RepeatsMuchLater && self.completions == 3 {
                self.kept.push(completion.clone());
            }
        }
        match self.flaw {
            DropsCompletion if self.completions > 30 => came.truncate(came.len().saturating_sub(1)),
            NeverFlushes => came.retain(|c| c.op != Op::Flush),
            CompletesTwice => came.extend(came.last().cloned()),
            RepeatsMuchLater if self.completions > 40 => came.append(&mut self.kept),
            ReversesBatch => came.reverse(),
            SplitsBatch => {
                self.kept.append(came);
                if !self.kept.is_empty() {
                    came.push(self.kept.remove(0));
                }
            }
            _ => {}
        }
    }
}

impl Device for Broken {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn now(&self) -> Time {
        let now = self.inner.now();
        match self.back {
            true => Time::ZERO,
            false => now,
        }
    }

    fn submit(&mut self, mut request: Request) -> Result<(), Busy> {
        if self.leaked >= 4 {
            return Err(Busy(request));
        }
        self.spoil_request(&mut request);
        match self.flaw {
            ClockMovesOnSubmit => {
                let until = self.inner.now() + Dur(1);
                self.inner.wait(until, &mut self.kept);
            }
            LetsReadsOvertakeWrites if request.op == Op::Write && request.len == 1024 => {
                self.held = Some(request);
                return Ok(());
            }
            LosesDataOfBusyRequest => {
                return self.inner.submit(request).map_err(|Busy(mut request)| {
                    request.data = None;
                    Busy(request)
                });
            }
            _ => {}
        }
        let outcome = self.inner.submit(request);
        self.pass_held();
        outcome
    }

    fn wait(&mut self, until: Time, done: &mut Vec<Completion>) {
        self.pass_held();
        let until = match self.flaw {
            ClockMovesOnCollect if until <= self.inner.now() => self.inner.now() + Dur(1),
            Overshoots => until + Dur(60),
            ReturnsEarly if until > self.inner.now() + Dur(50) => self.inner.now() + Dur(50),
            RunsToTheEndOfTime if until == Time::MAX => Time(u64::MAX - 1),
            ClearsList => {
                done.clear();
                until
            }
            _ => until,
        };
        let mut came = std::mem::take(&mut self.kept);
        if self.flaw == RepeatsMuchLater || self.flaw == SplitsBatch {
            std::mem::swap(&mut came, &mut self.kept);
        }
        if self.kept.is_empty() || self.flaw != SplitsBatch {
            self.inner.wait(until, &mut came);
        }
        self.spoil_batch(&mut came);
        // A dropped completion must look as if it never happened: continue waiting.
        if came.is_empty() && matches!(self.flaw, DropsCompletion | NeverFlushes) {
            self.inner.wait(until, &mut came);
        }
        done.append(&mut came);
        self.back = self.flaw == ClockGoesBack && self.inner.now() > Time(1000) && !self.back;
    }
}

fn run(flaw: Flaw) -> Result<(), Violation> {
    let options = Options {
        trim_zeroes: true,
        ..Options::default()
    };
    check(&mut || Broken::new(flaw), &options).map(|_| ())
}

/// Checks that the suite reports a flaw as the expected breach.
macro_rules! found {
    ($($name:ident: $flaw:ident => $breach:pat,)*) => {$(
        #[test]
        fn $name() {
            let violation = run($flaw).expect_err("the flaw was not found");
            assert!(matches!(violation.breach, $breach), "found as: {violation}");
        }
    )*};
}

#[test]
fn without_a_flaw_nothing_is_found() {
    run(Nothing).unwrap();
}

found! {
    a_dropped_completion: DropsCompletion => Breach::Lost { .. },
    a_flush_that_never_completes: NeverFlushes => Breach::Lost { .. },
    a_completion_twice: CompletesTwice => Breach::NotInFlight { .. },
    a_completion_twice_much_later: RepeatsMuchLater => Breach::NotInFlight { .. },
    a_foreign_identifier: InventsId => Breach::NotInFlight { .. },
    another_operation: ChangesOp => Breach::WrongOp { .. },
    a_wrong_time_of_submission: BackdatesSubmission => Breach::WrongSubmitted { .. },
    done_before_submitted: CompletesBeforeSubmission => Breach::WrongCompleted { .. },
    done_in_the_future: CompletesInTheFuture => Breach::WrongCompleted { .. },
    equal_requests_in_reverse: ReversesBatch => Breach::Overtaken { .. },
    an_instant_in_pieces: SplitsBatch => Breach::Apart { .. },
    a_list_that_is_cleared: ClearsList => Breach::ListChanged,
    time_backwards: ClockGoesBack => Breach::ClockBackwards { .. },
    time_that_passes_in_submit: ClockMovesOnSubmit => Breach::ClockMoved { during: "submit", .. },
    time_that_passes_in_collecting: ClockMovesOnCollect => Breach::ClockMoved { during: "wait until now", .. },
    a_wait_too_far: Overshoots => Breach::ClockMoved { .. } | Breach::Overshot { .. },
    a_wait_too_short: ReturnsEarly => Breach::EarlyReturn { .. },
    a_wait_to_the_end_of_time: RunsToTheEndOfTime => Breach::ClockMoved { .. },
    a_busy_request_without_its_data: LosesDataOfBusyRequest => Breach::BusyChanged { .. },
    one_request_too_many: TakesTooMany => Breach::QueueOverrun { depth: 7 },
    one_request_too_few: TakesTooFew => Breach::BusyEarly { in_flight: 8, depth: 9 },
    a_place_lost_with_each_error: LeaksOnError => Breach::BusyEarly { .. },
    a_wrong_request_that_succeeds: TakesWrongRequests => Breach::WrongResult { got: Ok(()), .. },
    a_wrong_kind_of_error: GivesWrongErrorKind => Breach::WrongResult { got: Err(IoErrorKind::Misaligned), .. },
    an_error_elsewhere: GivesWrongErrorPlace => Breach::WrongError { .. },
    a_right_request_that_fails: FailsRightRequests => Breach::WrongResult { got: Err(IoErrorKind::Medium), .. },
    a_refused_write_that_writes: WritesBeforeItRefuses => Breach::WrongData { offset: 0, .. },
    a_buffer_too_short: TakesShortBuffers => Breach::WrongResult { expected: Err(None), got: Ok(()), .. },
    a_bit_flipped: ReadsGarbage => Breach::WrongData { .. },
    a_read_without_data: ReadsNothing => Breach::DataLength { got: None, .. },
    a_read_with_too_much_data: ReadsTooMuch => Breach::DataLength { got: Some(513), .. },
    a_write_elsewhere: WritesToTheNextBlock => Breach::WrongData { .. },
    a_write_cut_short: ForgetsTheLastBlock => Breach::WrongData { .. },
    a_trim_too_wide: TrimsTooMuch => Breach::WrongData { .. },
    a_trim_that_is_none: TrimsNothing => Breach::WrongData { .. },
    a_read_that_overtakes_a_write: LetsReadsOvertakeWrites => Breach::WrongData { .. },
    a_write_to_a_read_only_device: WritesThoughReadOnly => Breach::WrongResult { got: Ok(()), .. },
}

#[test]
fn a_region_too_small_is_said() {
    let options = Options {
        region: 0..15 * 512,
        ..Options::default()
    };
    let violation = check(&mut || ram(Dur(1)), &options).unwrap_err();
    assert_eq!(violation.breach, Breach::Region { have: 15, need: 16 });
}

#[test]
fn a_violation_names_what_is_needed_to_see_it_again() {
    let text = run(ReadsTooMuch).unwrap_err().to_string();
    for part in ["`ram`", "`clock`", "seed 1", "513"] {
        assert!(text.contains(part), "{part} is not in: {text}");
    }
}
