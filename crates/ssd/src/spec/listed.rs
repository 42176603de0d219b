//! What can be chosen in a drive file, by name, for people: translation layers and victim policies.

/// A choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listed {
    /// What it is called in a drive file.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// How it works, where it comes from, and what it does not do.
    pub explanation: &'static str,
}

/// Translation layers: values of `mapping.kind`.
pub const FTLS: &[Listed] = &[
    Listed {
        name: "page",
        summary: "page mapping with garbage collection",
        explanation: "Page mapping: a write goes to the next free page of the group whose turn it is (striping = \
\"dynamic\") or that its address names (a static order of channel, way, die and plane). `[gc]` says which block \
is collected, what is kept apart, and whether idle time is used. 4 bytes of map a unit.",
    },
    Listed {
        name: "dftl",
        summary: "page mapping with the map in flash and a cache of it in memory",
        explanation: "DFTL (Gupta, Kim and Urgaonkar, ASPLOS 2009): `mapping.map_cache` bytes of memory hold the \
entries of the map that were used last; a miss reads a translation page, and a changed entry that leaves the cache \
has its translation page read and written again.",
    },
    Listed {
        name: "block",
        summary: "block mapping with a log block for each data block that is written (BAST)",
        explanation: "Data blocks keep their units in order; writes to a block go to its own log block, page-mapped \
within (Kim et al., IEEE Transactions on Consumer Electronics 2002; irbw 2.1, greedy-space II). A log written in \
order becomes the data block (switch merge), an orderly beginning is completed (partial merge), anything else is \
merged into a new block (full merge).",
    },
    Listed {
        name: "replacement",
        summary: "block mapping with chains of replacement blocks in unit order (NFTL)",
        explanation: "A write to a unit goes to the same place in the first block of its data block's chain where \
that place is free; a chain that is too long is folded into one block (Ban, US patent 5,937,425).",
    },
    Listed {
        name: "fast",
        summary: "log blocks shared by all data blocks, one of them for sequential writes (FAST)",
        explanation: "Random writes fill log blocks in order of arrival whatever data block they belong to, and the \
oldest log is reclaimed by merging every data block that has a unit in it; a sequential stream has a log of its \
own that can be switched (Lee et al., ACM TECS 2007).",
    },
    Listed {
        name: "superblock",
        summary: "superblocks of neighbouring data blocks, with page mapping inside",
        explanation: "Superblock mapping (Kang, Jo, Kim and Lee, EMSOFT 2006): a few neighbouring data blocks share \
their log blocks and are page-mapped within, so that what is written often gathers in few blocks.",
    },
    Listed {
        name: "hybrid",
        summary: "a page-mapped log, garbage-collected, over block-mapped data (irbw 2)",
        explanation: "Writes go to a log that is page-mapped for every data block; its blocks are collected within \
the log while little in them is valid, and merged into their data blocks otherwise (irbw 2.1).",
    },
];

/// Which block is collected: values of `gc.victim`.
pub const VICTIMS: &[Listed] = &[
    Listed {
        name: "greedy",
        summary: "the block with the fewest valid units",
        explanation: "Moves the least data now. The best choice under uniform random writes (Desnoyers, SYSTOR 2012).",
    },
    Listed {
        name: "cost-benefit",
        summary: "the highest (1 - u) x age / 2u",
        explanation: "Waits longer with blocks that were written lately, because more of them may still become \
invalid (Rosenblum and Ousterhout, ACM TOCS 1992; Kawaguchi, Nishioka and Motoda, USENIX 1995).",
    },
    Listed {
        name: "fifo",
        summary: "the block that was filled first",
        explanation: "Needs no count of valid units. Its write amplification under uniform random writes has a \
closed form (Menon and Cormen 1991; Desnoyers, SYSTOR 2012).",
    },
    Listed {
        name: "d-choices",
        summary: "the fewest valid units among `gc.choices` blocks drawn at random",
        explanation: "Close to greedy for a tenth of the work (Van Houdt, SIGMETRICS 2013; Li, Lee and Lui, \
SIGMETRICS 2013).",
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{MappingKind, Victim};
    use serde::Deserialize;
    use serde::de::value::{Error, StrDeserializer};

    fn reads<'a, T: Deserialize<'a>>(name: &'a str) -> bool {
        T::deserialize(StrDeserializer::<Error>::new(name)).is_ok()
    }

    #[test]
    fn every_name_is_a_value_of_the_drive_file() {
        assert!(FTLS.iter().all(|ftl| reads::<MappingKind>(ftl.name)));
        assert!(VICTIMS.iter().all(|victim| reads::<Victim>(victim.name)));
        assert!(!reads::<Victim>("none"));
    }
}
