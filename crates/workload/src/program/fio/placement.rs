//! The placement handles of a job's writes (NVMe Flexible Data Placement), as fio takes them from 3.34 on.

/// Which placement handles a job writes with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// `fdp` or `dataplacement=fdp`; without it the handles are not used.
    pub fdp: bool,
    /// `plids`: the handles, in turn one a write (`plid_select=roundrobin`).
    pub plids: Vec<u16>,
}

/// The handles of a process, in turn.
#[derive(Clone, Debug)]
pub(super) struct Handles {
    of: Vec<u16>,
    turn: usize,
}

impl Handles {
    pub(super) fn new(placement: &Placement) -> Self {
        Self {
            of: match placement.fdp {
                true => placement.plids.clone(),
                false => Vec::new(),
            },
            turn: 0,
        }
    }

    /// Returns the handle of the next write; 0 if the job has none.
    pub(super) fn next(&mut self) -> u16 {
        let Some(&handle) = self.of.get(self.turn) else {
            return 0;
        };
        self.turn = (self.turn + 1) % self.of.len();
        handle
    }
}

/// Parses a list of handles.
pub(super) fn plids(text: &str) -> Option<Vec<u16>> {
    text.split(',').map(|one| one.trim().parse().ok()).collect()
}
