//! File systems as the block layer sees them.
//!
//! This crate models neither a drive nor time: it says which blocks an operation reads and changes.
//!
//! [`Volume`] is a file system with its metadata: ext2, ext3 or ext4 ([`ext`]) or ReiserFS ([`reiser`]) over one of the
//! allocators of [`alloc`], or a log-structured one in the manner of F2FS ([`log`]), which places blocks itself
//! ([`Volume::moves`]). A [`FileSystem`] makes one by name, a [`Formatting`] one with settings. [`Journal`] is its journal
//! (ordered mode), [`cache`] keeps pages in memory. Two things drive them:
//! - [`Player`] performs file operations without time, and says what each sync writes and in which order: data, the
//!   journal, metadata at its place; or data, nodes, tables and a checkpoint.
//! - `fathom_platform` runs programs in time: threads, write-back, commits. Postmark and filebench run over it.
//!
//! ```
//! use fathom_fs::alloc::GreedySpace;
//! use fathom_fs::ext::ExtFormat;
//! use fathom_fs::{Player, Purpose, ROOT, Volume};
//!
//! // ext3 on 8 GiB, with Greedy-Space for logical blocks of 4 MiB.
//! let volume = Volume::format(ExtFormat::default(), 2 << 20, |space| {
//!     Box::new(GreedySpace::new(space, 1024, 0))
//! })?;
//! let mut player = Player::new(volume, true);
//! let directory = player.make_directory(4)?;
//! let files = (0..10).map(|_| player.create(directory, 6, 10_000));
//! let files = files.collect::<Result<Vec<_>, _>>()?;
//! player.append(files[0], 5_000)?;
//! player.delete(files[1])?;
//! let writes = player.sync()?;
//! // Nine files lie one after the other; the journal and then the metadata follow.
//! let data = writes.iter().filter(|write| write.purpose == Purpose::Data);
//! assert_eq!(data.count(), 1);
//! # Ok::<(), fathom_fs::FsError>(())
//! ```
//!
//! An [`Operation`] is one of a program, by name: a line of text ([`BadOperation`] if it is none).
//!
//! [`Player::mount`] changes the allocator of a volume with files; [`ROOT`] is its first directory;
//! [`Space::free_runs`] and [`Volume::pieces`] tell how fragmented it is, [`Volume::files`] and [`Volume::blocks`] where
//! everything lies ([`METADATA`] owns the nodes of ReiserFS's tree); [`Space::leaving`] and [`Space::leaving_in`] count what
//! is free after a commit. [`alloc::ReclaimUnits`] is for page-mapped drives. [`alloc::GreedySpace::logical_blocks`] and [`alloc::PAPER_ENTRY_BYTES`] give the memory that the
//! paper states.
//!
//! # How well the allocators match kernels
//!
//! The same file operations (Postmark with a sync every 1,000 operations) were recorded from Linux and from a Greedy-Space
//! over libext2fs. Mean number of logical blocks of 4 MiB with data for each sync:
//!
//! | | recorded | here |
//! |---|--:|--:|
//! | CVFS-Large, ext3, Linux 6.18 | 214.3 | 212.7 |
//! | CVFS-Large, ext4, Linux 6.18 | 192.0 | 190.7 |
//! | CVFS-Large, Greedy-Space, ext3 and ext4 | 158.5, 157.5 | 158.3, 157.4 |
//! | FSL, ext3 and ext4, Linux 6.18 | 85, 77 | 83.8, 76.9 |
//! | FSL, Greedy-Space, ext3 | 75.4 | 75.8 |
//! | CVFS-Large on an aged ext4: ext4, Greedy-Space | 345, 183 | 375, 187 |
//! | CVFS-Large, ReiserFS, Linux 6.1 | 214.1 | 215.1 |
//! | CVFS, ReiserFS, Linux 6.1 | 10.5 | 10.5 |
//! | FSL, ReiserFS, Linux 6.1 (with metadata) | 83 | 85.0 |
//! | CVFS-Large, ReiserFS with a Greedy-Space patch | 168 | 158.8 |
//! | FSL, ReiserFS with a Greedy-Space patch | 104 | 78.2, with metadata 120.9 |
//!
//! With locality ([`alloc::GreedyLocal`]) Greedy-Space touches 141 on CVFS-Large and 42.7 on FSL: new blocks in logical
//! blocks that a sync rewrites anyway need no merge of their own.
//!
//! ReiserFS was recorded on 4 GiB. What a sync touches counts what write-back wrote since the last one, without the
//! journal; in the recording of CVFS-Large a part was written before the sync, because pages were old. A run on one
//! processor (2,500 operations, 14 syncs) is equal block by block. The journal of CVFS has 7,672 blocks here and 7,983 in
//! the recording; that of CVFS-Large has 10 % more there, because transactions also ended by time. The recordings of FSL and of the patched kernel are not kept:
//! for FSL only a count with metadata agrees, and where the patch put nodes of the tree is not known.
//!
//! The bytes of each sync are equal. [`alloc::Ext3`] (reservation windows) was recorded on an ext2 volume of unknown size,
//! with metadata counted: 229 logical blocks on CVFS-Large and 73 on FSL, with Greedy-Space 210 and 104. On 4 GiB it is
//! 222 and 68 here, with Greedy-Space 215 and 102.

mod ageing;
pub mod alloc;
mod block;
pub mod cache;
mod choice;
mod error;
pub mod ext;
mod journal;
mod layout;
pub mod log;
mod lookup;
mod map;
mod operation;
mod player;
pub mod reiser;
mod space;
mod tags;
mod volume;
mod write;

pub use ageing::{Aged, Ageing, Sizes};
pub use block::{BLOCK_BYTES, Extent, FileId, METADATA, PageKey, ROOT};
pub use choice::{ALLOCATORS, FORMATS, FileSystem, Format, Policy};
pub use error::FsError;
pub use journal::{Commit, Journal};
pub use operation::{BadOperation, Operation};
pub use player::Player;
pub use space::Space;
pub use volume::{Formatting, Volume};
pub use write::{Purpose, Write};
