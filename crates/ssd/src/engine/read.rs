//! Reads: from the buffers where they hold the data, from the flash array otherwise; reading ahead.

use super::batch::Batch;
use super::flash::Ticket;
use super::{Event, Ssd, lane};
use crate::ftl::{Ftl, Home};
use crate::host::Way;
use crate::nand::{Job, Place, Work};
use fathom_base::{Lpn, SECTOR_BYTES};

/// Where the sectors of a read come from.
enum Source {
    /// A buffer, or nowhere: never written.
    Memory,
    /// A read-ahead that is under way.
    Ahead,
    /// The flash array.
    Flash(Place),
}

impl Ssd {
    pub(super) fn begin_read(&mut self, id: u32) {
        let Some(active) = self.active.get(id) else {
            return;
        };
        let first = active.request.offset / SECTOR_BYTES;
        let sectors = active.request.len / SECTOR_BYTES;
        if self.store.is_some() {
            // Now, and not when the places are known: a write that comes meanwhile is a later one.
            let bytes = self.assemble(first, sectors);
            if let Some(active) = self.active.get_mut(id) {
                active.data = Some(bytes);
            }
        }
        if self.g.map_units > 0 {
            self.translate(first, sectors);
        }
        if self.ops.is_empty() || !self.await_map(id) {
            self.read_known(id, first, sectors);
        }
    }

    /// Has the places made known of the units that a read wants from the flash array, as far as is known before.
    fn translate(&mut self, first: u64, sectors: u64) {
        let per_unit = u64::from(self.g.sectors_per_unit);
        let kept = self.reads.as_ref().is_some_and(|r| r.keeps(sectors));
        let end = first + sectors;
        let mut sector = first;
        let mut run: Option<(u32, u32)> = None;
        while sector < end {
            let (unit, in_unit) = self.g.unit_of_sector(sector);
            let upto = (sector + per_unit - u64::from(in_unit)).min(end);
            let wanted = (sector..upto).any(|s| !self.is_in_memory(s, kept));
            sector = upto;
            match &mut run {
                Some((_, units)) if wanted => *units += 1,
                _ if wanted => run = Some((unit, 1)),
                _ => self.translate_run(run.take()),
            }
        }
        self.translate_run(run);
    }

    fn translate_run(&mut self, run: Option<(u32, u32)>) {
        if let Some((unit, units)) = run {
            self.ftl.translate(Lpn(unit), units, &mut self.ops);
        }
    }

    /// Whether a sector is in one of the buffers or on its way there.
    fn is_in_memory(&self, sector: u64, kept: bool) -> bool {
        let (cline, in_line) = self.g.line_of_sector(sector);
        let written = !self.lines.is_empty() && self.lines.holds(cline, in_line);
        let read = self.reads.as_ref().is_some_and(|r| r.look(sector).0);
        let arrives = |ticket: &u32| match self.tickets.get(*ticket) {
            Some(Ticket::Ahead { first, sectors, .. }) => {
                (*first..*first + u64::from(*sectors)).contains(&sector)
            }
            _ => false,
        };
        written || (kept && read) || self.arriving.iter().any(arrives)
    }

    /// The places of a read are known.
    pub(super) fn read_known(&mut self, id: u32, first: u64, sectors: u64) {
        self.counters.host_sectors_read += sectors;
        let kept = self.reads.as_ref().is_some_and(|r| r.keeps(sectors));
        let from_memory = self.read_sectors(id, first, sectors, kept);
        let stream = self.reads.as_mut().and_then(|r| r.stream(first, sectors));
        if let Some((from, ahead)) = stream {
            self.read_ahead(from, ahead);
        }
        let Some(active) = self.active.get_mut(id) else {
            return;
        };
        if from_memory > 0 || active.pending == 0 {
            let end = self
                .link
                .transfer(Way::Out, from_memory * SECTOR_BYTES, self.now);
            active.last_transfer = active.last_transfer.max(end);
        }
        if active.pending == 0 {
            let at = active.last_transfer;
            self.events
                .push_in_order(lane::OUT, at, Event::Complete(id));
        }
    }

    /// Starts the flash reads of a request; gives the sectors that come from memory.
    fn read_sectors(&mut self, id: u32, first: u64, sectors: u64, kept: bool) -> u64 {
        let (mut sector, end) = (first, first + sectors);
        if self.reads.is_none() && self.lines.is_empty() && sectors <= self.left_in_unit(first) {
            return self.read_in_unit(id, first, sectors as u32);
        }
        let mut from_memory = 0;
        // The flash read being put together: place and sectors.
        let mut run: Option<Place> = None;
        // The end of the buffer line that is known to be absent: its other sectors are, too.
        let mut absent = 0;
        while sector < end {
            let line = kept.then_some(&mut absent);
            let (source, n) = self.next_span(id, sector, end, line);
            match source {
                Source::Memory => from_memory += u64::from(n),
                Source::Ahead => {}
                Source::Flash(place) => match &mut run {
                    Some(r) if r.cpage == place.cpage && r.first + r.sectors == place.first => {
                        r.sectors += place.sectors;
                    }
                    _ => {
                        if let Some(place) = run.replace(place) {
                            self.start_read(id, place);
                        }
                    }
                },
            }
            sector += u64::from(n);
        }
        if let Some(place) = run {
            self.start_read(id, place);
        }
        from_memory
    }

    /// Sectors from one on to the end of its mapped unit.
    #[inline]
    fn left_in_unit(&self, sector: u64) -> u64 {
        u64::from(self.g.sectors_per_unit - self.g.unit_of_sector(sector).1)
    }

    /// A read within one mapped unit of a drive whose memory holds nothing.
    #[inline]
    fn read_in_unit(&mut self, id: u32, first: u64, sectors: u32) -> u64 {
        let (unit, in_unit) = self.g.unit_of_sector(first);
        if self.group_tells_station {
            match self.ftl.home(Lpn(unit)) {
                Home::Anywhere => {}
                Home::Nowhere => return u64::from(sectors),
                Home::Group(group) => {
                    self.start_read_in(id, group, in_unit, sectors);
                    return 0;
                }
            }
        }
        let at = self.ftl.lookup(Lpn(unit));
        if !at.is_some() {
            return u64::from(sectors);
        }
        let mut place = self.place(at, 1);
        (place.first, place.sectors) = (place.first + in_unit, sectors);
        self.start_read(id, place);
        0
    }

    /// A read of some page of a group that has one lane, with pages of one plane: which one takes no part in time.
    #[inline]
    fn start_read_in(&mut self, id: u32, group: u32, first: u32, sectors: u32) {
        if let Some(active) = self.active.get_mut(id) {
            active.pending += 1;
        }
        let bytes = Self::bytes_of(sectors);
        let ticket = self.tickets.insert(Ticket::Read { request: id, bytes });
        let place = Place {
            cpage: group * self.g.cblocks_per_group * self.g.cpages_per_cblock,
            first,
            sectors,
        };
        let job = Job {
            work: Work::Read,
            station: self.g.station_of_lane(group),
            place,
            ticket,
            number: 0,
            plane: 0,
            stays: false,
        };
        self.nand.submit(job, self.now, &mut self.events);
    }

    /// The next sectors that come from one source, and how many they are. Unwritten units come from memory.
    fn next_span(
        &mut self,
        id: u32,
        sector: u64,
        end: u64,
        absent: Option<&mut u64>,
    ) -> (Source, u32) {
        let (unit, in_unit) = self.g.unit_of_sector(sector);
        let mut span = (end - sector).min(u64::from(self.g.sectors_per_unit - in_unit));
        if !self.lines.is_empty() {
            let (cline, in_line) = self.g.line_of_sector(sector);
            if self.lines.lines_of(cline).next().is_some() {
                if self.lines.holds(cline, in_line) {
                    return (Source::Memory, 1);
                }
                span = 1;
            }
        }
        if let (Some(absent), Some(reads)) = (absent, &mut self.reads) {
            let (present, rest) = reads.look(sector);
            span = span.min(rest);
            if sector >= *absent {
                reads.touch(sector, 1);
                if present {
                    return (Source::Memory, span as u32);
                }
                *absent = sector + rest;
            }
        }
        if let Some(waited) = self.wait_for_ahead(id, sector, span) {
            return (Source::Ahead, waited);
        }
        let at = self.ftl.lookup(Lpn(unit));
        if !at.is_some() {
            return (Source::Memory, span as u32);
        }
        let mut place = self.place(at, 1);
        place.first += in_unit;
        place.sectors = span as u32;
        (Source::Flash(place), span as u32)
    }

    fn start_read(&mut self, id: u32, place: Place) {
        if let Some(active) = self.active.get_mut(id) {
            active.pending += 1;
        }
        let bytes = Self::bytes_of(place.sectors);
        let ticket = self.tickets.insert(Ticket::Read { request: id, bytes });
        self.submit_work(Work::Read, place, ticket);
    }

    /// Joins a read-ahead that is under way and covers the sector; the sectors that it will bring.
    fn wait_for_ahead(&mut self, id: u32, sector: u64, span: u64) -> Option<u32> {
        for index in 0..self.arriving.len() {
            let Some(Ticket::Ahead {
                first,
                sectors,
                waiting,
            }) = self.tickets.get_mut(self.arriving[index])
            else {
                continue;
            };
            let covered = (*first..*first + u64::from(*sectors)).contains(&sector);
            if !covered {
                continue;
            }
            let n = span.min(*first + u64::from(*sectors) - sector) as u32;
            match waiting.iter_mut().find(|(request, _)| *request == id) {
                Some((_, bytes)) => *bytes += Self::bytes_of(n),
                None => {
                    waiting.push((id, Self::bytes_of(n)));
                    if let Some(active) = self.active.get_mut(id) {
                        active.pending += 1;
                    }
                }
            }
            return Some(n);
        }
        None
    }

    fn read_ahead(&mut self, from: u64, sectors: u64) {
        let per_unit = u64::from(self.g.sectors_per_unit);
        let end = (from + sectors).min(self.info.capacity_bytes / SECTOR_BYTES);
        if self.g.map_units > 0 && from < end {
            // The map is read, but reading ahead does not wait for it.
            self.translate(from, end - from);
            self.issue_own();
        }
        let mut sector = from;
        while sector < end {
            let span = (end - sector).min(per_unit - sector % per_unit) as u32;
            let at = self.ftl.lookup(Lpn((sector / per_unit) as u32));
            if at.is_some() {
                let mut place = self.place(at, 1);
                place.first += (sector % per_unit) as u32;
                place.sectors = span;
                let ahead = Ticket::Ahead {
                    first: sector,
                    sectors: span,
                    waiting: Vec::new(),
                };
                let ticket = self.tickets.insert(ahead);
                self.arriving.push(ticket);
                self.submit_work(Work::Read, place, ticket);
            }
            sector += u64::from(span);
        }
    }

    /// The bytes that a read gives now: the flash array's, overlaid with what is in the buffer.
    fn assemble(&self, first: u64, sectors: u64) -> Box<[u8]> {
        let size = SECTOR_BYTES as usize;
        let mut bytes = vec![0u8; sectors as usize * size].into_boxed_slice();
        for (i, chunk) in bytes.chunks_mut(size).enumerate() {
            self.sector_bytes(first + i as u64, chunk);
        }
        bytes
    }

    /// The current bytes of one sector.
    fn sector_bytes(&self, sector: u64, into: &mut [u8]) {
        let (cline, in_line) = self.g.line_of_sector(sector);
        let newest = self
            .lines
            .lines_of(cline)
            .find(|&id| self.lines.line_holds(id, in_line));
        match newest {
            Some(id) => self.copy_line_sector(id, in_line, into),
            None => self.copy_flash_sector(sector, into),
        }
    }

    /// The bytes that a sector will have once a batch is programmed: newer lines do not count.
    pub(super) fn drained_sector(&self, batch: &Batch, sector: u64, into: &mut [u8]) {
        let (cline, in_line) = self.g.line_of_sector(sector);
        let mut lines = self.lines.lines_of(cline);
        match lines.find(|&id| batch.has_line(id) && self.lines.line_holds(id, in_line)) {
            Some(id) => self.copy_line_sector(id, in_line, into),
            None => self.copy_flash_sector(sector, into),
        }
    }

    fn copy_line_sector(&self, id: u32, in_line: u32, into: &mut [u8]) {
        if let Some(bytes) = self.line_bytes.get(&id) {
            let at = in_line as usize * into.len();
            into.copy_from_slice(&bytes[at..at + into.len()]);
        }
    }

    fn copy_flash_sector(&self, sector: u64, into: &mut [u8]) {
        let per_unit = u64::from(self.g.sectors_per_unit);
        let at = self.ftl.lookup(Lpn((sector / per_unit) as u32));
        if let Some(cell) = self.store.as_ref().and_then(|store| store.get(at)) {
            let at = (sector % per_unit) as usize * into.len();
            into.copy_from_slice(&cell.bytes[at..at + into.len()]);
        }
    }
}
