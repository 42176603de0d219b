//! The modelled drive of a run, with the changes that the options make to its file.

use crate::args::RunArgs;
use crate::failure::Failure;
use fathom_base::Named;
use fathom_base::registry::{self, Unset, find};
use fathom_lab::target::{Setting, SettingFault, TargetError, TargetName};
use fathom_model::Model;
use fathom_ssd::spec::FTLS;
use std::str::FromStr as _;

/// Settings of a write buffer added to a drive without one: the default of `epo`, Table I.
const BUFFER: [(&str, &str); 2] = [
    ("write_buffer.capacity", "8MiB"),
    ("write_buffer.drain", "on-full"),
];
/// Names for no write buffer; the second one is in the list of policies.
const NO_BUFFER: [&str; 2] = ["none", "no-cache"];
/// Keys of `[mapping]` that some translation layers need.
const NEEDED: [&str; 2] = ["log_blocks", "map_cache"];

/// Returns the modelled drive with the options' changes; `None` for a real drive.
pub(super) fn model(args: &RunArgs, name: &TargetName) -> Result<Option<Model>, Failure> {
    if let TargetName::Real(_) = name {
        return only_modelled(args).map(|()| None);
    }
    if let Some(destroy) = &args.real.destroy {
        let (destroy, target) = (destroy.clone(), args.on.clone());
        return Err(TargetError::DestroyModel { destroy, target }.into());
    }
    let file = name.model(&[])?;
    let settings = settings(args, file.as_ref())?;
    let model = name.model(&settings);
    let Some(mut model) = model.map_err(|error| of_option(args, error))? else {
        return Ok(None);
    };
    if let Some(size) = args.size {
        model.resize(size).map_err(|error| {
            Failure::input("fathom::target::size", error.to_string())
                .help("choose another `--size`, or leave it out")
        })?;
    }
    Ok(Some(model))
}

/// Refuses the options that apply to modelled drives only.
fn only_modelled(args: &RunArgs) -> Result<(), Failure> {
    let options = [
        ("--ftl", args.model.ftl.is_some()),
        ("--buffer", args.model.buffer.is_some()),
        ("--set", !args.model.set.is_empty()),
        ("--precondition", args.model.precondition.is_some()),
    ];
    let Some((option, _)) = options.iter().find(|(_, given)| *given) else {
        return Ok(());
    };
    let message = format!(
        "`{option}` is for modelled drives, and {} is a real one",
        args.on
    );
    Err(Failure::input("fathom::run::real", message)
        .help("leave it out, or name a modelled drive: model:NAME"))
}

/// Returns the changes that the options make to the drive file.
fn settings(args: &RunArgs, file: Option<&Model>) -> Result<Vec<Setting>, Failure> {
    let mut settings = Vec::new();
    if let Some(ftl) = &args.model.ftl {
        only_solid_state(args, file, "--ftl", "translation layer")?;
        settings.push(Setting::new("mapping.kind", ftl.as_str()));
        settings.extend(needs(ftl));
    }
    if let Some(buffer) = &args.model.buffer {
        if !NO_BUFFER.contains(&buffer.as_str()) {
            only_solid_state(args, file, "--buffer", "write buffer with a policy")?;
        }
        settings.extend(buffer_settings(buffer, adds_buffer(args, file))?);
    }
    settings.extend(args.model.set.iter().cloned());
    Ok(settings)
}

/// Returns the keys that a translation layer needs and that the file of a drive with another one may lack.
fn needs(ftl: &str) -> impl Iterator<Item = Setting> {
    let keys = find(FTLS, ftl).map(Named::defaults).unwrap_or_default();
    keys.into_iter().filter_map(|(key, unset)| match unset {
        Unset::Value(value) if NEEDED.contains(&key.field) => {
            let key = format!("mapping.{}", key.field);
            Some(Setting::new(&key, registry::value(&value)))
        }
        _ => None,
    })
}

/// Refuses an option that changes a part which the drive's kind lacks.
fn only_solid_state(
    args: &RunArgs,
    file: Option<&Model>,
    option: &str,
    part: &str,
) -> Result<(), Failure> {
    let what = match file {
        None | Some(Model::Ssd(_)) => return Ok(()),
        Some(Model::Hdd(_)) => "a disk, which has",
        Some(_) => "of a kind that has",
    };
    let message = format!("`{option}`: {} is {what} no {part}", args.on);
    Err(Failure::input("fathom::target::setting", message)
        .help("leave it out, or name another drive: `fathom list drives` shows all"))
}

/// Converts an error in the changed drive file to a failure that names the option of each wrong setting.
fn of_option(args: &RunArgs, error: TargetError) -> Failure {
    let said: Vec<String> = match &error {
        TargetError::Set(faults) => faults.iter().map(|fault| said(args, fault)).collect(),
        _ => Vec::new(),
    };
    let failure = Failure::from(error);
    match &said[..] {
        [] => failure,
        [one] => failure.message(one.clone()),
        several => Failure {
            message: format!("{} settings of {} are wrong", several.len(), args.on),
            lines: several.iter().map(|fault| format!("  {fault}")).collect(),
            ..failure
        },
    }
}

fn said(args: &RunArgs, fault: &SettingFault) -> String {
    let Some(setting) = &fault.setting else {
        return fault.to_string();
    };
    let given = |option: &str, value: &Option<String>| {
        format!("`{option} {}`", value.as_deref().unwrap_or_default())
    };
    let option = match setting.key.split('.').next() {
        _ if args.model.set.contains(setting) => format!("`--set {setting}`"),
        Some("mapping") => given("--ftl", &args.model.ftl),
        _ => given("--buffer", &args.model.buffer),
    };
    fault.of(&option)
}

/// Returns true if the options ask for a write buffer and the drive has none of its own.
fn adds_buffer(args: &RunArgs, file: Option<&Model>) -> bool {
    let wanted = args.model.buffer.as_deref();
    let has_none = |model: &Model| model.write_buffer().is_none();
    wanted.is_some_and(|buffer| !NO_BUFFER.contains(&buffer)) && file.is_some_and(has_none)
}

/// Returns the settings for `POLICY,KEY=VALUE,...`, with those of the default buffer if the drive has none.
fn buffer_settings(buffer: &str, adds: bool) -> Result<Vec<Setting>, Failure> {
    if NO_BUFFER.contains(&buffer) {
        return Ok(vec![Setting::absent("write_buffer")]);
    }
    if NO_BUFFER
        .iter()
        .any(|none| buffer.starts_with(&format!("{none},")))
    {
        let message =
            format!("`--buffer {buffer}`: a drive without a write buffer has no keys of one");
        return Err(Failure::input("fathom::target::setting", message)
            .help("leave the keys out, or name a policy: `fathom list buffers` shows all"));
    }
    let mut parts = buffer.split(',');
    let policy = parts.next().unwrap_or_default();
    let mut settings = Vec::new();
    if adds {
        settings.extend(BUFFER.map(|(key, value)| Setting::new(key, value)));
    }
    settings.push(Setting::new("write_buffer.policy", policy));
    // With the mistakes that it refuses: no value, a key given twice.
    registry::table("policy", buffer).map_err(|problem| {
        let message = format!("`--buffer {buffer}`: {problem}");
        Failure::input("fathom::target::setting", message)
            .help(format!("such as --buffer {policy},capacity=8MiB"))
    })?;
    for part in parts {
        settings.push(Setting::from_str(&format!("write_buffer.{part}"))?);
    }
    Ok(settings)
}

/// Returns a note on the size of the write buffer if one was added to the drive.
pub(super) fn added_buffer(
    args: &RunArgs,
    name: &TargetName,
    model: &Model,
) -> Result<Option<String>, Failure> {
    let policy = args
        .model
        .buffer
        .as_deref()
        .and_then(|text| text.split(',').next());
    let capacity = model.write_buffer();
    let adds = adds_buffer(args, name.model(&[])?.as_ref());
    let (Some(policy), Some(capacity), true) = (policy, capacity, adds) else {
        return Ok(None);
    };
    Ok(Some(format!(
        "{} has no write buffer; it was given one of {capacity} with the policy {policy}. `--buffer {policy},capacity=SIZE` \
         gives it another",
        args.on
    )))
}
