//! The drive's front end: the command queue, the single channel to the host, and the path of a request through both.
//!
//! When the channel becomes free, completions go first, then the next command. A read goes to its elements at once and
//! uses the channel afterwards. A write uses the channel for its data, goes to its elements, and completes without the
//! channel.

use super::parts::Part;
use super::{CHANNEL, COMMANDS, DRIVER, Event, MsSsd, key};
use fathom_base::links::NONE;
use fathom_block::{IoErrorKind, Op};

impl MsSsd {
    /// A request arrives at the driver.
    pub(super) fn enqueue(&mut self, request: u32, page: u64) {
        if self.at_drive.1 >= self.at_drive.0 {
            return self.waiting.push(page, request);
        }
        self.waiting.passed(page);
        self.at_drive.1 += 1;
        self.issue(request);
    }

    /// The driver dispatches a request to the drive.
    pub(super) fn issue(&mut self, request: u32) {
        if self.costs.overhead == 0.0 {
            return self.arrive(request);
        }
        let at = key(self.millis + self.costs.overhead);
        self.events
            .push_in_order(COMMANDS, at, Event::Command(request));
    }

    /// A request arrives at the drive.
    pub(super) fn arrive(&mut self, request: u32) {
        if let Some(request) = self.requests.get(request)
            && request.op == Op::Write
        {
            let (element, page) = self.shape.place(request.first);
            self.flash.fetch_place(&self.shape, element, page);
        }
        self.channel.commands.push_back(request);
        self.use_channel();
    }

    /// Assigns the next transfer to the channel if it is free.
    fn use_channel(&mut self) {
        while self.channel.current == NONE {
            let completed = self.channel.completions.pop_front();
            let Some(index) = completed.or_else(|| self.channel.commands.pop_front()) else {
                break;
            };
            let Some(request) = self.requests.get(index) else {
                continue;
            };
            // A read is transferred after its flash operations, a write before them.
            if (request.op == Op::Read) != completed.is_some() {
                match completed {
                    Some(_) => self.complete(index),
                    None => self.start(index),
                }
                continue;
            }
            let millis = f64::from(request.pages) * self.costs.host;
            self.channel.current = index;
            let at = key(self.millis + millis);
            self.events.push_in_order(CHANNEL, at, Event::Carried);
        }
    }

    /// The channel has transferred a request.
    pub(super) fn carried(&mut self) {
        let index = std::mem::replace(&mut self.channel.current, NONE);
        if self
            .requests
            .get(index)
            .is_some_and(|request| request.op == Op::Write)
        {
            self.start(index);
        } else {
            self.complete(index);
        }
        self.use_channel();
    }

    /// Sends a request to its elements, page by page.
    fn start(&mut self, index: u32) {
        let Some(&request) = self.requests.get(index) else {
            return;
        };
        for page in request.first..request.first + u64::from(request.pages) {
            let (element, page) = self.shape.place(page);
            let part = self.parts.insert(Part {
                parent: index,
                element,
                page,
                write: request.op == Op::Write,
            });
            let gang = self.shape.gang_of(element);
            self.stations[gang as usize].push(&mut self.parts, part);
            self.activate(gang);
        }
    }

    /// A part of a request has completed.
    pub(super) fn part_done(&mut self, index: u32) {
        let Some(request) = self.requests.get_mut(index) else {
            return;
        };
        request.pending -= 1;
        if request.pending == 0 {
            self.channel.completions.push_back(index);
            self.use_channel();
        }
    }

    /// Marks a request as failed: a part of it found no free block.
    pub(super) fn fail(&mut self, index: u32) {
        if let Some(request) = self.requests.get_mut(index) {
            request.failed = true;
        }
    }

    /// Completes a request; the driver then dispatches the next one.
    fn complete(&mut self, index: u32) {
        let Some(request) = self.requests.remove(index) else {
            return;
        };
        let result = if request.failed {
            Err(IoErrorKind::NoSpace)
        } else {
            Ok(())
        };
        self.finish(&request, result);
        self.at_drive.1 -= 1;
        if let Some(next) = self.waiting.pop() {
            self.at_drive.1 += 1;
            // The driver learns of the completion at the same instant, but after all events of the drive itself.
            let now = key(self.millis);
            self.events.push_in_order(DRIVER, now, Event::Issue(next));
        }
    }
}
