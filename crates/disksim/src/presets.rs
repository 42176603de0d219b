//! The drive of the paper, as a preset.

fathom_base::presets! {
/// The only preset.
PRESETS {
    "ms-ssd": "the drive under the epo paper: DiskSim with the Microsoft SSD extension, Table I",
}
}
