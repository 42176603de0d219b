//! The options: what each takes, and which of fio's others are known.

use super::choices::{Engine, Pace, PrioClass, Sequencer};
use super::job::Job;
use super::lengths::Range;
use super::value::{
    amount, boolean, distribution, each, int, range, rw, splits, switch, time, within,
};
use fathom_base::Dur;

/// Sets an option; `None` where the value is not one that it takes.
type Set = fn(&mut Job, &str) -> Option<()>;

/// An option that is supported.
#[derive(Clone, Copy, Debug)]
pub struct OptionEntry {
    /// What it is called, and what else.
    pub names: &'static [&'static str],
    /// What it takes.
    pub takes: &'static str,
    pub(super) set: Set,
}

const fn option(names: &'static [&'static str], takes: &'static str, set: Set) -> OptionEntry {
    OptionEntry { names, takes, set }
}

const COUNT: &str = "a whole number of at least 1";
const SWITCH: &str = "nothing, or 0 or 1";
const BOOL: &str = "0 or 1";
const AMOUNT: &str = "bytes, such as 4k (4096), or a percentage of the drive, such as 20%";
const EACH_BYTES: &str =
    "bytes above 0, such as 4k, or up to three values for reads, writes and trims, such as 4k,8k";
const EACH_RATE: &str =
    "bytes per second, such as 10m, or up to three values for reads, writes and trims";
const EACH_IOPS: &str =
    "accesses per second, or up to three values for reads, writes and trims, such as 100,50";
const SECONDS: &str = "a time, in seconds or with us, ms, s, m, h or d";

/// Every option that is supported, in the order of the documentation.
pub const OPTIONS: &[OptionEntry] = &[
    option(&["name"], "a name", |job, v| {
        job.name = (!v.is_empty()).then(|| v.to_owned())?;
        Some(())
    }),
    option(
        &["rw", "readwrite"],
        "one of read, write, rw, readwrite, randread, randwrite, randrw, trim, randtrim, with :N behind it for a new place \
         every N random accesses, or for N bytes between sequential ones",
        |job, v| {
            (job.rw, job.order.rw_every, job.order.rw_skip) = rw(v)?;
            Some(())
        },
    ),
    option(&["rw_sequencer"], "sequential or identical", |job, v| {
        job.order.rw_sequencer = match v {
            "sequential" => Sequencer::Sequential,
            "identical" => Sequencer::Identical,
            _ => return None,
        };
        Some(())
    }),
    option(
        &["percentage_random"],
        "a percentage in 0..=100, or up to three values for reads, writes and trims",
        |job, v| {
            let percent = |text: &str| within(text, 0, 100).map(|percent| percent as u32);
            job.order.percentage_random = each(v, &100, percent)?;
            Some(())
        },
    ),
    option(&["bs", "blocksize"], EACH_BYTES, |job, v| {
        job.blocks.bs = each(v, &4096, above_zero)?;
        Some(())
    }),
    option(
        &["bsrange", "blocksize_range"],
        "two numbers of bytes, such as 1k-4k, or up to three such ranges for reads, writes and trims",
        |job, v| {
            let ranges = each(v, &Range::default(), range)?;
            job.blocks.bsrange = Some(ranges);
            Some(())
        },
    ),
    option(
        &["bssplit"],
        "block sizes with their percentages, such as 4k/60:64k/40, which add up to 100, or up to three of these lists \
         for reads, writes and trims",
        |job, v| {
            let lists = each(v, &Vec::new(), splits)?;
            let all = [&lists.read, &lists.write, &lists.trim];
            job.blocks.bssplit = all.iter().all(|list| !list.is_empty()).then_some(lists);
            job.blocks.bssplit.as_ref()?;
            Some(())
        },
    ),
    option(&["blockalign", "ba"], EACH_BYTES, |job, v| {
        job.blocks.blockalign = each(v, &0, above_zero)?;
        Some(())
    }),
    option(
        &["ioengine"],
        "one of libaio, io_uring, posixaio (as many in flight as iodepth), sync, psync, vsync, pvsync, pvsync2 (one at \
         a time)",
        |job, v| {
            job.ioengine = match v {
                "libaio" | "io_uring" | "posixaio" => Engine::Async,
                "sync" | "psync" | "vsync" | "pvsync" | "pvsync2" => Engine::Sync,
                _ => return None,
            };
            Some(())
        },
    ),
    option(&["iodepth"], COUNT, |job, v| {
        job.iodepth = within(v, 1, u64::from(u32::MAX))? as u32;
        Some(())
    }),
    option(&["numjobs"], "a whole number in 1..=4096", |job, v| {
        job.numjobs = within(v, 1, 4096)? as u32;
        Some(())
    }),
    option(&["rwmixread"], "a percentage in 0..=100", |job, v| {
        job.rwmixread = within(v, 0, 100)? as u32;
        Some(())
    }),
    option(&["rwmixwrite"], "a percentage in 0..=100", |job, v| {
        job.rwmixread = 100 - within(v, 0, 100)? as u32;
        Some(())
    }),
    option(
        &["random_distribution"],
        "random, zipf:THETA with THETA above 0 and not 1, or pareto:H with H above 0 and below 1",
        |job, v| {
            job.order.random_distribution = distribution(v)?;
            Some(())
        },
    ),
    option(&["norandommap"], SWITCH, |job, v| {
        job.order.norandommap = switch(v)?;
        Some(())
    }),
    option(&["size"], AMOUNT, |job, v| {
        job.area.size = Some(amount(v)?);
        Some(())
    }),
    option(
        &["io_size", "io_limit"],
        "bytes above 0, such as 1g",
        |job, v| {
            job.area.io_size = Some(above_zero(v)?);
            Some(())
        },
    ),
    option(
        &["number_ios"],
        "a number of accesses, or 0 for no bound",
        |job, v| {
            job.ends.number_ios = int(v)?;
            Some(())
        },
    ),
    option(&["offset", "fileoffset"], AMOUNT, |job, v| {
        job.area.offset = amount(v)?;
        Some(())
    }),
    option(&["offset_increment"], AMOUNT, |job, v| {
        job.area.offset_increment = amount(v)?;
        Some(())
    }),
    option(&["runtime", "timeout"], SECONDS, |job, v| {
        let runtime = time(v, 1_000_000)?;
        job.ends.runtime = (runtime > Dur::ZERO).then_some(runtime);
        Some(())
    }),
    option(&["ramp_time"], SECONDS, |job, v| {
        job.ends.ramp_time = time(v, 1_000_000)?;
        Some(())
    }),
    option(&["time_based"], SWITCH, |job, v| {
        job.ends.time_based = switch(v)?;
        Some(())
    }),
    option(&["loops"], COUNT, |job, v| {
        job.ends.loops = within(v, 1, u64::MAX)?;
        Some(())
    }),
    option(&["startdelay"], SECONDS, |job, v| {
        job.schedule.startdelay = time(v, 1_000_000)?;
        Some(())
    }),
    option(&["stonewall", "wait_for_previous"], SWITCH, |job, v| {
        job.schedule.stonewall = switch(v)?;
        Some(())
    }),
    option(&["rate"], EACH_RATE, |job, v| {
        job.pace.rate = each(v, &0, int)?;
        Some(())
    }),
    option(&["rate_iops"], EACH_IOPS, |job, v| {
        job.pace.rate_iops = each(v, &0, int)?;
        Some(())
    }),
    option(&["rate_process"], "linear or poisson", |job, v| {
        job.pace.rate_process = match v {
            "linear" => Pace::Linear,
            "poisson" => Pace::Poisson,
            _ => return None,
        };
        Some(())
    }),
    option(
        &["thinktime"],
        "a time, in microseconds or with us, ms, s, m, h or d",
        |job, v| {
            job.pace.thinktime = time(v, 1)?;
            Some(())
        },
    ),
    option(&["thinktime_blocks"], COUNT, |job, v| {
        job.pace.thinktime_blocks = within(v, 1, u64::MAX)?;
        Some(())
    }),
    option(
        &["fsync"],
        "a number of writes, or 0 for never",
        |job, v| {
            job.flushes.fsync = within(v, 0, u64::MAX)?;
            Some(())
        },
    ),
    option(
        &["fdatasync"],
        "a number of writes, or 0 for never",
        |job, v| {
            job.flushes.fdatasync = within(v, 0, u64::MAX)?;
            Some(())
        },
    ),
    option(&["end_fsync"], BOOL, |job, v| {
        job.flushes.end_fsync = boolean(v)?;
        Some(())
    }),
    option(&["sync"], "none or 0, sync or 1, or dsync", |job, v| {
        job.flushes.sync = match v {
            "none" | "0" => false,
            "sync" | "1" | "dsync" => true,
            _ => return None,
        };
        Some(())
    }),
    option(&["verify"], "crc32c, or 0 for none", |job, v| {
        job.verify = match v {
            "crc32c" => true,
            "0" => false,
            _ => return None,
        };
        Some(())
    }),
    option(&["do_verify"], BOOL, |job, v| {
        job.do_verify = boolean(v)?;
        Some(())
    }),
    option(&["randseed"], "a whole number", |job, v| {
        job.randseed = Some(int(v)?);
        Some(())
    }),
    option(&["prio"], "a whole number in 0..=7", |job, v| {
        job.prio = Some(within(v, 0, 7)? as u8);
        Some(())
    }),
    option(
        &["prioclass"],
        "0 for none, 1 for real time, 2 for best effort or 3 for idle",
        |job, v| {
            job.prioclass = Some(match within(v, 0, 3)? {
                1 => PrioClass::RealTime,
                3 => PrioClass::Idle,
                _ => PrioClass::BestEffort,
            });
            Some(())
        },
    ),
    option(&["new_group"], SWITCH, |job, v| {
        job.schedule.new_group = switch(v)?;
        Some(())
    }),
    option(&["exitall"], SWITCH, |job, v| {
        job.schedule.exitall = switch(v)?;
        Some(())
    }),
    option(&["exit_what"], "group or all", |job, v| {
        job.schedule.exit_all = match v {
            "group" => false,
            "all" => true,
            _ => return None,
        };
        Some(())
    }),
    option(
        &["direct"],
        "1 alone: there is no page cache here, and every access goes to the drive",
        |_, v| (v == "1").then_some(()),
    ),
    option(
        &["buffered"],
        "0 alone: there is no page cache here, and every access goes to the drive",
        |_, v| (v == "0").then_some(()),
    ),
    option(
        &["kb_base"],
        "1024 alone: k is 1024, as fio has it by default",
        |_, v| (v == "1024").then_some(()),
    ),
];

fn above_zero(text: &str) -> Option<u64> {
    int(text).filter(|&bytes| bytes > 0)
}

/// Those that are supported, in one line.
pub(super) fn supported() -> String {
    let names: Vec<&str> = OPTIONS.iter().map(|entry| entry.names[0]).collect();
    names.join(", ")
}
