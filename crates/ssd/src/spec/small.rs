//! A drive with one small die, for tests of what is inside of a mapping.

use super::{MappingKind, Spec};

const SMALL: &str = r#"
name = "small"
capacity = "64KiB"
[host]
protocol = "nvme"
bandwidth = "1GB/s"
command_overhead = "1us"
queue_depth = 32
[flash]
channels = 1
packages_per_channel = 1
dies_per_package = 1
planes_per_die = 1
pages_per_block = 4
page = "2KiB"
bus = "400MT/s"
read = "25us"
program = "200us"
erase = "1500us"
clustered_page = "2KiB"
clustered_block = "8KiB"
[mapping]
kind = "page"
over_provisioning_percent = 0.0
log_blocks = 9
"#;

/// Blocks of four pages of 2 KiB, with a mapping of this kind.
#[allow(clippy::unwrap_used, reason = "a helper of tests")]
pub(crate) fn small(kind: MappingKind) -> Spec {
    let mut spec = Spec::from_toml(SMALL).unwrap();
    spec.mapping.kind = kind;
    spec
}
