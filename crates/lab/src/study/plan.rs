//! Resolves a study file into its runs.

use super::faults::{Found, of_the_whole, with_cause};
use super::file::Written;
use super::sizes::{Profiles, Wanted};
use super::{Fault, Point, Sizes, Study, StudyError};
use crate::parse::in_words;
use crate::queue::{from_table, unknown_sizes};
use crate::replay::Plan;
use crate::source::Workload;
use crate::store::Loaded;
use crate::target::settings::set;
use crate::target::{Setting, TargetError, TargetName};
use fathom_base::Bytes;
use fathom_iosched::QueueConfig;
use fathom_model::Model;
use fathom_probe::{Estimate, Parameter, Profile};
use fathom_run::Precondition;
use fathom_workload::step::Arrival;
use serde::Deserialize as _;
use std::collections::{BTreeMap, BTreeSet};
use toml::{Table, Value};

/// One resolved run of a study.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Name of the run and of its directory, unique in the study: workload, points and seed.
    pub name: String,
    /// Name of the workload.
    pub workload: String,
    /// Name of each axis, and of the run's point on it.
    pub points: Vec<(String, String)>,
    /// The plan of the run.
    pub plan: Plan,
    /// The drive of the run.
    pub model: Model,
    /// Warnings, such as a profile without a checksum.
    pub notes: Vec<String>,
}

/// Returns all runs of a study in a fixed order.
///
/// # Errors
/// [`StudyError::Faults`] with everything that no run can have, each with its line.
pub fn plan(study: &Study) -> Result<Vec<Run>, StudyError> {
    let (runs, found) = planned(study);
    if found.is_empty() {
        return Ok(runs);
    }
    let Written { file, text } = &study.written;
    let mut faults: Vec<Fault> = found.into_iter().map(|fault| fault.at(text)).collect();
    faults.sort_by_key(|fault| fault.line.unwrap_or(usize::MAX));
    let file = file
        .clone()
        .unwrap_or_else(|| format!("study `{}`", study.name));
    Err(StudyError::Faults { file, faults })
}

/// Returns everything that no run of the study can have.
pub(super) fn faults(study: &Study) -> Vec<Found> {
    planned(study).1
}

fn planned(study: &Study) -> (Vec<Run>, Vec<Found>) {
    let mut found = of_the_whole(study);
    let differ = found.is_empty();
    let combinations = combinations(study, &mut found);
    let mut runs: Vec<Run> = Vec::new();
    let mut names = BTreeSet::new();
    // Probing takes time, which is not spent on a study that cannot be run.
    let wanted = found.is_empty().then(|| wanted(study, &combinations));
    let profiles = wanted.flatten().map(Profiles::new);
    for (number, workload) in study.workloads.iter().enumerate() {
        for points in &combinations {
            for &seed in &study.seeds {
                let mut resolving = Resolving {
                    name: name_of(workload, points, seed),
                    found: Vec::new(),
                };
                let name = resolving.name.clone();
                runs.extend(resolving.run(study, workload, points, seed, profiles.as_ref()));
                if !names.insert(name.clone()) && differ {
                    let detail = "two runs have this name: workloads, points and seeds must differ";
                    let path: [&dyn ToString; 3] = [&"workload", &number, &"name"];
                    resolving.found.push(Found::new(&path, detail));
                }
                for fault in resolving.found {
                    fault.add_to(&mut found, &name);
                }
            }
        }
    }
    (runs, found)
}

/// Returns what the runs need to know about their drives; `None` if a drive cannot be built.
fn wanted<'a>(study: &'a Study, combinations: &'a [Vec<Chosen>]) -> Option<Vec<Wanted<'a>>> {
    let wanted = combinations.iter().filter_map(|points| {
        let asked = Asked::of(study, points);
        let (queue, sizes) = (asked.queue.as_ref()?, asked.sizes?);
        let mut parameters = unknown_sizes(queue);
        parameters.retain(|parameter| !asked.known.contains_key(parameter));
        Some(asked.model().ok().map(|model| Wanted {
            sizes,
            model,
            parameters,
        }))
    });
    wanted.collect()
}

/// Returns every combination of a point of each axis.
fn combinations(study: &Study, found: &mut Vec<Found>) -> Vec<Vec<Chosen>> {
    let mut combinations: Vec<Vec<Chosen>> = vec![Vec::new()];
    for (number, axis) in study.axes.iter().enumerate() {
        let points = match axis.all_points() {
            Ok(points) => points,
            Err(detail) => {
                let detail = format!("axis `{}`: {detail}", axis.name);
                found.push(Found::new(&[&"axis", &number], detail));
                continue;
            }
        };
        let longer = |so_far: &Vec<Chosen>| -> Vec<Vec<Chosen>> {
            let points = points.iter().enumerate();
            let chosen = points.map(|(index, point)| Chosen {
                axis: axis.name.clone(),
                point: point.clone(),
                path: axis.path_of(number, index),
            });
            chosen
                .map(|chosen| [&so_far[..], &[chosen]].concat())
                .collect()
        };
        combinations = combinations.iter().flat_map(longer).collect();
    }
    combinations
}

/// A point that a run has on an axis.
#[derive(Clone)]
struct Chosen {
    axis: String,
    point: Point,
    /// Its place in the file.
    path: Vec<String>,
}

/// A value for a key, and its place in the file.
struct Placed {
    setting: Setting,
    path: Vec<String>,
}

/// The settings of a run: those of the study, replaced by those of its points.
struct Asked<'a> {
    drive: String,
    drive_at: Vec<String>,
    arrival: Arrival,
    arrival_at: Vec<String>,
    precondition: Option<Precondition>,
    queue: Option<Table>,
    queue_at: Vec<String>,
    sizes: Option<&'a Sizes>,
    known: BTreeMap<&'a Parameter, &'a Bytes>,
    settings: Vec<Placed>,
    of_workload: Vec<Placed>,
}

impl<'a> Asked<'a> {
    fn of(study: &'a Study, points: &'a [Chosen]) -> Self {
        let mut asked = Self {
            drive: study.drive.clone(),
            drive_at: vec!["drive".to_owned()],
            arrival: study.arrival,
            arrival_at: vec!["arrival".to_owned()],
            precondition: study.precondition,
            queue: study.queue.clone(),
            queue_at: vec!["queue".to_owned()],
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
            asked.sizes = point.sizes.as_ref().or(asked.sizes);
            asked.known.extend(&point.known);
            asked.settings.extend(placed(&point.set, path, "set"));
            asked
                .of_workload
                .extend(placed(&point.workload, path, "workload"));
        }
        asked
    }

    fn model(&self) -> Result<Model, TargetError> {
        let settings: Vec<Setting> = self.settings.iter().map(|p| p.setting.clone()).collect();
        let target = self.drive.clone();
        let model = TargetName::parse(&target)?.model(&settings)?;
        model.ok_or(TargetError::NoModel { target })
    }
}

/// A run that is being resolved, with its faults so far.
struct Resolving {
    name: String,
    found: Vec<Found>,
}

impl Resolving {
    /// Returns the run, unless a fault is found.
    fn run(
        &mut self,
        study: &Study,
        workload: &Workload,
        points: &[Chosen],
        seed: u64,
        profiles: Option<&Profiles>,
    ) -> Option<Run> {
        let asked = Asked::of(study, points);
        if let Err(error) = asked.arrival.check() {
            let fault = Found::at_key(&asked.arrival_at, error.to_string());
            self.found.push(fault);
        }
        let model = self.model(&asked);
        let workload = self.vary(workload, &asked.of_workload);
        let mut wrong = |detail: String| self.found.push(Found::at_key(&asked.queue_at, detail));
        let loaded = match (&asked.queue, asked.sizes, &model) {
            (Some(_), Some(sizes), Some(model)) => {
                Some(profiles?.of(sizes, model).map_err(&mut wrong).ok()?)
            }
            (Some(_), Some(_), None) => return None,
            _ => None,
        };
        let queue = asked
            .queue
            .map(|keys| block_layer(keys, loaded, &asked.known));
        let queue = queue.transpose().map_err(&mut wrong).ok()?;
        let (model, workload) = (model?, workload?);
        if let Some(queue) = &queue {
            check_priorities(queue, &workload, asked.arrival)
                .map_err(wrong)
                .ok()?;
        }
        let chosen = points.iter();
        let chosen = chosen.map(|chosen| (chosen.axis.clone(), chosen.point.name.clone()));
        Some(Run {
            workload: workload.name.clone(),
            points: chosen.collect(),
            notes: loaded.map_or_else(Vec::new, |loaded| loaded.notes.clone()),
            plan: Plan {
                target: asked.drive,
                workload,
                arrival: asked.arrival,
                precondition: Precondition::of(asked.precondition, model.starts_empty()),
                seed,
                queue,
                depth: None,
            },
            model,
            name: self.name.clone(),
        })
    }

    fn model(&mut self, asked: &Asked<'_>) -> Option<Model> {
        let error = match asked.model() {
            Ok(model) => return Some(model),
            Err(error) => error,
        };
        let mut add = |path: &[String], detail: String| {
            let help = error.help();
            self.found.push(Found {
                help,
                ..Found::at_key(path, detail)
            });
        };
        match &error {
            TargetError::Set(faults) => {
                for fault in faults {
                    let of = |placed: &&Placed| Some(&placed.setting) == fault.setting.as_ref();
                    let placed = asked.settings.iter().rfind(of);
                    add(
                        placed.map_or(&asked.drive_at, |p| &p.path),
                        fault.to_string(),
                    );
                }
            }
            error => add(&asked.drive_at, with_cause(error)),
        }
        None
    }

    /// Returns the workload with the settings of the points.
    fn vary(&mut self, workload: &Workload, placed: &[Placed]) -> Option<Workload> {
        let Some(last) = placed.last() else {
            return Some(workload.clone());
        };
        let varied = || {
            let mut table = Table::try_from(workload).map_err(|error| error.to_string())?;
            for placed in placed {
                set(&mut table, &placed.setting).map_err(|error| error.to_string())?;
            }
            Workload::deserialize(Value::Table(table))
                .map_err(|error| in_words(error.message(), None))
        };
        let wrong = |detail: String| self.found.push(Found::at_key(&last.path, detail));
        varied().map_err(wrong).ok()
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

/// Builds the block layer from a table, with the sizes of a profile or those known from elsewhere.
fn block_layer(
    keys: Table,
    loaded: Option<&Loaded<Profile>>,
    known: &BTreeMap<&Parameter, &Bytes>,
) -> Result<QueueConfig, String> {
    let mut profile = loaded.map(|loaded| loaded.value.clone());
    if let Some(profile) = &mut profile {
        let known = known.iter().map(|(&&parameter, bytes)| {
            let value = fathom_probe::Value::Bytes(bytes.0);
            let answer = Estimate::identified(value, "it is given in the study");
            (parameter, answer)
        });
        profile.parameters.extend(known);
    }
    from_table(keys, profile.as_ref()).map_err(|e| format!("{e}; {}", e.help()))
}

/// Checks that each process with a priority exists, as far as the number of processes is known. Jobs and programs determine
/// their number when they run ([`crate::replay::run`]).
fn check_priorities(
    queue: &QueueConfig,
    workload: &Workload,
    arrival: Arrival,
) -> Result<(), String> {
    let processes = match arrival {
        _ if workload.is_program() => return Ok(()),
        Arrival::Processes { processes, .. } => processes.get(),
        Arrival::Open | Arrival::Closed { .. } => 1,
    };
    queue
        .check_processes(processes as usize)
        .map_err(|error| error.to_string())
}

/// Returns the name of a run as a file name: workload, points and seed.
fn name_of(workload: &Workload, points: &[Chosen], seed: u64) -> String {
    let mut parts = vec![plain(&workload.name)];
    let of = |chosen: &Chosen| format!("{}={}", plain(&chosen.axis), plain(&chosen.point.name));
    parts.extend(points.iter().map(of));
    parts.push(format!("seed={seed}"));
    parts.join(",")
}

/// Replaces the characters that are not allowed in a file name by `_`.
fn plain(text: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "._-+".contains(c);
    let plain = |c: char| if allowed(c) { c } else { '_' };
    text.chars().map(plain).collect()
}
