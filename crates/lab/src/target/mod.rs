//! Resolves the drive that a user names, and opens its device.
//!
//! `model:NAME` is a preset and `model:PATH.toml` a drive file. Everything else is a path: a directory (in which a scratch
//! file is made), a regular file or a block device. Real targets are opened by [`fathom_hostio`], whose safety lock decides
//! what may be written; nothing here weakens it.

mod error;
mod key;
mod limit;
mod refill;
mod setting;
pub(crate) mod settings;

pub use error::{DriveFault, Place, SettingFault, TargetError};
pub use limit::limit;
pub use refill::{fill, refill};
pub use setting::Setting;

use fathom_base::Bytes;
use fathom_base::Named;
use fathom_base::{near, registry};
use fathom_block::layers::Limit;
use fathom_block::{Device, Limited};
pub use fathom_hostio::QueueDepth;
use fathom_hostio::{Clearance, HostConfig, Kind};
use fathom_model as model;
use fathom_model::{Drive, Model};
use fathom_probe::record::Target;
use fathom_run::{Precondition, prepare};
use std::path::{Path, PathBuf};

const MODEL: &str = "model:";

/// A drive as the user names it.
#[derive(Clone, Debug)]
pub enum TargetName {
    /// A preset.
    Preset(&'static Named),
    /// A drive file of the user.
    DriveFile(PathBuf),
    /// A drive file that is nowhere but in memory, such as a twin that could not be kept.
    Held(Place),
    /// A directory, a regular file or a block device.
    Real(PathBuf),
}

/// Options for opening a target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenOptions {
    /// Size of the scratch file, or a size that replaces that of the modelled drive.
    pub size: Option<Bytes>,
    /// Name or serial number of a real drive whose contents may be destroyed.
    pub destroy: Option<String>,
    /// Never write to a real drive. A modelled zoned drive is filled before it is returned.
    pub read_only: bool,
    /// True if reads must return the data written; a modelled drive then stores them.
    pub keep_data: bool,
    /// Queue depth of a real drive. The default is 32, with which the probes are tested. A modelled drive has its own
    /// depth.
    pub depth: Option<QueueDepth>,
    /// A token bucket in front of a real drive. A modelled one has its own, in its drive file.
    pub limit: Option<Limit>,
    /// Seed of all random choices: a model's noise and the data that are written.
    pub seed: u64,
}

/// An open target.
pub struct Opened {
    /// The device.
    pub device: Box<dyn Device>,
    /// Identity of the drive.
    pub target: Target,
    /// For a real target, the findings of its inspection and the clearance to write to it.
    pub clearance: Option<Clearance>,
}

impl Opened {
    /// Returns true if the target is a scratch file that was made for this run.
    pub fn scratch(&self) -> bool {
        let found = self.clearance.as_ref().map(Clearance::inspection);
        found.is_some_and(|f| f.kind == Kind::Directory)
    }
}

impl TargetName {
    /// Parses what the user wrote.
    ///
    /// # Errors
    /// - [`TargetError::UnknownPreset`] with the nearest names.
    /// - [`TargetError::Unprefixed`] for a drive file without `model:`, which would be taken for a real drive and
    ///   overwritten.
    /// - [`TargetError::Bare`] for a path that does not exist and is similar to the name of a preset.
    pub fn parse(text: &str) -> Result<Self, TargetError> {
        let Some(model) = text.strip_prefix(MODEL) else {
            let path = PathBuf::from(text);
            if text.ends_with(".toml") && path.is_file() {
                return Err(TargetError::Unprefixed { path });
            }
            let nearest = nearest(text);
            return match nearest.is_empty() || path.symlink_metadata().is_ok() {
                true => Ok(Self::Real(path)),
                false => Err(TargetError::Bare { path, nearest }),
            };
        };
        if model.contains('/') || model.ends_with(".toml") {
            return Ok(Self::DriveFile(model.into()));
        }
        model::find(model)
            .map(Self::Preset)
            .ok_or_else(|| TargetError::UnknownPreset {
                name: model.to_owned(),
                nearest: nearest(model),
            })
    }

    /// Opens the target. `text` is what the user wrote.
    ///
    /// # Errors
    /// [`TargetError`] for a drive file that cannot be read or is invalid, or a real drive that cannot be opened or is
    /// refused by the safety lock.
    pub fn open(&self, text: &str, options: &OpenOptions) -> Result<Opened, TargetError> {
        match (self, self.drive_file()?) {
            (Self::Real(path), _) => open_real(text, path, options),
            (Self::Preset(preset), Some(place)) => open_model(text, preset.name, place, options),
            (Self::DriveFile(path), Some(place)) => {
                let identity = path.file_stem().unwrap_or_default().to_string_lossy();
                open_model(text, &identity, place, options)
            }
            (Self::Held(_), Some(place)) => open_model(text, text, place, options),
            (_, None) => Err(TargetError::NoModel {
                target: text.to_owned(),
            }),
        }
    }

    /// Returns the drive file of a modelled drive; `None` for a real one.
    fn drive_file(&self) -> Result<Option<Place>, TargetError> {
        Ok(match self {
            Self::Preset(preset) => {
                Some(Place::new(format!("{MODEL}{}", preset.name), preset.text))
            }
            Self::DriveFile(path) => {
                let toml = read_drive_file(path)?;
                Some(Place::new(path.display().to_string(), &toml))
            }
            Self::Held(place) => Some(place.clone()),
            Self::Real(_) => None,
        })
    }

    /// Returns the model of a modelled drive, with `settings` in place of the values of its file; `None` for a real drive.
    ///
    /// # Errors
    /// [`TargetError`] for a drive file that cannot be read or is invalid, or for an invalid setting.
    pub fn model(&self, settings: &[Setting]) -> Result<Option<Model>, TargetError> {
        let Some(place) = self.drive_file()? else {
            return Ok(None);
        };
        // The file is checked before the settings are applied, so that its errors refer to its own lines.
        let model = match Model::from_toml(&place.text) {
            Ok(model) => model,
            Err(error) => return Err(place.error(error)),
        };
        if settings.is_empty() {
            return Ok(Some(model));
        }
        let place = Place::new(place.name, &model.to_toml());
        settings::model(&place, settings).map(Some)
    }
}

/// Opens the drive of a record again, to continue the measurement: a modelled drive from the drive file in the record, a
/// real one by its name, with a scratch file of the same size.
///
/// # Errors
/// [`TargetError`], in particular [`TargetError::OtherDrive`] if another drive has that name now.
pub fn reopen(recorded: &Target, options: &OpenOptions) -> Result<Opened, TargetError> {
    let opened = match &recorded.spec {
        Some(toml) => {
            let place = Place::new(format!("{}, in the record", recorded.name), toml);
            open_model(&recorded.name, &recorded.identity, place, options)?
        }
        None => {
            let path = Path::new(&recorded.name);
            let size = path.is_dir().then_some(Bytes(recorded.capacity_bytes));
            let options = OpenOptions {
                size,
                ..options.clone()
            };
            open_real(&recorded.name, path, &options)?
        }
    };
    let same = Target {
        reported: recorded.reported.clone(),
        ..opened.target.clone()
    };
    if same == *recorded {
        Ok(opened)
    } else {
        Err(TargetError::OtherDrive {
            name: recorded.name.clone(),
            recorded: describe(recorded),
            found: describe(&opened.target),
        })
    }
}

/// Returns true if a table is meant as a drive file: it says so, or has a part of a drive that no study and no workload
/// has.
pub fn describes_drive(table: &toml::Table) -> bool {
    let parts = [
        "kind",
        "flash",
        "mechanics",
        "zones",
        "elements",
        "element",
        "cleaning",
        "driver",
    ];
    parts.iter().any(|key| table.contains_key(*key))
}

/// Returns the names of the presets nearest to `name`, best first.
pub fn nearest(name: &str) -> Vec<String> {
    let names = near::nearest(name, model::catalog().map(|preset| preset.name));
    names.into_iter().map(str::to_owned).collect()
}

fn read_drive_file(path: &Path) -> Result<String, TargetError> {
    crate::text::read(path).map_err(|source| TargetError::DriveFile {
        path: path.to_owned(),
        source,
    })
}

fn open_model(
    name: &str,
    identity: &str,
    place: Place,
    options: &OpenOptions,
) -> Result<Opened, TargetError> {
    if let Some(destroy) = &options.destroy {
        return Err(TargetError::DestroyModel {
            destroy: destroy.clone(),
            target: name.to_owned(),
        });
    }
    let mut model = match Model::from_toml(&place.text) {
        Ok(model) => model,
        Err(error) => return Err(place.error(error)),
    };
    if let Some(size) = options.size {
        model
            .resize(size)
            .map_err(|error| TargetError::Size { size, error })?;
    }
    let mut device: Drive = model
        .build(options.seed)
        .map_err(|error| place.error(error))?;
    if options.read_only && device.info().zoned.is_some() {
        // A probe cannot write to zones, and reads of what was never written measure nothing. Where this fails, the probe
        // finds no data and says so.
        let _ = prepare(&mut device, Precondition::Filled, options.seed);
    }
    let device: Box<dyn Device> = Box::new(device);
    let target = target_of(&*device, name, identity.to_owned(), Some(model.to_toml()));
    Ok(Opened {
        device,
        target,
        clearance: None,
    })
}

fn open_real(name: &str, path: &Path, options: &OpenOptions) -> Result<Opened, TargetError> {
    let defaults = HostConfig::new(path);
    let config = HostConfig {
        queue_depth: options.depth.unwrap_or(defaults.queue_depth),
        read_only: options.read_only,
        destroy: options.destroy.clone(),
        scratch_bytes: options.size.map(|size| size.0),
        seed: options.seed,
        keep_data: options.keep_data,
        ..defaults
    };
    let device = fathom_hostio::open(&config)?;
    let clearance = device.clearance().clone();
    let identity = match clearance.inspection().kind {
        Kind::Directory => format!("a scratch file on {}", device.identity()),
        Kind::File => format!("a file on {}", device.identity()),
        Kind::Block => device.identity().to_string(),
    };
    let identity = match &options.limit {
        Some(limit) => format!("{identity}, behind a limit: {}", words(limit)),
        None => identity,
    };
    let device = Limited::new(device, options.limit.as_ref());
    let target = target_of(&device, name, identity, None);
    Ok(Opened {
        device: Box::new(device),
        target,
        clearance: Some(clearance),
    })
}

/// Returns the settings of a limit as they are given on the command line.
fn words(limit: &Limit) -> String {
    let settings = registry::table_of(limit);
    let each = settings.iter().map(|(key, value)| match value.as_str() {
        Some(text) => format!("{key}={text}"),
        None => format!("{key}={value}"),
    });
    each.collect::<Vec<_>>().join(",")
}

fn target_of(device: &dyn Device, name: &str, identity: String, spec: Option<String>) -> Target {
    let info = device.info();
    Target {
        name: name.to_owned(),
        identity,
        modelled: info.modelled,
        capacity_bytes: info.capacity_bytes,
        logical_block_bytes: info.logical_block_bytes,
        max_request_bytes: info.max_request_bytes,
        queue_depth: info.queue_depth,
        volatile_cache: info.volatile_cache,
        spec,
        reported: None,
    }
}

fn describe(target: &Target) -> String {
    let size = Bytes(target.capacity_bytes);
    format!("{} of {size}", target.identity)
}
