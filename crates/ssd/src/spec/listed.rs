//! Choices in a drive file that have a name and a description: translation layers and victim policies.

use fathom_base::registry::Text;
use fathom_base::{About, Kind, names};

pub(crate) const FTL: Kind = Kind {
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

/// Properties of a mapping that the layout of a drive depends on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Needs {
    /// Units may lie anywhere, and garbage collection makes room. If false, units never leave their group.
    pub(crate) paged: bool,
    /// Minimum number of log blocks of a group.
    pub(crate) logs_min: u32,
    /// The map lies in flash.
    pub(crate) map_in_flash: bool,
    /// The host sees zones, and nothing is moved.
    pub(crate) zoned: bool,
}

const PAGED: Needs = Needs {
    paged: true,
    logs_min: 0,
    map_in_flash: false,
    zoned: false,
};
const MAP_IN_FLASH: Needs = Needs {
    map_in_flash: true,
    ..PAGED
};
const LOGS: Needs = Needs {
    paged: false,
    logs_min: 1,
    ..PAGED
};
/// One log block for sequential writes and at least one for all others.
const TWO_LOGS: Needs = Needs {
    logs_min: 2,
    ..LOGS
};

const ZONED: Needs = Needs {
    paged: false,
    zoned: true,
    ..PAGED
};

/// Empty description. A mapping is described in its own file, and [`crate::ftl::FTLS`] lists the descriptions. They
/// cannot be named here, because those files depend on the drive file.
const ELSEWHERE: About = About::new("");

names! {
    /// Kinds of mapping: values of `mapping.kind`.
    pub enum MappingKind of FTL in MAPPINGS, pub(crate) fn needs -> Needs {
        Page = "page", ELSEWHERE => PAGED;
        Dftl = "dftl", ELSEWHERE => MAP_IN_FLASH;
        Block = "block", ELSEWHERE => LOGS;
        Replacement = "replacement", ELSEWHERE => LOGS;
        Fast = "fast", ELSEWHERE => TWO_LOGS;
        Superblock = "superblock", ELSEWHERE => LOGS;
        Hybrid = "hybrid", ELSEWHERE => LOGS;
        Zoned = "zoned", ELSEWHERE => ZONED;
    }
}

impl MappingKind {
    /// Returns true if units may lie anywhere and garbage collection makes room.
    pub fn is_paged(self) -> bool {
        self.needs().paged
    }

    /// Returns true if the host sees zones.
    pub(crate) fn is_zoned(self) -> bool {
        self.needs().zoned
    }
}

names! {
    /// How the block to collect is chosen: values of `gc.victim`.
    #[derive(Default)]
    pub enum Victim of VICTIM in VICTIMS {
        /// The block with the fewest valid units, the first one among equals.
        #[default]
        Greedy = "greedy", About::new("the block with the fewest valid units").text(
            "Moves the least data now. The best choice under uniform random writes (Desnoyers, SYSTOR 2012).",
        );
        /// The block with the highest (1 - u) x age / 2u (Kawaguchi, Nishioka and Motoda, USENIX 1995).
        CostBenefit = "cost-benefit", About::new("the highest (1 - u) x age / 2u").text(
            "Collects recently written blocks later, because more of their units may still become invalid (Rosenblum and \
Ousterhout, ACM TOCS 1992; Kawaguchi, Nishioka and Motoda, USENIX 1995).",
        );
        /// The block that was filled first.
        Fifo = "fifo", About::new("the block that was filled first").text(
            "It needs no count of valid units. Its write amplification under uniform random writes has a closed form (Menon and \
Cormen 1991; Desnoyers, SYSTOR 2012).",
        );
        /// The block with the fewest valid units among `choices` blocks drawn at random (Van Houdt, SIGMETRICS 2013).
        DChoices = "d-choices", About::new("the fewest valid units among `gc.choices` blocks drawn at random").text(
            "Close to greedy for a tenth of the work (Van Houdt, SIGMETRICS 2013; Li, Lee and Lui, \
SIGMETRICS 2013).",
        );
    }
}
