//! The stored bytes of a device: pages of 4 KiB, allocated on first write; everything else is zero.

use std::collections::BTreeMap;
use std::ops::Range;

const PAGE_BYTES: usize = 4096;

/// Bytes by page number; absent pages are all zero.
#[derive(Clone, Debug, Default)]
pub struct Pages(BTreeMap<u64, Box<[u8]>>);

/// The part of a request within one page: the page, the range within it, the range within the request.
struct Part {
    page: u64,
    within: Range<usize>,
    of_request: Range<usize>,
}

/// Splits `len` bytes at `offset` into the parts of each page, in order.
fn parts(offset: u64, len: u64) -> impl Iterator<Item = Part> {
    let page_bytes = PAGE_BYTES as u64;
    let end = offset + len;
    (offset / page_bytes..end.div_ceil(page_bytes)).map(move |page| {
        let base = page * page_bytes;
        let (from, to) = (offset.max(base), end.min(base + page_bytes));
        Part {
            page,
            within: (from - base) as usize..(to - base) as usize,
            of_request: (from - offset) as usize..(to - offset) as usize,
        }
    })
}

impl Pages {
    /// Returns `len` bytes.
    pub fn read(&self, offset: u64, len: u64) -> Box<[u8]> {
        let mut data = vec![0; len as usize].into_boxed_slice();
        for part in parts(offset, len) {
            if let Some(page) = self.0.get(&part.page) {
                data[part.of_request].copy_from_slice(&page[part.within]);
            }
        }
        data
    }

    /// Stores `data`.
    pub fn write(&mut self, offset: u64, data: &[u8]) {
        for part in parts(offset, data.len() as u64) {
            let page = self
                .0
                .entry(part.page)
                .or_insert_with(|| vec![0; PAGE_BYTES].into_boxed_slice());
            page[part.within].copy_from_slice(&data[part.of_request]);
        }
    }

    /// Sets `len` bytes to zero. Visits the pages that exist, not the whole range, so a whole device can be trimmed at once.
    pub fn zero(&mut self, offset: u64, len: u64) {
        let page_bytes = PAGE_BYTES as u64;
        let end = offset + len;
        let whole = offset.div_ceil(page_bytes)..end / page_bytes;
        if whole.start < whole.end {
            let mut from = self.0.split_off(&whole.start);
            self.0.append(&mut from.split_off(&whole.end));
        }
        let touched = offset / page_bytes..end.div_ceil(page_bytes);
        for (&page, bytes) in self.0.range_mut(touched) {
            let base = page * page_bytes;
            let (from, to) = (offset.max(base), end.min(base + page_bytes));
            bytes[(from - base) as usize..(to - base) as usize].fill(0);
        }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}
