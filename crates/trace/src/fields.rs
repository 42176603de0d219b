//! Splitting of a line into fields (slices of the line), and parsing of numbers and times without rounding or overflow.

mod digits;

use super::fault::{Fault, What};
use digits::{POWERS, leading_number};
use fathom_base::SECTOR_BYTES;

/// Iterates over the fields of a line. Blanks around a field are trimmed.
#[derive(Clone, Copy)]
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
        if separator == b' ' {
            let end = rest.iter().position(|&b| is_blank(b));
            self.rest = end.map(|end| trim_start(&rest[end..]));
            return Some(&rest[..end.unwrap_or(rest.len())]);
        }
        let end = rest.iter().position(|&b| b == separator);
        self.rest = end.map(|end| &rest[end + 1..]);
        Some(trim(&rest[..end.unwrap_or(rest.len())]))
    }

    /// Returns the fields after the next one if this is the first `end` bytes of the rest, with nothing to trim.
    #[inline]
    fn after(&self, end: usize) -> Option<Self> {
        let rest = match self.rest?.get(end..)? {
            [] => None,
            [b' ' | b'\t', after @ ..] if self.separator == b' ' => Some(trim_start(after)),
            [separator, after @ ..] if *separator == self.separator => Some(after),
            _ => return None,
        };
        Some(Self { rest, ..*self })
    }

    /// Takes the next field if it is a whole number of few digits and the caller accepts it. Otherwise takes nothing: the
    /// field is to be parsed slowly, for its error.
    #[inline]
    fn plain<T>(&mut self, accept: impl FnOnce(u64) -> Option<T>) -> Option<T> {
        let (value, digits) = leading_number(self.rest?);
        if digits == 0 {
            return None;
        }
        let after = self.after(digits)?;
        let accepted = accept(value)?;
        *self = after;
        Some(accepted)
    }

    /// Takes the next field if it is a time of few digits, in units of 10^`digits` ns. Otherwise takes nothing.
    #[inline]
    fn plain_time(&mut self, digits: u32) -> Option<u64> {
        let rest = self.rest?;
        let (whole, mut end) = leading_number(rest);
        let mut fraction = 0;
        if end == 0 {
            return None;
        }
        if rest.get(end) == Some(&b'.') {
            let (decimals, number) = leading_number(&rest[end + 1..]);
            end += 1 + number;
            let scale = |by: usize| POWERS.get(by).copied();
            fraction = match (digits as usize).checked_sub(number) {
                Some(missing) => decimals * scale(missing)?,
                None => decimals / scale(number - digits as usize)?,
            };
        }
        let after = self.after(end)?;
        let ns = whole.checked_mul(*POWERS.get(digits as usize)?)?;
        let ns = ns.checked_add(fraction)?;
        *self = after;
        Some(ns)
    }

    pub(super) fn next(&mut self, field: &'static str) -> Result<&'a [u8], Fault<'a>> {
        match self.take() {
            Some(found) if !found.is_empty() => Ok(found),
            _ => Err(missing(field)),
        }
    }

    /// Parses the next field as a whole number.
    #[inline]
    pub(super) fn number(&mut self, field: &'static str) -> Result<u64, Fault<'a>> {
        match self.plain(Some) {
            Some(number) => Ok(number),
            None => self.slow_number(field, Some),
        }
    }

    /// Parses the next field as the number of a disk or a process, of 32 bits.
    #[inline]
    pub(super) fn short(&mut self, field: &'static str) -> Result<u32, Fault<'a>> {
        let short = |number| u32::try_from(number).ok();
        match self.plain(short) {
            Some(number) => Ok(number),
            None => self.slow_number(field, short),
        }
    }

    /// Parses the next field as a number of sectors, and returns bytes.
    #[inline]
    pub(super) fn sectors(&mut self, field: &'static str) -> Result<u64, Fault<'a>> {
        self.scaled(field, SECTOR_BYTES)
    }

    /// Parses the next field as a whole number and multiplies it by `unit`.
    #[inline]
    pub(super) fn scaled(&mut self, field: &'static str, unit: u64) -> Result<u64, Fault<'a>> {
        let scaled = |number: u64| number.checked_mul(unit);
        match self.plain(scaled) {
            Some(bytes) => Ok(bytes),
            None => self.slow_number(field, scaled),
        }
    }

    /// Parses the next field as a whole number for which `accept` has a value.
    #[cold]
    fn slow_number<T>(
        &mut self,
        field: &'static str,
        accept: impl FnOnce(u64) -> Option<T>,
    ) -> Result<T, Fault<'a>> {
        let found = self.next(field)?;
        accept(number(field, found)?).ok_or(too_large(field, found))
    }

    /// Parses the next field as a time in units of 10^`digits` ns, with or without decimals, and returns ns. Finer digits
    /// are cut off.
    #[inline]
    pub(super) fn time(&mut self, field: &'static str, digits: u32) -> Result<u64, Fault<'a>> {
        match self.plain_time(digits) {
            Some(ns) => Ok(ns),
            None => self.slow_time(field, digits),
        }
    }

    #[cold]
    fn slow_time(&mut self, field: &'static str, digits: u32) -> Result<u64, Fault<'a>> {
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
    use proptest::prelude::*;

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

    proptest! {
        /// The parsers of a field agree with those of its text, errors included.
        #[test]
        fn a_field_is_parsed_as_its_text_is(
            line in "([0-9]{1,3}|[0-9]{4,21}|[0-9]{1,11}[.][0-9]{0,21}|[0-9. ,\t;x/:é-]{0,4}|[ ,\t]){0,9}",
            separator in prop::sample::select(vec![b' ', b',', b';']),
            kinds in prop::collection::vec(0..7_u32, 12),
        ) {
            let mut fields = Fields::new(line.as_bytes(), separator);
            let mut texts = fields;
            for kind in kinds {
                let got = match kind {
                    0 => fields.number("f"),
                    1 => fields.short("f").map(u64::from),
                    2 => fields.sectors("f"),
                    3 => fields.scaled("f", 1 << 40),
                    digits => fields.time("f", 3 * digits - 9),
                };
                let text = texts.next("f");
                let all = |number: u64| Ok(number);
                let of = |by: u64, max: u64| text.and_then(|text| {
                    number("f", text)?.checked_mul(by).filter(|&n| n <= max).map_or(Err(too_large("f", text)), all)
                });
                let wanted = match kind {
                    0 => of(1, u64::MAX),
                    1 => of(1, u64::from(u32::MAX)),
                    2 => of(SECTOR_BYTES, u64::MAX),
                    3 => of(1 << 40, u64::MAX),
                    digits => text.and_then(|text| time("f", text, 3 * digits - 9)),
                };
                prop_assert_eq!(format!("{got:?}"), format!("{wanted:?}"));
                prop_assert_eq!(fields.rest, texts.rest);
            }
        }
    }
}
