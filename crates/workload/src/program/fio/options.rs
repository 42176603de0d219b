//! The table of supported options, with the values that each accepts.

use super::choices::{Engine, Pace, PrioClass, Sequencer};
use super::job::Job;
use super::lengths::Range;
use super::placement::plids;
use super::value::{
    amount, boolean, distribution, each, int, range, rw, splits, switch, time, within,
};
use fathom_base::Dur;

/// Sets an option, or returns `None` if the option does not accept the value.
type Set = fn(&mut Job, &str) -> Option<()>;

/// A supported option.
#[derive(Clone, Copy, Debug)]
pub struct OptionEntry {
    /// Its name, and alternative names.
    pub names: &'static [&'static str],
    /// Description of the values that it accepts.
    pub takes: &'static str,
    pub(super) set: Set,
}

/// Makes the table of options. Each entry is `[names] accepted values => expression`; the expression sets the option,
/// or is `None` for a value that it does not accept.
macro_rules! options {
    (|$job:ident, $value:ident| $([$($name:literal),+] $takes:expr => $set:expr;)*) => {
        /// All supported options, in the order of the documentation.
        pub const OPTIONS: &[OptionEntry] = &[$(OptionEntry {
            names: &[$($name),+],
            takes: $takes,
            set: |$job, $value| {
                let _ = &$job;
                $set
            },
        }),*];
    };
}

/// Sets a field if there is a value.
fn put<T>(field: &mut T, value: Option<T>) -> Option<()> {
    *field = value?;
    Some(())
}

const COUNT: &str = "a whole number from 1 to 18446744073709551615";
const SWITCH: &str = "nothing, or 0 or 1";
const BOOL: &str = "0 or 1";
const AMOUNT: &str = "bytes, such as 4k (4096), a percentage of the drive, such as 20%, or with zonemode=zbd a number of \
                      zones, such as 4z";
const ZONES: &str = "a number of zones in 0..=4096, where 0 sets no limit of its own";
const EACH_BYTES: &str =
    "bytes above 0, such as 4k, or up to three values for reads, writes and trims, such as 4k,8k";
const EACH_RATE: &str =
    "bytes per second, such as 10m, or up to three values for reads, writes and trims";
const EACH_IOPS: &str =
    "accesses per second, or up to three values for reads, writes and trims, such as 100,50";
const WRITES: &str = "a number of writes, or 0 for never";
const SECONDS: &str = "a time, in seconds or with us, ms, s, m, h or d";

options! { |job, v|
    ["name"] "a name" => put(&mut job.name, (!v.is_empty()).then(|| v.to_owned()));
    ["rw", "readwrite"]
        "one of read, write, rw, readwrite, randread, randwrite, randrw, trim, randtrim, with :N behind it for a new place \
         every N random accesses, or for N bytes between sequential ones" => {
        (job.rw, job.order.rw_every, job.order.rw_skip) = rw(v)?;
        Some(())
    };
    ["rw_sequencer"] "sequential or identical" => put(&mut job.order.rw_sequencer, match v {
        "sequential" => Some(Sequencer::Sequential),
        "identical" => Some(Sequencer::Identical),
        _ => None,
    });
    ["percentage_random"] "a percentage in 0..=100, or up to three values for reads, writes and trims" =>
        put(&mut job.order.percentage_random, each(v, &100, |text| small(text, 0, 100)));
    ["bs", "blocksize"] EACH_BYTES => put(&mut job.blocks.bs, each(v, &4096, above_zero));
    ["bsrange", "blocksize_range"]
        "two numbers of bytes, such as 1k-4k, or up to three such ranges for reads, writes and trims" =>
        put(&mut job.blocks.bsrange, each(v, &Range::default(), range).map(Some));
    ["bssplit"]
        "block sizes with their percentages, such as 4k/60:64k/40, which add up to 100, or up to three of these lists \
         for reads, writes and trims" => {
        let lists = each(v, &Vec::new(), splits)?;
        let all = [&lists.read, &lists.write, &lists.trim];
        job.blocks.bssplit = all.iter().all(|list| !list.is_empty()).then_some(lists);
        job.blocks.bssplit.is_some().then_some(())
    };
    ["blockalign", "ba"] EACH_BYTES => put(&mut job.blocks.blockalign, each(v, &0, above_zero));
    ["ioengine"]
        "one of libaio, io_uring, posixaio (as many in flight as iodepth), sync, psync, vsync, pvsync, pvsync2 (one at \
         a time)" => put(&mut job.ioengine, match v {
        "libaio" | "io_uring" | "posixaio" => Some(Engine::Async),
        "sync" | "psync" | "vsync" | "pvsync" | "pvsync2" => Some(Engine::Sync),
        _ => None,
    });
    ["iodepth"] "a whole number from 1 to 4294967295" => put(&mut job.iodepth, small(v, 1, u32::MAX));
    ["numjobs"] "a whole number in 1..=4096" => put(&mut job.numjobs, small(v, 1, 4096));
    ["rwmixread"] "a percentage in 0..=100" => put(&mut job.rwmixread, small(v, 0, 100));
    ["rwmixwrite"] "a percentage in 0..=100" => put(&mut job.rwmixread, small(v, 0, 100).map(|percent| 100 - percent));
    ["random_distribution"] "random, zipf:THETA with THETA above 0 and not 1, or pareto:H with H above 0 and below 1" =>
        put(&mut job.order.random_distribution, distribution(v));
    ["norandommap"] SWITCH => put(&mut job.order.norandommap, switch(v));
    ["size"] AMOUNT => put(&mut job.area.size, amount(v).map(Some));
    ["io_size", "io_limit"] "bytes above 0, such as 1g" => put(&mut job.area.io_size, above_zero(v).map(Some));
    ["number_ios"] "a number of accesses, or 0 for no bound" => put(&mut job.ends.number_ios, int(v));
    ["offset", "fileoffset"] AMOUNT => put(&mut job.area.offset, amount(v));
    ["offset_increment"] AMOUNT => put(&mut job.area.offset_increment, amount(v));
    ["runtime", "timeout"] SECONDS =>
        put(&mut job.ends.runtime, seconds(v).map(|runtime| (runtime > Dur::ZERO).then_some(runtime)));
    ["ramp_time"] SECONDS => put(&mut job.ends.ramp_time, seconds(v));
    ["time_based"] SWITCH => put(&mut job.ends.time_based, switch(v));
    ["loops"] COUNT => put(&mut job.ends.loops, within(v, 1, u64::MAX));
    ["startdelay"] SECONDS => put(&mut job.schedule.startdelay, seconds(v));
    ["stonewall", "wait_for_previous"] SWITCH => put(&mut job.schedule.stonewall, switch(v));
    ["rate"] EACH_RATE => put(&mut job.pace.rate, each(v, &0, int));
    ["rate_iops"] EACH_IOPS => put(&mut job.pace.rate_iops, each(v, &0, int));
    ["rate_process"] "linear or poisson" => put(&mut job.pace.rate_process, match v {
        "linear" => Some(Pace::Linear),
        "poisson" => Some(Pace::Poisson),
        _ => None,
    });
    ["thinktime"] "a time, in microseconds or with us, ms, s, m, h or d" => put(&mut job.pace.thinktime, time(v, 1));
    ["thinktime_blocks"] COUNT => put(&mut job.pace.thinktime_blocks, within(v, 1, u64::MAX));
    ["fsync"] WRITES => put(&mut job.flushes.fsync, within(v, 0, u64::MAX));
    ["fdatasync"] WRITES => put(&mut job.flushes.fdatasync, within(v, 0, u64::MAX));
    ["end_fsync"] BOOL => put(&mut job.flushes.end_fsync, boolean(v));
    ["sync"] "none or 0, sync or 1, or dsync" => put(&mut job.flushes.sync, match v {
        "none" | "0" => Some(false),
        "sync" | "1" | "dsync" => Some(true),
        _ => None,
    });
    ["verify"] "crc32c, or 0 for none" => put(&mut job.verify, match v {
        "crc32c" => Some(true),
        "0" => Some(false),
        _ => None,
    });
    ["do_verify"] BOOL => put(&mut job.do_verify, boolean(v));
    ["randseed"] "a whole number" => put(&mut job.randseed, int(v).map(Some));
    ["prio"] "a whole number in 0..=7" => put(&mut job.prio, small(v, 0, 7).map(|level| Some(level as u8)));
    ["prioclass"] "0 for none, 1 for real time, 2 for best effort or 3 for idle" =>
        put(&mut job.prioclass, small(v, 0, 3).map(|class| Some(match class {
            1 => PrioClass::RealTime,
            3 => PrioClass::Idle,
            _ => PrioClass::BestEffort,
        })));
    ["fdp"] BOOL => put(&mut job.placement.fdp, boolean(v));
    ["dataplacement", "data_placement"] "none or fdp" => put(&mut job.placement.fdp, match v {
        "none" => Some(false),
        "fdp" => Some(true),
        _ => None,
    });
    ["plids", "fdp_pli"] "placement handles, such as 0,2" => put(&mut job.placement.plids, plids(v));
    ["plid_select", "fdp_pli_select"] "roundrobin" => (v == "roundrobin").then_some(());
    ["zonemode"] "none or zbd: zones are those of a zoned drive, and strided is not supported (`offset`, `size` and `numjobs` \
        part a drive)" => put(&mut job.zones.zbd, match v {
        "none" => Some(false),
        "zbd" => Some(true),
        _ => None,
    });
    ["zonesize"] "bytes, which must be the size of the drive's zones, or 0 for it" => put(&mut job.zones.zonesize, int(v));
    ["read_beyond_wp"] BOOL => put(&mut job.zones.read_beyond_wp, boolean(v));
    ["max_open_zones"] ZONES => put(&mut job.zones.max_open_zones, small(v, 0, 4096));
    ["job_max_open_zones"] ZONES => put(&mut job.zones.job_max_open_zones, small(v, 0, 4096));
    ["ignore_zone_limits"] BOOL => put(&mut job.zones.ignore_zone_limits, boolean(v));
    ["zone_append"] BOOL => put(&mut job.zones.zone_append, boolean(v));
    ["new_group"] SWITCH => put(&mut job.schedule.new_group, switch(v));
    ["exitall"] SWITCH => put(&mut job.schedule.exitall, switch(v));
    ["exit_what"] "group or all" => put(&mut job.schedule.exit_all, match v {
        "group" => Some(false),
        "all" => Some(true),
        _ => None,
    });
    ["direct"] "1 alone: there is no page cache here, and every access goes to the drive" => (v == "1").then_some(());
    ["buffered"] "0 alone: there is no page cache here, and every access goes to the drive" => (v == "0").then_some(());
    ["kb_base"] "1024 alone: k is 1024, as fio has it by default" => (v == "1024").then_some(());
}

/// Parses a number in a range of 32-bit numbers.
fn small(text: &str, least: u32, most: u32) -> Option<u32> {
    within(text, least.into(), most.into()).map(|number| number as u32)
}

fn seconds(text: &str) -> Option<Dur> {
    time(text, 1_000_000)
}

fn above_zero(text: &str) -> Option<u64> {
    int(text).filter(|&bytes| bytes > 0)
}

/// Returns the names of the supported options, in one line.
pub(super) fn supported() -> String {
    let names: Vec<&str> = OPTIONS.iter().map(|entry| entry.names[0]).collect();
    names.join(", ")
}
