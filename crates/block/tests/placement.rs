//! Placement handles reach the device through every layer, and a device without handles ignores them.

use crate::common::{Numbered, RealLike, ram};
use fathom_base::{Dur, Time};
use fathom_block::layers::Limit;
use fathom_block::{
    Busy, Completion, Device, DeviceInfo, Faulty, Limited, Narrow, Noisy, Op, Request,
};
use std::cell::RefCell;
use std::num::NonZeroU32;
use std::rc::Rc;

/// The handles of the writes that a device received.
type Seen = Rc<RefCell<Vec<u16>>>;

struct Handles<D>(D, Seen);

impl<D: Device> Device for Handles<D> {
    fn info(&self) -> &DeviceInfo {
        self.0.info()
    }

    fn now(&self) -> Time {
        self.0.now()
    }

    fn submit(&mut self, request: Request) -> Result<(), Busy> {
        let handle = request.tag.placement;
        self.0.submit(request)?;
        self.1.borrow_mut().push(handle);
        Ok(())
    }

    fn wait(&mut self, until: Time, done: &mut Vec<Completion>) {
        self.0.wait(until, done);
    }
}

/// Writes with the handles 0 to 9, one at a time.
fn write(device: &mut dyn Device) {
    for handle in 0..10 {
        let mut request = Request::new(handle, Op::Write, handle * 4096, 4096);
        request.tag.placement = handle as u16;
        device.submit(request).unwrap();
        let mut done = Vec::new();
        while done.is_empty() {
            device.wait(Time::MAX, &mut done);
        }
        assert_eq!(done[0].result, Ok(()));
    }
}

#[test]
fn every_layer_passes_the_handle_of_a_write_on() {
    type Inner = Handles<Box<dyn Device>>;
    let layers: [fn(Inner) -> Box<dyn Device>; 6] = [
        |inner| Box::new(inner),
        |inner| Box::new(Faulty::new(inner, Vec::new(), 1)),
        |inner| Box::new(Limited::new(inner, Some(&Limit::default()))),
        |inner| Box::new(Narrow::new(inner, NonZeroU32::MIN)),
        |inner| Box::new(Noisy::new(inner, Numbered::default())),
        |inner| Box::new(RealLike::new(inner)),
    ];
    for layer in layers {
        let seen = Seen::default();
        write(&mut *layer(Handles(Box::new(ram(Dur(9))), seen.clone())));
        assert_eq!(*seen.borrow(), (0..10).collect::<Vec<u16>>());
    }
}
