//! Resolves a study file into its runs.

use super::sizes::Profiles;
use super::{Point, Study, StudyError};
use crate::queue::from_table;
use crate::replay::Plan;
use crate::source::Workload;
use crate::store::Loaded;
use crate::target::settings::set;
use fathom_model::Model;
use fathom_run::Precondition;

use crate::target::{Setting, TargetError, TargetName};
use fathom_base::Bytes;
use fathom_iosched::QueueConfig;
use fathom_probe::{Parameter, Profile, Verdict};
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
/// [`StudyError`] for the first invalid value, with its place in the study.
pub fn plan(study: &Study) -> Result<Vec<Run>, StudyError> {
    let wrong = |place: String, detail: &str| StudyError::Value {
        study: study.name.clone(),
        place,
        detail: detail.to_owned(),
    };
    if study.workloads.is_empty() || study.seeds.is_empty() {
        return Err(wrong("top".into(), "it has no workload or no seed"));
    }
    for (later, axis) in study.axes.iter().enumerate() {
        let earlier = &study.axes[..later];
        if let Some(first) = earlier.iter().position(|other| other.name == axis.name) {
            return Err(wrong(
                format!("axis {} and axis {}", first + 1, later + 1),
                &format!(
                    "both are called `{}`: give each a name of its own",
                    axis.name
                ),
            ));
        }
    }
    let mut combinations: Vec<Vec<(String, Point)>> = vec![Vec::new()];
    for axis in &study.axes {
        let points = axis
            .all_points()
            .map_err(|detail| wrong(format!("axis `{}`", axis.name), detail))?;
        combinations = combinations
            .iter()
            .flat_map(|so_far| {
                points.iter().map(|point| {
                    let mut longer = so_far.clone();
                    longer.push((axis.name.clone(), point.clone()));
                    longer
                })
            })
            .collect();
    }
    let mut runs = Vec::new();
    let mut names = BTreeSet::new();
    let mut profiles = Profiles::default();
    for workload in &study.workloads {
        for points in &combinations {
            for &seed in &study.seeds {
                let run = resolve(study, workload, points, seed, &mut profiles)?;
                if !names.insert(run.name.clone()) {
                    return Err(wrong(
                        format!("run {}", run.name),
                        "two runs have this name: workloads, points and seeds must differ",
                    ));
                }
                runs.push(run);
            }
        }
    }
    Ok(runs)
}

fn resolve(
    study: &Study,
    workload: &Workload,
    points: &[(String, Point)],
    seed: u64,
    profiles: &mut Profiles,
) -> Result<Run, StudyError> {
    let name = name_of(workload, points, seed);
    let mut drive = study.drive.clone();
    let (mut arrival, mut precondition) = (study.arrival, study.precondition);
    let mut queue = study.queue.clone();
    let mut sizes = study.sizes.as_ref();
    let mut known = BTreeMap::new();
    let mut settings = settings(&study.set);
    let mut of_workload = Vec::new();
    for (_, point) in points {
        drive = point.drive.clone().unwrap_or(drive);
        arrival = point.arrival.unwrap_or(arrival);
        precondition = point.precondition.or(precondition);
        if let Some(keys) = &point.queue {
            queue.get_or_insert_default().extend(keys.clone());
        }
        sizes = point.sizes.as_ref().or(sizes);
        known.extend(&point.known);
        settings.extend(self::settings(&point.set));
        of_workload.extend(self::settings(&point.workload));
    }
    let drive_error = |error: TargetError| StudyError::Drive {
        study: study.name.clone(),
        run: name.clone(),
        error: Box::new(error),
    };
    let model = TargetName::parse(&drive)
        .and_then(|target| target.model(&settings))
        .map_err(drive_error)?
        .ok_or_else(|| {
            drive_error(TargetError::NoModel {
                target: drive.clone(),
            })
        })?;
    let workload = vary(study, &name, workload, &of_workload)?;
    let loaded = match (&queue, sizes) {
        (Some(_), Some(sizes)) => Some(profiles.of(sizes, &model)),
        _ => None,
    };
    let wrong = |detail: String| StudyError::Value {
        study: study.name.clone(),
        place: format!("run {name}, queue"),
        detail,
    };
    let loaded = loaded.transpose().map_err(wrong)?;
    let queue = queue.map(|keys| block_layer(keys, loaded, &known));
    let queue = queue.transpose().map_err(wrong)?;
    if let Some(queue) = &queue {
        check_priorities(queue, &workload, arrival).map_err(wrong)?;
    }
    let notes = loaded.map_or_else(Vec::new, |loaded| loaded.notes.clone());
    Ok(Run {
        workload: workload.name.clone(),
        points: points
            .iter()
            .map(|(axis, point)| (axis.clone(), point.name.clone()))
            .collect(),
        plan: Plan {
            target: drive,
            workload,
            arrival,
            precondition: Precondition::of(precondition, model.starts_empty()),
            seed,
            queue,
            depth: None,
        },
        model,
        name,
        notes,
    })
}

/// Builds the block layer from a table, with the sizes of a profile or those known from elsewhere.
fn block_layer(
    keys: Table,
    loaded: Option<&Loaded<Profile>>,
    known: &BTreeMap<&Parameter, &Bytes>,
) -> Result<QueueConfig, String> {
    let mut profile = loaded.map(|loaded| loaded.value.clone());
    for (parameter, bytes) in known {
        let answers = profile.iter_mut().map(|profile| &mut profile.parameters);
        for answer in answers.filter_map(|answers| answers.get_mut(parameter)) {
            answer.verdict = Verdict::Identified;
            answer.value = Some(fathom_probe::Value::Bytes(bytes.0));
        }
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

/// Converts a table to settings; each key includes its table.
fn settings(table: &Table) -> Vec<Setting> {
    let setting = |(key, value): (&String, &Value)| match value.as_str() {
        Some("") => Setting::absent(key),
        _ => Setting::new(key, value.clone()),
    };
    table.iter().map(setting).collect()
}

/// Returns the workload with the settings of the points.
fn vary(
    study: &Study,
    run: &str,
    workload: &Workload,
    settings: &[Setting],
) -> Result<Workload, StudyError> {
    if settings.is_empty() {
        return Ok(workload.clone());
    }
    let wrong = |detail: String| StudyError::Value {
        study: study.name.clone(),
        place: format!("run {run}"),
        detail,
    };
    let mut table = Table::try_from(workload).map_err(|e| wrong(e.to_string()))?;
    for setting in settings {
        set(&mut table, setting).map_err(|e| wrong(e.to_string()))?;
    }
    Workload::deserialize(Value::Table(table)).map_err(|e| wrong(e.message().to_owned()))
}

/// Returns the name of a run as a file name: workload, points and seed.
fn name_of(workload: &Workload, points: &[(String, Point)], seed: u64) -> String {
    let mut parts = vec![plain(&workload.name)];
    parts.extend(
        points
            .iter()
            .map(|(axis, point)| format!("{}={}", plain(axis), plain(&point.name))),
    );
    parts.push(format!("seed={seed}"));
    parts.join(",")
}

/// Replaces the characters that are not allowed in a file name by `_`.
fn plain(text: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "._-+".contains(c);
    let plain = |c: char| if allowed(c) { c } else { '_' };
    text.chars().map(plain).collect()
}
