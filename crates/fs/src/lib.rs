//! File systems as the block layer sees them: where files lie on a drive ([`files`]), and which of their pages are in
//! memory ([`cache`]).
//!
//! Knows no drive and no time: it says which blocks an operation reads and changes. `fathom_platform` turns that into requests.
//! [`files::Space::free_pieces`] tells how scattered the free blocks of a drive are.

pub mod cache;
pub mod files;
