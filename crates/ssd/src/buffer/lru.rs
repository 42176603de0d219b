//! Evicts the least recently written (`epo` IV.A; `parameter-aware-io` 4.3: a cache).

use super::requests::Requests;
use fathom_base::About;

pub(super) const ABOUT: About = About::new("evicts the page written longest ago; a rewrite replaces the page").text(
    "\
A page that is written again replaces the one in the buffer and is the newest; what was written longest ago leaves
first. In front of a drive, the age is that of whole requests (epo, IV.A): a request leaves with all pages that no
later request has written, and a page that was written again belongs to the later one. Inside the drive, it is the
age of clustered pages. It knows no blocks, no streams and no elements.",
);

/// Requests in the order in which they were written last.
pub(crate) type Order = Requests<true>;
