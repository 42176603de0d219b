//! Which inode a new file gets: its directory's group; directories are spread (Orlov).

use super::geometry::Geometry;
use crate::space::Space;

/// Number of inodes that the format keeps for itself in the first group.
const RESERVED: u64 = 11;

/// The inodes of one group.
#[derive(Clone, Debug, Default)]
struct Group {
    /// One bit for each inode, set if it is in use; grown on demand.
    used: Vec<u64>,
    count: u64,
    directories: u64,
}

impl Group {
    /// Takes the lowest free inode.
    fn take(&mut self) -> u64 {
        self.count += 1;
        let word = self.used.iter().position(|&word| word != u64::MAX);
        let word = word.unwrap_or_else(|| {
            self.used.push(0);
            self.used.len() - 1
        });
        let bit = self.used[word].trailing_ones();
        self.used[word] |= 1 << bit;
        word as u64 * 64 + u64::from(bit)
    }
}

/// The inodes of a volume.
#[derive(Clone, Debug)]
pub(crate) struct Inodes {
    groups: Vec<Group>,
    per_group: u64,
    used: u64,
    directories: u64,
    /// The group that the next directory of the root begins its search at: they are spread over the volume.
    spread: u64,
}

impl Inodes {
    pub(crate) fn new(geometry: &Geometry) -> Self {
        let mut groups = vec![Group::default(); geometry.groups as usize];
        if let Some(first) = groups.first_mut() {
            (0..RESERVED).for_each(|_| {
                first.take();
            });
        }
        Self {
            groups,
            per_group: geometry.inodes,
            used: RESERVED,
            directories: 0,
            spread: 0,
        }
    }

    /// Number of inodes.
    pub(crate) fn all(&self) -> u64 {
        self.per_group * self.groups.len() as u64
    }

    fn has_room(&self, group: u64) -> bool {
        self.groups[group as usize].count < self.per_group
    }

    /// Takes an inode of a group. Returns its number, from 0.
    fn take(&mut self, group: u64, directory: bool) -> u64 {
        self.used += 1;
        let entry = &mut self.groups[group as usize];
        if directory {
            entry.directories += 1;
            self.directories += 1;
        }
        group * self.per_group + entry.take()
    }

    /// Frees an inode.
    pub(crate) fn release(&mut self, inode: u64, directory: bool) {
        let (group, within) = (inode / self.per_group, inode % self.per_group);
        let entry = &mut self.groups[group as usize];
        entry.used[(within / 64) as usize] &= !(1 << (within % 64));
        entry.count -= 1;
        self.used -= 1;
        if directory {
            entry.directories -= 1;
            self.directories -= 1;
        }
    }

    /// Takes an inode for a file in a directory of this group: in the group if there is room, else near it.
    pub(crate) fn take_file(
        &mut self,
        parent: u64,
        geometry: &Geometry,
        space: &Space,
    ) -> Option<u64> {
        let groups = self.groups.len() as u64;
        let flex = geometry.flex();
        if flex > 1 {
            // The first group with room in the run of groups of the directory, then any.
            let first = parent / flex * flex;
            let mut near = first..groups.min(first + flex);
            let found = near.find(|&group| self.has_room(group));
            let found = found.or_else(|| (0..groups).find(|&group| self.has_room(group)))?;
            return Some(self.take(found, false));
        }
        let fits = |group: &u64| self.has_room(*group) && space.free_in(*group) > 0;
        // Quadratic steps from the directory's group, then one after the other (`find_group_other`).
        let steps =
            std::iter::successors(Some(1), |step| Some(step * 2)).take_while(|&step| step < groups);
        let quadratic = steps.scan((parent + parent) % groups, |group, step| {
            *group = (*group + step) % groups;
            Some(*group)
        });
        let mut candidates = std::iter::once(parent).chain(quadratic);
        let found = candidates.find(fits).or_else(|| {
            let mut ring = (0..groups).map(|step| (parent + step) % groups);
            ring.find(|&group| self.has_room(group))
        })?;
        Some(self.take(found, false))
    }

    /// Takes an inode for a directory (Orlov): one of the root goes to a group that has many free inodes and blocks and
    /// few directories, from a place on that moves with each; another stays near its parent unless that is crowded.
    pub(crate) fn take_directory(
        &mut self,
        parent: u64,
        top: bool,
        geometry: &Geometry,
        space: &Space,
    ) -> Option<u64> {
        let flex = geometry.flex();
        let runs = (self.groups.len() as u64).div_ceil(flex);
        let mean = |sum: u64| sum / runs;
        let inodes = mean(self.all() - self.used);
        let blocks = mean(space.free());
        let crowded = mean(self.directories) + self.per_group * flex / 16;
        let found = if top {
            self.spread = (self.spread + spread_step(runs)) % runs;
            let candidates = (0..runs).map(|step| (self.spread + step) % runs);
            let fit = candidates.filter(|&run| {
                let (free, room, _) = self.of_run(run, flex, space);
                free >= inodes.max(1) && room >= blocks
            });
            fit.min_by_key(|&run| self.of_run(run, flex, space).2)
        } else {
            let (least_inodes, least_blocks) = (
                inodes.saturating_sub(self.per_group * flex / 4),
                blocks.saturating_sub(blocks / 4),
            );
            let mut ring = (0..runs).map(|step| (parent / flex + step) % runs);
            ring.find(|&run| {
                let (free, room, directories) = self.of_run(run, flex, space);
                directories < crowded.max(1) && free >= least_inodes.max(1) && room >= least_blocks
            })
        };
        let group = match found {
            Some(run) => (run * flex..self.groups.len() as u64).find(|&group| self.has_room(group)),
            None => (0..self.groups.len() as u64).find(|&group| self.has_room(group)),
        }?;
        Some(self.take(group, true))
    }

    /// Free inodes, free blocks and directories of a run of groups.
    fn of_run(&self, run: u64, flex: u64, space: &Space) -> (u64, u64, u64) {
        let end = ((run + 1) * flex).min(self.groups.len() as u64);
        (run * flex..end).fold((0, 0, 0), |(free, blocks, directories), group| {
            let entry = &self.groups[group as usize];
            (
                free + self.per_group - entry.count,
                blocks + space.free_in(group),
                directories + entry.directories,
            )
        })
    }
}

/// A step that visits all of `runs` places before one twice, and neighbours late: near the golden section, coprime.
fn spread_step(runs: u64) -> u64 {
    let gcd = |mut a: u64, mut b: u64| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    let near = (runs * 618 / 1000).max(1);
    (near..).find(|&step| gcd(step, runs) == 1).unwrap_or(1)
}
