//! RAID 0 in the model of a platform: where requests go, what they cost, and that data stays right.

use crate::model::{charged, closed, info, near, per_second, platform, read};
use fathom_base::{Bytes, Dur, Rng, Time};
use fathom_block::conformance::{Options, check};
use fathom_block::devices::{NullDevice, RamDevice};
use fathom_block::{Busy, Completion, Device, DeviceInfo, DriveLog, Op, Request, Subject};
use fathom_platform::{Charged, Interface, Platform, Processors, Target};

const KIB: u64 = 1024;

fn striped(kib: u64, adapters: u32, drives: u32) -> Platform {
    let mut spec = Platform {
        stripe: Bytes(kib * KIB),
        adapters,
        drives,
        ..platform()
    };
    spec.clocks.raid = 600;
    spec
}

/// A drive that remembers what it was asked, and does it at once.
#[derive(Debug)]
struct Asked {
    inner: NullDevice,
    asked: Vec<(Op, u64, u64)>,
}

impl Device for Asked {
    fn info(&self) -> &DeviceInfo {
        self.inner.info()
    }
    fn now(&self) -> Time {
        self.inner.now()
    }
    fn submit(&mut self, request: Request) -> Result<(), Busy> {
        self.asked
            .push((request.op, request.offset / KIB, request.len / KIB));
        self.inner.submit(request)
    }
    fn wait(&mut self, until: Time, done: &mut Vec<Completion>) {
        self.inner.wait(until, done);
    }
    fn log(&mut self) -> Option<DriveLog> {
        let read = self.asked.iter().map(|(_, _, kib)| kib * KIB).sum();
        Some(DriveLog {
            host_bytes_read: Some(read),
            ..DriveLog::default()
        })
    }
}

impl Subject for Asked {
    fn next_at(&mut self) -> Option<Time> {
        self.inner.next_at()
    }
}

/// The address of md for equal drives: chunk c is on drive c mod n at chunk c / n.
#[test]
fn each_drive_is_asked_for_its_chunks() {
    let mut device = charged(striped(64, 1, 3), || Asked {
        inner: NullDevice::new(info(), Dur::us(10)),
        asked: Vec::new(),
    });
    let mut done = Vec::new();
    let requests = [
        (Op::Write, 60, 72),
        (Op::Read, 192, 64),
        (Op::Trim, 0, 448),
        (Op::Flush, 0, 0),
    ];
    for (op, offset, len) in requests {
        device
            .submit(Request::new(1, op, offset * KIB, len * KIB))
            .unwrap();
        device.wait(Time::MAX, &mut done);
    }
    assert!(done.iter().all(|one| one.result.is_ok()));
    assert_eq!(done.len(), requests.len());
    let asked: Vec<_> = device.drives().map(|drive| drive.asked.clone()).collect();
    let flush = (Op::Flush, 0, 0);
    let first = [
        (Op::Write, 60, 4),
        (Op::Read, 64, 64),
        (Op::Trim, 0, 192),
        flush,
    ];
    assert_eq!(asked[0], first);
    assert_eq!(asked[1], [(Op::Write, 0, 64), (Op::Trim, 0, 128), flush]);
    assert_eq!(asked[2], [(Op::Write, 0, 4), (Op::Trim, 0, 128), flush]);
}

#[test]
fn it_is_a_device_with_chunks_of_any_length() {
    for interface in Interface::ALL {
        for (stripe, adapters, drives) in [(4, 1, 1), (4, 2, 3), (12, 1, 5), (64, 3, 1)] {
            let mut spec = Platform {
                interface,
                cores: 3,
                ..striped(stripe, adapters, drives)
            };
            spec.adapter.iops = Some(200_000);
            (spec.interrupts.count, spec.interrupts.time) = (3, Dur::us(7));
            let ram = || {
                let info = DeviceInfo {
                    // Chunks of 4, 12 and 64 KiB leave a rest.
                    capacity_bytes: (2 << 20) + 2048,
                    queue_depth: 4,
                    ..info()
                };
                RamDevice::new(info, Dur::us(30))
            };
            let all = u64::from(adapters * drives) * ((2 << 20) / (stripe * KIB) * stripe * KIB);
            assert_eq!(charged(spec.clone(), ram).info().capacity_bytes, all);
            assert_eq!(spec.capacity((2 << 20) + 2048), all);
            let options = Options {
                // The end of the array.
                region: all - (1 << 20)..all,
                operations: 400,
                trim_zeroes: true,
                ..Options::default()
            };
            let report = check(&mut || charged(spec.clone(), ram), &options);
            assert!(
                report.is_ok(),
                "{interface:?} {stripe}: {}",
                report.unwrap_err()
            );
        }
    }
}

/// Reads of `kib` KiB at multiples of 4 KiB, `depth` in flight.
fn rate(device: &mut Charged<NullDevice>, kib: u64, depth: u64) -> (f64, f64) {
    let mut rng = Rng::new(9, 1);
    let places = (device.info().capacity_bytes - kib * KIB) / 4096 + 1;
    let mut done = Vec::new();
    let mut request = |id| Request {
        len: kib * KIB,
        ..read(id, rng.below(places) * 4096, 0)
    };
    (0..depth).for_each(|id| device.submit(request(id)).unwrap());
    for _ in 0..30_000 {
        if done.is_empty() {
            device.wait(Time::MAX, &mut done);
        }
        let one: Completion = done.pop().unwrap();
        assert_eq!(one.result, Ok(()));
        device.submit(request(one.id.0)).unwrap();
    }
    let work = device.work();
    (per_second(&work), work.clocks_per_io().unwrap())
}

/// `length` chunks of `c` blocks and requests of `l` blocks at any block: a request has 1 + (l - 1) / c pieces on average,
/// because each of its l - 1 inner borders of blocks is the end of a chunk with the probability 1 / c.
#[test]
fn a_piece_costs_what_is_below_the_file_system_and_the_rest_is_paid_once() {
    let once = 50.0 + 400.0 + 100.0 + 700.0 + 650.0;
    let piece = 600.0 + 1_000.0 + 300.0 + 200.0 + 450.0 + 150.0 + 250.0;
    for (kib, chunk) in [(4, 64), (64, 64), (64, 16), (256, 64)] {
        let mut device = charged(striped(chunk, 8, 1), || {
            NullDevice::new(info(), Dur::us(20))
        });
        let pieces = 1.0 + (kib as f64 / 4.0 - 1.0) / (chunk as f64 / 4.0);
        let (rate, clocks) = rate(&mut device, kib, 64);
        // A handler that finds several completions is called once: less than one interrupt for each piece. Those in flight
        // at the end have paid for the way to the drive.
        let least = once + pieces * (piece - 450.0);
        let most = once + pieces * piece;
        assert!(
            (least..=most * 1.004).contains(&clocks),
            "{kib} {chunk}: {clocks}, {least} to {most}"
        );
        near(rate * clocks, 1e9, 0.5);
        near(clocks, most, 4.0);
    }
}

#[test]
fn a_read_of_two_pieces_takes_as_long_as_the_later_one() {
    let latency = |spec: Platform| {
        let mut device = charged(spec, || NullDevice::new(info(), Dur::us(100)));
        let request = Request {
            len: 8 * KIB,
            ..read(1, 60 * KIB, 0)
        };
        let mut done = Vec::new();
        device.submit(request).unwrap();
        device.wait(Time::MAX, &mut done);
        let work = device.work();
        assert_eq!(work.latency_ns(), Some(done[0].latency().0 as f64));
        (done[0].latency().0, work.interrupts)
    };
    let way = 50 + 400 + 100 + 2 * (600 + 1_000 + 300 + 200);
    let back = 650;
    // One adapter: one interrupt for both.
    assert_eq!(
        latency(striped(64, 1, 2)),
        (way + 100_000 + 450 + 2 * 400 + back, 1)
    );
    // Two adapters, whose handlers run on one processor: one after the other.
    assert_eq!(
        latency(striped(64, 2, 1)),
        (way + 100_000 + 2 * 850 + back, 2)
    );
    // Or on two: together.
    let mut two = striped(64, 2, 1);
    (two.cores, two.interrupts.target) = (2, Target::Adapter);
    assert_eq!(latency(two), (way + 100_000 + 850 + back, 2));
}

/// A ceiling of an adapter counts the pieces, not the requests.
#[test]
fn an_adapter_takes_pieces() {
    let mut spec = striped(4, 2, 2);
    (spec.cores, spec.adapter.iops) = (64, Some(100_000));
    let mut device = charged(spec, || NullDevice::new(info(), Dur::us(50)));
    let (rate, _) = rate(&mut device, 16, 256);
    near(rate, 2.0 * 100_000.0 / 4.0, 1.0);
}

#[test]
fn each_interface_has_a_cost_of_its_own() {
    let clocks = |interface| {
        let mut spec = Platform {
            interface,
            cores: 2,
            ..platform()
        };
        (spec.clocks.libaio, spec.clocks.io_uring) = (1_700, 300);
        let mut device = charged(spec, || NullDevice::new(info(), Dur::us(20)));
        let work = closed(&mut device, 1, 1, 1_000);
        work.clocks[&fathom_platform::Layer::SystemCall] as f64 / work.ios as f64
    };
    // One in flight: two system calls each.
    near(clocks(Interface::Libaio), 2.0 * 400.0 + 1_700.0, 0.2);
    near(clocks(Interface::IoUring), 2.0 * 400.0 + 300.0, 0.2);
    near(clocks(Interface::IoUringPolled), 2.0 * 400.0 + 300.0, 0.2);
    near(clocks(Interface::IoUringSqThread), 300.0, 0.2);
    near(clocks(Interface::Pread), 400.0, 0.2);
}

#[test]
fn a_chunk_that_does_not_fit_is_refused() {
    let said = |spec: Platform, info: DeviceInfo| {
        let drive = NullDevice::new(info, Dur::ZERO);
        let made = Charged::new(spec, vec![drive], Processors::new(1));
        made.map(drop).map_err(|error| error.to_string())
    };
    let refused = |spec, info| said(spec, info).unwrap_err();
    let mut odd = striped(4, 1, 1);
    odd.stripe = Bytes(6 * KIB);
    assert!(refused(odd, info()).starts_with("`stripe` is 6KiB: must be a multiple of 4KiB"));
    let large = refused(striped(8 << 10 | 4, 1, 1), info());
    assert_eq!(
        large,
        "`stripe` is 8196KiB: must be at most the capacity of a drive, 8MiB"
    );
    let blocks = DeviceInfo {
        logical_block_bytes: 8192,
        ..info()
    };
    let said_of_blocks = refused(striped(4, 1, 1), blocks);
    assert!(
        said_of_blocks
            .starts_with("`stripe` is 4KiB: must be a multiple of the drive's logical block")
    );
    assert_eq!(
        said(striped(8 << 10, 1, 1), info()),
        Ok(()),
        "one chunk on one drive"
    );
}

#[test]
fn the_log_is_that_of_all_drives() {
    let asked = || Asked {
        inner: NullDevice::new(info(), Dur::us(10)),
        asked: Vec::new(),
    };
    for drives in [2, 3] {
        let mut device = charged(striped(64, 1, drives), asked);
        let read = Request::new(1, Op::Read, 0, 192 * KIB);
        device.submit(read).unwrap();
        device.wait(Time::MAX, &mut Vec::new());
        let log = device.log().unwrap();
        assert_eq!(log.host_bytes_read, Some(192 * KIB), "{drives} drives");
        assert_eq!(log.spare_percent, None);
    }
    let mut silent = charged(striped(64, 1, 2), || NullDevice::new(info(), Dur::us(10)));
    assert_eq!(silent.log(), None);
}
