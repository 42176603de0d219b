//! The tests of the command `fathom`, which run it as a user does.
//!
//! They are one program, because a program for each file would be linked for each file.

mod accuracy;
mod common;
mod compare;
mod convert;
mod files;
mod front;
mod full_disk;
mod hints;
mod input;
mod jobs;
mod kernel;
mod killed;
mod kinds;
mod queue;
mod real;
mod reproduce;
mod resume;
mod schema;
mod screen;
mod state;
mod study;
mod usage;
