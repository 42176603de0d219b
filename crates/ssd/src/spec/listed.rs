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
            "Page mapping: a write goes to the next free page of a group. Groups take turns (striping = \"dynamic\"), or the \
address selects the group (a static order of channel, way, die and plane). `[gc]` sets which block is collected, \
which data has blocks of its own, and whether idle time is used. The map takes 4 bytes a unit.",
        );
        /// Page mapping whose map lies in flash, with a cache of it in memory.
        Dftl = "dftl", About::new("page mapping with the map in flash and a cache of it in memory").text(
            "DFTL (Gupta, Kim and Urgaonkar, ASPLOS 2009): `mapping.map_cache` bytes of memory cache the map entries that were \
used last. A miss reads a translation page. Evicting a changed entry reads and writes its translation page.",
        );
        /// Clustered blocks in order, with a log block for each that is written (`irbw` 2.1, `greedy-space` II;
        /// BAST).
        Block = "block", About::new("block mapping with a log block for each data block that is written (BAST)").text(
            "Data blocks keep their units in order. Writes to a block go to its own log block, which is page-mapped (Kim et \
al., IEEE Transactions on Consumer Electronics 2002; irbw 2.1, greedy-space II). A log that was written in order \
becomes the data block (switch merge), an orderly beginning is completed (partial merge), and any other log is \
merged into a new block (full merge).",
        );
        /// Clustered blocks with a chain of replacement blocks that keep the order of units.
        Replacement = "replacement", About::new("block mapping with chains of replacement blocks in unit order (NFTL)").text(
            "A write to a unit goes to the same offset in the first block of its chain where that offset is free. A chain that \
is too long is folded into one block (Ban, US patent 5,937,425).",
        );
        /// Log blocks for any data block, one of them for sequential writes (FAST).
        Fast = "fast", About::new("log blocks shared by all data blocks, one of them for sequential writes (FAST)").text(
            "Random writes to any data block fill log blocks in order of arrival. To reclaim the oldest log, every data block \
with a unit in it is merged. A sequential stream has its own log, which can be switched (Lee et al., ACM TECS \
2007).",
        );
        /// Superblocks of neighbouring data blocks, page-mapped within.
        Superblock = "superblock", About::new("superblocks of neighbouring data blocks, with page mapping inside").text(
            "Superblock mapping (Kang, Jo, Kim and Lee, EMSOFT 2006): a few neighbouring data blocks share their log blocks and \
are page-mapped within, so that units that are written often gather in few blocks.",
        );
        /// A page-mapped log that is collected, over block-mapped data.
        Hybrid = "hybrid", About::new("a page-mapped log, garbage-collected, over block-mapped data (irbw 2)").text(
            "Writes to all data blocks go to one page-mapped log. A log block with few valid units is collected within the log; \
any other is merged into its data blocks (irbw 2.1).",
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
            "Collects recently written blocks later, because more of their units may still become invalid (Rosenblum and \
Ousterhout, ACM TOCS 1992; Kawaguchi, Nishioka and Motoda, USENIX 1995).",
        );
        /// The one that was filled first.
        Fifo = "fifo", About::new("the block that was filled first").text(
            "It needs no count of valid units. Its write amplification under uniform random writes has a closed form (Menon and \
Cormen 1991; Desnoyers, SYSTOR 2012).",
        );
        /// The one with the fewest valid units among `choices` drawn at random (Van Houdt, SIGMETRICS 2013).
        DChoices = "d-choices", About::new("the fewest valid units among `gc.choices` blocks drawn at random").text(
            "Close to greedy for a tenth of the work (Van Houdt, SIGMETRICS 2013; Li, Lee and Lui, \
SIGMETRICS 2013).",
        );
    }
}
