//! Refused options that are accepted with a value that has no effect.

/// Refused options with the value that describes the behaviour here anyway: fio's own default (`fio --cmdhelp=OPTION`,
/// 3.33, and HOWTO.rst for later options), or off if it has none. With this value an option is accepted. Names are separated by spaces.
pub const HARMLESS: &[(&str, &str)] = &[
    ("continue_on_error", "none"),
    ("io_submit_mode", "inline"),
    ("thinktime_blocks_type", "complete"),
    ("verify_policy", "completed"),
    (
        "nrfiles nr_files iodepth_batch iodepth_batch_submit iodepth_batch_complete iodepth_batch_complete_min stats \
         num_range verify_header_seed verify_write_sequence",
        "1",
    ),
    (
        "zoneskip fsync_on_close zero_buffers fill_device fill_fs bs_unaligned blocksize_unaligned \
         bs_is_seq_rand rate_ignore_thinktime verify_only experimental_verify verify_backlog serialize_overlap \
         trim_percentage dedupe_percentage buffer_compress_percentage create_only atomic write_barrier \
         thinktime_iotime hipri cmdprio_percentage max_latency latency_target rate_min ratemin rate_iops_min \
         recover_zbd_write_error write_zone_remainder end_syncfs readfua writefua priohint thinkcycles ramp_size sprandom \
         random_sequence_stride verify_pattern_interval",
        "0",
    ),
];

/// Returns true if a refused option has the value that has no effect.
pub(super) fn is_harmless(option: &str, value: &str) -> bool {
    let of = |names: &str| names.split(' ').any(|name| name == option);
    let holds = |(names, harmless): &(&str, &str)| *harmless == value && of(names);
    HARMLESS.iter().any(holds)
}
