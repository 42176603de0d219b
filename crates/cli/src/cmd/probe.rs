//! `fathom probe`: measures a drive.

use super::confirm::{Bound, Consent, confirm};
use super::{answer, answered, made, save, unfit};
use crate::args::{Budget, DEFAULT_TARGET, ProbeArgs};
use crate::failure::{Exit, Failure};
use crate::watch::{self, Watch};
use crate::{input, out};
use fathom_base::Dur;
use fathom_lab::reported;
use fathom_lab::store::{self, SetKind};
use fathom_lab::target::{self, OpenOptions, Opened, TargetName};
use fathom_probe::plan as probe;
use fathom_probe::record::Target;
use fathom_probe::run::{self, RunConfig, RunError};
use fathom_probe::{Level, Method, Parameter, Record};
use fathom_report::text::human_bytes;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The most that a quick run writes, in bytes, and the longest that it takes on the drive's clock.
const QUICK_BYTES: u64 = 4 << 30;
const QUICK_TIME: Dur = Dur::ms(120_000);

/// A measurement to start or to resume.
struct Plan {
    opened: Opened,
    config: RunConfig,
    previous: Option<Record>,
    /// Directory of the results, if they are saved.
    out: Option<PathBuf>,
}

impl Plan {
    /// Returns true if the scratch file of the interrupted run must be created and filled again.
    fn refills(&self) -> bool {
        self.previous.is_some() && self.opened.scratch()
    }
}

pub(super) fn run(args: ProbeArgs) -> Result<Exit, Failure> {
    let plan = match &args.resume {
        None => fresh(&args)?,
        Some(dir) => {
            input::run(dir)?;
            made::only(&[SetKind::Measurement], dir, "fathom probe --resume")?;
            let record = out::loaded(store::load_record(dir)?);
            if record.meta.complete {
                out::note("This run came to its end; its record is answered again.");
                return finish(&record, args.out.as_deref().or(Some(dir)), args.json);
            }
            resumed(&args, dir, record)?
        }
    };
    run::check(&plan.config, plan.opened.device.info())
        .map_err(|error| unfit::unfit(&plan.opened, args.size, error))?;
    if let (Some(note), false) = (unfit::filled(&plan.opened), args.quiet) {
        out::note(&note);
    }
    let planned = probe::Plan::of(&plan.config, plan.opened.device.info());
    if let (Some(note), false) = (beyond(&planned), args.quiet) {
        out::note(&note);
    }
    let mut bytes = planned.announcement();
    if plan.refills() {
        let scratch = plan.opened.target.capacity_bytes;
        bytes.expected_bytes = bytes.expected_bytes.saturating_add(scratch);
        bytes.bound_bytes = bytes.bound_bytes.saturating_add(scratch);
    }
    let bound = match bytes.bound_bytes {
        0 => Bound::Nothing,
        _ => Bound::Bytes(bytes),
    };
    let consent = Consent {
        destroy: args.destroy.as_deref(),
        yes: args.yes,
        read_only: args.read_only,
        rated_bytes: args.endurance.map(|bytes| bytes.0),
    };
    confirm(&plan.opened, bound, consent)?;
    if let (Some(note), false) = (without_log(&plan.opened.target), args.quiet) {
        out::note(&note);
    }
    measure(plan, &args, bytes.expected_bytes)
}

/// Returns a note on the parameters that the budget is not expected to reach.
fn beyond(plan: &probe::Plan) -> Option<String> {
    let (parameters, all) = plan.beyond();
    let names: Vec<&str> = parameters
        .iter()
        .map(|parameter| parameter.name())
        .collect();
    (!names.is_empty()).then(|| {
        format!(
            "The budget is not expected to reach {}; about {} are for all.",
            names.join(", "),
            human_bytes(all)
        )
    })
}

/// Returns why the drive's log is not read, and what the run does without it.
fn without_log(target: &Target) -> Option<String> {
    let why = target.reported.as_ref()?.no_log.as_ref()?;
    Some(format!(
        "The drive's log is not read: {why}. The run goes on without temperature, spare and media bytes; a drive that becomes \
         slow is noticed by its times."
    ))
}

fn fresh(args: &ProbeArgs) -> Result<Plan, Failure> {
    if let Some(out) = &args.out {
        store::check_output(out, SetKind::Measurement)?;
    }
    if !args.only.is_empty() {
        let asked = answered::listed(&args.only);
        answered::by(&[args.method.unwrap_or_default()], &args.only, &asked)?;
    }
    let text = args.target.as_deref().unwrap_or(DEFAULT_TARGET);
    let seed = args.seed.unwrap_or_default();
    let options = OpenOptions {
        size: args.size,
        destroy: args.destroy.clone(),
        read_only: args.read_only,
        keep_data: false,
        seed,
        depth: None,
        limit: args.limit.clone(),
    };
    let name = input::target(text)?;
    if args.limit.is_some() && !matches!(name, TargetName::Real(_)) {
        let message = format!("`--limit` is for real drives, and {text} is a modelled one");
        return Err(Failure::input("fathom::target::limit", message)
            .help("give it a [limit] in its drive file: `fathom explain drive.toml` shows one"));
    }
    let mut opened = name.open(text, &options)?;
    if !opened.target.modelled {
        opened.target.reported = reported::at_probe(Path::new(text));
    }
    let (budget_bytes, budget_time) = limits(args);
    let method = args.method.unwrap_or_default();
    let config = RunConfig {
        seed,
        method,
        parameters: match args.only.as_slice() {
            [] => asked(method),
            only => only.to_vec(),
        },
        // A rule is applied to every drive, whether it fits or not.
        fitting: args.only.is_empty() && method == Method::Robust,
        level: args.level.unwrap_or_default(),
        read_only: args.read_only,
        budget_bytes,
        budget_time,
        references: !opened.target.modelled,
        target: Some(opened.target.clone()),
        ..RunConfig::default()
    };
    Ok(Plan {
        opened,
        config,
        previous: None,
        out: args.out.clone(),
    })
}

/// Returns the parameters that a method can measure.
fn asked(method: Method) -> Vec<Parameter> {
    let mut all = Parameter::ALL.to_vec();
    all.retain(|parameter| parameter.about().probe(method).is_some());
    all
}

/// Returns the limits of bytes and time: those of the level, or a smaller budget.
fn limits(args: &ProbeArgs) -> (Option<u64>, Option<Dur>) {
    let (bytes, time) = budgets(args.budget);
    match args.level.unwrap_or_default() {
        Level::Full => (bytes, time),
        Level::Quick => (
            Some(bytes.unwrap_or(u64::MAX).min(QUICK_BYTES)),
            Some(time.unwrap_or(Dur(u64::MAX)).min(QUICK_TIME)),
        ),
    }
}

fn budgets(budget: Option<Budget>) -> (Option<u64>, Option<Dur>) {
    match budget {
        Some(Budget::Bytes(bytes)) => (Some(bytes.0), None),
        Some(Budget::Time(time)) => (None, Some(time)),
        None => (None, None),
    }
}

fn resumed(args: &ProbeArgs, dir: &Path, record: Record) -> Result<Plan, Failure> {
    if let Some(out) = args.out.as_deref().filter(|out| *out != dir) {
        store::check_output(out, SetKind::Measurement)?;
    }
    let meta = &record.meta;
    let options = OpenOptions {
        size: None,
        destroy: args.destroy.clone(),
        read_only: meta.read_only,
        keep_data: false,
        seed: meta.seed,
        depth: None,
        limit: args.limit.clone(),
    };
    let opened = target::reopen(&meta.target, &options)?;
    let (budget_bytes, budget_time) = match args.budget {
        None => (meta.budget_bytes, meta.budget_ns.map(Dur)),
        budget => budgets(budget),
    };
    let config = RunConfig {
        seed: meta.seed,
        method: meta.method,
        parameters: meta.parameters.clone(),
        read_only: meta.read_only,
        budget_bytes,
        budget_time,
        region: meta.region.map(|[start, end]| start..end),
        thin: meta.thin,
        level: meta.level,
        fitting: meta.fitting,
        references: !meta.target.modelled,
        target: Some(meta.target.clone()),
        ..RunConfig::default()
    }
    .going_on_from(meta);
    Ok(Plan {
        opened,
        config,
        previous: Some(record),
        out: Some(args.out.clone().unwrap_or_else(|| dir.to_owned())),
    })
}

fn measure(plan: Plan, args: &ProbeArgs, expected_bytes: u64) -> Result<Exit, Failure> {
    let refills = plan.refills();
    let resume = |kept: &Path| how_to_resume(kept, args.destroy.as_deref());
    let Plan {
        mut opened,
        config,
        mut previous,
        out,
    } = plan;
    watch::listen()?;
    if let (true, Some(record)) = (refills, &mut previous) {
        if !args.quiet {
            out::note("filling a new scratch file");
        }
        target::refill(&mut *opened.device, record, &watch::interrupted).map_err(|e| {
            Failure::input("fathom::run::failed", "cannot fill a new scratch file").because(e)
        })?;
    }
    let kept = out
        .clone()
        .unwrap_or_else(|| spare_dir(&opened.target.name));
    let checkpoint = (!opened.target.modelled).then(|| kept.clone());
    let time_left = time_left(&config, &previous).filter(|_| !opened.target.modelled);
    let mut watch = Watch::new(args.quiet, expected_bytes, checkpoint).within(time_left);
    let result = run::run(&mut *opened.device, &config, previous, &mut watch);
    // Removes the scratch file together with the device, before anything else is written.
    drop(opened);
    if let Some(error) = watch.finish() {
        return Err(error.into());
    }
    match result {
        Ok(record) if record.meta.complete => {
            if out.is_none() {
                store::forget(&kept);
            }
            finish(&record, out.as_deref(), args.json)
        }
        Ok(record) => {
            store::save_record(&kept, &record)?;
            out::note(&format!("Interrupted. {}", resume(&kept)));
            Ok(Exit::Negative)
        }
        Err(RunError::Failed {
            record,
            stop,
            parameter,
        }) => {
            store::save_record(&kept, &record)?;
            let message = format!("the run ended in {parameter}");
            Err(Failure::input("fathom::run::failed", message)
                .because(stop)
                .help(resume(&kept)))
        }
        Err(error) => Err(error.into()),
    }
}

/// Returns the time that a budget leaves for a run.
fn time_left(config: &RunConfig, previous: &Option<Record>) -> Option<Duration> {
    let spent = previous.iter().flat_map(|record| &record.steps);
    let spent: u64 = spent.map(|step| step.cost.device_ns).sum();
    let budget = config.budget_time?;
    Some(Duration::from_nanos(budget.0.saturating_sub(spent)))
}

/// Solves the record, saves the results if requested, and prints them. Results that cannot be saved are still printed.
fn finish(record: &Record, out: Option<&Path>, json: bool) -> Result<Exit, Failure> {
    let profile = run::solve(record);
    let Some(dir) = out else {
        answer::print(&profile, json, "")?;
        return Ok(Exit::Done);
    };
    let saved = save::measurement(dir, record, &profile);
    let after = match &saved {
        Ok(files) => format!("\n{}\n", save::written(dir, files)),
        Err(_) => String::new(),
    };
    answer::print(&profile, json, &after)?;
    saved?;
    Ok(Exit::Done)
}

fn how_to_resume(dir: &Path, destroy: Option<&str>) -> String {
    let dir = dir.display();
    let consent = destroy.map_or(String::new(), |name| format!(" --destroy {name}"));
    format!("What was measured is in {dir}; go on with: fathom probe --resume {dir}{consent}")
}

/// Returns a directory for the record of an interrupted run without `--out`: in the current directory, never over another
/// one, which may hold other parameters.
fn spare_dir(target: &str) -> PathBuf {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let name: String = target
        .chars()
        .map(|c| if plain(c) { c } else { '-' })
        .collect();
    let name = name.trim_matches(['-', '.']);
    let base = if name.is_empty() { "here" } else { name };
    let numbered = |n: u32| match n {
        1 => PathBuf::from(format!("fathom-{base}.interrupted")),
        n => PathBuf::from(format!("fathom-{base}-{n}.interrupted")),
    };
    (1..1000)
        .map(numbered)
        .find(|dir| !dir.exists())
        .unwrap_or_else(|| numbered(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_probe::Reported;

    #[test]
    fn a_log_that_cannot_be_read_is_one_line_with_what_can_be_done() {
        let target = |no_log: Option<&str>| Target {
            reported: Some(Reported {
                no_log: no_log.map(str::to_owned),
                ..Reported::default()
            }),
            ..Target::default()
        };
        assert_eq!(without_log(&Target::default()), None);
        assert_eq!(without_log(&target(None)), None);
        let said = without_log(&target(Some("no permission, so run as root"))).unwrap();
        assert!(
            said.contains("so run as root") && said.contains("goes on"),
            "{said}"
        );
        assert!(!said.contains('\n'));
    }

    #[test]
    fn the_spare_directory_is_named_after_the_target() {
        let name = |target| spare_dir(target).display().to_string();
        assert_eq!(name("model:ssd-a"), "fathom-model-ssd-a.interrupted");
        assert_eq!(name("/dev/sdb"), "fathom-dev-sdb.interrupted");
        assert_eq!(name("."), "fathom-here.interrupted");
        assert_eq!(name("../a b/"), "fathom-a-b.interrupted");
    }
}
