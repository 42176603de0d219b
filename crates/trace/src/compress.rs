//! Detection of compression and archive formats by magic number.

use std::fmt;

/// The compression of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// Uncompressed.
    None,
    /// Zstandard (RFC 8878), one frame or several.
    Zstd,
    /// gzip (RFC 1952), one member or several.
    Gzip,
    /// xz, one stream or several.
    Xz,
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Compression::None => "uncompressed",
            Compression::Zstd => "zstd",
            Compression::Gzip => "gzip",
            Compression::Xz => "xz",
        })
    }
}

/// Detects the compression from the first bytes of the input.
pub(super) fn tell(head: &[u8]) -> Compression {
    // A zstd file may start with a skippable frame (RFC 8878, 3.1.2).
    let skippable = head.len() >= 4 && head[0] & 0xf0 == 0x50 && head[1..4] == [0x2a, 0x4d, 0x18];
    if head.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) || skippable {
        Compression::Zstd
    } else if head.starts_with(&[0x1f, 0x8b]) {
        Compression::Gzip
    } else if head.starts_with(&[0xfd, b'7', b'z', b'X', b'Z', 0]) {
        Compression::Xz
    } else {
        Compression::None
    }
}

/// Detects archives and compressions that are not supported, and returns a description for the error message.
pub(super) fn archive(head: &[u8]) -> Option<&'static str> {
    if head.starts_with(b"PK\x03\x04") {
        Some("a zip archive")
    } else if head.starts_with(b"BZh") {
        Some("compressed by bzip2")
    } else if head.starts_with(b"7z\xbc\xaf\x27\x1c") {
        Some("a 7z archive")
    } else if head.starts_with(&[0x04, 0x22, 0x4d, 0x18]) {
        Some("compressed by lz4")
    } else if head.len() > 262 && &head[257..262] == b"ustar" {
        Some("a tar archive")
    } else {
        None
    }
}
