//! The number of dies: from pairs of reads, the rate of random reads, or fills of a drive that takes one command at a time.

use super::parts::{Assumptions, link};
use crate::twin::seen::Seen;
use crate::twin::series;
use fathom_probe::Parameter;

/// The usual number, and that of a drive that merges blocks, as cards do.
const DIES: u64 = 8;
const DIES_MERGED: u64 = 1;

/// Returns the number of dies. Where the flash alone limits the rate of random reads, it tells the number more exactly than
/// pairs of reads do. Of several numbers that fit, the one with the most factors of two is taken, because dies come in equal
/// channels.
pub(super) fn dies(seen: &Seen<'_>, page: u64, assumed: &mut Assumptions) -> u64 {
    let pairs = seen.interval(Parameter::Parallelism);
    if let (Some(pairs), Some(busy)) = (pairs, busy(seen, FLASH_LIMITS)) {
        return of_both(pairs, busy);
    }
    if let Some([low, high]) = pairs {
        return even(low, high).max(1);
    }
    if seen.is_absent(Parameter::Parallelism) {
        return 1;
    }
    // A volume's limit sets the rate, too, and then there is no knee.
    let knee = seen.value(Parameter::QueueKnee);
    if let Some(busy) = knee.and_then(|_| busy(seen, NEARLY)) {
        let dies = even(busy.floor().max(0.97 * busy), 1.1 * busy + 0.1).max(1);
        let why = seen.why_not(Parameter::Parallelism);
        assumed.add(
            "flash.dies",
            dies,
            format!("{why}; those that read at once"),
        );
        return dies;
    }
    let one_command = seen.record.meta.target.queue_depth <= 1;
    if (one_command || seen.may_merge())
        && let Some(dies) = programming(seen, page)
    {
        let why = format!(
            "{}; those that program at once",
            seen.why_not(Parameter::Parallelism)
        );
        assumed.add("flash.dies", dies, why);
        return dies;
    }
    let peak = seen.figure(Parameter::QueueKnee, "iops");
    let of = |parameter| seen.figure(parameter, "flash_ns");
    let flash = of(Parameter::Parallelism).or_else(|| of(Parameter::ReadUnit));
    let usual = if seen.may_merge() { DIES_MERGED } else { DIES };
    let least = peak
        .zip(flash)
        .map(|(peak, flash)| (peak * flash / 1e9).ceil() as u64);
    let dies = least.map_or(usual, u64::next_power_of_two).clamp(1, 256);
    assumed.add("flash.dies", dies, seen.why_not(Parameter::Parallelism));
    dies
}

/// How much fewer dies than pairs tell the rate of reads may tell and be right: a share of them, or one of a few.
const NEAR: f64 = 0.85;
const ONE: f64 = 1.2;
const LEAST: f64 = 0.6;

/// Returns the number of dies by the interval that pairs tell, and by how many the highest rate keeps busy.
fn of_both([low, high]: [f64; 2], busy: f64) -> u64 {
    let [least, most] = [0.95 * busy, 1.05 * busy + 0.1];
    let [both_low, both_high] = [low.max(least), high.min(most)];
    let dies = match both_low <= both_high {
        true => even(both_low, both_high),
        // Pairs count one die too many if the part that is read lies unevenly. A rate of far fewer is that of reads that memory
        // or a fast cache answers after another time than those of the pairs.
        false if most < low && (busy > NEAR * low || low - busy < ONE && busy > LEAST * low) => {
            even(least, most)
        }
        // The rate counts too many if memory or a fast cache answers a part of the reads sooner.
        false => even(low, high),
    };
    dies.max(1)
}

/// The most dies of a drive that takes one command at a time.
const DIES_OF_CARD: f64 = 8.0;

/// The least part of a small write that the program takes.
const ALONE: f64 = 0.65;

/// Returns how many dies program pages of this size at once while a drive is filled in order.
fn programming(seen: &Seen<'_>, page: u64) -> Option<u64> {
    let clean = seen.figure(Parameter::Flush, "clean_ns").unwrap_or(0.0);
    let of = |program: f64| Some(seen.fill()? * program / 1e9 / page as f64);
    let dies = match seen.number(Parameter::Flush) {
        Some(flush) => of(flush - clean)?.round(),
        // A small write takes a program, and often a read of the rest of the page before it.
        None if seen.waits_for_programs() => {
            let most = of(seen.figure(Parameter::Flush, "write_ns")? - clean)?;
            even(ALONE * most, most.max(1.0)) as f64
        }
        None => return None,
    };
    Some(dies.clamp(1.0, DIES_OF_CARD) as u64)
}

/// The share of the link's and of the controller's rate up to which the flash limits random reads; the same where pairs of reads
/// tell nothing, because the controller takes about as long as the flash.
const FLASH_LIMITS: f64 = 0.7;
const NEARLY: f64 = 0.9;

/// Reads in flight for each die from which hardly any die is ever idle.
const DEEP: f64 = 12.0;

/// Returns how many dies the highest rate of random reads keeps busy, if the flash limits it. With a map in flash many of them are
/// two reads of the flash, and the rate tells no number.
fn busy(seen: &Seen<'_>, share: f64) -> Option<f64> {
    if seen.number(Parameter::MapReach).is_some() {
        return None;
    }
    let peak = seen.figure(Parameter::QueueKnee, "iops")?;
    let flash = flash(seen)?;
    let small = SMALL * peak;
    let link = link(seen).unwrap_or(f64::MAX);
    let flash = flash + transfer(seen, link).clamp(0.0, flash);
    let host = seen
        .figure(Parameter::Parallelism, "host_ns")
        .unwrap_or(0.0);
    let two = seen.median(Parameter::Parallelism, series::NOTHING_PAIR);
    let one = seen.median(Parameter::Parallelism, series::NOTHING);
    let each = two.zip(one).map_or(host, |(two, one)| two - one);
    let busy = peak * flash / 1e9;
    let deep = f64::from(seen.record.meta.target.queue_depth.min(1024)) >= DEEP * busy;
    let limits = small < share * link && peak * each < share * 1e9;
    (deep && limits).then_some(busy)
}

/// Returns how long a read of a logical block keeps the flash, in nanoseconds: what it takes longer than one of nothing.
fn flash(seen: &Seen<'_>) -> Option<f64> {
    let of = |series| seen.median(Parameter::Parallelism, series);
    let longer = || Some(of(series::SOLO)? - of(series::NOTHING)?);
    let flash = seen.figure(Parameter::Parallelism, "flash_ns");
    flash.or_else(longer).filter(|flash| *flash > 0.0)
}

/// The reads whose rate the queue knee has, in bytes.
const SMALL: f64 = 4096.0;

/// Returns how much longer the flash is busy with one of those reads than with a read of one logical block, of which pairs tell
/// the time: a die keeps its data until the bus has taken it. Reads of two blocks tell what each block more takes.
fn transfer(seen: &Seen<'_>, link: f64) -> f64 {
    let block = f64::from(seen.record.meta.target.logical_block_bytes).max(1.0);
    let two = seen.median(Parameter::Parallelism, series::SOLO_OF_TWO);
    let one = seen.median(Parameter::Parallelism, series::SOLO);
    let longer = two.zip(one).map_or(0.0, |(two, one)| two - one);
    (longer - block / link * 1e9) * (SMALL - block).max(0.0) / block
}

/// Returns the whole number in an interval that is divisible by the largest power of two; the nearest one if there is none.
fn even(low: f64, high: f64) -> u64 {
    let (from, to) = (low.ceil() as u64, high.floor() as u64);
    let best = (from..=to).max_by_key(|n| (n.trailing_zeros().min(4), *n));
    best.unwrap_or(((low + high) / 2.0).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_base::{Bytes, Dur};
    use fathom_probe::run::{self, RunConfig};
    use fathom_probe::{Level, Profile, Unobserved, Verdict};
    use fathom_ssd::Spec;
    use fathom_ssd::spec::MappingKind;

    #[test]
    fn the_rate_of_reads_makes_the_number_no_larger_than_pairs() {
        assert_eq!(of_both([15.0, 17.0], 16.2), 16);
        assert_eq!(of_both([9.0, 9.0], 7.9), 8);
        assert_eq!(of_both([4.0, 4.0], 4.8), 4);
        assert_eq!(of_both([8.0, 8.0], 3.0), 8);
        // Reads of a fast cache take 34 us, and others longer.
        assert_eq!(of_both([8.0, 9.0], 5.0), 8);
        assert_eq!(of_both([3.0, 3.0], 2.0), 2);
    }

    /// Probes parameters of a drive, and returns the dies that its twin gets.
    fn told(spec: Spec, parameters: &[Parameter]) -> (Profile, u64) {
        told_at(Level::Quick, spec, parameters, 65_536)
    }

    fn told_at(level: Level, spec: Spec, parameters: &[Parameter], page: u64) -> (Profile, u64) {
        spec.check().unwrap();
        let mut drive = fathom_model::Model::Ssd(Box::new(spec)).build(1).unwrap();
        let config = RunConfig {
            seed: 1,
            level,
            parameters: parameters.to_vec(),
            ..RunConfig::default()
        };
        let record = run::run(&mut drive, &config, None, &mut Unobserved).unwrap();
        let profile = run::solve(&record);
        let dies = dies(
            &Seen::new(&record, &profile),
            page,
            &mut Assumptions::default(),
        );
        (profile, dies)
    }

    /// Many random reads of a map in flash are two reads of it, so that their rate tells fewer dies than there are.
    #[test]
    fn a_map_in_flash_has_the_dies_that_pairs_tell() {
        let mut spec = Spec::from_toml(fathom_model::find("nvme").unwrap().text).unwrap();
        spec.capacity = Bytes::gib(1);
        spec.flash.channels = 4;
        spec.flash.packages_per_channel = 1;
        spec.flash.dies_per_package = 1;
        spec.host.queue_depth = 256;
        spec.mapping.unit = Some(Bytes::kib(4));
        spec.mapping.kind = MappingKind::Dftl;
        spec.mapping.map_cache = Some(Bytes::kib(128));
        let asked = [
            Parameter::Parallelism,
            Parameter::QueueKnee,
            Parameter::MapReach,
        ];
        let (profile, dies) = told(spec, &asked);
        let reach = &profile.parameters[&Parameter::MapReach];
        assert_eq!(reach.verdict, Verdict::Identified);
        assert_eq!(dies, 4);
    }

    /// A card without a write buffer, whose single writes wait for their program.
    #[test]
    fn a_card_that_programs_one_page_at_a_time_has_one_die() {
        let mut spec = Spec::from_toml(fathom_model::find("sd-card").unwrap().text).unwrap();
        spec.capacity = Bytes::mib(512);
        (spec.flash.channels, spec.flash.dies_per_package) = (1, 1);
        spec.host.queue_depth = 1;
        spec.write_buffer = None;
        let asked = [
            Parameter::WriteBuffer,
            Parameter::Flush,
            Parameter::FastCache,
        ];
        let page = spec.flash.clustered_page.0;
        assert_eq!(told_at(Level::Full, spec, &asked, page).1, 1);
    }

    /// Pairs tell nothing where the controller takes about as long as the flash; the highest rate is that of the dies still.
    #[test]
    fn a_busy_controller_leaves_the_dies_to_the_rate_of_reads() {
        let mut spec = Spec::from_toml(fathom_model::find("sd-card").unwrap().text).unwrap();
        spec.capacity = Bytes::mib(512);
        spec.flash.channels = 1;
        spec.flash.packages_per_channel = 1;
        spec.flash.dies_per_package = 1;
        spec.flash.read = Dur::us(86);
        spec.host.command_overhead = Dur::us(78);
        spec.host.queue_depth = 32;
        let (profile, dies) = told(spec, &[Parameter::Parallelism, Parameter::QueueKnee]);
        let pairs = &profile.parameters[&Parameter::Parallelism];
        assert_eq!(pairs.verdict, Verdict::NotIdentifiable);
        assert_eq!(dies, 1);
    }
}
