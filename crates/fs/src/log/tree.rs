//! The nodes that map a file: which node has the pointer to a page, and the nodes on the way to it.

/// Pointers of an inode, and of a node of pointers or numbers.
const IN_INODE: u32 = 923;
const IN_NODE: u32 = 1018;
/// Nodes of pointers whose numbers the inode has.
const DIRECT: u32 = 2;
/// Nodes of numbers whose numbers the inode has.
const INDIRECT: u32 = 2;

/// A node of a file, beside its inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// Pointers to data, by their order.
    Pointers(u32),
    /// Numbers of nodes of pointers.
    Numbers(u32),
    /// Numbers of nodes of numbers.
    Top,
}

/// The node with the pointer to a page; `None` for the inode.
pub(super) fn place_of(page: u32) -> Option<Place> {
    let behind = page.checked_sub(IN_INODE)?;
    Some(Place::Pointers(behind / IN_NODE))
}

/// The node that has the number of a node; `None` for the inode.
pub(super) fn parent_of(place: Place) -> Option<Place> {
    match place {
        Place::Pointers(order) => {
            let behind = order.checked_sub(DIRECT)?;
            Some(Place::Numbers(behind / IN_NODE))
        }
        Place::Numbers(order) => (order >= INDIRECT).then_some(Place::Top),
        Place::Top => None,
    }
}

/// Number of nodes on the way to a page that are on no way to an earlier page.
pub(super) fn first_used_by(page: u32) -> u64 {
    let before = page.checked_sub(1).and_then(place_of);
    let mut at = place_of(page).filter(|&place| Some(place) != before);
    let mut other = before;
    let mut count = 0;
    while let Some(place) = at {
        count += 1;
        other = other.and_then(parent_of);
        at = parent_of(place).filter(|&parent| Some(parent) != other);
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_its_node() {
        assert_eq!(place_of(922), None);
        assert_eq!(place_of(923), Some(Place::Pointers(0)));
        assert_eq!(place_of(923 + 1018), Some(Place::Pointers(1)));
        assert_eq!(parent_of(Place::Pointers(1)), None);
        assert_eq!(parent_of(Place::Pointers(2)), Some(Place::Numbers(0)));
        assert_eq!(parent_of(Place::Numbers(2)), Some(Place::Top));
        // The third node of pointers needs a node of numbers, the one after 2 + 2 * 1,018 the top as well.
        assert_eq!([922, 923, 924].map(first_used_by), [0, 1, 0]);
        assert_eq!(first_used_by(923 + 2 * 1018), 2);
        assert_eq!(first_used_by(923 + 3 * 1018), 1);
        assert_eq!(first_used_by(923 + (2 + 2 * 1018) * 1018), 3);
    }
}
