//! First in, first out (`parameter-aware-io` 4.3: a buffer, not a cache).

use super::requests::Requests;
use fathom_base::About;

pub(super) const ABOUT: About = About::new("evicts the oldest page; a rewrite takes new room").text(
    "\
Writes are evicted in order of arrival. A rewritten page takes new room, unless nothing else was written in between,
so rewriting saves no programming. Source: parameter-aware-io, 4.3 (three of its four drives). In front of a drive,
a request is evicted unchanged. It does not use blocks, streams or elements.",
);

/// Requests in order of arrival.
pub(crate) type Order = Requests<false>;
