//! A thread that performs a list of acts, mounted file systems, and what a machine asked for.

use crate::program::Played;
use fathom_base::{Bytes, Dur, Time};
use fathom_block::Op;
use fathom_fs::{FileId, FileSystem, Format, ROOT};
use fathom_platform::{Benchmark, Counter, Failed, Host, Machine, Mount, Script, Step, System};

pub(crate) type Act = fn(&[FileId], &mut Host, Time) -> Option<Step>;

/// One thread that performs a list of acts, with the files that it has created.
pub(crate) struct List {
    pub(crate) acts: Vec<Act>,
    pub(crate) next: usize,
    pub(crate) files: Vec<FileId>,
    pub(crate) times: Vec<Time>,
}

impl Script for List {
    fn threads(&self) -> usize {
        1
    }

    fn step(&mut self, _thread: usize, host: &mut Host, now: Time) -> Result<Step, Failed> {
        self.times.push(now);
        let act = self.acts.get(self.next);
        self.next += 1;
        let step = act.map(|act| act(&self.files, host, now));
        Ok(step.map_or(Step::End, |step| step.unwrap_or(Step::Compute(Dur::ZERO))))
    }

    fn counters(&self) -> Vec<Counter> {
        let seconds = |&time: &Time| Counter::seconds("at", time.since(Time::ZERO));
        self.times.iter().map(seconds).collect()
    }
}

/// A machine on which only the drive takes time.
pub(crate) fn system() -> System {
    System {
        memory: Bytes::mib(64),
        operation_time: Dur::ZERO,
        page_time: Dur::ZERO,
        access_times: false,
        ..System::default()
    }
}

/// An empty file system with directories.
pub(crate) fn mount(format: Format, len: Bytes, directories: usize) -> Mount {
    let file_system = FileSystem {
        format,
        ..FileSystem::default()
    };
    mounted(&file_system, len, directories)
}

pub(crate) fn mounted(file_system: &FileSystem, len: Bytes, directories: usize) -> Mount {
    let mut volume = file_system.volume(len).unwrap();
    let made = (0..directories).map(|_| volume.create(ROOT, 4, true).unwrap());
    let directories = made.collect();
    volume.forget_changes().unwrap();
    Mount {
        volume,
        start: Bytes(0),
        delayed: file_system.is_delayed(),
        directories,
    }
}

/// A file system with one file of `bytes` bytes, the first file of the acts.
pub(crate) fn list_on(
    mut mount: Mount,
    system: System,
    bytes: u64,
    acts: &[Act],
) -> (Machine<List>, u64) {
    let volume = &mut mount.volume;
    let file = volume.create(mount.directories[0], 8, false).unwrap();
    volume.set_size(file, bytes).unwrap();
    volume
        .allocate(file, 0, bytes.div_ceil(4096) as u32)
        .unwrap();
    volume.open(file, false).unwrap();
    volume.forget_changes().unwrap();
    let offset = volume.find(file, 0).map_or(0, |(block, _)| block * 4096);
    let script = List {
        acts: acts.to_vec(),
        next: 0,
        files: vec![file],
        times: Vec::new(),
    };
    (Machine::new(script, mount, system), offset)
}

/// ext3 on 64 MiB.
pub(crate) fn list(system: System, bytes: u64, acts: &[Act]) -> (Machine<List>, u64) {
    list_on(mount(Format::Ext3, Bytes::mib(64), 1), system, bytes, acts)
}

pub(crate) fn times(machine: &Machine<List>) -> Vec<f64> {
    let counters = machine.counters();
    let at = counters.iter().filter(|c| c.name == "at");
    at.map(|c| c.value).collect()
}

pub(crate) fn read_all(files: &[FileId], host: &mut Host, _now: Time) -> Option<Step> {
    Some(Step::read(files[0], host.size(files[0]), 4096))
}

pub(crate) fn write_mib(files: &[FileId], _host: &mut Host, _now: Time) -> Option<Step> {
    Some(Step::write(files[0], 0, 1 << 20))
}

/// What a machine asked for, in order: the operation, whether it is forced to the medium, the blocks.
pub(crate) fn asked(played: &[Played]) -> Vec<(Op, bool, u64)> {
    let mut played = played.to_vec();
    played.sort_by_key(|p| p.asked);
    let of = |p: &Played| (p.access.op, p.tag.fua, p.access.len / 4096);
    played
        .iter()
        .filter(|p| p.access.op != Op::Read)
        .map(of)
        .collect()
}

pub(crate) const SYNC: Act = |files, _, _| Some(Step::Sync { file: files[0] });
pub(crate) const SYNC_ALL: Act = |_, _, _| Some(Step::SyncAll);
pub(crate) const WRITE_32_KIB: Act = |files, _, _| Some(Step::write(files[0], 0, 32 << 10));
