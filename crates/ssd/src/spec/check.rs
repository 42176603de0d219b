//! Checks whether a drive can be built: the range of every value, and that the layout divides evenly.

mod effects;
mod queues;
mod range;
mod zones;

use super::{Arbitration, ProgramMode, Protocol, Separation, Spec, WriteBuffer, WritePolicy};
use crate::ftl::AnyFtl;
use fathom_base::{BadValue, Bytes, Dur, want};
use fathom_block::layers::Limit;
use range::{IDLE_MAX, STEP_MAX, at_most, within};

/// Minimum mean interval and maximum mean length of pieces of background work.
const BACKGROUND_INTERVAL_MIN: Dur = Dur::ms(1);
const BACKGROUND_DURATION_MAX: Dur = Dur::ms(1000);
/// Maximum distance of read-ahead.
const AHEAD_MAX: Bytes = Bytes::mib(64);

impl Spec {
    /// Checks whether this drive can be built.
    ///
    /// # Errors
    /// [`BadValue`] for the first value that is out of range or does not fit the others.
    pub fn check(&self) -> Result<(), BadValue> {
        self.check_host()?;
        self.check_flash()?;
        // The number of blocks depends on the bad ones.
        self.check_faults()?;
        self.check_fast_cache()?;
        self.check_mapping()?;
        self.check_parity()?;
        self.check_zones()?;
        self.check_gc()?;
        self.check_compression()?;
        self.check_thermal()?;
        self.check_buffers()?;
        self.check_times()?;
        self.check_noise()?;
        self.limit.as_ref().map_or(Ok(()), Limit::check)
    }

    fn check_host(&self) -> Result<(), BadValue> {
        let host = &self.host;
        let block = host.logical_block.0;
        want(
            block >= 512 && block.is_power_of_two() && block <= 1 << 20,
            "host.logical_block",
            host.logical_block,
            || "a power of two from 512B to 1MiB".into(),
        )?;
        within("host.queue_depth", host.queue_depth, 1..=65_536)?;
        want(
            host.max_request.0 >= block && host.max_request.0.is_multiple_of(block),
            "host.max_request",
            host.max_request,
            || format!("a multiple of the logical block of {}", host.logical_block),
        )?;
        host.check_queues()
    }

    fn check_flash(&self) -> Result<(), BadValue> {
        let flash = &self.flash;
        within("flash.channels", flash.channels, 1..=256)?;
        let packages = flash.packages_per_channel;
        within("flash.packages_per_channel", packages, 1..=256)?;
        within("flash.dies_per_package", flash.dies_per_package, 1..=64)?;
        within("flash.planes_per_die", flash.planes_per_die, 1..=64)?;
        within("flash.pages_per_block", flash.pages_per_block, 1..=16_384)?;
        let page = flash.page.0;
        want(
            page >= 512 && page.is_multiple_of(512) && page <= 1 << 20,
            "flash.page",
            flash.page,
            || "a multiple of 512B, at most 1MiB".into(),
        )?;
        let dies = u64::from(flash.channels * flash.packages_per_channel * flash.dies_per_package);
        let (planes, per_die) = (
            dies * u64::from(flash.planes_per_die),
            u64::from(flash.planes_per_die),
        );
        let width = flash.clustered_page.0 / page;
        let whole = width * page == flash.clustered_page.0 && width > 0;
        let fits = whole
            && (per_die.is_multiple_of(width)
                || (width.is_multiple_of(per_die) && dies.is_multiple_of(width / per_die)));
        want(fits, "flash.clustered_page", flash.clustered_page, || {
            format!(
                "pages of {} over planes of one die, or over whole dies that divide all {dies}",
                flash.page
            )
        })?;
        let block = page * u64::from(flash.pages_per_block);
        let wide = flash.clustered_block.0 / block;
        let fits = wide * block == flash.clustered_block.0
            && wide > 0
            && wide.is_multiple_of(width)
            && planes.is_multiple_of(wide);
        want(fits, "flash.clustered_block", flash.clustered_block, || {
            format!(
                "blocks of {} over a number of planes that divides all {planes} and is a multiple of the clustered page's {width}",
                Bytes(block)
            )
        })
    }

    fn check_mapping(&self) -> Result<(), BadValue> {
        let (mapping, flash) = (&self.mapping, &self.flash);
        let unit = self.unit();
        let fits = unit >= self.host.logical_block.0
            && unit.is_multiple_of(self.host.logical_block.0)
            && flash.clustered_page.0.is_multiple_of(unit);
        want(fits, "mapping.unit", Bytes(unit), || {
            format!(
                "a multiple of the logical block that divides the clustered page of {}",
                flash.clustered_page
            )
        })?;
        let over = mapping.over_provisioning_percent;
        within("mapping.over_provisioning_percent", over, 0.0..=1000.0)?;
        AnyFtl::check_keys(self)?;
        self.check_host_memory()?;
        want(
            self.capacity.0 >= flash.clustered_block.0
                && self.capacity.0.is_multiple_of(flash.clustered_block.0),
            "capacity",
            self.capacity,
            || {
                format!(
                    "a positive multiple of the clustered block of {}",
                    flash.clustered_block
                )
            },
        )?;
        let physical = crate::geometry::physical_units(self);
        want(
            physical.is_some_and(|n| n < 1 << 31),
            "capacity",
            self.capacity,
            || {
                "at most 2147483647 mapped units with over-provisioning, log blocks and spare blocks"
                    .into()
            },
        )
    }

    fn check_host_memory(&self) -> Result<(), BadValue> {
        let Some(buffer) = self.mapping.host_memory_buffer else {
            return Ok(());
        };
        let nvme = self.host.protocol == Protocol::Nvme;
        want(nvme, "mapping.host_memory_buffer", buffer, || {
            "left out for any protocol but nvme".into()
        })?;
        let unit = Bytes(self.unit());
        want(buffer >= unit, "mapping.host_memory_buffer", buffer, || {
            format!("at least a translation page of {unit}")
        })
    }

    fn check_gc(&self) -> Result<(), BadValue> {
        let gc = &self.gc;
        within("gc.choices", gc.choices, 1..=1024)?;
        let both = gc.separate == Separation::HotCold && self.mapping.placement_handles > 0;
        want(!both, "gc.separate", "hot-cold", || {
            "copies or nothing where mapping.placement_handles is given: the host separates its data".into()
        })?;
        let background = gc.background_percent;
        within("gc.background_percent", background, 0.0..=50.0)
    }

    fn check_buffers(&self) -> Result<(), BadValue> {
        if let Some(buffer) = &self.read_buffer {
            let line = buffer.line.0;
            want(
                line >= 512 && line.is_multiple_of(512),
                "read_buffer.line",
                buffer.line,
                || "a multiple of 512B".into(),
            )?;
            let room = (line..=16 << 30).contains(&buffer.capacity.0)
                && buffer.capacity.0.is_multiple_of(line);
            want(room, "read_buffer.capacity", buffer.capacity, || {
                format!("a multiple of the line of {}, at most 16GiB", buffer.line)
            })?;
            if let Some(prefetch) = &buffer.prefetch {
                // Without a stream each read would fetch as much.
                let streams = prefetch.after > 0;
                want(
                    streams,
                    "read_buffer.prefetch.after",
                    prefetch.after,
                    || "at least 1".into(),
                )?;
                let depth = prefetch.depth;
                want(
                    depth <= AHEAD_MAX,
                    "read_buffer.prefetch.depth",
                    depth,
                    || format!("at most {AHEAD_MAX}"),
                )?;
            }
        }
        if let Some(buffer) = &self.write_buffer {
            let least = self.host.logical_block.0;
            let room = (least..=16 << 30).contains(&buffer.capacity.0)
                && buffer.capacity.0.is_multiple_of(512);
            want(room, "write_buffer.capacity", buffer.capacity, || {
                format!("a multiple of 512B from {} to 16GiB", Bytes(least))
            })?;
            self.check_policy(buffer)?;
        }
        Ok(())
    }

    fn check_times(&self) -> Result<(), BadValue> {
        let (host, flash) = (&self.host, &self.flash);
        for (key, time) in [
            ("host.command_overhead", host.command_overhead),
            ("host.latency", host.latency),
            (
                "mapping.host_memory_latency",
                self.mapping.host_memory_latency,
            ),
            ("flash.read", flash.read),
            ("flash.program", flash.program),
            ("flash.erase", flash.erase),
            ("flash.suspend_latency", flash.suspend_latency),
            ("flash.suspend_overhead", flash.suspend_overhead),
        ] {
            at_most(key, time, STEP_MAX)?;
        }
        self.check_programs()?;
        let idle = self.write_buffer.as_ref().map(|b| b.idle_delay);
        at_most("gc.background_delay", self.gc.background_delay, IDLE_MAX)?;
        let delay = idle.unwrap_or_default();
        at_most("write_buffer.idle_delay", delay, IDLE_MAX)
    }

    fn check_noise(&self) -> Result<(), BadValue> {
        let noise = &self.noise;
        within("noise.command_percent", noise.command_percent, 0.0..=100.0)?;
        within("noise.flash_percent", noise.flash_percent, 0.0..=100.0)?;
        let (interval, duration) = (noise.background_interval, noise.background_duration);
        want(
            interval == Dur::ZERO || (BACKGROUND_INTERVAL_MIN..=IDLE_MAX).contains(&interval),
            "noise.background_interval",
            interval,
            || format!("0s for none, or {BACKGROUND_INTERVAL_MIN} to {IDLE_MAX}"),
        )?;
        // Each piece keeps one station busy. At least half of the time of all stations must be left for the host.
        let half = Dur(interval.0 * u64::from(crate::geometry::stations(self)) / 2);
        let most = half.min(BACKGROUND_DURATION_MAX);
        let fits = interval == Dur::ZERO || duration <= most;
        want(fits, "noise.background_duration", duration, || {
            format!("at most {most} every {interval}, so that the work comes to an end")
        })
    }

    fn check_programs(&self) -> Result<(), BadValue> {
        let (flash, steps) = (&self.flash, &self.flash.program_steps);
        for &step in steps {
            at_most("flash.program_steps", step, STEP_MAX)?;
        }
        want(
            steps.len() <= 16,
            "flash.program_steps",
            steps.len(),
            || "at most 16 pages of a word line".into(),
        )?;
        if !steps.is_empty() {
            let mean = Dur(steps.iter().map(|step| step.0).sum::<u64>() / steps.len() as u64);
            want(
                flash.program == mean,
                "flash.program",
                flash.program,
                || format!("{mean}, the mean of flash.program_steps"),
            )?;
        }
        let both = flash.program_mode == ProgramMode::MultiPlane
            && flash.arbitration == Arbitration::Suspend;
        want(!both, "flash.program_mode", "multi-plane", || {
            "page or cache where flash.arbitration is suspend: what is programmed in step is not interrupted".into()
        })
    }

    fn check_policy(&self, buffer: &WriteBuffer) -> Result<(), BadValue> {
        want(
            buffer.policy != WritePolicy::NoCache,
            "write_buffer.policy",
            "no-cache",
            || "leave [write_buffer] out for a drive without one".into(),
        )?;
        let joins = buffer.combine || buffer.policy == WritePolicy::Fifo;
        want(joins, "write_buffer.combine", "false", || {
            "true for a cache, which replaces what is written again".into()
        })?;
        let Some(block) = buffer.block else {
            return Ok(());
        };
        let page = self.flash.clustered_page.0;
        let by_block = matches!(buffer.policy, WritePolicy::Bplru | WritePolicy::LbClock);
        let fits = block.0 >= page && block.0.is_multiple_of(page) && block.0 / page <= 1 << 16;
        want(by_block && fits, "write_buffer.block", block, || {
            format!(
                "1 to 65536 clustered pages of {} for `bplru` and `lb-clock`, left out for any other policy",
                Bytes(page)
            )
        })
    }
}
