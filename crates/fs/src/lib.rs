//! File systems as the block layer sees them: the places of files on a drive ([`files`]) and the pages of files in
//! memory ([`cache`]).
//!
//! This crate models neither a drive nor time: it says which blocks an operation reads and changes. `fathom_platform`
//! turns that into requests. [`files::Space::free_pieces`] tells how fragmented the free blocks of a drive are.

pub mod cache;
pub mod files;
