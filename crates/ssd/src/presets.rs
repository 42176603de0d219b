//! Drives by name: the drives of the papers, a drive of today, and nulls that lack one feature each.

/// A drive that comes with Fathom.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// What it is called after `model:`.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// Its drive file, with the source of every number.
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
    "ssd-a": "SATA drive with clustered pages of 16 KiB, blocks of 4 MiB and both buffers",
}
