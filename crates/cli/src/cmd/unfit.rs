//! What `fathom probe` and `fathom write-cost` say of a drive that they do not measure: a zoned one, or one that is too
//! small.

use crate::failure::Failure;
use fathom_base::Bytes;
use fathom_block::DeviceInfo;
use fathom_lab::target::Opened;
use fathom_probe::run::{REGION_BYTES_MIN, RunError};
use fathom_report::text::human_bytes;

/// Returns the failure for a target that cannot be measured so.
pub(super) fn unfit(opened: &Opened, size: Option<Bytes>, error: RunError) -> Failure {
    let name = &opened.target.name;
    let what = format!("{name} cannot be measured");
    let failure = Failure::input("fathom::run::region", what);
    if let (RunError::Small { .. }, true, Some(size)) = (&error, opened.scratch(), size) {
        let least = Bytes(REGION_BYTES_MIN);
        return failure
            .message(format!(
                "{name} cannot be measured with `--size {size}`: the robust method needs a scratch file of at least {least}"
            ))
            .help(format!("give `--size {least}` or more, or leave it out"));
    }
    if !matches!(error, RunError::Zoned) {
        return failure.because(error);
    }
    let failure = failure.message(format!(
        "{name} is a zoned drive: its zones take writes in order only, and the probes write at any place"
    ));
    let jobs = format!(
        "jobs with `zonemode=zbd` measure its writes, appends, resets and reads (`fathom run JOB.fio --on {name}`, \
         docs/jobs.md#zones)"
    );
    failure.help(match (opened.target.modelled, held(opened)) {
        (false, _) => {
            "fill its zones, and measure with `--read-only` what reads show; nothing was written"
                .into()
        }
        (true, Some(_)) => format!(
            "{jobs}; `--read-only` answers little, because its zones hold a part of their size (mapping.zone_capacity), and the \
             probes read everywhere"
        ),
        (true, None) => format!(
            "`fathom probe {name} --read-only` fills its zones and measures what reads show; {jobs}"
        ),
    })
}

/// Returns the bytes that each zone holds and its size, if these differ.
fn held(opened: &Opened) -> Option<(u64, u64)> {
    let zoned = opened.device.info().zoned?;
    let sizes = (zoned.zone_capacity_bytes, zoned.zone_bytes);
    (sizes.0 < sizes.1).then_some(sizes)
}

/// Returns a note on a zoned drive that was filled.
pub(super) fn filled(opened: &Opened) -> Option<String> {
    opened.device.info().zoned?;
    if !opened.target.modelled {
        return None;
    }
    let full = "The zones are full, because a read-only run needs data to read";
    Some(match held(opened) {
        None => format!("{full}."),
        Some((holds, size)) => format!(
            "{full}. They hold {} of {} each: a parameter that reads everywhere is not answered.",
            human_bytes(holds),
            human_bytes(size)
        ),
    })
}

/// Refuses a zoned drive, before anything is written.
pub(super) fn zoned(info: &DeviceInfo) -> Result<(), Failure> {
    if info.zoned.is_none() {
        return Ok(());
    }
    let message = format!(
        "{} is a zoned drive: its zones take writes in order only, and the model is of writes at any place",
        info.name
    );
    Err(Failure::input("fathom::cost::zoned", message).help(
        "use a drive without zones; a zoned one merges nothing, and jobs with `zonemode=zbd` measure its writes \
         (`fathom run JOB.fio --on model:zns`, docs/jobs.md#zones)",
    ))
}
