//! The options: what each takes, and which of fio's others are known.

use super::job::{Engine, Job, Rw};
use super::value::{amount, boolean, distribution, each, int, splits, switch, time, within};
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
        "one of read, write, rw, readwrite, randread, randwrite, randrw, trim, randtrim",
        |job, v| {
            job.rw = Rw::NAMES.iter().find(|(name, _)| *name == v)?.1;
            Some(())
        },
    ),
    option(&["bs", "blocksize"], EACH_BYTES, |job, v| {
        job.bs = each(v, &4096, above_zero)?;
        Some(())
    }),
    option(
        &["bssplit"],
        "block sizes with their percentages, such as 4k/60:64k/40, which add up to 100, or up to three of these lists \
         for reads, writes and trims",
        |job, v| {
            let lists = each(v, &Vec::new(), splits)?;
            let all = [&lists.read, &lists.write, &lists.trim];
            job.bssplit = all.iter().all(|list| !list.is_empty()).then_some(lists);
            job.bssplit.as_ref()?;
            Some(())
        },
    ),
    option(&["blockalign", "ba"], EACH_BYTES, |job, v| {
        job.blockalign = each(v, &0, above_zero)?;
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
            job.random_distribution = distribution(v)?;
            Some(())
        },
    ),
    option(&["norandommap"], SWITCH, |job, v| {
        job.norandommap = switch(v)?;
        Some(())
    }),
    option(&["size"], AMOUNT, |job, v| {
        job.size = Some(amount(v)?);
        Some(())
    }),
    option(
        &["io_size", "io_limit"],
        "bytes above 0, such as 1g",
        |job, v| {
            job.io_size = Some(above_zero(v)?);
            Some(())
        },
    ),
    option(&["offset"], AMOUNT, |job, v| {
        job.offset = amount(v)?;
        Some(())
    }),
    option(&["offset_increment"], AMOUNT, |job, v| {
        job.offset_increment = amount(v)?;
        Some(())
    }),
    option(&["runtime", "timeout"], SECONDS, |job, v| {
        let runtime = time(v, 1_000_000)?;
        job.runtime = (runtime > Dur::ZERO).then_some(runtime);
        Some(())
    }),
    option(&["time_based"], SWITCH, |job, v| {
        job.time_based = switch(v)?;
        Some(())
    }),
    option(&["loops"], COUNT, |job, v| {
        job.loops = within(v, 1, u64::MAX)?;
        Some(())
    }),
    option(&["startdelay"], SECONDS, |job, v| {
        job.startdelay = time(v, 1_000_000)?;
        Some(())
    }),
    option(&["stonewall", "wait_for_previous"], SWITCH, |job, v| {
        job.stonewall = switch(v)?;
        Some(())
    }),
    option(&["rate"], EACH_RATE, |job, v| {
        job.rate = each(v, &0, int)?;
        Some(())
    }),
    option(&["rate_iops"], EACH_IOPS, |job, v| {
        job.rate_iops = each(v, &0, int)?;
        Some(())
    }),
    option(
        &["thinktime"],
        "a time, in microseconds or with us, ms, s, m, h or d",
        |job, v| {
            job.thinktime = time(v, 1)?;
            Some(())
        },
    ),
    option(&["thinktime_blocks"], COUNT, |job, v| {
        job.thinktime_blocks = within(v, 1, u64::MAX)?;
        Some(())
    }),
    option(
        &["fsync"],
        "a number of writes, or 0 for never",
        |job, v| {
            job.fsync = within(v, 0, u64::MAX)?;
            Some(())
        },
    ),
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

/// Options that are read and change nothing, each with why.
pub const IGNORED: &[(&str, &str)] = &[
    ("filename", TARGET),
    ("directory", TARGET),
    (
        "randrepeat",
        "a run repeats under one seed; give another seed for another run",
    ),
    ("invalidate", "there is no page cache"),
    ("thread", "a process and a thread are the same here"),
    ("group_reporting", REPORT),
    ("new_group", REPORT),
    ("description", REPORT),
    ("disk_util", REPORT),
    ("clat_percentiles", REPORT),
    ("lat_percentiles", REPORT),
    ("slat_percentiles", REPORT),
    ("percentile_list", REPORT),
    ("unified_rw_reporting", REPORT),
    ("gtod_reduce", REPORT),
    ("disable_lat", REPORT),
    ("disable_clat", REPORT),
    ("disable_slat", REPORT),
    ("disable_bw_measurement", REPORT),
];

const TARGET: &str = "the target is the drive that the run names";
const REPORT: &str = "it is about fio's own report";

/// Options of fio 3.33 that are neither supported nor ignored: what `fio --cmdhelp=all` lists beside them.
const KNOWN: &str = "\
allow_file_create allow_mounted_write allrandrepeat atomic block_error_percentiles blocksize_range \
bs_is_seq_rand bs_unaligned bsrange buffer_compress_chunk buffer_compress_percentage buffer_pattern bwavgtime \
cgroup cgroup_nodelete cgroup_weight clocksource continue_on_error cpumask cpus_allowed cpus_allowed_policy \
create_fsync create_on_open create_only create_serialize dedupe_global dedupe_mode dedupe_percentage \
dedupe_working_set_percentage end_fsync error_dump exec_postrun exec_prerun exit_what exitall exitall_on_error \
experimental_verify fadvise_hint fallocate fdatasync file_append file_service_type filename_format filesize \
fill_device fill_fs flow flow_id flow_sleep fsync_on_close gid gtod_cpu hugepage-size ignore_error \
ignore_zone_limits io_submit_mode iodepth_batch iodepth_batch_complete_max iodepth_batch_complete_min \
iodepth_low iopsavgtime ioscheduler job_max_open_zones latency_percentile latency_run latency_target \
latency_window lockfile lockmem log_alternate_epoch log_alternate_epoch_clock_id log_avg_msec log_compression \
log_compression_cpus log_entries log_hist_coarseness log_hist_msec log_max_value log_offset log_prio \
log_store_compressed log_unix_epoch max_latency max_open_zones mem merge_blktrace_file merge_blktrace_iters \
merge_blktrace_scalars nice nrfiles numa_cpu_nodes numa_mem_policy number_ios offset_align opendir openfiles \
overwrite per_job_logs percentage_random pre_read prioclass profile ramp_time random_generator rate_cycle \
rate_ignore_thinktime rate_iops_min rate_min rate_process read_beyond_wp read_iolog read_iolog_chunked \
refill_buffers replay_align replay_no_stall replay_redirect replay_scale replay_skip replay_time_scale \
rw_sequencer scramble_buffers serialize_overlap significant_figures stats steadystate steadystate_duration \
steadystate_ramp_time sync sync_file_range thinktime_blocks_type thinktime_iotime thinktime_spin trim_backlog \
trim_backlog_batch trim_percentage trim_verify_zero uid unique_filename unit_base unlink unlink_each_loop \
verify_async verify_backlog verify_backlog_batch verify_dump verify_fatal verify_interval verify_offset \
verify_only verify_pattern verify_state_load verify_state_save wait_for write_barrier write_bw_log write_hint \
write_hist_log write_iolog write_iops_log write_lat_log zero_buffers zone_reset_frequency zone_reset_threshold \
zonecapacity zonemode zonerange zonesize zoneskip";

/// Those that are supported, in one line.
pub(super) fn supported() -> String {
    let names: Vec<&str> = OPTIONS.iter().map(|entry| entry.names[0]).collect();
    names.join(", ")
}

/// Whether fio has an option that is neither supported nor ignored.
pub(super) fn is_known(option: &str) -> bool {
    KNOWN.split_whitespace().any(|name| name == option)
}
