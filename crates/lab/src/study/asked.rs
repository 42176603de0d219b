//! What a run of a study asks for: the settings of the study, replaced by those of its points.

use super::{Point, Sizes, Study};
use crate::parse::in_words;
use crate::platform::{PlatformError, charged};
use crate::source::Workload;
use crate::target::settings::set;
use crate::target::{Setting, TargetError, TargetName};
use fathom_base::Bytes;
use fathom_model::Model;
use fathom_platform::Platform;
use fathom_probe::Parameter;
use fathom_run::Precondition;
use fathom_workload::step::Arrival;
use serde::Deserialize as _;
use std::collections::BTreeMap;
use toml::{Table, Value};

/// A point that a run has on an axis.
#[derive(Clone)]
pub(super) struct Chosen {
    pub(super) axis: String,
    pub(super) point: Point,
    /// Its place in the file.
    pub(super) path: Vec<String>,
}

/// A value for a key, and its place in the file.
pub(super) struct Placed {
    pub(super) setting: Setting,
    pub(super) path: Vec<String>,
}

/// The settings of a run: those of the study, replaced by those of its points.
pub(super) struct Asked<'a> {
    pub(super) drive: String,
    pub(super) drive_at: Vec<String>,
    pub(super) arrival: Arrival,
    pub(super) arrival_at: Vec<String>,
    pub(super) precondition: Option<Precondition>,
    pub(super) queue: Option<Table>,
    pub(super) queue_at: Vec<String>,
    /// The platform, and the settings of points in turn.
    pub(super) platform: Vec<&'a str>,
    pub(super) platform_at: Vec<String>,
    pub(super) sizes: Option<&'a Sizes>,
    pub(super) known: BTreeMap<&'a Parameter, &'a Bytes>,
    pub(super) settings: Vec<Placed>,
    pub(super) of_workload: Vec<Placed>,
}

impl<'a> Asked<'a> {
    pub(super) fn of(study: &'a Study, points: &'a [Chosen]) -> Self {
        let mut asked = Self {
            drive: study.drive.clone(),
            drive_at: vec!["drive".to_owned()],
            arrival: study.arrival,
            arrival_at: vec!["arrival".to_owned()],
            precondition: study.precondition,
            queue: study.queue.clone(),
            queue_at: vec!["queue".to_owned()],
            platform: study.platform.as_deref().into_iter().collect(),
            platform_at: vec!["platform".to_owned()],
            sizes: study.sizes.as_ref(),
            known: BTreeMap::new(),
            settings: placed(&study.set, &[], "set"),
            of_workload: Vec::new(),
        };
        for Chosen { point, path, .. } in points {
            let below = |key: &str| [&path[..], &[key.to_owned()]].concat();
            if let Some(other) = &point.drive {
                (asked.drive, asked.drive_at) = (other.clone(), below("drive"));
            }
            if let Some(other) = point.arrival {
                (asked.arrival, asked.arrival_at) = (other, below("arrival"));
            }
            asked.precondition = point.precondition.or(asked.precondition);
            if let Some(keys) = &point.queue {
                asked.queue.get_or_insert_default().extend(keys.clone());
                asked.queue_at = below("queue");
            }
            if let Some(other) = &point.platform {
                if !other.starts_with(',') {
                    asked.platform.clear();
                }
                asked.platform.push(other);
                asked.platform_at = below("platform");
            }
            asked.sizes = point.sizes.as_ref().or(asked.sizes);
            asked.known.extend(&point.known);
            asked.settings.extend(placed(&point.set, path, "set"));
            asked
                .of_workload
                .extend(placed(&point.workload, path, "workload"));
        }
        asked
    }

    /// Returns the workload with the settings of the points.
    pub(super) fn vary(&self, workload: &Workload) -> Result<Workload, String> {
        if self.of_workload.is_empty() {
            return Ok(workload.clone());
        }
        let mut table = Table::try_from(workload).map_err(|error| error.to_string())?;
        for placed in &self.of_workload {
            set(&mut table, &placed.setting).map_err(|error| error.to_string())?;
        }
        Workload::deserialize(Value::Table(table)).map_err(|error| in_words(error.message(), None))
    }

    /// Returns whether a workload needs the logical block of its drive.
    pub(super) fn lacks_logical_block(&self, workload: &Workload) -> bool {
        self.vary(workload)
            .is_ok_and(|mut of| of.lacks_logical_block())
    }

    /// Returns the platform, if one is charged.
    pub(super) fn platform(&self) -> Result<Option<Platform>, PlatformError> {
        let named = self.platform.iter().any(|text| !text.is_empty());
        named.then(|| charged(&self.platform)).transpose()
    }

    pub(super) fn model(&self) -> Result<Model, TargetError> {
        let settings: Vec<Setting> = self.settings.iter().map(|p| p.setting.clone()).collect();
        let target = self.drive.clone();
        let model = TargetName::parse(&target)?.model(&settings)?;
        model.ok_or(TargetError::NoModel { target })
    }
}

/// Converts a table of the file, which lies at `above` under `name`, to settings; each key includes its table.
fn placed(table: &Table, above: &[String], name: &str) -> Vec<Placed> {
    let one = |(key, value): (&String, &Value)| {
        let setting = match value.as_str() {
            Some("") => Setting::absent(key),
            _ => Setting::new(key, value.clone()),
        };
        // A point of `values` has no table in the file.
        let path = [above, &[name.to_owned(), key.clone()]].concat();
        Placed { setting, path }
    };
    table.iter().map(one).collect()
}
