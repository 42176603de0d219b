//! Evicts the least recently written page or request (`epo` IV.A; `parameter-aware-io` 4.3: a cache).

use super::requests::Requests;
use fathom_base::About;

pub(super) const ABOUT: About = About::new("evicts the page written longest ago; a rewrite replaces the page").text(
    "\
A rewritten page replaces the one in the buffer and is the newest; the least recently written page is evicted first.
In front of a drive whole requests have an age (epo, IV.A): a request is evicted with all pages that no later
request has written, and a rewritten page belongs to the later request. Inside the drive clustered pages have an
age. It does not use blocks, streams or elements.",
);

/// Requests in order of their last write.
pub(crate) type Order = Requests<true>;
