//! Short names of the ways of an I/O: what all have in common is said once.

use super::{Path, interface};
use crate::words::bytes;

/// A way, with the length and the number of I/Os in flight where they are known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    pub(super) path: Path,
    pub(super) block_bytes: Option<u64>,
    pub(super) in_flight: Option<u32>,
}

/// The names of some ways.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Names {
    /// The name of each.
    pub(super) each: Vec<String>,
    /// What they have in common; may be empty.
    pub(super) shared: String,
}

impl Way {
    pub(super) fn of(path: Path) -> Way {
        Way {
            path,
            block_bytes: None,
            in_flight: None,
        }
    }

    /// The words for it: interface, cache, file system, length, number in flight.
    fn words(self) -> [String; 5] {
        let cache = if self.path.buffered {
            "buffered"
        } else {
            "direct"
        };
        let file_system = if self.path.file_system {
            "file system"
        } else {
            "raw"
        };
        let flight = |n: u32| format!("{n} in flight");
        [
            interface(self.path.interface).to_owned(),
            cache.to_owned(),
            file_system.to_owned(),
            self.block_bytes.map_or_else(String::new, bytes),
            self.in_flight.map_or_else(String::new, flight),
        ]
    }
}

/// Returns the names: the interface, and all that differs.
pub(super) fn names(ways: &[Way]) -> Names {
    named(ways, 1)
}

/// Returns the names: what differs, even without the interface.
pub(super) fn short_names(ways: &[Way]) -> Names {
    named(ways, 0)
}

/// Returns the names; words before `kept` stand in each.
fn named(ways: &[Way], kept: usize) -> Names {
    let words: Vec<[String; 5]> = ways.iter().map(|way| way.words()).collect();
    let same = |word: usize| words.iter().all(|one| one[word] == words[0][word]);
    // Ways that do not differ keep the words of their path.
    let alike = (0..5).all(same);
    let said_once = |word: usize| match alike {
        true => word > 2,
        false => word >= kept && same(word),
    };
    let joined = |words: &[String; 5], once: bool| {
        let some = words.iter().enumerate();
        let some = some.filter(|(at, word)| said_once(*at) == once && !word.is_empty());
        some.map(|(_, word)| word.as_str())
            .collect::<Vec<_>>()
            .join(", ")
    };
    Names {
        each: words.iter().map(|words| joined(words, false)).collect(),
        shared: words
            .first()
            .map_or_else(String::new, |words| joined(words, true)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_platform::Interface;

    #[test]
    fn what_all_have_in_common_is_said_once() {
        let way = |interface, buffered, in_flight| Way {
            path: Path {
                interface,
                buffered,
                file_system: false,
            },
            block_bytes: Some(4096),
            in_flight,
        };
        let some = [
            way(Interface::Pread, false, Some(32)),
            way(Interface::Pread, true, Some(32)),
            way(Interface::IoUring, false, Some(64)),
        ];
        let found = names(&some);
        assert_eq!(
            found.each,
            [
                "pread, direct, 32 in flight",
                "pread, buffered, 32 in flight",
                "io_uring, direct, 64 in flight"
            ]
        );
        assert_eq!(found.shared, "raw, 4 KiB");
        let alone = names(&some[..1]);
        assert_eq!(alone.each, ["pread, direct, raw"]);
        assert_eq!(alone.shared, "4 KiB, 32 in flight");
        assert_eq!(names(&[]), Names::default());
        let short = short_names(&some[..2]);
        assert_eq!(short.each, ["direct", "buffered"]);
        assert_eq!(short.shared, "pread, raw, 4 KiB, 32 in flight");
    }
}
