//! Records the events of the kernel that an I/O passes, with the processor's own clock where the kernel has it.
//!
//! The events go into buffers of the kernel, one for each CPU, and from there as whole pages into memory
//! ([`Recorder::drain`]); they are decoded at the end, so that a recording disturbs what it records as little as possible.

mod clock;
mod decode;
mod devices;
mod recorded;
mod wish;

#[cfg(test)]
mod golden;

pub use clock::TraceClock;
pub use devices::IoDevices;
pub use recorded::Recorded;
pub use wish::{Purpose, RecorderConfig};

use crate::error::HostError;
use crate::tracing::{Instance, Shared};
use decode::{Decoder, Layout};
use fathom_block::kernel::Tracepoint;
use std::collections::BTreeMap;
use wish::names_of;

/// A recording in progress. Dropping it restores the state of the kernel's tracing.
#[derive(Debug)]
pub struct Recorder {
    instance: Shared,
    clock: TraceClock,
    missing: Vec<Tracepoint>,
    decoder: Decoder,
    /// Whole pages of each CPU.
    pages: BTreeMap<u16, Vec<u8>>,
    page_bytes: usize,
}

impl Recorder {
    /// Begins to record. Instances that ended processes have left are removed.
    ///
    /// # Errors
    /// [`HostError::NoTracefs`], [`HostError::NoPermission`], [`HostError::NoTracepoint`] if the kernel has none of the
    /// events, [`HostError::UnknownTracing`] if one is described in an unknown way.
    pub fn start(config: &RecorderConfig) -> Result<Self, HostError> {
        let instance = Instance::new(config.buffer_bytes)?;
        let clock = TraceClock::of(config.clocks, &instance);
        instance.set_clock(clock.name())?;
        let mut decoder = Decoder::new(instance.data());
        let mut missing = Vec::new();
        let wanted = config.tracepoints();
        for point in &wanted {
            let group = point.group();
            let Some((name, format)) = described(&instance, *point)? else {
                missing.push(*point);
                continue;
            };
            let layout = Layout::parse(*point, &format);
            let layout =
                layout.ok_or_else(|| instance.unknown(group, &name, "a field is missing"))?;
            decoder.add(layout);
            instance.enable(group, &name, &config.filter(*point))?;
        }
        if missing.len() == wanted.len() {
            let names: Vec<String> = missing.iter().map(|point| point.name()).collect();
            let names = names.join(", ");
            return Err(HostError::NoTracepoint { names });
        }
        let pages = instance.cpus().map(|cpu| (cpu, Vec::new())).collect();
        instance.start()?;
        Ok(Self {
            page_bytes: instance.page_bytes(),
            instance: Shared::new(instance),
            clock,
            missing,
            decoder,
            pages,
        })
    }

    /// Returns the clock of the records.
    pub fn clock(&self) -> TraceClock {
        self.clock
    }

    /// Returns the events that this kernel does not have; [`Tracepoint::without`] says what that costs.
    pub fn missing(&self) -> &[Tracepoint] {
        &self.missing
    }

    /// Takes what was recorded since the last call out of the kernel's buffers. Call it often enough that they do not fill.
    ///
    /// # Errors
    /// The buffers cannot be read.
    pub fn drain(&mut self) -> Result<(), HostError> {
        let Self {
            instance,
            pages,
            page_bytes,
            ..
        } = self;
        let mut instance = instance.lock();
        let Some(instance) = instance.as_mut() else {
            return Ok(());
        };
        instance.drain(|cpu, page| {
            let pages = pages.entry(cpu).or_default();
            pages.extend_from_slice(page);
            pages.resize(pages.len().next_multiple_of(*page_bytes), 0);
        })
    }

    /// Ends the recording, removes the instance and returns what was recorded.
    ///
    /// # Errors
    /// The buffers cannot be read, or the instance cannot be removed.
    pub fn finish(mut self) -> Result<Recorded, HostError> {
        if let Some(instance) = self.instance.lock().as_ref() {
            instance.stop()?;
        }
        self.drain()?;
        let mut lost = Vec::new();
        let instance = self.instance.lock().take();
        if let Some(mut instance) = instance {
            lost = instance.lost();
            instance.remove()?;
        }
        Ok(self.decoder.all(&self.pages, self.page_bytes, &lost))
    }

    /// Returns a function that ends the recording and removes the instance from any thread.
    pub fn at_the_end(&self) -> impl Fn() + Send + Sync + use<> {
        self.instance.at_the_end()
    }
}

/// Returns this kernel's name and description of an event; `None` if it does not have it.
fn described(
    instance: &Instance,
    point: Tracepoint,
) -> Result<Option<(String, String)>, HostError> {
    for name in names_of(point) {
        if let Some(format) = instance.format(point.group(), &name)? {
            return Ok(Some((name, format)));
        }
    }
    Ok(None)
}
