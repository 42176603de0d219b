//! No buffer: every request is passed on unchanged (`epo` IV.A, the baseline of its comparison).

use super::requests::Requests;
use fathom_base::About;

pub(super) const ABOUT: About = About::new("no buffer: every request goes to the drive as it came").text(
    "\
No write buffer: every request goes to the flash array unchanged and at once, and is complete when it is programmed.
Source: epo, IV.A, the baseline of its comparison. In a drive file, leave [write_buffer] out.",
);

/// A policy that is never used, because nothing is held.
pub(crate) type Order = Requests<false>;
