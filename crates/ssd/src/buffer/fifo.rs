//! First in, first out (`parameter-aware-io` 4.3: a buffer, not a cache).

use super::requests::Requests;
use fathom_base::About;

pub(super) const ABOUT: About = About::new("evicts the oldest page; a rewrite takes new room").text(
    "\
Writes leave in the order in which they came. A page that is written again takes new room, unless nothing else was
written in between; so rewriting saves no programming. Source: parameter-aware-io, 4.3 (three of its four drives).
In front of a drive, a request leaves as it came. It knows no blocks, no streams and no elements.",
);

/// Requests in the order in which they came.
pub(crate) type Order = Requests<false>;
