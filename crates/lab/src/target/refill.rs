//! Fills a new scratch file when an interrupted run is continued.
//!
//! The scratch file of the interrupted run is gone, and reads of a new one do not reach the drive until it is written. The
//! steps that had filled the old file are complete in the record and are not repeated, so the new file is filled here.
//! Other effects of steps on the state of the drive are not restored. A probe that needs more than a written file prepares
//! it in the step itself.

use fathom_block::{Device, IoError, Op, Request};
use fathom_probe::session::{Ending, marks};
use fathom_probe::{Cost, Record, Step};

const SUBJECT: &str = "fill the new scratch file";

/// Writes the whole device sequentially and flushes it, unless `interrupted` returns true. The cost is added to `record`,
/// under the first parameter that is still open.
///
/// # Errors
/// The error of the first request that fails.
pub fn refill(
    device: &mut dyn Device,
    record: &mut Record,
    interrupted: &dyn Fn() -> bool,
) -> Result<(), IoError> {
    let open = |p: &&fathom_probe::Parameter| marks::ending(record, **p) == Ending::Open;
    let Some(parameter) = record.meta.parameters.iter().find(open).copied() else {
        return Ok(());
    };
    let cost = fill(device, &|_| !interrupted())?;
    record.steps.push(Step {
        parameter,
        // Recorded like a step that was cut short: a cost without a result.
        name: format!("abandoned {}: {SUBJECT}", record.steps.len() + 1),
        cost,
        logs: Vec::new(),
        marks: Default::default(),
    });
    Ok(())
}

/// Writes the whole device sequentially and flushes it, as long as `go_on` returns true. `go_on` receives the number of
/// bytes written so far.
///
/// # Errors
/// The error of the first request that fails.
pub fn fill(device: &mut dyn Device, go_on: &dyn Fn(u64) -> bool) -> Result<Cost, IoError> {
    let (capacity, step) = (
        device.info().capacity_bytes,
        device.info().max_request_bytes,
    );
    let began = device.now();
    let mut cost = Cost::default();
    while cost.bytes_written < capacity && go_on(cost.bytes_written) {
        let len = step.min(capacity - cost.bytes_written);
        one(
            device,
            Request::new(cost.requests, Op::Write, cost.bytes_written, len),
        )?;
        cost.bytes_written += len;
        cost.requests += 1;
    }
    one(device, Request::new(cost.requests, Op::Flush, 0, 0))?;
    cost.requests += 1;
    cost.device_ns = device.now().since(began).0;
    Ok(cost)
}

fn one(device: &mut dyn Device, request: Request) -> Result<(), IoError> {
    let gone = request.error(fathom_block::IoErrorKind::Gone);
    device.submit(request).map_err(|_| gone)?;
    let mut done = Vec::new();
    device.wait(fathom_base::Time::MAX, &mut done);
    // One request was submitted, so one completion must come back; otherwise the device has lost the request.
    done.pop().ok_or(gone)?.result
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_base::Dur;
    use fathom_block::{DeviceInfo, RamDevice};
    use fathom_probe::{Method, Parameter, RecordMeta};

    fn device() -> RamDevice {
        let info = DeviceInfo {
            name: "scratch".into(),
            capacity_bytes: 4 << 20,
            logical_block_bytes: 512,
            // Not a divisor of the capacity: the last write is shorter.
            max_request_bytes: 1_500 * 512,
            queue_depth: 1,
            volatile_cache: true,
            trim: false,
            read_only: false,
            modelled: true,
            rotational: Some(false),
            ..DeviceInfo::default()
        };
        RamDevice::new(info, Dur::us(1))
    }

    fn record() -> Record {
        let device = device();
        Record {
            meta: RecordMeta {
                fathom: String::new(),
                seed: 0,
                method: Method::Robust,
                parameters: vec![Parameter::ClusteredPage, Parameter::Prefetch],
                read_only: false,
                budget_bytes: None,
                budget_ns: None,
                cheapest_first: false,
                region: None,
                level: fathom_probe::Level::Full,
                fitting: false,
                look: None,
                log: None,
                references: Vec::new(),
                thin: 1,
                target: fathom_probe::run::target_of(device.info()),
                complete: false,
            },
            steps: vec![Step {
                parameter: Parameter::ClusteredPage,
                name: "end".into(),
                cost: Cost::default(),
                logs: Vec::new(),
                marks: Default::default(),
            }],
            samples: Vec::new(),
        }
    }

    #[test]
    fn every_byte_is_written_and_booked_with_what_is_open() {
        let (mut device, mut record) = (device(), record());
        refill(&mut device, &mut record, &|| false).unwrap();
        let step = record.steps.last().unwrap();
        assert_eq!(step.parameter, Parameter::Prefetch);
        assert_eq!(step.cost.bytes_written, 4 << 20);
        assert_eq!(marks::ending(&record, Parameter::Prefetch), Ending::Open);
    }

    #[test]
    fn an_interruption_stops_it() {
        let (mut device, mut record) = (device(), record());
        refill(&mut device, &mut record, &|| true).unwrap();
        assert_eq!(record.steps.last().unwrap().cost.bytes_written, 0);
    }
}
