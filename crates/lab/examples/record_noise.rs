//! Records the latencies of a real disk for `fathom accuracy --family noise`: reads, writes and flushes of many sizes at
//! random places of a scratch file, one at a time.
//!
//!     cargo run --release -p fathom-lab --example record_noise -- DIRECTORY OUT.parquet REQUESTS "HOW"
//!
//! HOW is stored in the file's metadata and describes the disk and the other load. The scratch file is filled first and
//! removed at the end. The load on disk and processor must be made by other programs meanwhile.

use fathom_base::{Rng, Time};
use fathom_block::{Completion, Device, Op, Request};
use fathom_hostio::{HostConfig, HostDevice};
use fathom_lab::accuracy::{Recorded, Recording};
use std::io;
use std::path::PathBuf;

const USAGE: &str = "Usage: record_noise DIRECTORY OUT.parquet REQUESTS HOW";
const SCRATCH_BYTES: u64 = 2 << 30;
/// 4 KiB to 1 MiB, with the middle of each octave.
const SIZES_KIB: [u64; 17] = [
    4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 640, 768, 1024,
];

fn main() -> io::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [directory, out, requests, how] = &args[..] else {
        return Err(io::Error::other(USAGE));
    };
    let requests: u64 = requests.parse().map_err(io::Error::other)?;
    let config = HostConfig {
        scratch_bytes: Some(SCRATCH_BYTES),
        ..HostConfig::new(PathBuf::from(directory))
    };
    let mut disk = fathom_hostio::open(&config).map_err(io::Error::other)?;
    fill(&mut disk)?;
    let mut rng = Rng::new(1, 0);
    let recorded: io::Result<Vec<Recorded>> = (0..requests)
        .map(|id| record(&mut disk, draw(&mut rng, id)))
        .collect();
    let recording = Recording {
        recorded: how.clone(),
        requests: recorded?,
    };
    std::fs::write(out, recording.to_parquet().map_err(io::Error::other)?)
}

/// Draws two reads, two writes and one flush on average.
fn draw(rng: &mut Rng, id: u64) -> Request {
    let op = match rng.below(5) {
        0 | 1 => Op::Read,
        2 | 3 => Op::Write,
        _ => return Request::new(id, Op::Flush, 0, 0),
    };
    let len = SIZES_KIB[rng.below(SIZES_KIB.len() as u64) as usize] << 10;
    let places = (SCRATCH_BYTES - len) / 4096 + 1;
    Request::new(id, op, rng.below(places) * 4096, len)
}

/// Reads of unwritten data would not reach the disk, so the file is filled first.
fn fill(disk: &mut HostDevice) -> io::Result<()> {
    let len = 1 << 20;
    for id in 0..SCRATCH_BYTES / len {
        serve(disk, Request::new(id, Op::Write, id * len, len))?;
    }
    serve(disk, Request::new(0, Op::Flush, 0, 0)).map(drop)
}

fn record(disk: &mut HostDevice, request: Request) -> io::Result<Recorded> {
    let (op, bytes) = (request.op, request.len);
    let latency_ns = serve(disk, request)?.latency().0;
    Ok(Recorded {
        op,
        bytes,
        latency_ns,
    })
}

fn serve(disk: &mut HostDevice, request: Request) -> io::Result<Completion> {
    disk.submit(request)
        .map_err(|_| io::Error::other("the disk takes no request"))?;
    let mut done = Vec::new();
    disk.wait(Time::MAX, &mut done);
    let completion = done.pop().ok_or(io::Error::other("a request was lost"))?;
    completion.result.map_err(io::Error::other)?;
    Ok(completion)
}
