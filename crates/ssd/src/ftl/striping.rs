//! Static striping: the address of a page selects its group.
//!
//! The clustered pages of the host's address space are numbered, and the number is read in mixed radix: the first
//! letter of the order varies fastest (Tavakkol et al., "Revisiting widely held SSD expectations", TOMPECS 2016;
//! Jung and Kandemir, "An evaluation of different page allocation strategies on high-speed SSDs", HotStorage 2012).
//!
//! Positions in the flash array are numbered as in [`crate::geometry`]: channel fastest, then package (way), die
//! and plane. A group covers as many neighbouring positions as a clustered block is wide: channels first, then
//! ways, and so on. A letter cannot vary positions that a group covers. With 4 channels and blocks 2 wide, `c`
//! counts 2 pairs of channels; with blocks 4 wide or wider, `c` has no effect. Planes that a clustered page is
//! striped over are covered in the same way: `p` counts the remaining parts of a die.

use crate::geometry::{Divisor, Geometry};
use crate::spec::{Flash, Striping};

/// The letters: channel, way, die and plane, in the order in which groups are numbered.
const PARTS: &[u8; 4] = b"cwdp";

/// The group of each clustered page of the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stripes {
    /// The groups in the order of the pages; the order repeats.
    turn: Vec<u32>,
    by_cpage: Divisor,
    by_turn: Divisor,
    units_per_cpage: u32,
}

impl Stripes {
    /// The striping of a drive; `None` with dynamic striping.
    pub(super) fn new(striping: Striping, flash: &Flash, g: &Geometry) -> Option<Stripes> {
        let order = order_of(striping)?;
        let counts = counts_of(flash, g);
        let group = |page: u32| {
            let (mut left, mut digits) = (page, [0; 4]);
            for letter in order {
                let part = PARTS.iter().position(|part| part == letter).unwrap_or(0);
                (digits[part], left) = (left % counts[part], left / counts[part]);
            }
            (0..4)
                .rev()
                .fold(0, |group, part| group * counts[part] + digits[part])
        };
        Some(Stripes {
            turn: (0..g.groups).map(group).collect(),
            by_cpage: Divisor::new(g.units_per_cpage),
            by_turn: Divisor::new(g.groups),
            units_per_cpage: g.units_per_cpage,
        })
    }

    /// Returns the groups of the first clustered pages, one for each group. The same order repeats for all pages
    /// after them.
    pub(super) fn in_turn(&self) -> &[u32] {
        &self.turn
    }

    /// Returns the group of a mapped unit.
    #[inline]
    pub(super) fn group_of(&self, lpn: u32) -> u32 {
        let (page, _) = self.by_cpage.split_u32(lpn);
        self.turn[self.by_turn.split_u32(page).1 as usize]
    }

    /// Returns the maximum number of mapped units that one group must hold, out of `units` in all.
    pub(super) fn share(&self, units: u32) -> u32 {
        let pages = units.div_ceil(self.units_per_cpage);
        pages.div_ceil(self.turn.len() as u32) * self.units_per_cpage
    }
}

/// Returns the number of groups along channel, way, die and plane. The product is the number of groups.
fn counts_of(flash: &Flash, g: &Geometry) -> [u32; 4] {
    let width = (flash.clustered_page.0 / flash.page.0) as u32;
    let planes = flash.planes_per_die / width.min(flash.planes_per_die);
    let (ways, dies) = (flash.packages_per_channel, flash.dies_per_package);
    let mut counts = [flash.channels, ways, dies, planes];
    let mut covered = counts.iter().product::<u32>() / g.groups;
    for count in &mut counts {
        let taken = common_divisor(covered, *count);
        (covered, *count) = (covered / taken, *count / taken);
    }
    counts
}

fn common_divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

fn order_of(striping: Striping) -> Option<&'static [u8; 4]> {
    Some(match striping {
        Striping::Dynamic => return None,
        Striping::Cwdp => b"cwdp",
        Striping::Cwpd => b"cwpd",
        Striping::Cdwp => b"cdwp",
        Striping::Cdpw => b"cdpw",
        Striping::Cpwd => b"cpwd",
        Striping::Cpdw => b"cpdw",
        Striping::Wcdp => b"wcdp",
        Striping::Wcpd => b"wcpd",
        Striping::Wdcp => b"wdcp",
        Striping::Wdpc => b"wdpc",
        Striping::Wpcd => b"wpcd",
        Striping::Wpdc => b"wpdc",
        Striping::Dcwp => b"dcwp",
        Striping::Dcpw => b"dcpw",
        Striping::Dwcp => b"dwcp",
        Striping::Dwpc => b"dwpc",
        Striping::Dpcw => b"dpcw",
        Striping::Dpwc => b"dpwc",
        Striping::Pcwd => b"pcwd",
        Striping::Pcdw => b"pcdw",
        Striping::Pwcd => b"pwcd",
        Striping::Pwdc => b"pwdc",
        Striping::Pdcw => b"pdcw",
        Striping::Pdwc => b"pdwc",
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::MappingKind;
    use crate::spec::small::small;
    use fathom_base::Bytes;
    use serde::Deserialize;
    use serde::de::value::StrDeserializer;

    fn stripes(name: &str, width: u64, wide: u64) -> (Stripes, Geometry) {
        let mut spec = small(MappingKind::Page);
        spec.capacity = Bytes::mib(3);
        spec.mapping.over_provisioning_percent = 10.0;
        let named = StrDeserializer::<serde::de::value::Error>::new(name);
        spec.mapping.striping = Striping::deserialize(named).unwrap();
        let flash = &mut spec.flash;
        (flash.channels, flash.packages_per_channel) = (4, 3);
        (flash.dies_per_package, flash.planes_per_die) = (2, 2);
        flash.clustered_page = Bytes(2048 * width);
        flash.clustered_block = Bytes(8192 * wide);
        spec.check().unwrap();
        let g = Geometry::new(&spec);
        let stripes = Stripes::new(spec.mapping.striping, &spec.flash, &g);
        (stripes.unwrap(), g)
    }

    fn groups(name: &str, width: u64, wide: u64, pages: u32) -> Vec<u32> {
        let (stripes, g) = stripes(name, width, wide);
        (0..pages)
            .map(|page| stripes.group_of(page * g.units_per_cpage))
            .collect()
    }

    /// Returns channel, way, die and plane of a page, computed from its number and the order alone.
    fn parts_of(mut page: u32, name: &str) -> [u32; 4] {
        let mut parts = [0; 4];
        for letter in name.bytes() {
            let (part, count) = match letter {
                b'c' => (0, 4),
                b'w' => (1, 3),
                b'd' => (2, 2),
                _ => (3, 2),
            };
            parts[part] = page % count;
            page /= count;
        }
        parts
    }

    #[test]
    fn every_order_puts_a_page_where_its_letters_say() {
        let mut names = 0;
        for name in ["c", "w", "d", "p"].iter().flat_map(|a| {
            let rest: Vec<char> = "cwdp".chars().filter(|c| !a.contains(*c)).collect();
            (0..6).map(move |i| {
                let mut rest = rest.clone();
                let mut name = (*a).to_owned();
                name.push(rest.remove(i / 2));
                name.push(rest.remove(i % 2));
                name.push(rest[0]);
                name
            })
        }) {
            names += 1;
            let (stripes, g) = stripes(&name, 1, 1);
            assert_eq!((g.groups, g.units_per_cpage), (48, 1));
            for page in 0..g.logical_units {
                let group = stripes.group_of(page);
                let [c, w, d, p] = parts_of(page % 48, &name);
                assert_eq!(group, c + 4 * (w + 3 * (d + 2 * p)), "{name}, page {page}");
                // The station that the drive uses is the die, and its channel is that of the letter `c`.
                let cpage = group * g.cblocks_per_group * g.cpages_per_cblock;
                let die = g.station_of_cpage(cpage);
                assert_eq!(die, c + 4 * (w + 3 * d), "{name}, page {page}");
                assert_eq!(g.planes_of_station(die), [c]);
            }
        }
        assert_eq!(names, 24);
    }

    #[test]
    fn what_a_block_covers_no_letter_varies() {
        // Blocks cover all four channels: ways, dies and planes are left.
        assert_eq!(
            groups("cwdp", 1, 4, 13),
            [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0]
        );
        assert_eq!(groups("pcwd", 1, 4, 6), [0, 6, 1, 7, 2, 8]);
        // Blocks cover pairs of channels, 0 and 1 or 2 and 3.
        assert_eq!(groups("cpwd", 1, 2, 6), [0, 1, 12, 13, 2, 3]);
        // Pages cover both planes: no plane is left.
        assert_eq!(groups("pdcw", 2, 2, 5), [0, 12, 1, 13, 2]);
    }

    #[test]
    fn no_group_must_hold_more_than_its_share() {
        for (width, wide) in [(1, 1), (1, 4), (2, 2)] {
            let (stripes, g) = stripes("wdpc", width, wide);
            let mut held = vec![0; g.groups as usize];
            (0..g.logical_units).for_each(|lpn| held[stripes.group_of(lpn) as usize] += 1);
            let most = held.iter().copied().max().unwrap();
            assert_eq!(most, stripes.share(g.logical_units));
            assert!(most <= g.data_cblocks_per_group() * g.units_per_cblock);
        }
    }
}
