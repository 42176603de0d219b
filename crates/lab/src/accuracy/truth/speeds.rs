//! Speed of a drive without its noise, computed from the drive file. The rules use it to estimate effects.
//!
//! Times are in nanoseconds. They are those of an idle drive or of a saturated stage, without the waits of one stage for
//! another. An effect is therefore known to within some tens of percent, which is enough to tell a large one from none.

use fathom_ssd::spec::Drain;
use fathom_ssd::{Geometry, Spec};

/// Times and counts of one drive.
pub(super) struct Speeds<'a> {
    spec: &'a Spec,
    /// Number of stations that work in parallel: all of them, and those of one clustered block.
    pub(super) stations: f64,
    pub(super) stations_of_block: f64,
    /// Number of lanes that consecutive pages of a block lie on.
    pub(super) lanes_of_block: u64,
    /// Number of groups of planes; a clustered block is striped over one of them.
    pub(super) groups: u64,
    /// Number of data blocks and of log blocks of a group.
    pub(super) blocks_of_group: u64,
    pub(super) logs_of_group: u64,
    /// tR and tPROG.
    pub(super) read: f64,
    pub(super) program: f64,
}

impl<'a> Speeds<'a> {
    pub(super) fn of(spec: &'a Spec) -> Self {
        let geometry = Geometry::new(spec);
        let logs = u64::from(spec.mapping.log_blocks);
        Speeds {
            spec,
            stations: f64::from(geometry.stations),
            stations_of_block: f64::from(geometry.lanes_per_group.min(geometry.stations)),
            lanes_of_block: u64::from(geometry.lanes_per_group),
            groups: u64::from(geometry.groups),
            blocks_of_group: u64::from(geometry.data_cblocks_per_group()),
            logs_of_group: logs.div_ceil(u64::from(geometry.groups)),
            read: spec.flash.read.0 as f64,
            program: spec.flash.program.0 as f64,
        }
    }

    /// Returns the transfer time over the host link.
    pub(super) fn link(&self, bytes: u64) -> f64 {
        self.spec.host.bandwidth.transfer_exact(bytes).as_ps() as f64 / 1000.0
    }

    /// Returns the transfer time of data of one clustered page between page registers and controller, over the channels of
    /// its dies.
    pub(super) fn bus(&self, bytes: u64) -> f64 {
        let flash = &self.spec.flash;
        let planes = bytes.div_ceil(flash.page.0).max(1);
        let dies = planes.div_ceil(u64::from(flash.planes_per_die));
        let channels = dies.min(u64::from(flash.channels));
        flash.bus.transfer_exact(bytes).as_ps() as f64 / 1000.0 / channels as f64
    }

    /// Returns the time of a single command: the controller's overhead and the host's latency.
    pub(super) fn command(&self) -> f64 {
        (self.spec.host.command_overhead.0 + self.spec.host.latency.0) as f64
    }

    /// Returns the host's time for each of many writes or reads of one size, at the drive's queue depth.
    pub(super) fn host(&self, bytes: u64) -> f64 {
        let (link, requests) = (self.link(bytes), self.requests(bytes));
        match self.spec.host.queue_depth {
            1 => requests * self.command() + link,
            _ => link.max(requests * self.spec.host.command_overhead.0 as f64),
        }
    }

    /// Returns the time for which a limit in front of the drive delays each of many writes or reads of one size, once its
    /// burst is used up.
    pub(super) fn limited(&self, bytes: u64) -> f64 {
        let Some(limit) = &self.spec.limit else {
            return 0.0;
        };
        let counted = limit
            .operation_size
            .map_or(1, |size| bytes.div_ceil(size.0));
        let each = |per_second: u64| 1e9 / per_second.max(1) as f64;
        let operations = limit.operations_per_second.map_or(0.0, each) * counted as f64;
        let bandwidth = limit.bandwidth.map(|rate| each(rate.bytes_per_second()));
        operations.max(bandwidth.unwrap_or(0.0) * bytes as f64)
    }

    /// Returns the number of requests that an access is split into.
    fn requests(&self, bytes: u64) -> f64 {
        bytes.div_ceil(self.spec.host.max_request.0).max(1) as f64
    }

    /// Returns the time to program one clustered page, with its transfer.
    pub(super) fn program_page(&self) -> f64 {
        self.program + self.bus(self.page())
    }

    /// Returns the time to program bytes one after another at full width, with that number of stations.
    pub(super) fn programmed(&self, bytes: f64, stations: f64) -> f64 {
        bytes / self.page() as f64 * self.program_page() / stations
    }

    /// Returns the time to copy one clustered page within the flash array.
    pub(super) fn copied_page(&self) -> f64 {
        let transfers = match self.spec.flash.copy_back {
            true => 0.0,
            false => 2.0 * self.bus(self.page()),
        };
        self.read + self.program + transfers
    }

    /// Returns the time to copy bytes within the flash array, with that number of stations.
    pub(super) fn copied(&self, bytes: f64, stations: f64) -> f64 {
        bytes / self.page() as f64 * self.copied_page() / stations
    }

    /// Returns the clustered page, in bytes.
    pub(super) fn page(&self) -> u64 {
        self.spec.flash.clustered_page.0
    }

    /// Returns the number of stations that consecutive pages lie on: all, or those of one clustered block if the mapping is
    /// by blocks.
    pub(super) fn stations_in_order(&self) -> f64 {
        let mapping = &self.spec.mapping;
        match mapping.kind.is_paged() {
            true => self.stations,
            false => self.stations_of_block,
        }
    }

    /// Returns true if the write buffer is drained between any two pieces of a write, however fast they come. The pieces
    /// are small requests one after another, or the pages of a long request if that exceeds the buffer.
    pub(super) fn drains_at_once(&self) -> bool {
        let Some(buffer) = &self.spec.write_buffer else {
            return false;
        };
        let host = &self.spec.host;
        let small = self.link(host.logical_block.0);
        let small = match host.queue_depth {
            1 => small + self.command(),
            _ => small.max(host.command_overhead.0 as f64),
        };
        let long = self.link(self.page());
        let gap = match host.queue_depth > 1 || host.max_request.0 > buffer.capacity.0 {
            true => small.min(long),
            false => small,
        };
        buffer.drain == Drain::Idle && (buffer.idle_delay.0 as f64) < gap
    }
}

/// Returns the excess of `more` over `less`, as a share of `less`.
pub(super) fn beyond(more: f64, less: f64) -> f64 {
    more / less - 1.0
}
