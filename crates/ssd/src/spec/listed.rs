//! What can be chosen in a drive file, by name, for people: translation layers and victim policies.

use fathom_base::registry::Text;
use fathom_base::{About, Kind, names};

const FTL: Kind = Kind {
    one: "translation layer",
    list: "ftls",
    summary: "Translation layers",
    prefix: "",
    option: "--ftl",
    text: Text::Prose,
};

const VICTIM: Kind = Kind {
    one: "victim policy",
    list: "victims",
    summary: "How a block is chosen for garbage collection",
    prefix: "",
    option: "",
    text: Text::Prose,
};

names! {
    /// Kinds of mapping: values of `mapping.kind`.
    pub enum MappingKind of FTL in FTLS {
        /// Every unit anywhere, with garbage collection.
        Page = "page", About::new("page mapping with garbage collection").text(
            "Page mapping: a write goes to the next free page of the group whose turn it is (striping = \
\"dynamic\") or that its address names (a static order of channel, way, die and plane). `[gc]` says which block \
is collected, what is kept apart, and whether idle time is used. 4 bytes of map a unit.",
        );
        /// Page mapping whose map lies in flash, with a cache of it in memory.
        Dftl = "dftl", About::new("page mapping with the map in flash and a cache of it in memory").text(
            "DFTL (Gupta, Kim and Urgaonkar, ASPLOS 2009): `mapping.map_cache` bytes of memory hold the \
entries of the map that were used last; a miss reads a translation page, and a changed entry that leaves the cache \
has its translation page read and written again.",
        );
        /// Clustered blocks in order, with a log block for each that is written (`irbw` 2.1, `greedy-space` II;
        /// BAST).
        Block = "block", About::new("block mapping with a log block for each data block that is written (BAST)").text(
            "Data blocks keep their units in order; writes to a block go to its own log block, page-mapped \
within (Kim et al., IEEE Transactions on Consumer Electronics 2002; irbw 2.1, greedy-space II). A log written in \
order becomes the data block (switch merge), an orderly beginning is completed (partial merge), anything else is \
merged into a new block (full merge).",
        );
        /// Clustered blocks with a chain of replacement blocks that keep the order of units.
        Replacement = "replacement", About::new("block mapping with chains of replacement blocks in unit order (NFTL)").text(
            "A write to a unit goes to the same place in the first block of its data block's chain where \
that place is free; a chain that is too long is folded into one block (Ban, US patent 5,937,425).",
        );
        /// Log blocks for any data block, one of them for sequential writes (FAST).
        Fast = "fast", About::new("log blocks shared by all data blocks, one of them for sequential writes (FAST)").text(
            "Random writes fill log blocks in order of arrival whatever data block they belong to, and the \
oldest log is reclaimed by merging every data block that has a unit in it; a sequential stream has a log of its \
own that can be switched (Lee et al., ACM TECS 2007).",
        );
        /// Superblocks of neighbouring data blocks, page-mapped within.
        Superblock = "superblock", About::new("superblocks of neighbouring data blocks, with page mapping inside").text(
            "Superblock mapping (Kang, Jo, Kim and Lee, EMSOFT 2006): a few neighbouring data blocks share \
their log blocks and are page-mapped within, so that what is written often gathers in few blocks.",
        );
        /// A page-mapped log that is collected, over block-mapped data.
        Hybrid = "hybrid", About::new("a page-mapped log, garbage-collected, over block-mapped data (irbw 2)").text(
            "Writes go to a log that is page-mapped for every data block; its blocks are collected within \
the log while little in them is valid, and merged into their data blocks otherwise (irbw 2.1).",
        );
    }
}

names! {
    /// Which block is collected: values of `gc.victim`.
    #[derive(Default)]
    pub enum Victim of VICTIM in VICTIMS {
        /// The one with the fewest valid units, the first of equals.
        #[default]
        Greedy = "greedy", About::new("the block with the fewest valid units").text(
            "Moves the least data now. The best choice under uniform random writes (Desnoyers, SYSTOR 2012).",
        );
        /// The one with the highest (1 - u) x age / 2u (Kawaguchi, Nishioka and Motoda, USENIX 1995).
        CostBenefit = "cost-benefit", About::new("the highest (1 - u) x age / 2u").text(
            "Waits longer with blocks that were written lately, because more of them may still become \
invalid (Rosenblum and Ousterhout, ACM TOCS 1992; Kawaguchi, Nishioka and Motoda, USENIX 1995).",
        );
        /// The one that was filled first.
        Fifo = "fifo", About::new("the block that was filled first").text(
            "Needs no count of valid units. Its write amplification under uniform random writes has a \
closed form (Menon and Cormen 1991; Desnoyers, SYSTOR 2012).",
        );
        /// The one with the fewest valid units among `choices` drawn at random (Van Houdt, SIGMETRICS 2013).
        DChoices = "d-choices", About::new("the fewest valid units among `gc.choices` blocks drawn at random").text(
            "Close to greedy for a tenth of the work (Van Houdt, SIGMETRICS 2013; Li, Lee and Lui, \
SIGMETRICS 2013).",
        );
    }
}
