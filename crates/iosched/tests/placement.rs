//! Zoned drives and placement handles below a block layer: it refuses the one and passes the other on.

use crate::common::queue::{given, queue, run, write};
use crate::common::{config, info};
use fathom_base::Dur;
use fathom_block::devices::NullDevice;
use fathom_block::{DeviceInfo, Request, Zoned};
use fathom_iosched::{BlockQueue, QueueConfig, SCHEDULERS};

const KIB: u64 = 1024;

fn with_handle(request: Request, handle: u16) -> Request {
    let mut request = request;
    request.tag.placement = handle;
    request
}

#[test]
fn every_scheduler_passes_handles_on_and_merges_no_writes_with_different_ones() {
    for named in SCHEDULERS {
        let mut queue = queue(QueueConfig {
            scheduler: config(named.name),
            ..QueueConfig::default()
        });
        let handles = [1, 1, 2, 0, 7, 7];
        let writes = (0..).zip(handles);
        let writes =
            writes.map(|(n, handle)| with_handle(write(n, (4096 + 4 * n) * KIB, 4 * KIB), handle));
        run(&mut queue, writes.collect());
        // Each sector keeps its handle, merged or not.
        for request in &queue.inner().given {
            let first = (request.offset / KIB - 4096) / 4;
            for n in first..first + request.len / KIB / 4 {
                let handle = handles[n as usize];
                assert_eq!(request.tag.placement, handle, "{}: {n}", named.name);
            }
        }
        let kib: u64 = given(&queue).iter().map(|(_, len)| len).sum();
        assert_eq!(kib, 24, "{}", named.name);
    }
}

#[test]
fn a_zoned_drive_is_refused_with_the_reason() {
    let zoned = Zoned {
        zone_bytes: 1 << 20,
        zone_capacity_bytes: 1 << 20,
        max_open: 0,
        max_active: 0,
        max_append_bytes: 1 << 20,
        reads_cross: false,
    };
    let info = DeviceInfo {
        zoned: Some(zoned),
        trim: false,
        ..info()
    };
    for named in SCHEDULERS {
        let config = QueueConfig {
            scheduler: config(named.name),
            ..QueueConfig::default()
        };
        let drive = NullDevice::new(info.clone(), Dur::ZERO);
        let error = BlockQueue::new(drive, config).err().unwrap().to_string();
        assert!(error.contains("without zones"), "{}: {error}", named.name);
        assert!(error.contains("no write pointers"), "{error}");
    }
}
