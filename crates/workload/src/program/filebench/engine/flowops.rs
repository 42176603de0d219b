//! Performs the operations on files.

use super::files::Files;
use super::state::Filebench;
use super::thread::{Open, Outcome, Slot};
use crate::program::filebench::language::{Flowop, Kind};
use fathom_base::{Rng, Time};
use fathom_fs::FileId;
use fathom_platform::{Failed, Host, Step};

/// Draws an offset for a call of `len` bytes within `all`: filebench's `fb_random64`. `len` is above 0 and at most `all`.
fn offset(all: u64, len: u64, rng: &mut Rng) -> u64 {
    let drawn = (rng.uniform() * (all - len) as f64) as u64;
    drawn / len * len
}

/// A file that an operation works on.
#[derive(Clone, Copy, Debug)]
struct Target {
    slot: Slot,
    open: Open,
    file: FileId,
    /// The part of the file in use, and the length of the file, in bytes.
    all: u64,
    there: u64,
}

impl Filebench {
    /// Performs an operation on files.
    pub(super) fn on_files(
        &mut self,
        thread: usize,
        flowop: &Flowop,
        host: &mut Host,
        now: Time,
    ) -> Result<Outcome, Failed> {
        match flowop.kind {
            Kind::OpenFile => Ok(match self.open(thread, flowop, host, now) {
                Some(_) => Outcome::done(),
                None => Outcome::Stop,
            }),
            Kind::CreateFile => self.create(thread, flowop, host, now),
            Kind::CloseFile => {
                self.close(thread, flowop.fd);
                Ok(Outcome::done())
            }
            Kind::DeleteFile => Ok(self.delete(thread, flowop, host, now)),
            Kind::StatFile => Ok(self.stat(thread, flowop, host, now)),
            _ => Ok(match self.target(thread, flowop, host, now) {
                Some(target) => self.moves(thread, flowop, target),
                None => Outcome::Stop,
            }),
        }
    }

    fn files(&mut self, flowop: &Flowop) -> Option<&mut Files> {
        self.sets.get_mut(flowop.set?)
    }

    /// Opens the next file of the set, by the descriptor of the flowop.
    fn open(&mut self, thread: usize, flowop: &Flowop, host: &mut Host, now: Time) -> Option<Slot> {
        let set = flowop.set?;
        let files = self.sets.get_mut(set)?;
        let of = self.threads.get_mut(thread)?;
        let (slot, number) = match flowop.rotates {
            false => (Slot::Fd(flowop.fd), files.pick()?),
            true => {
                let rotor = of.rotors.get_mut(&set)?;
                (Slot::Rotor(set, rotor.at), files.pick_by(&mut rotor.next)?)
            }
        };
        let file = files.file(number)?;
        host.open(file, now);
        self.opened(thread, flowop, slot, number);
        Some(slot)
    }

    fn opened(&mut self, thread: usize, flowop: &Flowop, slot: Slot, number: usize) {
        let set = flowop.set.unwrap_or(0);
        self.sets[set].entries[number].open += 1;
        let open = Open {
            set,
            number,
            is_open: true,
            position: 0,
            synchronous: flowop.synchronous,
        };
        self.threads[thread].put(slot, open);
    }

    fn create(
        &mut self,
        thread: usize,
        flowop: &Flowop,
        host: &mut Host,
        now: Time,
    ) -> Result<Outcome, Failed> {
        let Some(files) = self.files(flowop) else {
            return Ok(Outcome::Stop);
        };
        let Some(number) = files.pick_missing() else {
            return Ok(Outcome::Stop);
        };
        let file = host.create(files.entries[number].directory, now)?;
        files.created(number, file);
        self.opened(thread, flowop, Slot::Fd(flowop.fd), number);
        Ok(Outcome::done())
    }

    fn close(&mut self, thread: usize, fd: u8) {
        if let Some(open) = self.threads[thread].descriptors.get_mut(&fd)
            && open.is_open
        {
            open.is_open = false;
            let entry = &mut self.sets[open.set].entries[open.number];
            entry.open = entry.open.saturating_sub(1);
        }
    }

    /// Deletes the file that a descriptor had, or the next one.
    fn delete(&mut self, thread: usize, flowop: &Flowop, host: &mut Host, now: Time) -> Outcome {
        let had = match flowop.fd {
            0 => None,
            fd => self.threads[thread].descriptors.remove(&fd),
        };
        let (set, number) = match had {
            Some(had) => (had.set, Some(had.number)),
            None => {
                let number = self.files(flowop).and_then(Files::pick);
                (flowop.set.unwrap_or(0), number)
            }
        };
        let Some(number) = number else {
            return Outcome::Stop;
        };
        match self.sets[set].take(number) {
            None => Outcome::Skipped,
            Some(file) => {
                host.delete(file, now);
                Outcome::done()
            }
        }
    }

    fn stat(&mut self, thread: usize, flowop: &Flowop, host: &mut Host, now: Time) -> Outcome {
        let open = self.threads[thread].descriptors.get(&flowop.fd);
        if flowop.fd > 0 && open.is_some_and(|open| open.is_open) {
            return Outcome::done();
        }
        let Some(files) = self.files(flowop) else {
            return Outcome::Stop;
        };
        let number = files.pick();
        match number.and_then(|number| files.file(number)) {
            None => Outcome::Stop,
            Some(file) => {
                host.open(file, now);
                Outcome::done()
            }
        }
    }

    /// The file that an operation moves data of. Opens it if it is not open.
    fn target(
        &mut self,
        thread: usize,
        flowop: &Flowop,
        host: &mut Host,
        now: Time,
    ) -> Option<Target> {
        let slot = match (flowop.rotates, flowop.set) {
            (true, Some(set)) => self.threads[thread].turn(set),
            _ => Slot::Fd(flowop.fd),
        };
        let found = self.threads[thread].get(slot).filter(|open| open.is_open);
        let open = match found {
            Some(open) => open,
            None => {
                let slot = self.open(thread, flowop, host, now)?;
                self.threads[thread].get(slot)?
            }
        };
        let entry = self.sets.get(open.set)?.entries.get(open.number)?;
        let file = entry.file?;
        Some(Target {
            slot,
            open,
            file,
            all: match flowop.working_set {
                0 => entry.size,
                part => part,
            },
            there: host.size(file),
        })
    }

    /// Reads, writes or syncs.
    fn moves(&mut self, thread: usize, flowop: &Flowop, of: Target) -> Outcome {
        let Target { all, there, .. } = of;
        let len = self.threads[thread].rngs.draw(&flowop.io_size);
        match flowop.kind {
            Kind::Fsync => {
                self.syncs += 1;
                self.threads[thread].then.push(Step::Sync { file: of.file });
                Outcome::done()
            }
            Kind::ReadWholeFile => {
                let call = if len == 0 { all.max(1) } else { len };
                self.threads[thread]
                    .then
                    .push(Step::read(of.file, there, call));
                self.moved(thread, of, there);
                Outcome::read(there)
            }
            Kind::Read => self.read(thread, flowop, of, len),
            Kind::WriteWholeFile => {
                let len = whole(self.source(thread, flowop).unwrap_or(all), len);
                self.write(thread, of, of.open.position.min(there), len)
            }
            Kind::AppendFile => self.write(thread, of, there, len),
            Kind::AppendFileRand => {
                let len = self.threads[thread].rngs.of_process().below(len);
                self.write(thread, of, there, len)
            }
            _ if len == 0 || (flowop.random && len > all) => Outcome::Stop,
            Kind::AioWrite => self.write_ahead(thread, of, len),
            _ => {
                let from = match flowop.random {
                    true => offset(all, len, self.threads[thread].rngs.of_process()),
                    false => of.open.position,
                };
                self.write(thread, of, from.min(there), len)
            }
        }
    }

    /// The length of the file that `srcfd` has or had.
    fn source(&self, thread: usize, flowop: &Flowop) -> Option<u64> {
        let open = self.threads[thread].descriptors.get(&flowop.source)?;
        let entry = self.sets.get(open.set)?.entries.get(open.number)?;
        Some(entry.size)
    }

    fn moved(&mut self, thread: usize, of: Target, position: u64) {
        let open = Open {
            position,
            ..of.open
        };
        self.threads[thread].put(of.slot, open);
    }

    fn read(&mut self, thread: usize, flowop: &Flowop, of: Target, len: u64) -> Outcome {
        let Target { all, there, .. } = of;
        if len == 0 || (flowop.random && len > all) {
            return Outcome::Stop;
        }
        let from = match flowop.random {
            true => offset(all, len, self.threads[thread].rngs.of_process()),
            false => of.open.position,
        };
        let len = len.min(there.saturating_sub(from));
        // A call at the end of the file moves nothing, and the next one begins at the start.
        let after = if len == 0 { 0 } else { from + len };
        if !flowop.random {
            self.moved(thread, of, after);
        }
        let (file, call) = (of.file, len);
        self.threads[thread].then.push(Step::Read {
            file,
            from,
            len,
            call,
        });
        Outcome::read(len)
    }

    /// Writes to the cache, or to the drive if the file was opened so.
    fn write(&mut self, thread: usize, of: Target, from: u64, len: u64) -> Outcome {
        self.moved(thread, of, from + len);
        let (file, then) = (of.file, &mut self.threads[thread].then);
        if len > 0 && of.open.synchronous {
            then.push(Step::Settle { at_most: 0 });
            then.push(Step::WriteThrough {
                file,
                from,
                len,
                at_most: 1,
            });
        } else if len > 0 {
            then.push(Step::write(file, from, len));
        }
        Outcome::written(len)
    }

    /// Begins a write at random, for which `aiowait` waits. Without `dsync` it goes to the cache.
    fn write_ahead(&mut self, thread: usize, of: Target, len: u64) -> Outcome {
        let from = offset(of.all, len, self.threads[thread].rngs.of_process()).min(of.there);
        let file = of.file;
        let step = match of.open.synchronous {
            false => Step::write(file, from, len),
            true => Step::WriteThrough {
                file,
                from,
                len,
                at_most: self.limits.writes_in_flight.max(1),
            },
        };
        self.threads[thread].then.push(step);
        Outcome::written(len)
    }
}

/// Bytes that `writewholefile` writes for a length: calls of full length, but a single shorter one.
fn whole(len: u64, call: u64) -> u64 {
    match call {
        0 => len,
        call if len <= call => len,
        call => len.div_ceil(call).saturating_mul(call),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_file_is_written_in_full_calls() {
        // By hand from the loop of `flowoplib_writewholefile`.
        let mib = 1 << 20;
        for (len, bytes) in [
            (100, 100),
            (mib, mib),
            (3 * mib / 2, 2 * mib),
            (5 * mib / 2, 3 * mib),
        ] {
            assert_eq!(whole(len, mib), bytes, "{len}");
        }
        assert_eq!(whole(5 * mib, 0), 5 * mib);
    }

    #[test]
    fn offsets_are_multiples_and_the_last_is_never_drawn() {
        let mut rng = Rng::new(1, 0);
        let drawn: Vec<u64> = (0..10_000).map(|_| offset(100, 10, &mut rng)).collect();
        assert!(drawn.iter().all(|at| at % 10 == 0));
        assert_eq!(drawn.iter().max(), Some(&80));
        assert_eq!(drawn.iter().min(), Some(&0));
        assert_eq!(offset(10, 10, &mut rng), 0);
    }
}
