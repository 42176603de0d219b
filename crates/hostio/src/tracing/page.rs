//! The events of one page of the kernel's trace buffer, as `trace_pipe_raw` returns it.
//!
//! A page has a time stamp (64 bits), the number of bytes in use with flags, and events. An event begins with a word of
//! 5 bits of type and 27 bits of time since the event before (include/linux/ring_buffer.h, kernel/trace/ring_buffer.c;
//! tracefs describes it in `events/header_page` and `events/header_event`).

use super::format::number;

/// The flag for events lost before the page, in the word of the bytes in use.
const MISSED: u64 = 1 << 31;
/// The flag for their number, which follows the events.
const COUNTED: u64 = 1 << 30;
/// The bits of the number of bytes in use.
const COMMIT: u64 = (1 << 27) - 1;
const PADDING: u32 = 29;
const TIME_EXTEND: u32 = 30;
const TIME_STAMP: u32 = 31;
/// The bits that a time stamp in an event has; the others are those of the page's.
const STAMP_BITS: u32 = 59;

/// Whether a page has all events since the page before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// Yes.
    All,
    /// Events were lost before the page; how many, if the kernel says it.
    Missed(Option<u64>),
    /// The page is not laid out as it should be: its end was not read.
    Broken,
}

/// Calls `each` with the time and the record of every event.
pub(crate) fn events(page: &[u8], data: usize, mut each: impl FnMut(u64, &[u8])) -> Seen {
    walk(page, data, &mut each).unwrap_or(Seen::Broken)
}

fn walk(page: &[u8], data: usize, each: &mut impl FnMut(u64, &[u8])) -> Option<Seen> {
    let mut time = number(page.get(..8)?)?;
    let word = number(page.get(8..data)?)?;
    let used = usize::try_from(word & COMMIT).ok()?;
    let end = data.checked_add(used)?;
    let mut rest = page.get(data..end)?;
    while !rest.is_empty() {
        let head = number(rest.get(..4)?)? as u32;
        let (kind, delta) = split(head);
        let array = rest.get(4..8).and_then(number).unwrap_or(0);
        let (payload, whole) = match kind {
            // Nothing follows on the page.
            PADDING if delta == 0 => break,
            PADDING => (None, 4 + array as usize),
            TIME_EXTEND => {
                time = time.wrapping_add(delta | array << 27);
                (None, 8)
            }
            TIME_STAMP => {
                let low = delta | array << 27;
                time = time >> STAMP_BITS << STAMP_BITS | low;
                (None, 8)
            }
            // The length, which counts its own word, is in the second word.
            0 => (Some(8..4 + array as usize), 4 + array as usize),
            words => (Some(4..4 + 4 * words as usize), 4 + 4 * words as usize),
        };
        // Removed events count, too: the times of the later ones follow from theirs.
        if kind <= PADDING {
            time = time.wrapping_add(delta);
        }
        if let Some(payload) = payload {
            each(time, rest.get(payload)?);
        }
        rest = rest.get(whole.next_multiple_of(4)..)?;
    }
    if word & MISSED == 0 {
        return Some(Seen::All);
    }
    let count = page.get(end..end + 8).and_then(number);
    Some(Seen::Missed(count.filter(|_| word & COUNTED != 0)))
}

/// Splits the first word of an event into its type and its time: bit fields begin at the low end of a word on
/// little-endian machines, and at the high end on others.
fn split(head: u32) -> (u32, u64) {
    match cfg!(target_endian = "little") {
        true => (head & 31, u64::from(head >> 5)),
        false => (head >> 27, u64::from(head & ((1 << 27) - 1))),
    }
}

#[cfg(test)]
#[cfg(target_endian = "little")]
mod tests {
    use super::*;

    /// A page of these words after its header.
    fn page(time: u64, flags: u64, words: &[u32]) -> Vec<u8> {
        let used = 4 * words.len() as u64;
        let mut page = [time.to_ne_bytes(), (used | flags).to_ne_bytes()].concat();
        page.extend(words.iter().flat_map(|word| word.to_ne_bytes()));
        page.resize(4096, 0xee);
        page
    }

    fn found(page: &[u8]) -> (Seen, Vec<(u64, Vec<u8>)>) {
        let mut all = Vec::new();
        let whole = events(page, 16, |time, record| all.push((time, record.to_vec())));
        (whole, all)
    }

    #[test]
    fn times_add_up_and_records_have_their_lengths() {
        let bytes = |words: &[u32]| words.iter().flat_map(|w| w.to_ne_bytes()).collect();
        let page = page(
            1_000,
            0,
            &[
                10 << 5 | 2, // Two words, 10 ns later.
                11,
                12,
                3 << 5 | 30, // 3 + 2^27 ns.
                1,
                5 << 5, // A length of 4 + 4 bytes in the second word.
                8,
                13,
                7 << 5 | 29, // A removed event of 8 bytes.
                4,
                1 << 5 | 1,
                14,
                29, // The end.
                99,
            ],
        );
        let expected = vec![
            (1_010, bytes(&[11, 12])),
            (1_010 + 3 + (1 << 27) + 5, bytes(&[13])),
            (1_010 + 3 + (1 << 27) + 5 + 7 + 1, bytes(&[14])),
        ];
        assert_eq!(found(&page), (Seen::All, expected));
    }

    #[test]
    fn an_absolute_time_replaces_the_sum() {
        let page = page(1_000, 0, &[5 << 5 | 31, 2, 1 << 5 | 1, 7]);
        let (whole, all) = found(&page);
        assert_eq!(whole, Seen::All);
        assert_eq!(all[0].0, (2 << 27) + 5 + 1);
    }

    #[test]
    fn lost_events_and_broken_pages_are_told() {
        assert_eq!(found(&page(0, MISSED, &[1, 2])).0, Seen::Missed(None));
        let mut counted = page(0, MISSED | COUNTED, &[1, 2]);
        counted[24..32].copy_from_slice(&5_u64.to_ne_bytes());
        assert_eq!(found(&counted).0, Seen::Missed(Some(5)));
        // An event that ends beyond what is in use, and pages that are cut.
        assert_eq!(found(&page(0, 0, &[3, 2])).0, Seen::Broken);
        assert_eq!(found(&page(0, 0, &[0, 0x00ff_ffff, 1])).0, Seen::Broken);
        assert_eq!(found(&page(0, 0, &[1, 2])[..18]).0, Seen::Broken);
        assert_eq!(found(&[]).0, Seen::Broken);
    }
}
