//! Measures everything on one drive, one request at a time: the search, the sets of the fit, the tested sets, Figure 1.
//!
//! A set pays for the merge that earlier sets left behind: a drive merges a log when it needs another one. So each kind of
//! set is repeated until the logs hold nothing else, and only then timed. A drive may also pay for many sets at once, so
//! the statistic is a median of means: the mean of a batch contains the rare long times, and the median ignores a batch
//! with an outlier.

use super::fit::{Outcome, Sample, fit, median};
use super::search::{self, Searched};
use super::sets::{Shape, Space, sizes, tested};
use super::spikes;
use super::types::{Block, Config, CostError, Fit, Prediction, Source, Verdict, WriteCost};
use super::writer::Writer;
use crate::plan::Announcement;
use fathom_base::Rng;
use fathom_block::{DeviceInfo, Subject};

/// The sector, S, where the drive can write it: the I/O unit of the paper's experiments.
const SECTOR_BYTES: u64 = 4096;
/// The least number of logical blocks: the sets need different ones, and more than a drive has logs.
const BLOCKS_MIN: u64 = 32;
/// The least number of sectors in a logical block that can be fitted.
const BLOCK_SECTORS_MIN: u64 = 16;
/// The largest request of the paper's search.
const BLOCK_BYTES_MAX: u64 = 128 << 20;
/// The size with which the cost is estimated before L is known.
const EXPECTED_BYTES: u64 = 4 << 20;

/// How often all sizes are measured in turn, so that a drift of the drive meets all of them.
const ROUNDS: u64 = 3;
/// The batches of a kind of sets in a round.
const BATCHES: usize = 4;
/// The logical blocks that are written in order before sequential sets are timed, and for each of their sizes.
const BLOCKS_BEFORE: u64 = 32;
const BLOCKS_EACH: u64 = 24;
/// How long a kind of sets is repeated untimed and timed.
const WARM: Stint = Stint {
    sets_min: 32,
    ns: 5_000_000_000,
};
const TIMED: Stint = Stint {
    sets_min: 48,
    ns: 15_000_000_000,
};
/// A stint ends after as many sets or bytes, unless it has fewer than its least number of sets.
const SETS_MAX: u64 = 4096;
const BYTES_MAX: u64 = 256 << 20;

struct Stint {
    sets_min: u64,
    ns: u64,
}

impl Stint {
    fn goes_on(&self, sets: u64, bytes: u64, ns: u64) -> bool {
        sets < self.sets_min || (ns < self.ns && sets < SETS_MAX && sets * bytes < BYTES_MAX)
    }

    fn bound(&self, bytes: u64) -> u64 {
        bytes.saturating_mul(
            self.sets_min
                .max(SETS_MAX.min(BYTES_MAX / bytes.max(1) + 1)),
        )
    }
}

/// What the caller sees of a measurement, and whether it goes on.
#[derive(Clone, Copy)]
pub struct Hooks<'a> {
    /// Called before every request; `true` stops.
    pub stopped: &'a dyn Fn() -> bool,
    /// Called with the name of each part as it begins.
    pub part: &'a dyn Fn(&str),
}

/// Returns the bytes that [`measure`] writes.
pub fn bound(config: &Config, info: &DeviceInfo) -> Announcement {
    let sector_bytes = sector(info);
    let largest = BLOCK_BYTES_MAX.min(info.capacity_bytes / BLOCKS_MIN);
    let (search, [expected, most]) = match config.block {
        Some((bytes, _)) => (0, [bytes; 2]),
        None => (
            search::bound(config.seed, info),
            [EXPECTED_BYTES.min(largest), largest],
        ),
    };
    let rest = |block_bytes: u64| {
        let space = space(info, sector_bytes, block_bytes.max(sector_bytes));
        let runs = sizes(&space).into_iter().map(Shape::run);
        let each = |shape: Shape| {
            let bytes = shape.bytes(&space);
            ROUNDS * (WARM.bound(bytes).saturating_add(TIMED.bound(bytes)))
        };
        let sequential =
            (BLOCKS_BEFORE + BLOCKS_EACH * sizes(&space).len() as u64) * space.block_bytes;
        let sets = runs.chain(tested(&space)).map(each);
        let panels = 2 * spikes::sizes(config, &space).len() as u64;
        sets.fold(sequential, u64::saturating_add)
            .saturating_add(panels.saturating_mul(config.figure_bytes.min(info.capacity_bytes)))
    };
    Announcement {
        expected_bytes: search.saturating_add(rest(expected)),
        bound_bytes: search.saturating_add(rest(most)),
    }
}

fn sector(info: &DeviceInfo) -> u64 {
    SECTOR_BYTES.next_multiple_of(u64::from(info.logical_block_bytes).max(1))
}

fn space(info: &DeviceInfo, sector_bytes: u64, block_bytes: u64) -> Space {
    Space {
        sector_bytes,
        block_bytes,
        blocks: info.capacity_bytes / block_bytes,
    }
}

/// Fits the model to a drive that holds data, tests it, and draws Figure 1.
///
/// # Errors
/// [`CostError`]: a drive that is too small, a size that it cannot write, a failed request, or an interruption.
pub fn measure(
    drive: &mut dyn Subject,
    config: &Config,
    hooks: Hooks<'_>,
) -> Result<WriteCost, CostError> {
    let info = drive.info().clone();
    let sector_bytes = sector(&info);
    let began = drive.now();
    let bound = bound(config, &info).bound_bytes;
    check(config, &info)?;
    let Searched {
        block,
        bytes_written: searched,
    } = match config.block {
        Some((bytes, source)) => given(config, bytes, source),
        None => {
            (hooks.part)("searching the logical block");
            let least = BLOCK_SECTORS_MIN * sector_bytes;
            search::search(&mut *drive, config.seed, least, hooks.stopped)?
        }
    };
    let space = space(&info, sector_bytes, block.bytes);
    fits_in(&space, &info)?;
    let mut writer = Writer::new(drive, hooks.stopped, bound.saturating_sub(searched));
    let mut rng = Rng::new(config.seed, 0);
    (hooks.part)("timing sets of every size");
    let samples = samples(&mut writer, &space, &mut rng)?;
    let Outcome {
        verdict,
        reason,
        fit,
    } = fit(&samples, sector_bytes, block.bytes);
    (hooks.part)("timing sets to predict");
    let predictions = match &fit {
        Some(fit) => predictions(&mut writer, &space, fit, &mut rng)?,
        None => Vec::new(),
    };
    (hooks.part)("timing every request for Figure 1");
    let figures = spikes::figures(&mut writer, config, &space, &mut rng)?;
    Ok(WriteCost {
        target: config.target.clone(),
        seed: config.seed,
        sector_bytes,
        verdict,
        reason: reason + note(&block) + head(&info, verdict),
        block,
        fit,
        predictions,
        figures,
        bytes_written: searched + writer.bytes_written,
        device_ns: writer.now().since(began).0,
    })
}

fn note(block: &Block) -> &'static str {
    match block.source {
        Source::Assumed => {
            "; the search found no logical block that can be fitted, and a usual one was assumed"
        }
        Source::Search | Source::Profile | Source::Given => "",
    }
}

fn head(info: &DeviceInfo, verdict: Verdict) -> &'static str {
    let applies = matches!(verdict, Verdict::Fits | Verdict::Misfit);
    match info.rotational.filter(|_| applies) {
        Some(true) => "; on a disk T_merge is the positioning time, T_pos of the paper",
        Some(false) | None => "",
    }
}

fn given(config: &Config, bytes: u64, source: Source) -> Searched {
    Searched {
        block: Block {
            bytes,
            source,
            clustered_bytes: config.clustered_bytes,
            search: Vec::new(),
        },
        bytes_written: 0,
    }
}

/// Checks the sizes that the caller gives, before anything is written.
fn check(config: &Config, info: &DeviceInfo) -> Result<(), CostError> {
    let sector_bytes = sector(info);
    let unit = u64::from(info.logical_block_bytes).max(1);
    let size = |option, bytes: u64, unit_bytes: u64, most_bytes: u64| match bytes > 0
        && bytes.is_multiple_of(unit_bytes)
        && bytes <= most_bytes
    {
        true => Ok(()),
        false => Err(CostError::Size {
            option,
            bytes,
            unit_bytes,
            most_bytes,
        }),
    };
    if let Some((bytes, _)) = config.block {
        size("--block", bytes, sector_bytes, BLOCK_BYTES_MAX)?;
        fits_in(&space(info, sector_bytes, bytes), info)?;
    }
    let total = config.figure_bytes.min(info.capacity_bytes);
    config
        .figure_sizes
        .iter()
        .try_for_each(|bytes| size("--sizes", *bytes, unit, total / 2))
}

fn fits_in(space: &Space, info: &DeviceInfo) -> Result<(), CostError> {
    match space.blocks >= BLOCKS_MIN {
        true => Ok(()),
        false => Err(CostError::Small {
            capacity_bytes: info.capacity_bytes,
            block_bytes: space.block_bytes,
            blocks: BLOCKS_MIN,
        }),
    }
}

/// Times sets of every size, sequential and at random places.
fn samples(
    writer: &mut Writer<'_>,
    space: &Space,
    rng: &mut Rng,
) -> Result<Vec<Sample>, CostError> {
    let mut samples: Vec<Sample> = Vec::new();
    let mut at = 0;
    follow(
        writer,
        space,
        space.sectors_of_a_block(),
        BLOCKS_BEFORE,
        &mut at,
    )?;
    for sectors in sizes(space) {
        let times = follow(writer, space, sectors, BLOCKS_EACH, &mut at)?;
        samples.push(Sample {
            sectors,
            random_ns: Vec::new(),
            sequential_ns: batches(&times, BATCHES * ROUNDS as usize),
        });
    }
    for _ in 0..ROUNDS {
        for sample in &mut samples {
            let times = repeat(writer, space, &Shape::run(sample.sectors), rng)?;
            sample.random_ns.extend(batches(&times, BATCHES));
        }
    }
    Ok(samples)
}

/// Writes sets one after another through `blocks` logical blocks, from `at` on, and returns their times.
fn follow(
    writer: &mut Writer<'_>,
    space: &Space,
    sectors: u64,
    blocks: u64,
    at: &mut u64,
) -> Result<Vec<f64>, CostError> {
    let len = sectors * space.sector_bytes;
    let sets = (blocks * space.block_bytes).div_ceil(len);
    let end = space.blocks * space.block_bytes;
    (0..sets)
        .map(|_| {
            if *at + len > end {
                *at = 0;
            }
            let ns = writer.write(*at, len)?;
            *at += len;
            Ok(ns as f64)
        })
        .collect()
}

/// Repeats a kind of set until the drive holds no trace of another kind, then times it.
fn repeat(
    writer: &mut Writer<'_>,
    space: &Space,
    shape: &Shape,
    rng: &mut Rng,
) -> Result<Vec<f64>, CostError> {
    stint(writer, space, shape, rng, &WARM)?;
    stint(writer, space, shape, rng, &TIMED)
}

fn stint(
    writer: &mut Writer<'_>,
    space: &Space,
    shape: &Shape,
    rng: &mut Rng,
    stint: &Stint,
) -> Result<Vec<f64>, CostError> {
    let began = writer.now();
    let (mut times, bytes) = (Vec::new(), shape.bytes(space));
    while stint.goes_on(times.len() as u64, bytes, writer.now().since(began).0) {
        let mut ns = 0;
        for write in shape.draw(space, rng) {
            ns += writer.write(write.offset, write.len)?;
        }
        times.push(ns as f64);
    }
    Ok(times)
}

/// Returns the means of consecutive batches of nearly equal size.
fn batches(times: &[f64], count: usize) -> Vec<f64> {
    let end = |batch: usize| batch * times.len() / count;
    (0..count)
        .filter_map(|batch| fathom_stats::location::mean(&times[end(batch)..end(batch + 1)]))
        .collect()
}

fn predictions(
    writer: &mut Writer<'_>,
    space: &Space,
    fit: &Fit,
    rng: &mut Rng,
) -> Result<Vec<Prediction>, CostError> {
    let mut times = vec![Vec::new(); tested(space).len()];
    for _ in 0..ROUNDS {
        for (shape, times) in tested(space).iter().zip(&mut times) {
            times.extend(batches(&repeat(writer, space, shape, rng)?, BATCHES));
        }
    }
    let of = |(shape, times): (Shape, Vec<f64>)| {
        let measured = median(&times)?;
        let predicted_ns = shape.predicted_ns(fit, space.sector_bytes);
        Some(Prediction {
            blocks: shape.pieces.len() as u64,
            sectors: shape.pieces.iter().sum(),
            set: shape.words,
            predicted_ns,
            measured,
            error: predicted_ns / measured.value - 1.0,
        })
    };
    Ok(tested(space)
        .into_iter()
        .zip(times)
        .filter_map(of)
        .collect())
}
