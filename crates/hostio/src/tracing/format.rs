//! Where the fields of an event are in its record, from its `format` file in tracefs. The kernel may move fields between
//! versions.

use std::ops::Range;

/// Returns the number of the event that a `format` file describes.
pub(crate) fn id(text: &str) -> Option<u16> {
    let id = text.lines().find_map(|line| line.strip_prefix("ID:"))?;
    id.trim().parse().ok()
}

/// Returns the place of a field in a `format` file, or of `data` in `header_page`, in bytes.
pub(crate) fn field(text: &str, name: &str) -> Option<Range<usize>> {
    text.lines().find_map(|line| {
        let mut parts = line.trim().split(';').map(str::trim);
        let declared = parts.next()?.strip_prefix("field:")?;
        let declared = declared.split('[').next()?;
        if declared.split_whitespace().next_back()? != name {
            return None;
        }
        let offset: usize = parts.next()?.strip_prefix("offset:")?.parse().ok()?;
        let size: usize = parts.next()?.strip_prefix("size:")?.parse().ok()?;
        Some(offset..offset.checked_add(size)?)
    })
}

/// Reads a number of up to 8 bytes in the machine's byte order.
pub(crate) fn number(bytes: &[u8]) -> Option<u64> {
    Some(match bytes.len() {
        2 => u64::from(u16::from_ne_bytes(bytes.try_into().ok()?)),
        4 => u64::from(u32::from_ne_bytes(bytes.try_into().ok()?)),
        8 => u64::from_ne_bytes(bytes.try_into().ok()?),
        _ => return None,
    })
}

/// Reads a text that ends at the first zero byte.
pub(crate) fn text_of(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0);
    String::from_utf8_lossy(&bytes[..end.unwrap_or(bytes.len())]).into_owned()
}
