//! Reading ahead of a process that reads a file in order.
//!
//! After `ondemand_readahead` of Linux 2.6.23 (`mm/readahead.c`, F. Wu): a read at the start of a file, or behind the
//! read before it, opens a window of four times what it asks for (16 KiB for one page), or of the longest for more than
//! a quarter of it. When the reader comes to the page that is marked, one window's length before the end, the next
//! window is asked for in advance, twice as long (four times below a sixteenth of the longest) up to the longest. A read
//! elsewhere takes what it asks for and no more. The mark is kept here, with the reader, and not with the page, so that
//! a reader does not go on with a window of another one.

/// Pages to be brought in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The first one.
    pub page: u32,
    /// How many; they may reach over the end of the file.
    pub pages: u32,
}

/// One reader of one file, from when it has opened it.
#[derive(Clone, Copy, Debug)]
pub struct ReadAhead {
    start: u32,
    size: u32,
    /// How many pages of the window are ahead of the mark.
    ahead: u32,
    /// The longest window, in pages.
    most: u32,
    /// The page that was read last.
    last: Option<u32>,
}

impl ReadAhead {
    /// A file that was just opened. The longest window in pages is a power of two.
    pub fn new(most: u32) -> Self {
        Self {
            start: 0,
            size: 0,
            ahead: 0,
            most: most.max(1),
            last: None,
        }
    }

    /// A page was read.
    pub fn read(&mut self, page: u32) {
        self.last = Some(page);
    }

    /// A page is not in memory, and the call that reads it wants so many from there on.
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

    /// The reader comes to a page that is in memory, or on its way: what to ask for in advance.
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

    /// `get_init_ra_size`.
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

    /// The windows of a reader that finds nothing in memory but what it has asked for.
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
