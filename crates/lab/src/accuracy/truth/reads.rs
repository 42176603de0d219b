//! Small random reads of a drive, as a closed queueing network: one controller, a fixed latency, the stations with their
//! channels, and the link. Each resource serves one read after another in the order of arrival. The times and their noise
//! are those of the drive file; nothing of the model's engine takes part.
//!
//! Background work and writes are left out: they delay some reads, and no more the deeper the queue is.

use fathom_base::{Rate, Rng};
use fathom_ssd::{Geometry, Spec};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// The length of a read, in bytes, and of the part of a drive that is read.
const READ: u64 = 4096;
const SPAN: u64 = 2 << 30;
/// The simulated reads for each place in the queue, and in addition: it takes a while until some stations have longer queues
/// than others.
const EACH: usize = 20;
const MORE: usize = 6000;

/// The resources of the reads of a drive. Times are in nanoseconds.
pub(super) struct Reads<'a> {
    spec: &'a Spec,
    geometry: Geometry,
    /// The stations that hold data, each as often as a lane on it holds any.
    lanes: Vec<u32>,
    /// The length of a read, and of the part of the drive that is read, in bytes.
    bytes: u64,
    span: u64,
    /// The time of the link.
    link: f64,
    /// The probability that memory answers, and that the map is read from flash first.
    memory: f64,
    map: f64,
}

impl<'a> Reads<'a> {
    pub(super) fn of(spec: &'a Spec) -> Self {
        let geometry = Geometry::new(spec);
        let bytes = READ.max(spec.host.logical_block.0);
        let span = SPAN.min(spec.capacity.0);
        Self {
            spec,
            lanes: lanes(spec, &geometry, span),
            bytes,
            span,
            link: ns(spec.host.bandwidth, bytes),
            memory: in_memory(spec, bytes, span),
            map: unmapped(spec, span),
            geometry,
        }
    }

    /// Returns the station of a clustered page of a drive that was written in order.
    fn station(&self, page: u64) -> u32 {
        let g = &self.geometry;
        let (groups, lanes) = (u64::from(g.groups), u64::from(g.lanes_per_group));
        let (group, in_group) = match self.spec.mapping.kind.is_paged() {
            true => (page % groups, page / groups),
            false => {
                let of_block = u64::from(g.cpages_per_cblock);
                (page / of_block % groups, page % of_block)
            }
        };
        ((group * lanes + in_group % lanes) % u64::from(g.stations)) as u32
    }

    /// Returns the number of stations that hold data of the part that is read.
    pub(super) fn stations(&self) -> usize {
        let mut stations = self.lanes.clone();
        stations.sort_unstable();
        stations.dedup();
        stations.len()
    }

    /// Returns the number of equally used stations on which two random reads meet as often as on these.
    pub(super) fn effective(&self) -> f64 {
        let total = self.lanes.len() as f64;
        let mut counts = std::collections::BTreeMap::new();
        self.lanes
            .iter()
            .for_each(|s| *counts.entry(s).or_insert(0.0) += 1.0 / total);
        1.0 / counts
            .values()
            .map(|share: &f64| share * share)
            .sum::<f64>()
    }

    /// Returns the rate of reads with that many in flight, per second.
    pub(super) fn rate(&self, depth: u32) -> f64 {
        Run::new(self, depth).rate()
    }
}

fn ns(rate: Rate, bytes: u64) -> f64 {
    rate.transfer_exact(bytes).as_ps() as f64 / 1e3
}

/// Returns the dies that work in step.
fn per_station(spec: &Spec) -> u32 {
    let flash = &spec.flash;
    let planes = (flash.clustered_page.0 / flash.page.0) as u32;
    (planes / flash.planes_per_die).max(1)
}

/// Returns the station of every lane that holds data of the first `span` bytes, as often as it does.
fn lanes(spec: &Spec, geometry: &Geometry, span: u64) -> Vec<u32> {
    let all = geometry.groups * geometry.lanes_per_group;
    if spec.mapping.kind.is_paged() {
        return (0..all).map(|lane| lane % geometry.stations).collect();
    }
    // Clustered blocks go to the groups in turn.
    let blocks = (span / spec.flash.clustered_block.0).max(1) as u32;
    (0..blocks)
        .flat_map(|block| {
            let first = block % geometry.groups * geometry.lanes_per_group;
            (first..first + geometry.lanes_per_group).map(|lane| lane % geometry.stations)
        })
        .collect()
}

/// Returns the probability that one of the memories holds what a random read wants.
fn in_memory(spec: &Spec, bytes: u64, span: u64) -> f64 {
    let read = spec
        .read_buffer
        .as_ref()
        .filter(|b| b.min_request.0 <= bytes);
    let kept = read.map_or(0, |b| b.capacity.0);
    let written = spec
        .write_buffer
        .as_ref()
        .filter(|b| b.battery)
        .map_or(0, |b| b.capacity.0);
    ((kept + written) as f64 / span as f64).min(1.0)
}

/// Returns the probability that the map of a random read is in no memory, neither in the drive's nor in the host's.
fn unmapped(spec: &Spec, span: u64) -> f64 {
    super::map_reach::known(spec).map_or(0.0, |known| (1.0 - known as f64 / span as f64).max(0.0))
}

/// What a station reads: a part of a read, of so many bytes, or the page of the map with this number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Data { read: usize, bytes: u64 },
    Map { page: usize },
}

/// The events of a simulation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// The controller has processed the command of a read.
    Known(usize),
    /// The array of a station has read a part.
    Sensed(u32, Part),
    /// The channel has moved it.
    Moved(u32, Part),
    /// The host has a read.
    Done,
}

/// A simulation. A read is a number; its parts that are missing are counted.
struct Run<'r, 'a> {
    reads: &'r Reads<'a>,
    depth: u32,
    rng: Rng,
    events: BinaryHeap<Reverse<(u64, u64, Event)>>,
    missing: Vec<u32>,
    /// The end of the last booking of the controller, the link and each channel.
    controller: f64,
    link: f64,
    channels: Vec<f64>,
    busy: Vec<bool>,
    waiting: Vec<VecDeque<Part>>,
    /// The reads that wait for each page of the map.
    mapping: Vec<Vec<usize>>,
}

impl<'r, 'a> Run<'r, 'a> {
    fn new(reads: &'r Reads<'a>, depth: u32) -> Self {
        let stations = reads.geometry.stations as usize;
        let unit = reads.spec.unit();
        let map_pages = (reads.span / unit).div_ceil((unit / 4).max(1)) as usize;
        Self {
            reads,
            depth,
            rng: Rng::new(1, u64::from(depth)),
            events: BinaryHeap::new(),
            missing: Vec::new(),
            controller: 0.0,
            link: 0.0,
            channels: vec![0.0; reads.spec.flash.channels as usize],
            busy: vec![false; stations],
            waiting: vec![VecDeque::new(); stations],
            mapping: vec![Vec::new(); map_pages.max(1)],
        }
    }

    fn at(&mut self, time: f64, event: Event) {
        let order = self.events.len() as u64;
        self.events.push(Reverse((time as u64, order, event)));
    }

    fn vary(&mut self, ns: f64, percent: f64, least: f64) -> f64 {
        match percent > 0.0 {
            true => ns * (1.0 + percent / 100.0 * self.rng.normal()).max(least),
            false => ns,
        }
    }

    fn rate(mut self) -> f64 {
        let count = EACH * self.depth as usize + MORE;
        (0..self.depth).for_each(|_| self.submit(0.0));
        let mut ends = Vec::new();
        while ends.len() < count {
            let Some(Reverse((now, _, event))) = self.events.pop() else {
                return 0.0;
            };
            let now = now as f64;
            match event {
                Event::Known(read) => self.known(now, read),
                Event::Sensed(station, part) => self.sensed(now, station, part),
                Event::Moved(station, part) => self.moved(now, station, part),
                Event::Done => {
                    ends.push(now);
                    self.submit(now);
                }
            }
        }
        let from = ends[count / 4];
        (count - count / 4 - 1) as f64 / (ends[count - 1] - from).max(1.0) * 1e9
    }

    fn submit(&mut self, now: f64) {
        let host = &self.reads.spec.host;
        let percent = self.reads.spec.noise.command_percent;
        let took = self.vary(host.command_overhead.0 as f64, percent, 0.2);
        self.controller = self.controller.max(now) + took;
        self.missing.push(0);
        let known = Event::Known(self.missing.len() - 1);
        self.at(self.controller + host.latency.0 as f64, known);
    }

    fn known(&mut self, now: f64, read: usize) {
        if self.rng.chance(self.reads.memory) {
            return self.send(now);
        }
        if !self.rng.chance(self.reads.map) {
            return self.begin(now, read);
        }
        let page = self.rng.below(self.mapping.len() as u64) as usize;
        self.mapping[page].push(read);
        if self.mapping[page].len() == 1 {
            let lane = self.rng.below(self.reads.lanes.len() as u64) as usize;
            self.reach(now, self.reads.lanes[lane], Part::Map { page });
        }
    }

    /// Begins the parts of a read at a random place: one for each clustered page that it covers.
    fn begin(&mut self, now: f64, read: usize) {
        let (bytes, page) = (self.reads.bytes, self.reads.spec.flash.clustered_page.0);
        let from = self.rng.below((self.reads.span / bytes).max(1)) * bytes;
        let mut at = from;
        while at < from + bytes {
            let end = (at / page * page + page).min(from + bytes);
            let part = Part::Data {
                read,
                bytes: end - at,
            };
            self.missing[read] += 1;
            self.reach(now, self.reads.station(at / page), part);
            at = end;
        }
    }

    fn reach(&mut self, now: f64, station: u32, part: Part) {
        match self.busy[station as usize] {
            true => self.waiting[station as usize].push_back(part),
            false => self.sense(now, station, part),
        }
    }

    fn sense(&mut self, now: f64, station: u32, part: Part) {
        self.busy[station as usize] = true;
        let spec = self.reads.spec;
        let (read, percent) = (spec.flash.read.0 as f64, spec.noise.flash_percent);
        let mut took = self.vary(read, percent, 0.5);
        for _ in 0..spec.faults.read_retries_max {
            if !self.rng.chance(spec.faults.read_retry) {
                break;
            }
            took += self.vary(read, percent, 0.5);
        }
        self.at(now + took, Event::Sensed(station, part));
    }

    fn sensed(&mut self, now: f64, station: u32, part: Part) {
        let spec = self.reads.spec;
        let bytes = match part {
            Part::Map { .. } => spec.unit(),
            Part::Data { bytes, .. } => bytes,
        };
        // Dies are numbered channel first. The bytes lie on one of the dies that work in step.
        let dies = per_station(spec);
        let die = station * dies + self.rng.below(u64::from(dies)) as u32;
        let channel = &mut self.channels[(die % spec.flash.channels) as usize];
        *channel = channel.max(now) + ns(spec.flash.bus, bytes);
        let end = *channel;
        self.at(end, Event::Moved(station, part));
    }

    fn moved(&mut self, now: f64, station: u32, part: Part) {
        self.busy[station as usize] = false;
        if let Some(next) = self.waiting[station as usize].pop_front() {
            self.sense(now, station, next);
        }
        match part {
            Part::Map { page } => {
                let reads = std::mem::take(&mut self.mapping[page]);
                reads.into_iter().for_each(|read| self.begin(now, read));
            }
            Part::Data { read, .. } => {
                self.missing[read] -= 1;
                if self.missing[read] == 0 {
                    self.send(now);
                }
            }
        }
    }

    fn send(&mut self, now: f64) {
        self.link = self.link.max(now) + self.reads.link;
        self.at(self.link, Event::Done);
    }
}
