//! What a run keeps of every access besides the figures: a row in the file of accesses, and the host's wait for room in a
//! write buffer.

use super::requests::RequestFile;
use crate::source::WatchedRooms;
use crate::store::StoreError;
use fathom_base::Time;
use fathom_run::{Played, Sink};

/// Destinations of accesses besides the figures.
pub(super) struct Kept<'a> {
    rooms: Option<WatchedRooms>,
    requests: Option<RequestFile<'a>>,
    broken: Option<StoreError>,
}

impl<'a> Kept<'a> {
    pub(super) fn new(rooms: Option<WatchedRooms>, requests: Option<RequestFile<'a>>) -> Self {
        Self {
            rooms,
            requests,
            broken: None,
        }
    }

    /// Returns true if anything is to be kept.
    pub(super) fn is_needed(&self) -> bool {
        self.rooms.is_some() || self.requests.is_some()
    }

    /// Completes the file, if there is one.
    ///
    /// # Errors
    /// [`StoreError`] if an access could not be written.
    pub(super) fn finish(self) -> Result<(), StoreError> {
        match (self.broken, self.requests) {
            (Some(error), _) => Err(error),
            (None, Some(requests)) => requests.finish(),
            (None, None) => Ok(()),
        }
    }
}

impl Sink for Kept<'_> {
    fn push(&mut self, start: Time, played: &Played) -> bool {
        if let Some(rooms) = &self.rooms {
            let since = |at: Time| Time(at.since(start).0);
            let (asked, completed) = (since(played.asked), since(played.completed));
            rooms.borrow_mut().done(played.number, asked, completed);
        }
        if let Some(requests) = &mut self.requests
            && let Err(error) = requests.push(played)
        {
            self.broken.get_or_insert(error);
        }
        self.broken.is_none()
    }
}
