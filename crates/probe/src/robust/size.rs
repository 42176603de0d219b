//! Formats sizes for the reasons of answers, and names the one of their figures.

use fathom_base::Bytes;

/// The figure of a size that was seen but is not the answer, in bytes.
pub(crate) const SEEN: &str = "seen_bytes";

/// Formats a size in the largest unit in which it is a multiple of a half: `16 KiB`, `255.5 KiB`, `3076 KiB`, `5 MiB`. If
/// there is none, rounds: `51.2 MiB`.
pub(crate) fn size(bytes: u64) -> String {
    let units = [(1 << 20, "MiB"), (1 << 10, "KiB")];
    let fits = |&&(scale, _): &&(u64, &str)| bytes >= scale && (bytes * 2).is_multiple_of(scale);
    match units.iter().find(fits) {
        Some((scale, unit)) if bytes.is_multiple_of(*scale) => format!("{} {unit}", bytes / scale),
        Some((scale, unit)) => format!("{}.5 {unit}", bytes / scale),
        None => Bytes(bytes).human(),
    }
}

/// Formats a time with three digits: `85.3 us`, `2.02 ms`, `12.5 s`.
pub(crate) fn time(ns: f64) -> String {
    let units = [(1e9, "s"), (1e6, "ms"), (1e3, "us")];
    let (scale, unit) = units
        .into_iter()
        .find(|(scale, _)| ns >= *scale)
        .unwrap_or((1.0, "ns"));
    let value = ns / scale;
    let digits = match value {
        v if v >= 100.0 => 0,
        v if v >= 10.0 => 1,
        _ => 2,
    };
    format!("{value:.digits$} {unit}")
}

#[cfg(test)]
mod tests {
    #[test]
    fn times_have_three_digits() {
        let times = [85_321.0, 2_024_108.0, 12_500_000_000.0, 120_000.0];
        let said = times.map(super::time);
        assert_eq!(said, ["85.3 us", "2.02 ms", "12.5 s", "120 us"]);
    }

    #[test]
    fn sizes_are_exact() {
        let bytes = [
            512,
            1024,
            261_632,
            3_149_824,
            5 << 20,
            5_767_168,
            53_687_091,
        ];
        let said = bytes.map(super::size);
        assert_eq!(
            said,
            [
                "512 B",
                "1 KiB",
                "255.5 KiB",
                "3076 KiB",
                "5 MiB",
                "5.5 MiB",
                "51.2 MiB"
            ]
        );
    }
}
