//! Splitting of a line into fields (slices of the line), and parsing of numbers and times without rounding or overflow.

use super::fault::{Fault, What};
use fathom_base::SECTOR_BYTES;

/// Iterates over the fields of a line. Blanks around a field are trimmed.
pub(super) struct Fields<'a> {
    rest: Option<&'a [u8]>,
    /// The separator: `,`, `;`, or a blank, which stands for any run of blanks and tabs.
    separator: u8,
}

impl<'a> Fields<'a> {
    pub(super) fn new(line: &'a [u8], separator: u8) -> Self {
        let line = trim(line);
        Self {
            rest: (!line.is_empty()).then_some(line),
            separator,
        }
    }

    /// Returns the next field, or `None` at the end of the line.
    pub(super) fn take(&mut self) -> Option<&'a [u8]> {
        let rest = self.rest?;
        let separator = self.separator;
        let end = if separator == b' ' {
            rest.iter().position(|&b| is_blank(b))
        } else {
            rest.iter().position(|&b| b == separator)
        };
        let Some(end) = end else {
            self.rest = None;
            return Some(trim(rest));
        };
        self.rest = Some(if separator == b' ' {
            trim_start(&rest[end..])
        } else {
            &rest[end + 1..]
        });
        Some(trim(&rest[..end]))
    }

    pub(super) fn next(&mut self, field: &'static str) -> Result<&'a [u8], Fault<'a>> {
        match self.take() {
            Some(found) if !found.is_empty() => Ok(found),
            _ => Err(missing(field)),
        }
    }

    /// Parses the next field as a whole number.
    pub(super) fn number(&mut self, field: &'static str) -> Result<u64, Fault<'a>> {
        number(field, self.next(field)?)
    }

    /// Parses the next field as the number of a disk or a process, of 32 bits.
    pub(super) fn short(&mut self, field: &'static str) -> Result<u32, Fault<'a>> {
        let found = self.next(field)?;
        u32::try_from(number(field, found)?).map_err(|_| too_large(field, found))
    }

    /// Parses the next field as a number of sectors, and returns bytes.
    pub(super) fn sectors(&mut self, field: &'static str) -> Result<u64, Fault<'a>> {
        self.scaled(field, SECTOR_BYTES)
    }

    /// Parses the next field as a whole number and multiplies it by `unit`.
    pub(super) fn scaled(&mut self, field: &'static str, unit: u64) -> Result<u64, Fault<'a>> {
        let found = self.next(field)?;
        number(field, found)?
            .checked_mul(unit)
            .ok_or(too_large(field, found))
    }

    /// Parses the next field as a time in units of 10^`digits` ns, with or without decimals, and returns ns. Finer digits
    /// are cut off.
    pub(super) fn time(&mut self, field: &'static str, digits: u32) -> Result<u64, Fault<'a>> {
        time(field, self.next(field)?, digits)
    }

    /// Returns an error unless the line has ended.
    pub(super) fn end(&mut self) -> Result<(), Fault<'a>> {
        match self.take() {
            None => Ok(()),
            Some(found) => Err(malformed("(after the last)", found, "the end of the line")),
        }
    }
}

pub(super) fn missing<'a>(field: &'static str) -> Fault<'a> {
    Fault {
        what: What::Missing,
        field,
        found: b"",
    }
}

pub(super) fn malformed<'a>(
    field: &'static str,
    found: &'a [u8],
    wanted: &'static str,
) -> Fault<'a> {
    Fault {
        what: What::Malformed(wanted),
        field,
        found,
    }
}

pub(super) fn too_large<'a>(field: &'static str, found: &'a [u8]) -> Fault<'a> {
    Fault {
        what: What::TooLarge,
        field,
        found,
    }
}

pub(super) fn unknown_op<'a>(
    field: &'static str,
    found: &'a [u8],
    wanted: &'static str,
) -> Fault<'a> {
    Fault {
        what: What::UnknownOp(wanted),
        field,
        found,
    }
}

/// Parses a whole number in decimal digits.
pub(super) fn number<'a>(field: &'static str, found: &'a [u8]) -> Result<u64, Fault<'a>> {
    let mut value = 0_u64;
    for &byte in found {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return Err(malformed(field, found, "a whole number"));
        }
        let next = value
            .checked_mul(10)
            .and_then(|v| v.checked_add(u64::from(digit)));
        match next {
            Some(next) => value = next,
            // The remaining bytes may not be digits; the error is "too large" either way.
            None => return Err(too_large(field, found)),
        }
    }
    if found.is_empty() {
        return Err(missing(field));
    }
    Ok(value)
}

pub(super) fn time<'a>(
    field: &'static str,
    found: &'a [u8],
    digits: u32,
) -> Result<u64, Fault<'a>> {
    const WANTED: &str = "a time";
    let (whole, decimals) = match found.iter().position(|&b| b == b'.') {
        Some(point) => (&found[..point], &found[point + 1..]),
        None => (found, &b""[..]),
    };
    let whole = number(field, whole).map_err(|fault| Fault {
        what: match fault.what {
            What::TooLarge => What::TooLarge,
            _ => What::Malformed(WANTED),
        },
        field,
        found,
    })?;
    let mut fraction = 0_u64;
    let mut scale = 10_u64.pow(digits);
    let unit = scale;
    for &byte in decimals {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return Err(malformed(field, found, WANTED));
        }
        scale /= 10;
        fraction += u64::from(digit) * scale;
    }
    whole
        .checked_mul(unit)
        .and_then(|ns| ns.checked_add(fraction))
        .ok_or(too_large(field, found))
}

fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

fn trim_start(mut bytes: &[u8]) -> &[u8] {
    while let [first, rest @ ..] = bytes
        && is_blank(*first)
    {
        bytes = rest;
    }
    bytes
}

pub(super) fn trim(bytes: &[u8]) -> &[u8] {
    let mut bytes = trim_start(bytes);
    while let [rest @ .., last] = bytes
        && is_blank(*last)
    {
        bytes = rest;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_exact_and_finer_digits_are_cut() {
        let ns = |text: &'static str, digits| time("t", text.as_bytes(), digits).unwrap();
        assert_eq!(ns("0.026214", 9), 26_214_000);
        assert_eq!(ns("11.7637110019", 9), 11_763_711_001);
        assert_eq!(ns("0.221", 6), 221_000);
        assert_eq!(ns("12", 3), 12_000);
        assert_eq!(ns("12.", 3), 12_000);
        assert_eq!(ns("18446744073.709551615", 9), u64::MAX);
        for wrong in ["", ".", ".5", "-1", "1e3", "1.5x", "1.2.3"] {
            let fault = time("t", wrong.as_bytes(), 9).unwrap_err();
            assert_eq!(fault.what, What::Malformed("a time"), "{wrong}");
        }
        for large in [
            "18446744073.709551616",
            "18446744074",
            "99999999999999999999",
        ] {
            let fault = time("t", large.as_bytes(), 9).unwrap_err();
            assert_eq!(fault.what, What::TooLarge, "{large}");
        }
    }

    #[test]
    fn fields_are_split_at_their_separator() {
        let mut commas = Fields::new(b" a , b,,c", b',');
        assert_eq!(commas.take(), Some(&b"a"[..]));
        assert_eq!(commas.take(), Some(&b"b"[..]));
        assert_eq!(commas.next("third").unwrap_err().what, What::Missing);
        assert_eq!(commas.take(), Some(&b"c"[..]));
        assert_eq!(commas.take(), None);

        let mut blanks = Fields::new(b"  a \t b ", b' ');
        assert_eq!(blanks.take(), Some(&b"a"[..]));
        assert_eq!(blanks.take(), Some(&b"b"[..]));
        assert!(blanks.end().is_ok());
    }
}
