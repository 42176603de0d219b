//! The origin, the mode and the content of a request.

/// The origin and mode of a request, for schedulers above the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tag {
    /// The process that makes the request.
    pub process: u32,
    /// True if somebody waits for the request.
    pub sync: bool,
    /// Force unit access: the data is durable before the request completes.
    pub fua: bool,
    /// True if the request bypasses the page cache (`O_DIRECT`), whether or not somebody waits for it.
    pub direct: bool,
    /// The content of a write without bytes.
    pub payload: Payload,
    /// The placement handle of a write (NVMe Flexible Data Placement, TP4146), below
    /// [`DeviceInfo::placement_handles`](crate::DeviceInfo::placement_handles):
    /// writes with different handles go to different reclaim units. As the specification says, an unknown handle is not an
    /// error: it counts as 0.
    pub placement: u16,
}

/// The content of a write that carries no bytes. A drive that compresses or deduplicates distinguishes them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Payload {
    /// Incompressible bytes that occur nowhere else.
    #[default]
    Unique,
    /// The same incompressible piece of 4 KiB again and again: shrinks where a drive deduplicates.
    Repeated,
    /// Zero bytes: shrink where a drive compresses or deduplicates.
    Zero,
}
