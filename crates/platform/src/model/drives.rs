//! The drives behind the adapters as one address space, and the time of the next event of any.

use super::layout::Layout;
use super::spec::Platform;
use fathom_base::{BadValue, Time};
use fathom_block::{Busy, Completion, DeviceInfo, DriveLog, DriveStats, Request, Subject};
use std::collections::VecDeque;

#[derive(Debug)]
struct Bay<D> {
    drive: D,
    /// Requests that the drive had no room for.
    waiting: VecDeque<Request>,
}

impl<D: Subject> Bay<D> {
    /// Offers the drive the requests that wait, in order.
    fn offer(&mut self) {
        while let Some(request) = self.waiting.pop_front() {
            if let Err(Busy(request)) = self.drive.submit(request) {
                self.waiting.push_front(request);
                break;
            }
        }
    }
}

/// Drives of equal size.
#[derive(Debug)]
pub(super) struct Drives<D> {
    bays: Vec<Bay<D>>,
    layout: Layout,
    came: Vec<Completion>,
    /// When each drive acts next; `None` if it has changed since it was asked. Asking all of them at each event took most of
    /// the time with many drives.
    acts: Vec<Option<Time>>,
}

impl<D: Subject> Drives<D> {
    /// Lays the address space of a platform over its drives.
    ///
    /// # Errors
    /// [`Platform::check_drive`] of one of them.
    pub(super) fn new(drives: Vec<D>, platform: &Platform) -> Result<Self, BadValue> {
        for drive in &drives {
            platform.check_drive(drive.info())?;
        }
        let each = drives.iter().map(|drive| drive.info().capacity_bytes).min();
        let bay = |drive| Bay {
            drive,
            waiting: VecDeque::new(),
        };
        Ok(Self {
            layout: Layout::new(platform.stripe, drives.len(), each.unwrap_or_default()),
            acts: vec![None; drives.len()],
            bays: drives.into_iter().map(bay).collect(),
            came: Vec::new(),
        })
    }

    /// Where the bytes are.
    pub(super) fn layout(&self) -> Layout {
        self.layout
    }

    /// The description of all together.
    pub(super) fn info(&self) -> DeviceInfo {
        let Some(first) = self.bays.first() else {
            return DeviceInfo::default();
        };
        let info = first.drive.info();
        let count = self.bays.len();
        DeviceInfo {
            capacity_bytes: self.layout.capacity(),
            queue_depth: info
                .queue_depth
                .saturating_mul(u32::try_from(count).unwrap_or(u32::MAX)),
            ..info.clone()
        }
    }

    /// Passes a request to a drive, when it has room.
    pub(super) fn send(&mut self, drive: usize, request: Request, now: Time) {
        let several = self.bays.len() > 1;
        let Some(bay) = self.bays.get_mut(drive) else {
            return;
        };
        // Its events up to now are handled, except those of this instant.
        if bay.drive.now() < now {
            bay.drive.wait(now, &mut self.came);
        }
        bay.waiting.push_back(request);
        bay.offer();
        if several {
            // A block layer dispatches when its submitter waits; then it can tell its next event.
            bay.drive.wait(now, &mut self.came);
            self.acts[drive] = None;
        }
    }

    /// Advances to the next completions, or to `limit`, and passes each completion to `each`. Returns the time reached.
    pub(super) fn advance(&mut self, limit: Time, mut each: impl FnMut(Completion)) -> Time {
        let (index, until) = self.next(limit);
        let Some(bay) = self.bays.get_mut(index) else {
            return limit;
        };
        let mut came = std::mem::take(&mut self.came);
        let reached = match came.first() {
            // It came when a request was sent to its drive, which may have room now.
            Some(early) => {
                self.acts.fill(None);
                early.completed
            }
            None => {
                bay.drive.wait(until, &mut came);
                self.acts[index] = None;
                bay.drive.now()
            }
        };
        for (bay, acts) in self.bays.iter_mut().zip(&mut self.acts) {
            // A drive whose state is the same has no more room than before.
            if acts.is_none() {
                bay.offer();
            }
        }
        came.drain(..).for_each(&mut each);
        self.came = came;
        reached
    }

    /// The drive that acts first, and until when it can be advanced.
    fn next(&mut self, limit: Time) -> (usize, Time) {
        if self.bays.len() == 1 {
            return (0, limit);
        }
        let each = self.bays.iter_mut().zip(&mut self.acts);
        let times = each.map(|(bay, acts)| {
            *acts.get_or_insert_with(|| bay.drive.next_at().unwrap_or(Time::MAX))
        });
        let first = times.enumerate().min_by_key(|(_, at)| *at);
        first.map_or((0, limit), |(index, at)| (index, at.min(limit)))
    }

    /// The work of all drives; `None` if one does not count it.
    pub(super) fn stats(&self) -> Option<DriveStats> {
        let mut all = self.bays.iter().map(|bay| bay.drive.stats());
        let first = all.next()??;
        all.try_fold(first, |sum, next| Some(sum.plus(&next?)))
    }

    /// The log of all drives together; `None` if one has none.
    pub(super) fn log(&mut self) -> Option<DriveLog> {
        let mut all = self.bays.iter_mut().map(|bay| bay.drive.log());
        let first = all.next()??;
        all.try_fold(first, |both, next| Some(both.with(&next?)))
    }

    /// The latest time of any drive.
    pub(super) fn now(&self) -> Time {
        let times = self.bays.iter().map(|bay| bay.drive.now());
        times.max().unwrap_or_default()
    }

    /// The drives.
    pub(super) fn each(&self) -> impl Iterator<Item = &D> {
        self.bays.iter().map(|bay| &bay.drive)
    }
}
