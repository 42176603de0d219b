//! The semaphore of a `semblock`: a pair, as filebench makes it with System V semaphores.
//!
//! A blocking post decrements the posts allowed and increments those made. The owner adds the number that it asks for to
//! those allowed, and waits until that many were made.

/// A semaphore of one thread.
#[derive(Clone, Debug)]
pub(super) struct Semaphore {
    /// The thread that waits for posts.
    pub(super) owner: usize,
    /// Posts allowed.
    room: u64,
    posted: u64,
    /// The number that the owner sleeps for.
    awaited: Option<u64>,
    /// Threads that sleep until a post is allowed.
    posters: Vec<usize>,
}

impl Semaphore {
    pub(super) fn new(owner: usize, high_water: u64) -> Self {
        Self {
            owner,
            room: high_water,
            posted: 0,
            awaited: None,
            posters: Vec::new(),
        }
    }

    /// Allows posts. Returns the threads to wake.
    pub(super) fn allow(&mut self, count: u64) -> Vec<usize> {
        self.room += count;
        std::mem::take(&mut self.posters)
    }

    /// Takes posts. Returns false if there are too few: the owner sleeps then.
    pub(super) fn take(&mut self, count: u64) -> bool {
        let enough = self.posted >= count;
        if enough {
            self.posted -= count;
        }
        self.awaited = (!enough).then_some(count);
        enough
    }

    /// Posts. Returns false if that is not allowed yet: the thread sleeps then.
    pub(super) fn post(&mut self, thread: usize, count: u64, blocking: bool) -> bool {
        if blocking && self.room < count {
            self.posters.push(thread);
            return false;
        }
        if blocking {
            self.room -= count;
        }
        self.posted += count;
        true
    }

    /// Whether the owner sleeps and has its posts.
    pub(super) fn wakes_owner(&self) -> bool {
        self.awaited.is_some_and(|count| self.posted >= count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn posts_wait_for_room_and_the_owner_for_posts() {
        let mut semaphore = Semaphore::new(0, 2);
        assert!(semaphore.post(1, 2, true));
        assert!(!semaphore.post(1, 1, true));
        assert!(!semaphore.take(3));
        assert!(!semaphore.wakes_owner());
        assert_eq!(semaphore.allow(3), [1]);
        assert!(semaphore.post(1, 1, true));
        assert!(semaphore.wakes_owner());
        assert!(semaphore.take(3));
        assert!(!semaphore.wakes_owner());
        // Posts that do not block need no room.
        assert!(semaphore.post(1, 9, false));
        assert!(semaphore.take(9));
    }
}
