//! The format of a study file.

use crate::parse;
use crate::source::Workload;
use fathom_base::Bytes;
use fathom_probe::Parameter;
use fathom_run::Precondition;
use fathom_workload::step::Arrival;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// A study: every point of every axis with every workload and every seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Study {
    /// Name of the study.
    pub name: String,
    /// Description for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// The drive that every run starts from: `model:NAME` or `model:PATH.toml`.
    pub drive: String,
    /// Values that replace those of the drive file, by key including its table.
    #[serde(default, skip_serializing_if = "Table::is_empty")]
    pub set: Table,
    /// Seeds of all random choices. Each seed makes a run of its own.
    #[serde(default = "one_seed")]
    pub seeds: Vec<u64>,
    /// Arrival process of the accesses.
    #[serde(default = "open")]
    pub arrival: Arrival,
    /// Preconditioning of the drive; [`Precondition::of`] decides if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precondition: Option<Precondition>,
    /// The block layer above the drive, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<Table>,
    /// The host whose time is charged, as `NAME,KEY=VALUE,...` or `FILE.toml,KEY=VALUE,...`. Without one it takes no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform: Option<String>,
    /// Source of the drive sizes that the block layer leaves open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sizes: Option<Sizes>,
    /// True if every access of every run is stored (`requests.parquet`).
    #[serde(default)]
    pub requests: bool,
    /// The parameters that are varied.
    #[serde(default, rename = "axis", skip_serializing_if = "Vec::is_empty")]
    pub axes: Vec<Axis>,
    /// The workloads.
    #[serde(rename = "workload")]
    pub workloads: Vec<Workload>,
    /// The file, for errors.
    #[serde(skip)]
    pub(super) written: Written,
}

/// A study as it was written.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Written {
    /// Name of the file, if the study was read from one.
    pub(super) file: Option<String>,
    /// Its text.
    pub(super) text: String,
}

fn one_seed() -> Vec<u64> {
    vec![1]
}

fn open() -> Arrival {
    Arrival::Open
}

/// A parameter that is varied: a key of the drive file with `values`, or `point`s that set anything.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    /// Name of the axis in results.
    pub name: String,
    /// The key of the drive file that `values` set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Values of that key.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<Value>,
    /// Points that set several things.
    #[serde(default, rename = "point", skip_serializing_if = "Vec::is_empty")]
    pub points: Vec<Point>,
}

/// A point of an axis.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// Name of the point in results.
    pub name: String,
    /// A drive that replaces the study's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drive: Option<String>,
    /// Values of the drive file, by key including its table. An empty text removes the key or the table.
    #[serde(default, skip_serializing_if = "Table::is_empty")]
    pub set: Table,
    /// Values of every workload, by key including its table, such as `reshape.policy`.
    #[serde(default, skip_serializing_if = "Table::is_empty")]
    pub workload: Table,
    /// An arrival process that replaces the study's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrival: Option<Arrival>,
    /// A preconditioning that replaces the study's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precondition: Option<Precondition>,
    /// Keys of the block layer above the drive, instead of those of the study.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<Table>,
    /// A platform that replaces the study's, or settings of it: `,KEY=VALUE,...`. An empty text takes it away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform: Option<String>,
    /// A source of the drive's sizes that replaces the study's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sizes: Option<Sizes>,
    /// Sizes of the drive that are known from elsewhere. They replace those of a profile.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub known: BTreeMap<Parameter, Bytes>,
}

/// Source of the drive sizes that splitters and schedulers need.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sizes {
    /// The drive is probed first as a black box, as by `fathom probe`.
    Probe,
    /// A profile from an earlier measurement.
    Profile(PathBuf),
}

impl Study {
    /// Parses the text of a study file.
    ///
    /// # Errors
    /// The line, counted from 1 (where known), and a message that says what is wrong there.
    pub fn from_toml(text: &str) -> Result<Study, (Option<usize>, String)> {
        let study: Study = parse::from_toml(text)?;
        Ok(study.of_text(text, None))
    }

    pub(super) fn of_text(self, text: &str, file: Option<String>) -> Self {
        let text = text.to_owned();
        let written = Written { file, text };
        Self { written, ..self }
    }

    /// Resolves relative paths against the directory of a study file.
    pub(super) fn within(mut self, file: &Path) -> Self {
        let dir = file.parent().unwrap_or(Path::new(""));
        for workload in &mut self.workloads {
            workload.beside(dir);
        }
        let points = self.axes.iter_mut().flat_map(|axis| &mut axis.points);
        let (mut of_points, mut platforms) = (Vec::new(), Vec::new());
        for point in points {
            of_points.extend(point.sizes.as_mut());
            platforms.extend(point.platform.as_mut());
        }
        for platform in self.platform.iter_mut().chain(platforms) {
            if platform
                .split(',')
                .next()
                .is_some_and(|name| name.ends_with(".toml"))
            {
                *platform = dir.join(&*platform).to_string_lossy().into_owned();
            }
        }
        for sizes in self.sizes.iter_mut().chain(of_points) {
            if let Sizes::Profile(profile) = sizes {
                *profile = dir.join(&*profile);
            }
        }
        self
    }
}

impl Axis {
    /// Returns the place in the file of a point of all, of the axis with this number.
    pub(super) fn path_of(&self, number: usize, index: usize) -> Vec<String> {
        let (key, index) = match index.checked_sub(self.values.len()) {
            None => ("values", index),
            Some(index) => ("point", index),
        };
        ["axis", &number.to_string(), key, &index.to_string()]
            .map(str::to_owned)
            .to_vec()
    }

    /// Returns all points, including those written as `values`.
    ///
    /// # Errors
    /// A message if the keys of the axis contradict each other.
    pub(crate) fn all_points(&self) -> Result<Vec<Point>, &'static str> {
        let from_values = match (&self.key, self.values.is_empty()) {
            (Some(key), false) => self.values.iter().map(|value| point(key, value)).collect(),
            (None, true) => Vec::new(),
            (Some(_), true) => return Err("`key` needs `values`"),
            (None, false) => return Err("`values` need a `key` of the drive file"),
        };
        let points: Vec<Point> = [from_values, self.points.clone()].concat();
        if points.is_empty() {
            return Err("it has neither `values` nor a `point`");
        }
        Ok(points)
    }
}

fn point(key: &str, value: &Value) -> Point {
    let name = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    Point {
        name,
        set: Table::from_iter([(key.to_owned(), value.clone())]),
        ..Point::default()
    }
}
