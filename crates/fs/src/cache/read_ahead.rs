//! Read-ahead for a process that reads a file sequentially.
//!
//! After `ondemand_readahead` of Linux 2.6.23 (`mm/readahead.c`, F. Wu). A read at the start of a file, or after the
//! previous read, opens a window: four times the request (16 KiB for one page), twice a request of more than a 32nd of
//! the longest window, or the longest window for a request of more than a quarter of it. When the reader reaches the
//! marked page, one window length before the end, the next window is requested in advance. It is twice as long (four
//! times if the present one is below a sixteenth of the longest), up to the longest. A read elsewhere loads what it
//! asks for and no more. The mark is kept with the reader and not with the page, so a reader does not continue the
//! window of another one.

/// A range of pages to load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The first page.
    pub page: u32,
    /// Number of pages. The range may extend beyond the end of the file.
    pub pages: u32,
}

/// The read-ahead state of one reader of one file since it opened the file.
#[derive(Clone, Copy, Debug)]
pub struct ReadAhead {
    start: u32,
    size: u32,
    /// Number of pages of the window from the mark on.
    ahead: u32,
    /// Maximum window, in pages.
    most: u32,
    /// The last page that was read.
    last: Option<u32>,
}

impl ReadAhead {
    /// Creates the state for a file that was just opened. The maximum window `most`, in pages, is a power of two.
    pub fn new(most: u32) -> Self {
        Self {
            start: 0,
            size: 0,
            ahead: 0,
            most: most.max(1),
            last: None,
        }
    }

    /// Records that a page was read.
    pub fn read(&mut self, page: u32) {
        self.last = Some(page);
    }

    /// Returns the pages to load for a page that is not in memory; `wanted` is the number of pages from it on that the
    /// call reads.
    pub fn missing(&mut self, page: u32, wanted: u32) -> Window {
        let wanted = wanted.max(1);
        let expected =
            page == self.start + self.size - self.ahead || page == self.start + self.size;
        if page > 0 && self.size > 0 && expected {
            return self.advance();
        }
        let follows = match self.last {
            Some(last) => page == last || page == last + 1,
            None => page == 0,
        };
        if !follows && wanted <= self.most {
            return Window {
                page,
                pages: wanted,
            };
        }
        self.start = page;
        self.size = self.first_size(wanted);
        self.ahead = match self.size > wanted {
            true => self.size - wanted,
            false => self.size,
        };
        self.window()
    }

    /// Returns the window to load in advance, if any, when the reader reaches a page that is in memory or being loaded.
    pub fn reached(&mut self, page: u32) -> Option<Window> {
        let marked = self.size > 0 && page > 0 && page == self.start + self.size - self.ahead;
        marked.then(|| self.advance())
    }

    fn advance(&mut self) -> Window {
        self.start += self.size;
        let factor = if self.size < self.most / 16 { 4 } else { 2 };
        self.size = (self.size * factor).min(self.most);
        self.ahead = self.size;
        self.window()
    }

    fn window(&self) -> Window {
        Window {
            page: self.start,
            pages: self.size,
        }
    }

    /// The length of the first window: `get_init_ra_size`.
    fn first_size(&self, wanted: u32) -> u32 {
        let size = wanted.min(self.most).next_power_of_two();
        if size <= self.most / 32 {
            size * 4
        } else if size <= self.most / 4 {
            size * 2
        } else {
            self.most
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The windows of a reader if only the pages that it loads are in memory.
    fn windows(most: u32, call: u32, pages: u32) -> Vec<(u32, u32)> {
        let mut reader = ReadAhead::new(most);
        let (mut loaded, mut asked) = (0, Vec::new());
        for page in 0..pages {
            let wanted = call - page % call;
            let window = match page < loaded {
                true => reader.reached(page),
                false => Some(reader.missing(page, wanted)),
            };
            if let Some(window) = window {
                asked.push((window.page, window.pages));
                loaded = window.page + window.pages;
            }
            reader.read(page);
        }
        asked
    }

    #[test]
    fn page_by_page_it_doubles_from_16_to_128_kib() {
        assert_eq!(
            windows(32, 1, 60),
            [(0, 4), (4, 8), (12, 16), (28, 32), (60, 32)]
        );
    }

    #[test]
    fn a_long_call_takes_the_longest_windows_at_once() {
        assert_eq!(windows(32, 256, 70), [(0, 32), (32, 32), (64, 32)]);
    }

    #[test]
    fn elsewhere_it_reads_what_is_asked_for() {
        let mut reader = ReadAhead::new(32);
        let window = |page, pages| Window { page, pages };
        assert_eq!(reader.missing(100, 1), window(100, 1));
        reader.read(100);
        assert_eq!(reader.missing(7, 2), window(7, 2));
        reader.read(8);
        assert_eq!(reader.missing(9, 1), window(9, 4));
    }
}
