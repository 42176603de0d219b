//! Reads: from the memories if they hold the data, otherwise from the flash array; read-ahead.

use super::Ssd;
use super::ticket::{Ticket, Wants};
use crate::ftl::page::shortcut::Home;
use crate::nand::job::{Job, Place, Work};
use fathom_base::{Lpn, SECTOR_BYTES};

/// The source of the sectors of a read.
enum Source {
    /// A memory, or no source because the sectors were never written.
    Memory,
    /// A read-ahead in progress.
    Ahead,
    /// The flash array.
    Flash(Place),
}

impl Ssd {
    pub(super) fn begin_read(&mut self, id: u32) {
        let Some((first, sectors)) = self.host.sectors(id) else {
            return;
        };
        if self.flash.store.is_some() {
            // Read the bytes now and not when the map is known: a write that arrives in the meantime is a later one.
            let bytes = self.assemble(first, sectors);
            self.host.keep_data(id, bytes);
        }
        if self.g.map_units > 0 {
            self.translate(first, sectors);
        }
        if self.ops.is_empty() || !self.await_map(id) {
            self.read_known(id, first, sectors);
        }
    }

    /// Requests the translation of the units that a read needs from the flash array, as far as this is known in advance.
    fn translate(&mut self, first: u64, sectors: u64) {
        let per_unit = u64::from(self.g.sectors_per_unit);
        let kept = self.reads.keeps(sectors);
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

    /// Returns true if a sector is in one of the memories or on its way there.
    fn is_in_memory(&self, sector: u64, kept: bool) -> bool {
        let (cline, in_line) = self.g.line_of_sector(sector);
        let lines = &self.memory.lines;
        let written = !lines.is_empty() && lines.holds(cline, in_line);
        written || self.reads.has(sector, kept)
    }

    /// Starts the map reads needed to locate the data of a read. Returns false if none are needed.
    fn await_map(&mut self, id: u32) -> bool {
        let (ops, clock) = (&mut self.ops, &mut self.clock);
        let reads = self.flash.read_map_for(id, ops, clock);
        self.host.expect(id, reads);
        reads > 0
    }

    /// Handles the end of a map read.
    pub(super) fn map_arrived(&mut self, ticket: u32, waiting: Vec<Wants>) {
        self.flash.map_arrived(ticket);
        for wants in waiting {
            match wants {
                Wants::Read { request } => self.map_known(request),
                Wants::Program { program } => self.flash.gathered(program, &mut self.clock),
                Wants::Nobody => {}
            }
        }
    }

    /// Handles the end of a map read that a host read waits for.
    fn map_known(&mut self, id: u32) {
        if self.host.part_done(id) == Some(0)
            && let Some((first, sectors)) = self.host.sectors(id)
        {
            self.read_known(id, first, sectors);
        }
    }

    /// Reads the data of a request; all its places are known.
    fn read_known(&mut self, id: u32, first: u64, sectors: u64) {
        self.host.sectors_read += sectors;
        let kept = self.reads.keeps(sectors);
        let from_memory = self.read_sectors(id, first, sectors, kept);
        if let Some((from, ahead)) = self.reads.stream(first, sectors) {
            self.read_ahead(from, ahead);
        }
        self.host.send_from_memory(id, from_memory, &mut self.clock);
    }

    /// Starts the flash reads of a request. Returns the number of sectors that come from memory.
    fn read_sectors(&mut self, id: u32, first: u64, sectors: u64, kept: bool) -> u64 {
        let (mut sector, end) = (first, first + sectors);
        let nothing_held = self.reads.is_absent() && self.memory.lines.is_empty();
        if nothing_held && sectors <= self.left_in_unit(first) {
            return self.read_in_unit(id, first, sectors as u32);
        }
        let mut from_memory = 0;
        // The flash read that is being assembled.
        let mut run: Option<Place> = None;
        // End of the buffer line that is known to be absent; its remaining sectors are absent, too.
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

    /// Returns the number of sectors from `sector` to the end of its mapped unit.
    #[inline]
    fn left_in_unit(&self, sector: u64) -> u64 {
        u64::from(self.g.sectors_per_unit - self.g.unit_of_sector(sector).1)
    }

    /// Reads within one mapped unit while the memories hold nothing. Returns the number of sectors that come from memory.
    #[inline]
    fn read_in_unit(&mut self, id: u32, first: u64, sectors: u32) -> u64 {
        let (unit, in_unit) = self.g.unit_of_sector(first);
        match self.ftl.home(Lpn(unit)) {
            Home::Nowhere => return u64::from(sectors),
            // A page that has no place yet in the map has no age either.
            Home::Station(station) if !self.flash.nand.age.matters() => {
                self.start_read_on(station, id, in_unit, sectors);
            }
            Home::Station(_) | Home::Anywhere => {
                let at = self.ftl.lookup(Lpn(unit));
                if !at.is_some() {
                    return u64::from(sectors);
                }
                self.start_read(id, Place::within(&self.g, at, in_unit, sectors));
            }
        }
        0
    }

    /// Starts a read of an unspecified page on a station.
    #[inline]
    fn start_read_on(&mut self, station: u32, id: u32, first: u32, sectors: u32) {
        self.host.expect(id, 1);
        let place = Place {
            cpage: 0,
            first,
            sectors,
        };
        let (flash, clock) = (&mut self.flash, &mut self.clock);
        if flash.start_plain_read(station, place, id, clock) {
            return;
        }
        let bytes = sectors * SECTOR_BYTES as u32;
        let ticket = Ticket::Read { request: id, bytes };
        let job = Job::on(station, Work::Read, place, 0);
        flash.start_job(job, ticket, clock);
    }

    /// Returns the source of the next sectors, and how many of them share it. Unwritten units count as memory.
    fn next_span(
        &mut self,
        id: u32,
        sector: u64,
        end: u64,
        absent: Option<&mut u64>,
    ) -> (Source, u32) {
        let (unit, in_unit) = self.g.unit_of_sector(sector);
        let mut span = (end - sector).min(u64::from(self.g.sectors_per_unit - in_unit));
        let lines = &self.memory.lines;
        if !lines.is_empty() {
            let (cline, in_line) = self.g.line_of_sector(sector);
            if lines.lines_of(cline).next().is_some() {
                if lines.holds(cline, in_line) {
                    return (Source::Memory, 1);
                }
                span = 1;
            }
        }
        if let Some(absent) = absent {
            let (present, alike) = self.reads.look(sector, absent);
            span = span.min(alike);
            if present {
                return (Source::Memory, span as u32);
            }
        }
        if let Some(joined) = self.reads.join(id, sector, span) {
            self.host.expect(id, u32::from(joined.is_new));
            return (Source::Ahead, joined.sectors);
        }
        let at = self.ftl.lookup(Lpn(unit));
        if !at.is_some() {
            return (Source::Memory, span as u32);
        }
        let place = Place::within(&self.g, at, in_unit, span as u32);
        (Source::Flash(place), span as u32)
    }

    fn start_read(&mut self, id: u32, place: Place) {
        self.host.expect(id, 1);
        let station = self.g.station_of_cpage(place.cpage);
        let (flash, clock) = (&mut self.flash, &mut self.clock);
        if flash.start_plain_read(station, place, id, clock) {
            return;
        }
        let bytes = place.sectors * SECTOR_BYTES as u32;
        let ticket = Ticket::Read { request: id, bytes };
        flash.start(Work::Read, place, ticket, clock);
    }

    fn read_ahead(&mut self, from: u64, sectors: u64) {
        let per_unit = u64::from(self.g.sectors_per_unit);
        let end = (from + sectors).min(self.info.capacity_bytes / SECTOR_BYTES);
        if self.g.map_units > 0 && from < end {
            // The map is read, but the read-ahead does not wait for it.
            self.translate(from, end - from);
            self.issue_own();
        }
        let mut sector = from;
        while sector < end {
            let (unit, in_unit) = self.g.unit_of_sector(sector);
            let span = (end - sector).min(per_unit - u64::from(in_unit));
            let at = self.ftl.lookup(Lpn(unit));
            if at.is_some() {
                let place = Place::within(&self.g, at, in_unit, span as u32);
                let clock = &mut self.clock;
                let ticket = self.flash.start(Work::Read, place, Ticket::Ahead, clock);
                self.reads.expect(ticket, sector..sector + span);
            }
            sector += span;
        }
    }
}
