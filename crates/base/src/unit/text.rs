//! Parsing and formatting of quantities in configuration files and arguments.
//!
//! The text must state its unit (`45us`, `16KiB`, `300MB/s`, `3Gbps`, `400MT/s`); a bare number is refused.

use super::{Bytes, Dur, Frequency, Rate};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

/// The error for the text of a quantity that cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    /// The text is not a number with a unit.
    #[error(
        "`{text}` is not {what}: write a number with its unit, such as {example}; the units are {units}"
    )]
    Text {
        /// The text.
        text: String,
        /// The kind of quantity that was expected.
        what: &'static str,
        /// A valid example.
        example: &'static str,
        /// The names of the units.
        units: String,
    },
    /// The text is a number without a unit.
    #[error("`{text}` has no unit: give one, such as {example}")]
    NoUnit {
        /// The text.
        text: String,
        /// The same number with a unit.
        example: String,
    },
    /// The value is outside of the range of the type.
    #[error("`{text}` is out of range: write {range}")]
    Range {
        /// The text.
        text: String,
        /// The valid range.
        range: &'static str,
    },
}

/// A kind of quantity: its units, and its wording in messages.
struct Kind {
    what: &'static str,
    /// The most likely unit of a bare number.
    unit: &'static str,
    example: &'static str,
    range: &'static str,
    /// Name and size of each unit, in nanoseconds, bytes or bytes per second.
    units: &'static [(&'static str, f64)],
}

const DUR: Kind = Kind {
    what: "a duration",
    unit: "us",
    example: "45us",
    range: "a duration below 9000000000s",
    units: &[
        ("ns", 1.0),
        ("us", 1e3),
        ("µs", 1e3),
        ("ms", 1e6),
        ("s", 1e9),
        ("min", 60e9),
    ],
};

/// A single letter is a power of 1024, as in fio (HOWTO, "Parameter types", `kb_base=1024`) and coreutils ("Block size").
const BYTES: Kind = Kind {
    what: "a length",
    unit: "B",
    example: "16KiB",
    range: "a length below 9000PB",
    units: &[
        ("B", 1.0),
        ("KiB", 1024.0),
        ("MiB", 1_048_576.0),
        ("GiB", 1_073_741_824.0),
        ("TiB", 1_099_511_627_776.0),
        ("PiB", 1_125_899_906_842_624.0),
        ("K", 1024.0),
        ("M", 1_048_576.0),
        ("G", 1_073_741_824.0),
        ("T", 1_099_511_627_776.0),
        ("P", 1_125_899_906_842_624.0),
        ("k", 1024.0),
        ("m", 1_048_576.0),
        ("g", 1_073_741_824.0),
        ("t", 1_099_511_627_776.0),
        ("kB", 1e3),
        ("MB", 1e6),
        ("GB", 1e9),
        ("TB", 1e12),
        ("PB", 1e15),
    ],
};

const RATE: Kind = Kind {
    what: "a rate",
    unit: "MB/s",
    example: "300MB/s",
    range: "a rate from 1B/s to 9000000000GB/s",
    units: &[
        ("B/s", 1.0),
        ("kB/s", 1e3),
        ("MB/s", 1e6),
        ("GB/s", 1e9),
        ("MiB/s", 1_048_576.0),
        ("GiB/s", 1_073_741_824.0),
        ("MT/s", 1e6),
        ("Gbps", 1e8),
    ],
};

const FREQUENCY: Kind = Kind {
    what: "a clock rate",
    unit: "GHz",
    example: "2.93GHz",
    range: "a clock rate from 1Hz to 9000000000GHz",
    units: &[("Hz", 1.0), ("kHz", 1e3), ("MHz", 1e6), ("GHz", 1e9)],
};

impl Kind {
    fn not_text(&self, text: &str) -> UnitError {
        let bare = text.trim();
        if bare.parse::<f64>().is_ok_and(|n| n.is_finite() && n >= 0.0) {
            return UnitError::NoUnit {
                text: bare.to_owned(),
                example: match self.unit {
                    // A length in single bytes is rarely intended.
                    "B" => format!("{bare}B or {}", self.example),
                    "GHz" => format!("{bare}GHz or {bare}MHz"),
                    unit => format!("{bare}{unit}"),
                },
            };
        }
        UnitError::Text {
            text: text.to_owned(),
            what: self.what,
            example: self.example,
            units: self
                .units
                .iter()
                .map(|(name, _)| *name)
                .collect::<Vec<_>>()
                .join(", "),
        }
    }

    fn not_in_range(&self, text: &str) -> UnitError {
        UnitError::Range {
            text: text.to_owned(),
            range: self.range,
        }
    }
}

fn split_unit(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_'))?;
    let number = text[..end].replace('_', "").parse::<f64>().ok()?;
    Some((number, text[end..].trim()))
}

fn parse(text: &str, kind: &Kind) -> Result<u64, UnitError> {
    let of_unit = |unit: &str| kind.units.iter().find(|(name, _)| *name == unit);
    let (number, unit) = split_unit(text).ok_or_else(|| kind.not_text(text))?;
    let (_, scale) = of_unit(unit).ok_or_else(|| kind.not_text(text))?;
    let value = number * scale;
    if !value.is_finite() || value >= 9.0e18 {
        return Err(kind.not_in_range(text));
    }
    Ok(value.round() as u64)
}

impl FromStr for Dur {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        parse(text, &DUR).map(Dur)
    }
}

impl FromStr for Bytes {
    type Err = UnitError;
    /// Parses a length; `4G` is 4 GiB.
    fn from_str(text: &str) -> Result<Self, UnitError> {
        parse(text, &BYTES).map(Bytes)
    }
}

impl FromStr for Rate {
    type Err = UnitError;
    /// Parses a rate. `MT/s` is one byte per transfer, as on an eight-bit flash channel; `Gbps` is the line rate of a
    /// SATA link with its 8b/10b coding (3Gbps carries 300 MB/s).
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let rate = parse(text, &RATE)?;
        Rate::new(rate).ok_or_else(|| RATE.not_in_range(text))
    }
}

impl FromStr for Frequency {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let hertz = parse(text, &FREQUENCY)?;
        Frequency::new(hertz).ok_or_else(|| FREQUENCY.not_in_range(text))
    }
}

fn with_unit(f: &mut fmt::Formatter<'_>, value: u64, units: &[(u64, &str)]) -> fmt::Result {
    let fits = units
        .iter()
        .find(|(scale, _)| value >= *scale && value.is_multiple_of(*scale));
    let (scale, name) = fits.or(units.last()).copied().unwrap_or((1, ""));
    write!(f, "{}{name}", value / scale)
}

impl fmt::Display for Dur {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        with_unit(
            f,
            self.0,
            &[
                (1_000_000_000, "s"),
                (1_000_000, "ms"),
                (1_000, "us"),
                (1, "ns"),
            ],
        )
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        with_unit(
            f,
            self.0,
            &[
                (1 << 40, "TiB"),
                (1 << 30, "GiB"),
                (1 << 20, "MiB"),
                (1 << 10, "KiB"),
                (1, "B"),
            ],
        )
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        with_unit(
            f,
            self.0,
            &[
                (1_000_000_000, "GB/s"),
                (1_000_000, "MB/s"),
                (1_000, "kB/s"),
                (1, "B/s"),
            ],
        )
    }
}

impl fmt::Display for Frequency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        with_unit(
            f,
            self.hertz(),
            &[
                (1_000_000_000, "GHz"),
                (1_000_000, "MHz"),
                (1_000, "kHz"),
                (1, "Hz"),
            ],
        )
    }
}

/// Deserializes a quantity from its text; the error for a bare number says that the unit is missing.
struct Text<T> {
    kind: &'static Kind,
    of: PhantomData<T>,
}

impl<T: FromStr<Err = UnitError>> Visitor<'_> for Text<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} with its unit, such as {}",
            self.kind.what, self.kind.example
        )
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<T, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<T, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<T, E> {
        self.visit_str(&number.to_string())
    }
}

macro_rules! text_serde {
    ($($t:ty => $kind:ident),*) => {$(
        impl Serialize for $t {
            fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.collect_str(self)
            }
        }
        impl<'de> Deserialize<'de> for $t {
            fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                d.deserialize_any(Text { kind: &$kind, of: PhantomData::<$t> })
            }
        }
    )*};
}
text_serde!(Dur => DUR, Bytes => BYTES, Rate => RATE, Frequency => FREQUENCY);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn text_needs_a_unit() {
        assert_eq!("45us".parse(), Ok(Dur(45_000)));
        assert_eq!("16 KiB".parse(), Ok(Bytes(16_384)));
        assert_eq!("1PiB".parse(), Ok(Bytes(1 << 50)));
        assert_eq!("1.5PB".parse(), Ok(Bytes(1_500_000_000_000_000)));
        assert_eq!(
            "3Gbps".parse::<Rate>().map(Rate::bytes_per_second),
            Ok(300_000_000)
        );
        let said = |text: &str| text.parse::<Dur>().unwrap_err().to_string();
        assert_eq!(said("40"), "`40` has no unit: give one, such as 40us");
        assert!(said("40 parsecs").contains("is not a duration"));
        for bad in ["45", "us", "", "45 parsecs", "-1us", "1e30s"] {
            assert!(bad.parse::<Dur>().is_err(), "{bad}");
        }
        assert!("0MB/s".parse::<Rate>().is_err());
    }

    /// fio, HOWTO, "Parameter types": "k, m, g, t, p" with `kb_base=1024` are powers of 1024; coreutils, "Block size": K, M, G, T.
    #[test]
    fn a_letter_alone_is_a_power_of_1024() {
        for (text, power) in [
            ("4K", 10),
            ("4k", 10),
            ("4M", 20),
            ("4G", 30),
            ("4g", 30),
            ("4T", 40),
        ] {
            assert_eq!(text.parse(), Ok(Bytes(4 << power)), "{text}");
        }
        assert!("4KB".parse::<Bytes>().is_err());
    }

    proptest! {
        #[test]
        fn text_round_trips(v in 0u64..1 << 52) {
            prop_assert_eq!(Dur(v).to_string().parse(), Ok(Dur(v)));
            prop_assert_eq!(Bytes(v).to_string().parse(), Ok(Bytes(v)));
            let rate = Rate::new(v + 1);
            prop_assert_eq!(rate.map(|r| r.to_string().parse().ok()), Some(rate));
        }
    }

    #[test]
    fn what_no_value_holds_is_told_apart_from_what_is_no_quantity() {
        let message = |result: Result<u64, UnitError>| result.unwrap_err().to_string();
        let bytes = |text: &str| text.parse::<Bytes>().map(|b| b.0);
        let rate = |text: &str| text.parse::<Rate>().map(Rate::bytes_per_second);
        let long = message(bytes("99999999999GiB"));
        assert_eq!(
            long,
            "`99999999999GiB` is out of range: write a length below 9000PB"
        );
        assert!(message(rate("0MT/s")).contains("out of range: write a rate from 1B/s"));
        assert!(message(bytes("16")).ends_with("give one, such as 16B or 16KiB"));
        assert!(message(bytes("16x")).contains("is not a length: write a number with its unit"));
    }
}
