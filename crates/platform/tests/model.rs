//! The model of a platform against closed forms, and as a device.

use fathom_base::{Dur, Frequency, Rng, Time};
use fathom_block::conformance::{Options, check};
use fathom_block::devices::{NullDevice, RamDevice};
use fathom_block::{Busy, Completion, Device, DeviceInfo, Op, Request, Subject, Tag};
use fathom_platform::{Charged, Clocks, HostWork, Interface, Platform, Processors, Target};
use std::collections::BTreeMap;

pub(crate) fn info() -> DeviceInfo {
    DeviceInfo {
        name: "drive".into(),
        capacity_bytes: 8 << 20,
        queue_depth: 1024,
        trim: true,
        ..DeviceInfo::default()
    }
}

fn ghz(clock: u64) -> Frequency {
    Frequency::new(clock * 1_000_000_000).unwrap()
}

/// One processor of 1 GHz, so that a clock takes a nanosecond.
pub(crate) fn platform() -> Platform {
    Platform {
        clock: ghz(1),
        cores: 1,
        clocks: Clocks {
            application: 50,
            system_call: 400,
            vfs: 100,
            block: 1_000,
            protocol: 300,
            driver: 200,
            sleep: 700,
            interrupt: 450,
            driver_return: 150,
            completion: 250,
            wake: 650,
            ..Clocks::default()
        },
        ..Platform::default()
    }
}

pub(crate) fn charged<D: Subject>(platform: Platform, drive: impl Fn() -> D) -> Charged<D> {
    let drives = (0..platform.drives_in_all()).map(|_| drive()).collect();
    let processors = Processors::new(platform.cores);
    Charged::new(platform, drives, processors).unwrap()
}

pub(crate) fn read(id: u64, offset: u64, process: u32) -> Request {
    Request {
        tag: Tag {
            process,
            sync: true,
            ..Tag::default()
        },
        ..Request::new(id, Op::Read, offset, 4096)
    }
}

/// Keeps `depth` reads of each process in flight until `count` are done. Returns the work.
pub(crate) fn closed<D: Subject>(
    device: &mut Charged<D>,
    processes: u32,
    depth: u32,
    count: u64,
) -> HostWork {
    let mut rng = Rng::new(1, 1);
    let blocks = device.info().capacity_bytes / 4096;
    let mut owners = BTreeMap::new();
    let mut next = 0;
    let mut submit = |device: &mut Charged<D>, owners: &mut BTreeMap<u64, u32>, process| {
        device
            .submit(read(next, rng.below(blocks) * 4096, process))
            .unwrap();
        owners.insert(next, process);
        next += 1;
    };
    for process in 0..processes {
        (0..depth).for_each(|_| submit(device, &mut owners, process));
    }
    let mut done = Vec::new();
    let mut ended = 0;
    while ended < count {
        device.wait(Time::MAX, &mut done);
        assert!(!done.is_empty());
        for completion in done.drain(..) {
            assert_eq!(completion.result, Ok(()));
            ended += 1;
            let process = owners.remove(&completion.id.0).unwrap();
            submit(device, &mut owners, process);
        }
    }
    device.work()
}

pub(crate) fn near(found: f64, expected: f64, percent: f64) {
    let off = (found / expected - 1.0) * 100.0;
    assert!(
        off.abs() <= percent,
        "{found} and not {expected}: {off:.2} %"
    );
}

pub(crate) fn per_second(work: &HostWork) -> f64 {
    work.ios as f64 * 1e9 / work.time.0 as f64
}

#[test]
fn an_unloaded_read_takes_the_sum_of_its_layers_and_sleeps_meanwhile() {
    let mut device = charged(platform(), || NullDevice::new(info(), Dur::us(100)));
    let work = closed(&mut device, 1, 1, 1_000);
    // Everything but `sleep`, which overlaps with the drive.
    let path = 50 + 400 + 100 + 1_000 + 300 + 200 + 450 + 150 + 250 + 650;
    assert_eq!(work.latency_ns(), Some(f64::from(path) + 100_000.0));
    assert_eq!(work.platform_ns(), Some(f64::from(path)));
    assert_eq!(
        work.clocks_per_io().map(|n| n.round()),
        Some(4_252.0),
        "one is in flight"
    );
    assert_eq!(
        (work.system_calls, work.interrupts, work.sleeps),
        (1_001, 1_000, 1_000)
    );
}

/// The clocks of all layers, with the idle ones, are the time of all processors.
#[test]
fn no_clock_is_lost() {
    for interface in Interface::ALL {
        let spec = Platform {
            interface,
            cores: 3,
            ..platform()
        };
        let mut device = charged(spec, || NullDevice::new(info(), Dur::us(20)));
        let work = closed(&mut device, 2, 8, 20_000);
        let sum: u64 = work.clocks.values().sum();
        near(sum as f64, 3.0 * work.time.0 as f64, 0.01);
    }
}

#[test]
fn saturated_processors_do_as_much_as_their_clocks_allow() {
    for cores in [1, 2, 8] {
        let spec = Platform {
            cores,
            ..platform()
        };
        let mut device = charged(spec, || NullDevice::new(info(), Dur::us(20)));
        let work = closed(&mut device, 128, 1, 100_000);
        near(per_second(&work), f64::from(cores) * 1e9 / 4_250.0, 0.5);
        assert!(work.utilisation() > 0.999, "{}", work.utilisation());
    }
}

#[test]
fn the_ceiling_of_an_adapter_holds_and_adapters_add_up() {
    for adapters in [1, 2, 4] {
        let mut spec = Platform {
            cores: 64,
            adapters,
            drives: 2,
            ..platform()
        };
        spec.adapter.iops = Some(177_000);
        let mut device = charged(spec, || NullDevice::new(info(), Dur::us(50)));
        let work = closed(&mut device, 512, 1, 200_000);
        near(per_second(&work), f64::from(adapters) * 177_000.0, 2.0);
    }
}

/// Requests at random times (Poisson) for an adapter with a constant service time: M/D/1. The mean wait is
/// rho s / (2 (1 - rho)) (Pollaczek and Khinchine).
#[test]
fn the_wait_for_an_adapter_is_that_of_m_d_1() {
    for rho in [0.3, 0.6, 0.8] {
        let mut spec = Platform {
            cores: 2,
            clocks: nothing(),
            ..platform()
        };
        spec.adapter.iops = Some(100_000);
        let mut device = charged(spec, || NullDevice::new(info(), Dur::ZERO));
        let mut rng = Rng::new(7, 1);
        let (mut at, mut done) = (0.0, Vec::new());
        for id in 0..400_000 {
            at += rng.exponential(10_000.0 / rho);
            let due = Time(at as u64);
            while device.now() < due {
                device.wait(due, &mut done);
            }
            device.submit(read(id, 0, 0)).unwrap();
        }
        let drained = device.now() + Dur::ms(100);
        while device.now() < drained {
            device.wait(drained, &mut done);
        }
        let waited: f64 = done
            .iter()
            .map(|one: &Completion| one.latency().0 as f64)
            .sum();
        let expected = rho * 10_000.0 / (2.0 * (1.0 - rho));
        near(waited / done.len() as f64, expected, 2.0);
    }
}

fn nothing() -> Clocks {
    Clocks {
        application: 0,
        system_call: 0,
        vfs: 0,
        block: 0,
        protocol: 0,
        driver: 0,
        sleep: 0,
        interrupt: 0,
        driver_return: 0,
        completion: 0,
        wake: 0,
        ..Clocks::default()
    }
}

/// A drive that serves everything at once, each in a random time.
#[derive(Debug)]
struct Thinking {
    info: DeviceInfo,
    rng: Rng,
    now: Time,
    mean_ns: f64,
    pending: BTreeMap<(Time, u64), Completion>,
}

impl Device for Thinking {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }
    fn now(&self) -> Time {
        self.now
    }
    fn submit(&mut self, request: Request) -> Result<(), Busy> {
        let ends = self.now + Dur(self.rng.exponential(self.mean_ns) as u64 + 1);
        let completion = Completion::of(&request, self.now..ends, Ok(()), None);
        self.pending.insert((ends, request.id.0), completion);
        Ok(())
    }
    fn wait(&mut self, until: Time, done: &mut Vec<Completion>) {
        let next = self.pending.first_key_value().map(|((at, _), _)| *at);
        self.now = until.min(next.unwrap_or(until)).max(self.now);
        while self
            .pending
            .first_key_value()
            .is_some_and(|((at, _), _)| *at <= self.now)
        {
            done.extend(self.pending.pop_first().map(|(_, completion)| completion));
        }
    }
}

impl Subject for Thinking {}

/// Threads that compute for a constant time on one processor and then wait for a random time: machine repair with constant
/// service. The share of time in which the processor is idle is 1 / (1 + N l s sum C(N-1, n) B_n), where B_n is the product
/// of (1 / b(i l) - 1) for i from 1 to n and b the Laplace transform of the service time (L. Takács, Introduction to the
/// Theory of Queues, 1962, chapter 5).
#[test]
fn the_processor_is_as_busy_as_in_machine_repair() {
    let (service_ns, mean_ns) = (4_000.0_f64, 20_000.0_f64);
    for threads in [1_u32, 2, 4, 8] {
        let spec = Platform {
            clocks: Clocks {
                block: 4_000,
                ..nothing()
            },
            ..platform()
        };
        let drive = || Thinking {
            info: info(),
            rng: Rng::new(3, u64::from(threads)),
            now: Time::ZERO,
            mean_ns,
            pending: BTreeMap::new(),
        };
        let mut device = charged(spec, drive);
        let work = closed(&mut device, threads, 1, 300_000);
        let rate = 1.0 / mean_ns;
        let (mut product, mut choose, mut sum) = (1.0, 1.0, 1.0);
        for n in 1..threads {
            product *= (f64::from(n) * rate * service_ns).exp() - 1.0;
            choose *= f64::from(threads - n) / f64::from(n);
            sum += choose * product;
        }
        let idle = 1.0 / (1.0 + f64::from(threads) * rate * service_ns * sum);
        near(work.utilisation(), 1.0 - idle, 2.0);
    }
}

#[test]
fn coalesced_interrupts_cost_once_for_all_of_them() {
    let mut spec = Platform {
        cores: 1,
        ..platform()
    };
    spec.interrupts.target = Target::Adapter;
    let alone = {
        let mut device = charged(spec.clone(), || NullDevice::new(info(), Dur::us(20)));
        closed(&mut device, 64, 1, 50_000)
    };
    spec.interrupts.count = 8;
    spec.interrupts.time = Dur::us(50);
    let mut device = charged(spec, || NullDevice::new(info(), Dur::us(20)));
    let together = closed(&mut device, 64, 1, 50_000);
    near(together.ios as f64 / together.interrupts as f64, 8.0, 1.0);
    let saved = alone.clocks_per_io().unwrap() - together.clocks_per_io().unwrap();
    let fewer = alone.interrupts as f64 / alone.ios as f64 - 1.0 / 8.0;
    near(saved, 450.0 * fewer, 2.0);
    // One alone waits for the time.
    let mut spec = platform();
    (spec.interrupts.count, spec.interrupts.time) = (8, Dur::us(50));
    let mut device = charged(spec, || NullDevice::new(info(), Dur::us(20)));
    let one = closed(&mut device, 1, 1, 100);
    assert_eq!(one.platform_ns(), Some(3_550.0 + 50_000.0));
}

/// Under load an asynchronous thread does not sleep, and the calls of a batch are shared.
#[test]
fn asynchronous_io_takes_the_context_switches_away() {
    let per_io = |interface, cores| {
        let spec = Platform {
            interface,
            cores,
            ..platform()
        };
        let mut device = charged(spec, || NullDevice::new(info(), Dur::us(20)));
        closed(&mut device, 1, 128, 100_000)
    };
    let sync = per_io(Interface::Pread, 1);
    let work = per_io(Interface::Libaio, 1);
    assert!(work.sleeps < 100, "{}", work.sleeps);
    assert!(
        work.system_calls < work.ios,
        "{} {}",
        work.system_calls,
        work.ios
    );
    let both = 700.0 + 650.0;
    assert!(per_second(&work) > 1e9 / (sync.clocks_per_io().unwrap() - both));
    let polled = per_io(Interface::IoUringPolled, 1);
    assert_eq!((polled.interrupts, polled.sleeps), (0, 0));
    let by_thread = per_io(Interface::IoUringSqThread, 2);
    assert_eq!(by_thread.system_calls, 0);
    assert!(by_thread.utilisation() > 0.5);
}

#[test]
fn it_is_a_device_with_every_interface_and_several_drives() {
    for interface in Interface::ALL {
        for (adapters, drives) in [(1, 1), (2, 3)] {
            let mut spec = Platform {
                interface,
                cores: 3,
                adapters,
                drives,
                ..platform()
            };
            spec.adapter.iops = Some(200_000);
            (spec.interrupts.count, spec.interrupts.time) = (3, Dur::us(7));
            spec.buffered = true;
            spec.clocks.copy_per_byte = 0.5;
            let ram = || {
                let info = DeviceInfo {
                    queue_depth: 4,
                    ..info()
                };
                RamDevice::new(info, Dur::us(30))
            };
            let options = Options {
                region: 0..1 << 20,
                ..Options::default()
            };
            let report = check(&mut || charged(spec.clone(), ram), &options);
            assert!(report.is_ok(), "{interface:?}: {}", report.unwrap_err());
        }
    }
}

/// A request over the end of a drive is two, and data comes back in order.
#[test]
fn a_request_may_cross_from_drive_to_drive() {
    let spec = Platform {
        drives: 2,
        ..platform()
    };
    let mut device = charged(spec, || RamDevice::new(info(), Dur::us(30)));
    let bytes: Box<[u8]> = (0..8192_u32).map(|i| (i / 32) as u8).collect();
    let offset = (8 << 20) - 4096;
    let mut done = Vec::new();
    let write = Request {
        data: Some(bytes.clone()),
        ..Request::new(1, Op::Write, offset, 8192)
    };
    for request in [write, Request::new(2, Op::Read, offset, 8192)] {
        device.submit(request).unwrap();
        device.wait(Time::MAX, &mut done);
    }
    assert_eq!(done.pop().unwrap().data, Some(bytes));
    assert_eq!(device.info().capacity_bytes, 16 << 20);
    assert_eq!(device.drives().count(), 2);
}

#[test]
fn a_wrong_platform_is_refused_with_its_key() {
    let said = |change: fn(&mut Platform)| {
        let mut spec = platform();
        change(&mut spec);
        let made = Charged::new(
            spec,
            vec![NullDevice::new(info(), Dur::ZERO)],
            Processors::new(1),
        );
        made.map(drop).unwrap_err().to_string()
    };
    assert!(said(|p| p.cores = 0).starts_with("`cores` is 0: must be at least 1"));
    assert!(said(|p| p.clock = ghz(1_001)).starts_with("`clock` is 1001GHz: must be at least"));
    assert!(said(|p| p.adapter.iops = Some(0)).starts_with("`adapter.iops` is 0"));
    assert!(said(|p| p.interrupts.count = 0).starts_with("`interrupts.count` is 0"));
    assert!(said(|p| p.interrupts.count = 2).starts_with("`interrupts.time` is 0ns"));
    let alone = said(|p| p.interrupts.time = Dur::us(5));
    assert!(
        alone.starts_with("`interrupts.time` is 5us: must be 0ns without `interrupts.count`"),
        "{alone}"
    );
    assert!(said(|p| p.clocks.libaio = u64::MAX).starts_with("`clocks.libaio`"));
    assert!(said(|p| p.clocks.io_uring = u64::MAX).starts_with("`clocks.io-uring`"));
    assert!(said(|p| p.clocks.block = u64::MAX).starts_with("`clocks.block`"));
    assert!(said(|p| p.clocks.copy_per_byte = f64::NAN).starts_with("`clocks.copy-per-byte`"));
    let own = said(|p| {
        let block = Clocks {
            block: u64::MAX,
            ..Clocks::default()
        };
        p.interfaces.insert(Interface::IoUring, block);
    });
    assert!(
        own.starts_with("interfaces.io-uring: `clocks.block`"),
        "{own}"
    );
    assert_eq!(
        said(|p| p.drives = 2),
        "`drives` is 2: must be the number of drives, 1"
    );
}

/// An interface with clocks of its own is charged these, and the others are not.
#[test]
fn an_interface_has_its_own_clocks_where_they_are_known() {
    let own = Clocks {
        block: 7_000,
        ..Clocks::default()
    };
    let block = |interface| {
        let spec = Platform {
            interface,
            interfaces: [(Interface::IoUring, own.clone())].into(),
            ..Platform::default()
        };
        assert_eq!(Platform::from_toml(&spec.to_toml()).as_ref(), Ok(&spec));
        let varied = spec.with_more(0.1);
        let of_block = varied.iter().find(|(key, _)| key == "clocks.block");
        let more = of_block.map(|(_, spec)| spec.clocks.block);
        let mut device = charged(spec, || NullDevice::new(info(), Dur::us(10)));
        let work = closed(&mut device, 1, 1, 20);
        let each = work.clocks[&fathom_platform::Layer::Block] / (work.ios + 1);
        (each, more)
    };
    assert_eq!(block(Interface::Pread), (1_000, Some(1_100)));
    assert_eq!(block(Interface::IoUring), (7_000, Some(7_700)));
    assert_eq!(block(Interface::IoUringPolled), (7_000, Some(7_700)));
    assert_eq!(block(Interface::Libaio), (1_000, Some(1_100)));
}
