//! The event loop of modelled drives.

use fathom_base::{Dur, EventQueue, Time};
use fathom_block::devices::modelled_info;
use fathom_block::simulated::{self, Progress, Simulated};
use fathom_block::{Busy, Completion, Device, DeviceInfo, IoErrorKind, Op, Request};

/// A drive on which a request takes as many nanoseconds as its number, and which schedules no event for request 0.
struct Model {
    info: DeviceInfo,
    progress: Progress,
    events: EventQueue<u64>,
    active: Vec<Request>,
}

impl Model {
    fn new() -> Model {
        Model {
            info: modelled_info("model", 1 << 20),
            progress: Progress::default(),
            events: EventQueue::default(),
            active: Vec::new(),
        }
    }

    fn finish(&mut self, index: usize, result: Result<(), IoErrorKind>) {
        let request = self.active.remove(index);
        self.progress.complete(&request, Time::ZERO, result, None);
    }
}

impl Device for Model {
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
        let id = request.id.0;
        self.active.push(request);
        match admitted.err() {
            Some(kind) => self.finish(self.active.len() - 1, Err(kind)),
            None if id > 0 => self.events.push(self.progress.now + Dur(id), id),
            None => {}
        }
        Ok(())
    }

    fn wait(&mut self, until: Time, done: &mut Vec<Completion>) {
        simulated::wait(self, until, done);
    }
}

impl Simulated for Model {
    fn progress(&mut self) -> &mut Progress {
        &mut self.progress
    }

    fn step(&mut self, limit: Time) -> bool {
        let Some((at, id)) = self.events.pop_until(limit) else {
            return false;
        };
        self.progress.now = at;
        let index = self.active.iter().position(|r| r.id.0 == id);
        self.finish(index.expect("it is in flight"), Ok(()));
        true
    }

    fn is_still(&self) -> bool {
        self.events.is_empty()
    }

    fn end(&mut self) {
        self.events.clear();
        while !self.active.is_empty() {
            self.finish(0, Err(IoErrorKind::EndOfTime));
        }
    }
}

fn read(id: u64) -> Request {
    Request::new(id, Op::Read, 0, 512)
}

/// Waits. Returns the numbers of the completed requests, and the time.
fn waited(model: &mut Model, until: Time) -> (Vec<u64>, u64) {
    let mut done = Vec::new();
    model.wait(until, &mut done);
    (done.iter().map(|c| c.id.0).collect(), model.now().0)
}

#[test]
fn what_completes_at_one_instant_comes_together_and_nothing_later_with_it() {
    let mut model = Model::new();
    for id in [5, 3, 5, 9] {
        model.submit(read(id)).unwrap();
    }
    assert_eq!(waited(&mut model, Time(2)), (vec![], 2));
    assert_eq!(waited(&mut model, Time::MAX), (vec![3], 3));
    assert_eq!(waited(&mut model, Time(5)), (vec![5, 5], 5));
    assert_eq!(waited(&mut model, Time(1)), (vec![], 5), "never back");
    assert_eq!(waited(&mut model, Time::MAX), (vec![9], 9));
    // Nothing is in flight: an unlimited wait changes nothing, a limited one passes time.
    assert_eq!(waited(&mut model, Time::MAX), (vec![], 9));
    assert_eq!(waited(&mut model, Time(20)), (vec![], 20));
}

#[test]
fn what_is_in_flight_at_the_end_of_time_fails() {
    let mut model = Model::new();
    model.progress.now = Time(Time::END.0 - 2);
    model.submit(read(1)).unwrap();
    model.submit(read(7)).unwrap();
    assert_eq!(waited(&mut model, Time::MAX).0, [1]);
    let mut done = Vec::new();
    model.wait(Time::MAX, &mut done);
    let error = done[0].result.unwrap_err().kind;
    assert_eq!(
        (error, done[0].completed),
        (IoErrorKind::EndOfTime, Time::END)
    );
    model.submit(read(1)).unwrap();
    model.wait(Time::MAX, &mut done);
    assert_eq!(done[1].result.unwrap_err().kind, IoErrorKind::EndOfTime);
}

#[test]
fn a_model_that_has_stopped_completes_nothing() {
    let mut model = Model::new();
    model.submit(read(0)).unwrap();
    assert_eq!(waited(&mut model, Time::MAX), (vec![], 0));
}

#[test]
fn a_queue_is_full_until_what_is_complete_is_collected() {
    let mut model = Model::new();
    model.info.queue_depth = 1;
    let mut wrong = read(1);
    wrong.len = 3;
    model.submit(wrong).unwrap();
    assert_eq!(model.submit(read(2)).unwrap_err().0.id.0, 2);
    assert_eq!(waited(&mut model, Time::MAX), (vec![1], 0));
    model.submit(read(2)).unwrap();
}
