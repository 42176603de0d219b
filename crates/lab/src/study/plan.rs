//! Resolves a study file into its runs.

use super::asked::{Asked, Chosen, Placed};
use super::faults::{Found, of_the_whole, with_cause};
use super::file::Written;
use super::sizes::{Profiles, Wanted};
use super::{Fault, Study, StudyError};
use crate::queue::{from_table, unknown_sizes};
use crate::replay::Plan;
use crate::source::Workload;
use crate::target::TargetError;
use fathom_base::Bytes;
use fathom_iosched::QueueConfig;
use fathom_model::Model;
use fathom_probe::{Estimate, Parameter, Profile};
use fathom_run::Precondition;
use fathom_workload::step::Arrival;
use std::collections::{BTreeMap, BTreeSet};
use toml::Table;

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
        let sizes = asked.sizes?;
        let queue = asked.queue.as_ref();
        let mut parameters = queue.map_or_else(BTreeSet::new, unknown_sizes);
        if study
            .workloads
            .iter()
            .any(|of| asked.lacks_logical_block(of))
        {
            parameters.insert(Parameter::LogicalBlock);
        }
        if queue.is_none() && parameters.is_empty() {
            return None;
        }
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
        study_workload: &Workload,
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
        let platform = asked.platform().map_err(|error| {
            let help = Some(error.help());
            self.found.push(Found {
                help,
                ..Found::at_key(&asked.platform_at, error.to_string())
            });
        });
        let workload = self.vary(study_workload, &asked);
        let lacks = asked.lacks_logical_block(study_workload);
        let program_at = program_at(study, study_workload, &asked);
        let mut wrong = |detail: String| self.found.push(Found::at_key(&asked.queue_at, detail));
        let loaded = match (asked.queue.is_some() || lacks, asked.sizes, &model) {
            (true, Some(sizes), Some(model)) => {
                Some(profiles?.of(sizes, model).map_err(&mut wrong).ok()?)
            }
            (true, Some(_), None) => return None,
            _ => None,
        };
        let profile = loaded.map(|loaded| with_known(&loaded.value, &asked.known));
        let queue = asked.queue.map(|keys| block_layer(keys, profile.as_ref()));
        let queue = queue.transpose().map_err(&mut wrong).ok()?;
        let (model, mut workload, platform) = (model?, workload?, platform.ok()?);
        if let Some(profile) = &profile {
            workload.take_logical_block(profile);
        }
        if let Some(queue) = &queue {
            check_priorities(queue, &workload, asked.arrival)
                .map_err(wrong)
                .ok()?;
        }
        if let Err(error) = workload.check_program() {
            self.found.push(Found::at_key(&program_at, error));
            return None;
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
                platform,
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
    fn vary(&mut self, workload: &Workload, asked: &Asked<'_>) -> Option<Workload> {
        let wrong = |detail: String| {
            let path = asked.of_workload.last().map_or(&[][..], |last| &last.path);
            self.found.push(Found::at_key(path, detail));
        };
        asked.vary(workload).map_err(wrong).ok()
    }
}

/// Returns the key that sets a program: that of the last point that varies the workload, or of the workload itself.
fn program_at(study: &Study, workload: &Workload, asked: &Asked<'_>) -> Vec<String> {
    let own = || {
        let mut names = study.workloads.iter().map(|of| &of.name);
        let number = names.position(|name| *name == workload.name);
        let number = number.unwrap_or_default().to_string();
        vec!["workload".to_owned(), number, "program".to_owned()]
    };
    let varied = asked.of_workload.last();
    varied.map_or_else(own, |placed| placed.path.to_vec())
}

/// Returns a profile with the sizes that are known from elsewhere.
fn with_known(profile: &Profile, known: &BTreeMap<&Parameter, &Bytes>) -> Profile {
    let mut profile = profile.clone();
    let known = known.iter().map(|(&&parameter, bytes)| {
        let value = fathom_probe::Value::Bytes(bytes.0);
        let answer = Estimate::identified(value, "it is given in the study");
        (parameter, answer)
    });
    profile.parameters.extend(known);
    profile
}

/// Builds the block layer from a table, with the sizes of a profile.
fn block_layer(keys: Table, profile: Option<&Profile>) -> Result<QueueConfig, String> {
    from_table(keys, profile).map_err(|e| format!("{e}; {}", e.help()))
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
