//! The platforms that come with Fathom.

use super::spec::Platform;
use fathom_base::drive_file::{from_toml, to_toml};
use fathom_base::registry::Text;
use fathom_base::{About, Kind, Named, SpecError};

const PLATFORM: Kind = Kind {
    one: "platform",
    list: "platforms",
    summary: "Hosts: what an I/O costs a machine, for `fathom platform --model` and `fathom run --platform`",
    prefix: "",
    option: "--platform",
    text: Text::File,
};

/// Lists the presets with their summaries; the file of each is `presets/NAME.toml`.
macro_rules! presets {
    ($($name:literal: $summary:literal,)+) => {
        /// The platforms by name.
        pub const PLATFORMS: &[Named] = &[$(Named::new(
            &PLATFORM,
            $name,
            About::new($summary).text(include_str!(concat!("../../presets/", $name, ".toml"))),
        )),+];
    };
}

presets! {
    "measured": "a virtual machine with two processors and virtio-blk, as `fathom platform` has measured it",
    "x5570-ahci": "two Xeon X5570 with an AHCI controller: 35,000 clocks for each 4-KiB read",
    "nvme-2022": "six processors of 3 GHz with an NVMe drive, by the clocks of published measurements",
    "x5570-sas": "two Xeon X5570 with SAS adapters: 25,000 clocks for each 4-KiB read, 177,000 I/Os a second an adapter",
}

impl Platform {
    /// Parses a platform file and checks its values.
    ///
    /// # Errors
    /// The place and what is wrong there, or the key with an invalid value.
    pub fn from_toml(text: &str) -> Result<Self, SpecError> {
        let platform: Self = from_toml(text)?;
        platform.check()?;
        Ok(platform)
    }

    /// Writes the platform file with every default.
    pub fn to_toml(&self) -> String {
        to_toml(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_base::registry::find;

    /// `ssd-ready-platforms` section 4.2: the sums, and what the SAS adapter saves.
    #[test]
    fn the_clocks_of_the_papers_machine_are_those_of_the_paper() {
        let clocks = |name: &str| {
            let text = find(PLATFORMS, name).unwrap().text;
            let clocks = Platform::from_toml(text).unwrap().clocks;
            let kernel = clocks.vfs + clocks.block + clocks.protocol + clocks.driver;
            let back = clocks.interrupt + clocks.driver_return + clocks.of_uncached_reads();
            let switches = clocks.sleep + clocks.wake;
            (
                clocks.system_call + kernel + back + clocks.completion + switches,
                clocks.of_uncached_reads(),
                clocks.interrupt,
            )
        };
        assert_eq!(clocks("x5570-ahci"), (35_000, 8_400, 4_600));
        assert_eq!(clocks("x5570-sas"), (25_000, 0, 4_600));
    }

    #[test]
    fn a_file_survives_being_written() {
        for preset in PLATFORMS {
            let platform = Platform::from_toml(preset.text).unwrap();
            assert_eq!(Platform::from_toml(&platform.to_toml()), Ok(platform));
        }
        let wrong = Platform::from_toml("cores = 2\nclok = 3").unwrap_err();
        assert!(wrong.to_string().starts_with("line 2, column 1"), "{wrong}");
        let unit = Platform::from_toml("clock = 3").unwrap_err();
        assert!(unit.to_string().contains("has no unit"), "{unit}");
    }
}
