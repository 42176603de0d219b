//! The stored bytes, for verification: written pages of 4 KiB; everything else is zero.

use std::collections::BTreeMap;

const PAGE: usize = 4096;

/// Bytes by page number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Store {
    pages: BTreeMap<u64, Box<[u8]>>,
}

impl Store {
    /// Stores `len` bytes at `offset`: those of `data`, or zeros.
    pub(crate) fn write(&mut self, offset: u64, len: u64, data: Option<&[u8]>) {
        let mut done = 0;
        while done < len {
            let (page, within, part) = part(offset + done, len - done);
            let bytes = self
                .pages
                .entry(page)
                .or_insert_with(|| vec![0; PAGE].into());
            let target = &mut bytes[within..within + part];
            let from = done as usize;
            match data.and_then(|data| data.get(from..from + part)) {
                Some(source) => target.copy_from_slice(source),
                None => target.fill(0),
            }
            done += part as u64;
        }
    }

    /// Returns the `len` bytes at `offset`.
    pub(crate) fn read(&self, offset: u64, len: u64) -> Box<[u8]> {
        let mut data = vec![0; len as usize];
        let mut done = 0;
        while done < len {
            let (page, within, part) = part(offset + done, len - done);
            if let Some(bytes) = self.pages.get(&page) {
                let from = done as usize;
                data[from..from + part].copy_from_slice(&bytes[within..within + part]);
            }
            done += part as u64;
        }
        data.into()
    }
}

/// Returns the page of a byte, its offset in the page, and how many of `left` bytes lie in that page.
fn part(at: u64, left: u64) -> (u64, usize, usize) {
    let within = at % PAGE as u64;
    let part = left.min(PAGE as u64 - within);
    (at / PAGE as u64, within as usize, part as usize)
}
