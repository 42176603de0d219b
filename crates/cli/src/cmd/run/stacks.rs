//! The two stacks of `--ab`: parses their names and prepares the kernel's scheduler of the drive.

use super::super::queue;
use crate::args::QueueArgs;
use crate::failure::Failure;
use crate::{out, watch};
use fathom_lab::ab::KernelScheduler;
use fathom_lab::target::{TargetError, TargetName};
use fathom_run::ab::Stack;

/// Prefix of the kernel's schedulers.
const KERNEL: &str = "kernel:";

/// Parses `A,B`, each `none`, SCHEDULER or SCHEDULER+SPLIT, with sizes from the profile, or `kernel:SCHEDULER`.
pub(super) fn of(text: &str, args: &QueueArgs) -> Result<[Stack; 2], Failure> {
    let names: Vec<&str> = text.split(',').map(str::trim).collect();
    let [a, b] = names.as_slice() else {
        let message = format!("`--ab {text}` names {} stacks, and takes two", names.len());
        return Err(Failure::input("fathom::run::ab", message).help(
            "such as --ab none,mq-deadline or --ab noop,irbw-fifo-rp+pasa, or of a block device \
             --ab kernel:none,kernel:bfq",
        ));
    };
    Ok([stack(a, args)?, stack(b, args)?])
}

fn stack(name: &str, args: &QueueArgs) -> Result<Stack, Failure> {
    if let Some(kernel) = name.strip_prefix(KERNEL) {
        return Ok(Stack {
            name: name.to_owned(),
            queue: None,
            kernel: Some(kernel.to_owned()),
        });
    }
    let (sched, split) = match name.split_once('+') {
        Some((sched, split)) => (sched, Some(split.to_owned())),
        None => (name, None),
    };
    let queue = queue::of_stack(&QueueArgs {
        sched: Some(sched.to_owned()),
        split,
        profile: args.profile.clone(),
        depth: args.depth,
    })?;
    Ok(Stack {
        name: name.to_owned(),
        queue,
        kernel: None,
    })
}

/// Returns the kernel's scheduler of the drive if a stack names one, after checking the permission to switch it. Does not
/// switch yet.
pub(super) fn kernel(
    stacks: Option<&[Stack; 2]>,
    on: &str,
    name: &TargetName,
) -> Result<Option<KernelScheduler>, Failure> {
    let named = stacks.into_iter().flatten();
    let named: Vec<&str> = named.filter_map(|stack| stack.kernel.as_deref()).collect();
    if named.is_empty() {
        return Ok(None);
    }
    let TargetName::Real(path) = name else {
        let message = format!("{} is a model, which no kernel schedules", on);
        return Err(Failure::input("fathom::run::kernel", message).help(
            "name a block device, or take Fathom's own of the same name: --ab mq-deadline,bfq",
        ));
    };
    let kernel = KernelScheduler::of(path).map_err(TargetError::from)?;
    for name in &named {
        kernel.check(name).map_err(TargetError::from)?;
    }
    watch::before_the_end(Box::new(kernel.at_the_end()));
    out::note(&format!(
        "The kernel's scheduler of {} is switched between rounds, for everybody who uses the drive, and put back to {} at the \
         end. Where this process is killed (SIGKILL), nobody does that but you: {}",
        on,
        kernel.found(),
        kernel.by_hand()
    ));
    Ok(Some(kernel))
}

/// Restores the kernel's scheduler; the failure says how to do it by hand.
pub(super) fn put_back(kernel: Option<&KernelScheduler>) -> Result<(), Failure> {
    let Some(kernel) = kernel else {
        return Ok(());
    };
    kernel.restore().map_err(|error| {
        Failure::input("fathom::run::kernel", error.to_string())
            .help(format!("put it back by hand: {}", kernel.by_hand()))
    })
}
