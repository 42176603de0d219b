//! The commands on images.

use super::super::workload;
use super::refusal;
use crate::args::{ExportArgs, Fs, ImportArgs, MkfsArgs, RunArgs};
use crate::failure::{Exit, Failure};
use crate::out;
use fathom_base::{BadValue, Bytes};
use fathom_ext::{Copied, ExtError, Format, Image, Settings, Summary, Version, allocator, format};
use fathom_fs::Operation;
use fathom_workload::program::Config;
use std::path::Path;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

fn version(fs: Fs) -> Version {
    match fs {
        Fs::Ext2 => Version::Ext2,
        Fs::Ext3 => Version::Ext3,
        Fs::Ext4 => Version::Ext4,
    }
}

/// The time in seconds since 1970.
#[allow(
    clippy::disallowed_methods,
    reason = "the times in an image are those of its host"
)]
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs() as i64)
}

/// The text of a file.
fn read(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(|error| {
        let message = format!("{}: cannot be read as text", out::shown(path));
        Failure::input("fathom::io", message).because(error)
    })
}

/// A random UUID, from the kernel.
fn identity() -> Result<[u8; 16], Failure> {
    let text = read(Path::new("/proc/sys/kernel/random/uuid"))?;
    let digits: String = text.chars().filter(char::is_ascii_hexdigit).collect();
    let number = u128::from_str_radix(&digits, 16);
    let number = number
        .map_err(|error| Failure::input("fathom::io", "the kernel gives no UUID").because(error))?;
    Ok(number.to_be_bytes())
}

pub(crate) fn mkfs(args: &MkfsArgs) -> Result<Exit, Failure> {
    let refused = |error| refusal::of(error, &args.image, None);
    if let Some(name) = &args.alloc {
        let _ = allocator(name, 4096).map_err(refused)?;
    }
    let layout = Format {
        version: version(args.fs),
        identity: identity()?,
        now: now(),
    };
    let bytes = args.size.map(|size| size.0);
    format(&args.image, bytes, args.destroy.as_deref(), &layout).map_err(|error| {
        let small = matches!(error, ExtError::Size { .. }) && bytes.is_none();
        let failure = refused(error);
        match small {
            true => failure.help("give the size of the new image with --size, such as --size 8GiB"),
            false => failure,
        }
    })?;
    out::note(&format!("{} is formatted.", out::shown(&args.image)));
    Ok(Exit::Done)
}

fn opened(
    image: &Path,
    fs: Option<Fs>,
    allocator: &str,
    logical_block: Bytes,
) -> Result<Image, Failure> {
    let refused = |error| refusal::of(error, image, None);
    let settings = Settings::new(allocator, logical_block.0, now()).map_err(refused)?;
    let settings = Settings {
        version: fs.map(version),
        ..settings
    };
    Image::open(image, settings).map_err(refused)
}

/// Closes an image after `result`, so that it is clean whatever happened.
fn closed<T>(
    image: Image,
    result: Result<T, Failure>,
    refused: impl Fn(ExtError) -> Failure,
) -> Result<T, Failure> {
    let closed = image.close();
    let result = result?;
    closed.map_err(refused)?;
    Ok(result)
}

fn copied(copied: Copied) -> Result<Exit, Failure> {
    let Copied {
        files,
        directories,
        links,
        bytes,
        left_out,
    } = copied;
    let bytes = Bytes(bytes).human();
    let mut text =
        format!("{files} files ({bytes}), {directories} directories and {links} symbolic links\n");
    if left_out > 0 {
        text +=
            &format!("{left_out} left out: devices, sockets, pipes or names that are no UTF-8\n");
    }
    out::text(&text)?;
    Ok(Exit::Done)
}

pub(crate) fn import(args: &ImportArgs) -> Result<Exit, Failure> {
    let refused = |error| refusal::of(error, &args.image, None);
    // Before the image is opened, so that it stays as it is if there is nothing to copy.
    std::fs::read_dir(&args.directory).map_err(|error| {
        let message = format!("{}: cannot be read", out::shown(&args.directory));
        Failure::input("fathom::io", message).because(error)
    })?;
    let mut image = opened(&args.image, args.fs, &args.alloc, args.logical_block)?;
    let imported = image.import(&args.directory).map_err(refused);
    copied(closed(image, imported, refused)?)
}

pub(crate) fn export(args: &ExportArgs) -> Result<Exit, Failure> {
    let refused = |error| refusal::of(error, &args.image, None);
    let mut image = Image::read_only(&args.image).map_err(refused)?;
    copied(image.export(&args.directory).map_err(refused)?)
}

/// The time now, for the rate of operations.
#[allow(
    clippy::disallowed_methods,
    reason = "an image has no clock; the rate is the host's"
)]
fn clock() -> Instant {
    Instant::now()
}

/// What `fathom run` performs on an image.
enum Stream {
    /// The operations of a file.
    Listed(Vec<Operation>),
    /// A program's.
    Program(Box<Config>),
}

impl Stream {
    /// Before the image is opened, so that it stays as it is if there is nothing to perform.
    fn of(args: &RunArgs, refused: impl Fn(ExtError) -> Failure) -> Result<Self, Failure> {
        if let Some(program) = workload::program(&args.workload.workload)? {
            // As with all free blocks: what is invalid is found on any image.
            program.by_name(0, args.workload.seed).map_err(invalid)?;
            return Ok(Self::Program(Box::new(program)));
        }
        if args.workload.seed != 0 {
            let message = "--seed has no effect on the operations of a file";
            return Err(Failure::input("fathom::usage", message).help("leave it out"));
        }
        let text = read(Path::new(&args.workload.workload))?;
        Ok(Self::Listed(
            fathom_ext::operations(&text).map_err(refused)?,
        ))
    }

    /// Performs it, and gives the time that it took. What ages the file system is performed before, and not counted.
    fn perform(
        self,
        image: &mut Image,
        args: &RunArgs,
        refused: impl Fn(ExtError) -> Failure,
    ) -> Result<(Summary, f64), Failure> {
        let logical_block = args.image.logical_block.0;
        let free = image.free_blocks();
        let mut run = |operations: &mut dyn Iterator<Item = Operation>| {
            let ran = image.run_all(operations, logical_block, &mut |_| {});
            ran.map_err(&refused)
        };
        let mut operations: Box<dyn Iterator<Item = Operation>> = match self {
            Self::Listed(operations) => Box::new(operations.into_iter()),
            Self::Program(program) => {
                let by_name = program.by_name(free, args.workload.seed);
                let mut by_name = by_name.map_err(invalid)?;
                run(&mut by_name.ageing)?;
                Box::new(by_name.operations)
            }
        };
        let begun = clock();
        let summary = run(&mut operations)?;
        Ok((summary, begun.elapsed().as_secs_f64()))
    }
}

fn invalid(bad: BadValue) -> Failure {
    Failure::input("fathom::workload::program", bad.to_string())
}

/// `fathom run` with `--alloc`: the workload is a file of operations or a program, the target an image.
pub(crate) fn run(args: &RunArgs, allocator: &str) -> Result<Exit, Failure> {
    let logical_block = args.image.logical_block;
    let path = Path::new(&args.on);
    let refused = |error| refusal::of(error, path, Some(Path::new(&args.workload.workload)));
    let stream = Stream::of(args, refused)?;
    let mut image = opened(path, args.image.fs, allocator, logical_block)?;
    let ran = stream.perform(&mut image, args, refused);
    let (summary, seconds) = closed(image, ran, refused)?;
    out::text(&said(&summary, logical_block, seconds))?;
    Ok(Exit::Done)
}

fn said(summary: &Summary, logical_block: Bytes, seconds: f64) -> String {
    let human = |bytes| Bytes(bytes).human();
    let rate = summary.operations as f64 / seconds.max(1e-9);
    let unasked = match summary.own_syncs {
        0 => String::new(),
        more => format!(", and {more} because much was dirty or at the end"),
    };
    format!(
        "operations        {} in {seconds:.2} s: {rate:.0} a second\n\
         read and written  {} by the operations\n\
         syncs             {}{unasked}\n\
         data              {} in {} requests\n\
         logical blocks    {:.1} of {} for each sync that wrote data\n\
         journal           {}\n\
         metadata          {} in its place\n",
        summary.operations,
        human(summary.bytes),
        summary.syncs,
        human(summary.data_bytes),
        summary.data_requests,
        summary.touched_per_sync(),
        human(logical_block.0),
        human(summary.journal_bytes),
        human(summary.metadata_bytes),
    )
}
