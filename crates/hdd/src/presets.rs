//! Disks by name: the two of `irbw` Table 2.

/// A disk that comes with Fathom.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// What it is called.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// Its disk file, with the source of every number.
    pub toml: &'static str,
}

/// The preset of that name.
pub fn find(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name)
}

macro_rules! presets {
    ($($name:literal: $summary:literal,)*) => {
        /// Every preset, in the order in which they are listed.
        pub const PRESETS: &[Preset] = &[$(Preset {
            name: $name,
            summary: $summary,
            toml: include_str!(concat!("../presets/", $name, ".toml")),
        }),*];
    };
}

presets! {
    "hitachi-7k160": "irbw Table 2: Hitachi HDS721616PLA380, 7200 rpm, 160 GB, SATA-2",
    "seagate-barracuda-iv": "irbw Table 2: Seagate ST380021A, 7200 rpm, 80 GB, parallel ATA",
}
