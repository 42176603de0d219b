//! The other options of fio: those that are ignored and those that are refused, with the reasons.
//!
//! The lists cover the options of fio 3.33 (options.c and HOWTO.rst), including alternative names, and those of its
//! engines libaio and io_uring; of later versions, up to 3.42, those that change a job's accesses or their order.

/// Option names, separated by spaces, and the reason that applies to all of them.
type Group = (&'static str, &'static str);

/// Options that are accepted and have no effect, in groups with the reason.
pub const IGNORED: &[Group] = &[
    (
        "filename directory filename_format unique_filename",
        "the target is the drive that the run names",
    ),
    (
        "filetype create_fsync create_on_open create_serialize fallocate file_append file_service_type openfiles overwrite \
         unlink unlink_each_loop lockfile allow_file_create allow_mounted_write",
        "there are no files here: the target is one drive, which is there before and after",
    ),
    (
        "randrepeat allrandrepeat random_generator softrandommap",
        "a run repeats under one seed, by generators of its own; give another seed for another run",
    ),
    (
        "zonerange zonecapacity",
        "zones are those of the drive (`zonemode=zbd`), which tells what they hold",
    ),
    ("invalidate pre_read fadvise_hint", "there is no page cache"),
    (
        "refill_buffers scramble_buffers",
        "every write has random bytes of its own",
    ),
    ("thread", "a process and a thread are the same here"),
    (
        "cpumask cpus_allowed cpus_allowed_policy verify_async_cpus numa_cpu_nodes numa_mem_policy gtod_cpu nice uid gid \
         sqthread_poll_cpu",
        "all processes are one thread here: start fathom itself under taskset, numactl, nice or setpriv",
    ),
    (
        "mem iomem iomem_align mem_align hugepage-size lockmem",
        "buffers are allocated and aligned here as the drive wants them",
    ),
    (
        "fixedbufs registerfiles sqthread_poll nonvectored libaio_vectored userspace_reap force_async nowait uncached",
        "accesses are handed over through a ring of our own, the same for every engine",
    ),
    (
        "thinktime_spin",
        "no time of the processor is charged: it thinks for as long and spins for none of it",
    ),
    (
        "exitall_on_error verify_fatal",
        "the first error ends the whole run here",
    ),
    (
        "verify_async verify_dump verify_state_save",
        "what is read back is checked here at once, and the first difference is told",
    ),
    ("rate_cycle ratecycle", "it is about `rate_min`"),
    (
        "clocksource gtod_reduce",
        "times are those of the drive's clock, taken for every access",
    ),
    (
        "group_reporting description disk_util clat_percentiles lat_percentiles slat_percentiles percentile_list \
         block_error_percentiles job_start_clock_id unified_rw_reporting disable_lat disable_clat disable_slat disable_bw_measurement \
         disable_bw significant_figures unit_base bwavgtime iopsavgtime eta error_dump",
        "it is about fio's own report",
    ),
    (
        "write_bw_log write_lat_log write_hist_log write_iops_log write_iolog per_job_logs log_alternate_epoch \
         log_alternate_epoch_clock_id log_avg_msec log_compression log_compression_cpus log_entries \
         log_hist_coarseness log_hist_msec log_issue_time log_max_value log_window_value log_offset log_prio log_store_compressed log_unix_epoch",
        "`--out` writes every access, with its times, into requests.parquet",
    ),
];

/// Options that are refused, in groups with the reason.
pub const REFUSED: &[Group] = &[
    (
        "zoneskip",
        "a job goes from zone to zone; `offset` and `size` part a drive",
    ),
    (
        "zone_reset_frequency zone_reset_threshold",
        "a zone is reset when a write begins at a full one, and by `rw=trim` and `rw=randtrim`",
    ),
    (
        "write_zone_remainder",
        "a zone whose rest is shorter than the smallest write is finished",
    ),
    (
        "recover_zbd_write_error",
        "a write that fails ends the run here, so no write pointer is found again",
    ),
    (
        "read_iolog read_iolog_chunked replay_align replay_no_stall replay_redirect replay_scale replay_skip \
         replay_time_scale merge_blktrace_file merge_blktrace_iters merge_blktrace_scalars",
        "a recorded log is played by `fathom run TRACE`, with steps that scale and align it",
    ),
    (
        "zero_buffers buffer_pattern buffer_compress_chunk buffer_compress_percentage dedupe_global dedupe_mode \
         dedupe_percentage dedupe_working_set_percentage",
        "every write here has random bytes, which neither compress nor repeat",
    ),
    (
        "nrfiles nr_files filesize opendir create_only",
        "there are no files here; `size` and `offset` say what a process works on",
    ),
    (
        "fill_device fill_fs",
        "a drive is filled by `rw=write` without a `size`",
    ),
    (
        "fsync_on_close",
        "nothing is closed here; `end_fsync` flushes when a pass is over",
    ),
    (
        "end_syncfs",
        "there is no file system here; `end_fsync` flushes when a pass is over",
    ),
    (
        "readfua writefua",
        "`sync=dsync` makes each write durable; reads are those of the drive",
    ),
    (
        "sync_file_range write_barrier atomic write_hint",
        "a drive has no such request; `fsync`, `fdatasync` and `sync` make writes durable",
    ),
    (
        "iodepth_batch iodepth_batch_submit iodepth_batch_complete iodepth_batch_complete_max \
         iodepth_batch_complete_min iodepth_low io_submit_mode",
        "a process asks for its next access as soon as one of its `iodepth` is done",
    ),
    ("hipri", "completions are not polled for here"),
    (
        "cmdprio cmdprio_bssplit cmdprio_class cmdprio_percentage",
        "a priority is that of a process here (`prio`), and not of an access",
    ),
    (
        "priohint",
        "a drive takes no hints here; `prio` and `prioclass` reach a scheduler above it",
    ),
    (
        "dp_scheme",
        "handles are taken in turn: list those of a job in `plids`",
    ),
    ("num_range", "a trim has one range here"),
    (
        "serialize_overlap",
        "accesses that overlap are kept in order by a block layer: leave it out and run with `--sched noop`",
    ),
    (
        "wait_for flow flow_id flow_sleep",
        "jobs wait for each other by `stonewall` alone",
    ),
    (
        "latency_target latency_window latency_percentile latency_run max_latency rate_min ratemin rate_iops_min \
         steadystate ss steadystate_duration ss_dur steadystate_ramp_time ss_ramp steadystate_check_interval ss_interval",
        "what a run measures changes nothing of it here, and does not end it",
    ),
    (
        "continue_on_error ignore_error",
        "a drive that fails an access ends the run, and what was done before is told",
    ),
    (
        "thinktime_iotime thinktime_blocks_type",
        "a process thinks after `thinktime_blocks` accesses that are done",
    ),
    ("thinkcycles", "a pause is a time here: `thinktime`"),
    (
        "ramp_size",
        "what does not count is a time here: `ramp_time`",
    ),
    (
        "sprandom spr_cs spr_num_regions spr_op",
        "a modelled drive is overwritten before the run by `--precondition random:TIMES`; a real one by a job before the others",
    ),
    (
        "random_sequence_stride",
        "`random_distribution` takes no sequence",
    ),
    (
        "rate_ignore_thinktime",
        "a rate catches up what was missed while the process thought",
    ),
    (
        "bs_unaligned blocksize_unaligned bs_is_seq_rand offset_align",
        "lengths and places are whole blocks here, by operation; `blockalign` moves places",
    ),
    (
        "trim_percentage trim_backlog trim_backlog_batch trim_verify_zero",
        "trims are jobs of their own here: `rw=trim` and `rw=randtrim`",
    ),
    (
        "verify_backlog verify_backlog_batch verify_interval verify_offset verify_only verify_pattern \
         verify_state_load experimental_verify verify_header_seed verify_write_sequence verify_policy \
         verify_pattern_interval",
        "a process reads back all that it wrote, after each pass, by headers of our own (`verify=crc32c`)",
    ),
    (
        "stats",
        "every job counts here; put what is not to count into a run of its own, or into a `ramp_time`",
    ),
    (
        "exec_prerun exec_postrun",
        "a job starts no programs; run them before and after fathom",
    ),
    (
        "ioscheduler",
        "`--ab kernel:A,kernel:B` switches the kernel's scheduler and puts it back; `--sched` puts one above the drive",
    ),
    (
        "cgroup cgroup_weight cgroup_nodelete",
        "a control group is that of the whole process: start fathom in it",
    ),
    (
        "profile",
        "profiles of fio's are not here; write the jobs out",
    ),
];

/// Returns the reason for an option of a list, if the list has it.
pub(super) fn reason(list: &[Group], option: &str) -> Option<&'static str> {
    let group = list
        .iter()
        .find(|(names, _)| names.split(' ').any(|name| name == option))?;
    Some(group.1)
}
