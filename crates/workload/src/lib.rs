//! Workloads: generators of accesses, steps that transform accesses, and programs that issue requests to a drive.
//!
//! Generators and steps are iterators: they process one access at a time, in constant memory. Nothing in this crate opens a
//! file or reads a clock. All random numbers come from [`fathom_base::Rng`], seeded by the caller. `fathom-trace` reads
//! traces.
//!
//! For callers that configure in code instead of a study file:
//! - [`generate::Permutation`] and [`generate::Zipf`] are the distributions that offsets are drawn from.
//! - Postmark's settings ([`type_a`](program::postmark::type_a), [`type_b`](program::postmark::type_b),
//!   [`fixed`](program::postmark::fixed), [`cvfs`](program::postmark::cvfs),
//!   [`cvfs_large`](program::postmark::cvfs_large), [`fsl`](program::postmark::fsl)), and filebench's
//!   ([`webserver`](program::filebench::webserver), [`fileserver`](program::filebench::fileserver),
//!   [`varmail`](program::filebench::varmail), [`oltp`](program::filebench::oltp), and an
//!   [`example`](program::filebench::example) of a text of one's own). `onto` applies overrides to settings, and `build`
//!   makes the program; for the three servers it also takes a [`Server`](program::filebench::Server).
//! - Filebench's language ([`program::filebench::language`]): [`Model`](program::filebench::language::Model) reads a text
//!   into a [`Workload`](program::filebench::language::Workload) of
//!   [`FileSet`](program::filebench::language::FileSet)s and [`Threads`](program::filebench::language::Threads) with their
//!   [`Flowop`](program::filebench::language::Flowop)s ([`Kind`](program::filebench::language::Kind)), whose numbers are
//!   [`Amount`](program::filebench::language::Amount)s of a
//!   [`Distribution`](program::filebench::language::Distribution) ([`Shape`](program::filebench::language::Shape));
//!   [`Value`](program::filebench::language::Value), [`Quit`](program::filebench::language::Quit),
//!   [`ModelError`](program::filebench::language::ModelError) and [`Problem`](program::filebench::language::Problem).
//! - The tables of fio's options, which tests compare with fio and with the documentation:
//!   [`OPTIONS`](program::fio::OPTIONS), [`IGNORED`](program::fio::IGNORED), [`REFUSED`](program::fio::REFUSED) and
//!   [`HARMLESS`](program::fio::HARMLESS).

pub mod generate;
pub mod program;
pub mod step;
