//! The modelled drives: every kind by name or by drive file, and one type for all of them.
//!
//! A [`Model`] is what a drive file says, a [`Drive`] is a drive made from it. `Clone` forks a drive with all it
//! holds. Which kind a drive file describes follows from what stands in it: `[flash]` makes a solid state drive
//! of the general engine, `elements` the one of the reference simulator, `[mechanics]` a disk.

use fathom_base::{Bytes, Dur, SECTOR_BYTES, Time};
use fathom_block::{Busy, Completion, Device, DeviceInfo, Request};
use fathom_hdd::{self as hdd, Hdd};
use fathom_ssd::ms::{self, MsSsd};
use fathom_ssd::presets::{PRESETS, REFERENCES, STUDIED};
use fathom_ssd::{Spec, SpecError, Ssd};
use serde::{Deserialize, Serialize};

/// What a drive has done since it was made, as far as its kind knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DriveStats {
    /// Bytes that the host has written.
    pub host_bytes_written: u64,
    /// Bytes programmed into flash, moves and maps included.
    pub flash_bytes_programmed: u64,
    /// Blocks erased.
    pub erases: u64,
    /// Log blocks that became data blocks as they were.
    pub switch_merges: u64,
    /// Log blocks that were completed from their data block.
    pub partial_merges: u64,
    /// Data and log blocks merged into a new block.
    pub full_merges: u64,
    /// Victims of garbage collection.
    pub collected: u64,
    /// Mapped units (pages, where nothing else is said) that were moved.
    pub moved_units: u64,
    /// Reads of a map that lies in flash.
    pub map_reads: u64,
    /// Programs of a map that lies in flash.
    pub map_programs: u64,
    /// Reads that were repeated with other thresholds.
    pub read_retries: u64,
    /// Programs and erases that a read interrupted.
    pub suspends: u64,
    /// Blocks that went out of use.
    pub bad_blocks: u64,
    /// The time for which flash elements were at work, all elements together.
    #[serde(default)]
    pub busy: Dur,
}

impl DriveStats {
    /// What was done since `earlier`.
    pub fn since(&self, earlier: &DriveStats) -> DriveStats {
        DriveStats {
            host_bytes_written: self.host_bytes_written - earlier.host_bytes_written,
            flash_bytes_programmed: self.flash_bytes_programmed - earlier.flash_bytes_programmed,
            erases: self.erases - earlier.erases,
            switch_merges: self.switch_merges - earlier.switch_merges,
            partial_merges: self.partial_merges - earlier.partial_merges,
            full_merges: self.full_merges - earlier.full_merges,
            collected: self.collected - earlier.collected,
            moved_units: self.moved_units - earlier.moved_units,
            map_reads: self.map_reads - earlier.map_reads,
            map_programs: self.map_programs - earlier.map_programs,
            read_retries: self.read_retries - earlier.read_retries,
            suspends: self.suspends - earlier.suspends,
            bad_blocks: self.bad_blocks - earlier.bad_blocks,
            busy: self.busy - earlier.busy,
        }
    }

    /// Bytes programmed for each byte that the host wrote; `None` where it wrote none.
    pub fn write_amplification(&self) -> Option<f64> {
        let written = self.host_bytes_written;
        (written > 0).then(|| self.flash_bytes_programmed as f64 / written as f64)
    }
}

/// How often the blocks of a drive were erased.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Wear {
    /// The least worn block.
    pub min: u32,
    /// The mean over all blocks.
    pub mean: f64,
    /// The most worn block.
    pub max: u32,
}

impl Wear {
    fn of(erases: &[u32]) -> Option<Wear> {
        let total: u64 = erases.iter().map(|&n| u64::from(n)).sum();
        Some(Wear {
            min: *erases.iter().min()?,
            mean: total as f64 / erases.len() as f64,
            max: *erases.iter().max()?,
        })
    }
}

/// A drive that comes with Fathom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What it is called after `model:`.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// Its drive file, with the source of every number.
    pub toml: &'static str,
}

/// Every drive that comes with Fathom, in the order in which they are listed.
pub fn catalog() -> Vec<Entry> {
    let ssds = PRESETS.iter().chain(STUDIED).map(|preset| Entry {
        name: preset.name,
        summary: preset.summary,
        toml: preset.toml,
    });
    let references = REFERENCES.iter().map(|preset| Entry {
        name: preset.name,
        summary: preset.summary,
        toml: preset.toml,
    });
    let disks = fathom_hdd::presets::PRESETS.iter().map(|preset| Entry {
        name: preset.name,
        summary: preset.summary,
        toml: preset.toml,
    });
    ssds.chain(references).chain(disks).collect()
}

/// The drive of that name.
pub fn find(name: &str) -> Option<Entry> {
    catalog().into_iter().find(|entry| entry.name == name)
}

/// What a drive file says.
#[derive(Clone, Debug, PartialEq)]
pub enum Model {
    /// A solid state drive of the general engine.
    Ssd(Box<Spec>),
    /// The solid state drive of the reference simulator.
    Ms(Box<ms::Spec>),
    /// A disk.
    Hdd(Box<hdd::Spec>),
}

/// Tables that only one kind of drive file has.
const DISK_KEYS: [&str; 2] = ["mechanics", "zones"];
const MS_KEYS: [&str; 4] = ["elements", "element", "cleaning", "driver"];

/// Whether a table is, or wants to be, a drive file: it has a part of a drive that no study and no workload has.
pub fn describes_drive(table: &toml::Table) -> bool {
    let parts = [&["flash"][..], &DISK_KEYS, &MS_KEYS].concat();
    parts.iter().any(|key| table.contains_key(*key))
}

impl Model {
    /// Reads a drive file of any kind.
    ///
    /// # Errors
    /// [`SpecError`] with the line or the key.
    pub fn from_toml(text: &str) -> Result<Model, SpecError> {
        // What is no TOML has no table; the parser of a solid state drive says where it goes wrong.
        let table: toml::Table = text.parse().unwrap_or_default();
        let has = |keys: &[&str]| keys.iter().any(|key| table.contains_key(*key));
        if has(&DISK_KEYS) {
            let spec = hdd::Spec::from_toml(text)?;
            return Ok(Model::Hdd(Box::new(spec)));
        }
        if has(&MS_KEYS) {
            return Ok(Model::Ms(Box::new(ms::Spec::from_toml(text)?)));
        }
        Ok(Model::Ssd(Box::new(Spec::from_toml(text)?)))
    }

    /// The drive file with every default written out.
    pub fn to_toml(&self) -> String {
        match self {
            Model::Ssd(spec) => spec.to_toml(),
            Model::Ms(spec) => spec.to_toml(),
            Model::Hdd(spec) => spec.to_toml(),
        }
    }

    /// Gives it another capacity.
    ///
    /// # Errors
    /// [`SpecError`] where the drive cannot have it.
    pub fn resize(&mut self, size: Bytes) -> Result<(), SpecError> {
        match self {
            Model::Ssd(spec) => {
                spec.capacity = size;
                spec.check()
            }
            Model::Ms(spec) => Err(SpecError::Value {
                key: "capacity",
                found: size.to_string(),
                allowed: format!(
                    "{}, which follows from its elements; change those",
                    spec.capacity()
                ),
            }),
            Model::Hdd(spec) => {
                spec.capacity = size;
                spec.check()
            }
        }
    }

    /// Whether it has a memory for writes whose policy can be chosen.
    pub fn has_write_buffer(&self) -> bool {
        matches!(self, Model::Ssd(spec) if spec.write_buffer.is_some())
    }

    /// A drive, never written.
    ///
    /// # Errors
    /// [`SpecError`] where no such drive can be built.
    pub fn build(&self, seed: u64) -> Result<Drive, SpecError> {
        Ok(match self {
            Model::Ssd(spec) => Drive::Ssd(Box::new(Ssd::new(spec, seed)?)),
            Model::Ms(spec) => Drive::Ms(Box::new(MsSsd::new(spec)?)),
            Model::Hdd(spec) => Drive::Hdd(Box::new(Hdd::new(spec, seed)?)),
        })
    }
}

/// A modelled drive of any kind. `Clone` forks it.
#[derive(Clone, Debug)]
pub enum Drive {
    /// A solid state drive of the general engine.
    Ssd(Box<Ssd>),
    /// The solid state drive of the reference simulator.
    Ms(Box<MsSsd>),
    /// A disk.
    Hdd(Box<Hdd>),
}

macro_rules! each {
    ($self:ident, $drive:ident => $call:expr) => {
        match $self {
            Drive::Ssd($drive) => $call,
            Drive::Ms($drive) => $call,
            Drive::Hdd($drive) => $call,
        }
    };
}

impl Drive {
    /// What it has done so far.
    pub fn stats(&self) -> DriveStats {
        match self {
            Drive::Ssd(drive) => ssd_stats(drive),
            Drive::Ms(drive) => ms_stats(drive),
            Drive::Hdd(_) => DriveStats::default(),
        }
    }

    /// From now on it keeps what is written, where its kind can: for a drive that was never written.
    pub fn keep_data(self) -> Self {
        match self {
            Drive::Ssd(drive) => Drive::Ssd(Box::new(drive.keep_data())),
            other => other,
        }
    }

    /// How often its blocks were erased; `None` for a drive that does not count it. O(blocks).
    pub fn wear(&self) -> Option<Wear> {
        match self {
            Drive::Ssd(drive) => Wear::of(drive.erase_counts()),
            Drive::Ms(_) | Drive::Hdd(_) => None,
        }
    }
}

fn ms_stats(drive: &MsSsd) -> DriveStats {
    let counters = drive.counters();
    let page = drive.page_bytes();
    DriveStats {
        host_bytes_written: counters.pages_written * page,
        flash_bytes_programmed: (counters.pages_written + counters.pages_moved) * page,
        erases: counters.erases,
        collected: counters.cleanings,
        moved_units: counters.pages_moved,
        busy: counters.busy,
        ..DriveStats::default()
    }
}

fn ssd_stats(drive: &Ssd) -> DriveStats {
    let (counters, merges) = (drive.counters(), drive.merges());
    DriveStats {
        host_bytes_written: counters.host_sectors_written * SECTOR_BYTES,
        flash_bytes_programmed: counters.flash_sectors_programmed * SECTOR_BYTES,
        erases: counters.erases,
        switch_merges: merges.switch,
        partial_merges: merges.partial,
        full_merges: merges.full,
        collected: merges.collected,
        moved_units: merges.moved_units,
        map_reads: counters.map_reads,
        map_programs: counters.map_programs,
        read_retries: counters.read_retries,
        suspends: counters.suspends,
        bad_blocks: drive.bad_blocks() as u64,
        // The general engine does not count it.
        busy: Dur::ZERO,
    }
}

impl Device for Drive {
    fn info(&self) -> &DeviceInfo {
        each!(self, drive => drive.info())
    }

    fn now(&self) -> Time {
        each!(self, drive => drive.now())
    }

    fn submit(&mut self, request: Request) -> Result<(), Busy> {
        each!(self, drive => drive.submit(request))
    }

    fn wait(&mut self, until: Time, done: &mut Vec<Completion>) {
        each!(self, drive => drive.wait(until, done));
    }
}
