//! Named disks: the two of `irbw` Table 2.

use fathom_base::Named;

/// Returns the preset of that name.
pub fn find(name: &str) -> Option<&'static Named> {
    PRESETS.iter().find(|preset| preset.name == name)
}

fathom_base::presets! {
/// All presets, in listing order.
PRESETS {
    "hitachi-7k160": "irbw Table 2: Hitachi HDS721616PLA380, 7200 rpm, 160 GB, SATA-2",
    "seagate-barracuda-iv": "irbw Table 2: Seagate ST380021A, 7200 rpm, 80 GB, parallel ATA",
}
}
