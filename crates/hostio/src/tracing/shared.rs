//! An instance that its owner drains and that another thread may remove, such as the one that handles Ctrl-C.

use super::instance::Instance;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// An instance; empty once it was removed.
#[derive(Debug)]
pub(crate) struct Shared(Arc<Mutex<Option<Instance>>>);

impl Shared {
    pub(crate) fn new(instance: Instance) -> Self {
        Self(Arc::new(Mutex::new(Some(instance))))
    }

    /// Returns the instance for the exclusive use of the caller.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Option<Instance>> {
        locked(&self.0)
    }

    /// Returns a function that ends the recording and removes the instance from any thread.
    pub(crate) fn at_the_end(&self) -> impl Fn() + Send + Sync + use<> {
        let instance = Arc::downgrade(&self.0);
        move || {
            if let Some(instance) = instance.upgrade() {
                drop(locked(&instance).take());
            }
        }
    }
}

fn locked(instance: &Mutex<Option<Instance>>) -> MutexGuard<'_, Option<Instance>> {
    // A panic does not invalidate the instance.
    instance.lock().unwrap_or_else(PoisonError::into_inner)
}
