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

/// A change of the drive file, with the option that makes it.
struct Change {
    /// The option as the user wrote it.
    option: String,
    setting: Setting,
    /// True for a key that the option needs and the user did not write; a later change may replace it.
    implied: bool,
}

impl Change {
    fn new(option: &str, setting: Setting) -> Self {
        Self {
            option: option.to_owned(),
            setting,
            implied: false,
        }
    }

    fn implied(option: &str, setting: Setting) -> Self {
        Self {
            implied: true,
            ..Self::new(option, setting)
        }
    }

    /// Returns true if both set the same key, or one option sets a key in a table that the other removes.
    fn contradicts(&self, other: &Self) -> bool {
        let within = |outer: &Self, inner: &Self| {
            let rest = inner.setting.key.strip_prefix(&outer.setting.key);
            let below = outer.setting.value.is_none() && outer.option != inner.option;
            rest.is_some_and(|rest| rest.is_empty() || (below && rest.starts_with('.')))
        };
        !self.implied && !other.implied && (within(self, other) || within(other, self))
    }
}

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
    let changes = changes(args, file.as_ref())?;
    let settings: Vec<Setting> = changes.iter().map(|c| c.setting.clone()).collect();
    let model = name.model(&settings);
    let Some(mut model) = model.map_err(|error| of_option(args, &changes, error))? else {
        return Ok(None);
    };
    if let Some(size) = args.size {
        model
            .resize(size)
            .map_err(|error| TargetError::Size { size, error })?;
    }
    Ok(Some(model))
}

/// Refuses the options that apply to modelled drives only.
fn only_modelled(args: &RunArgs) -> Result<(), Failure> {
    let options = [
        ("--ftl", args.model.ftl.is_some()),
        ("--buffer", args.model.buffer.is_some()),
        ("--set", !args.model.set.is_empty()),
        ("--platform", args.model.platform.is_some()),
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
fn changes(args: &RunArgs, file: Option<&Model>) -> Result<Vec<Change>, Failure> {
    let mut changes = Vec::new();
    if let Some(ftl) = &args.model.ftl {
        only_solid_state(args, file, "--ftl", "translation layer")?;
        let option = format!("--ftl {ftl}");
        let kind = Setting::new("mapping.kind", ftl.as_str());
        changes.push(Change::new(&option, kind));
        changes.extend(needs(ftl).map(|setting| Change::implied(&option, setting)));
    }
    if let Some(buffer) = &args.model.buffer {
        if !NO_BUFFER.contains(&buffer.as_str()) {
            only_solid_state(args, file, "--buffer", "write buffer with a policy")?;
        }
        changes.extend(buffer_changes(buffer, adds_buffer(args, file))?);
    }
    let set = args.model.set.iter();
    changes.extend(set.map(|setting| Change::new(&format!("--set {setting}"), setting.clone())));
    given_once(args, &changes)?;
    Ok(changes)
}

/// Refuses a key that is given twice.
fn given_once(args: &RunArgs, changes: &[Change]) -> Result<(), Failure> {
    let size = args.size.map(|size| {
        let setting = Setting::new("capacity", size.to_string());
        Change::new(&format!("--size {size}"), setting)
    });
    let mut earlier: Vec<&Change> = size.iter().collect();
    for change in changes {
        if let Some(first) = earlier.iter().find(|first| first.contradicts(change)) {
            let by = match first.option == change.option {
                true => format!("`{}`", change.option),
                false => format!("`{}` and `{}`", first.option, change.option),
            };
            let message = format!("`{}` is given twice: by {by}", change.setting.key);
            return Err(Failure::input("fathom::target::setting", message).help("leave one out"));
        }
        earlier.push(change);
    }
    Ok(())
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
fn of_option(args: &RunArgs, changes: &[Change], error: TargetError) -> Failure {
    let said = |fault: &SettingFault| {
        let change = changes
            .iter()
            .rfind(|c| Some(&c.setting) == fault.setting.as_ref());
        change.map_or_else(
            || fault.to_string(),
            |change| fault.of(&format!("`{}`", change.option)),
        )
    };
    let said: Vec<String> = match &error {
        TargetError::Set(faults) => faults.iter().map(said).collect(),
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

/// Returns true if the options ask for a write buffer and the drive has none of its own.
fn adds_buffer(args: &RunArgs, file: Option<&Model>) -> bool {
    let wanted = args.model.buffer.as_deref();
    let has_none = |model: &Model| model.write_buffer().is_none();
    wanted.is_some_and(|buffer| !NO_BUFFER.contains(&buffer)) && file.is_some_and(has_none)
}

/// Returns the changes for `POLICY,KEY=VALUE,...`, with those of the default buffer if the drive has none.
fn buffer_changes(buffer: &str, adds: bool) -> Result<Vec<Change>, Failure> {
    let option = format!("--buffer {buffer}");
    let wrong =
        |detail: String| Failure::input("fathom::target::setting", format!("`{option}`: {detail}"));
    let (policy, keys) = buffer
        .split_once(',')
        .map_or((buffer, None), |(policy, keys)| (policy, Some(keys)));
    if NO_BUFFER.contains(&policy) {
        return match keys {
            None => Ok(vec![Change::new(&option, Setting::absent("write_buffer"))]),
            Some(_) => Err(
                wrong("a drive without a write buffer has no keys of one".into())
                    .help("leave the keys out, or name a policy: `fathom list buffers` shows all"),
            ),
        };
    }
    let defaults = BUFFER.iter().filter(|_| adds);
    let mut changes: Vec<Change> = defaults
        .map(|(key, value)| Change::implied(&option, Setting::new(key, *value)))
        .collect();
    changes.push(Change::new(
        &option,
        Setting::new("write_buffer.policy", policy),
    ));
    for part in keys.into_iter().flat_map(|keys| keys.split(',')) {
        let setting = Setting::from_str(&format!("write_buffer.{part}"));
        let setting = setting.map_err(|_| {
            wrong(format!("`{part}` is no setting: write KEY=VALUE"))
                .help(format!("such as --buffer {policy},capacity=8MiB"))
        })?;
        changes.push(Change::new(&option, setting));
    }
    Ok(changes)
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
