//! The model of a disk: seek, rotation, zones, track cache and write cache behind the one
//! [`fathom_block::Device`] contract.
