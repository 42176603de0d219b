//! Any text as a job file of fio: refused with a reason, or jobs whose accesses lie on the drive.

use fathom_base::Time;
use fathom_block::devices::Zones;
use fathom_block::program::{Done, Next, Program};
use fathom_block::zoned::Zoned;
use fathom_block::{DeviceInfo, Request};
use fathom_workload::program::fio::{Around, JobError, Jobs, parse_with};

const CAPACITY: u64 = 1 << 24;
/// The zones of the drive that has them.
const ZONED: Zoned = Zoned {
    zone_bytes: 1 << 20,
    zone_capacity_bytes: 3 << 18,
    max_open: 3,
    max_active: 4,
    max_append_bytes: 1 << 17,
    reads_cross: false,
};
/// More processes than this are not played: one line can ask for thousands.
const PROCESSES_MAX: u32 = 64;
/// Accesses of each process.
const ACCESSES: usize = 200;

/// An environment in which every variable has a value, and every file that is included is the job file itself.
struct Echo<'a>(&'a str);

impl Around for Echo<'_> {
    fn variable(&self, name: &str) -> Result<Option<String>, String> {
        Ok((!name.is_empty()).then(|| "4k".to_owned()))
    }

    fn file(&self, name: &str, _: &str) -> Result<(String, String), String> {
        let options = |line: &&str| !line.starts_with('[');
        let lines: Vec<&str> = self.0.lines().filter(options).collect();
        Ok((name.to_owned(), lines.join("\n")))
    }
}

/// Tries one input.
pub fn try_one(text: &str) {
    let file = match parse_with(text, &Echo(text)) {
        Ok(file) => file,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let processes = file
        .jobs
        .iter()
        .map(|job| job.numjobs)
        .fold(0, u32::saturating_add);
    if processes > PROCESSES_MAX {
        return;
    }
    let plain = DeviceInfo {
        capacity_bytes: CAPACITY,
        ..DeviceInfo::default()
    };
    let zoned = DeviceInfo {
        zoned: Some(ZONED),
        ..plain.clone()
    };
    // A job that knows no zones writes anywhere.
    let known = file.jobs.iter().all(|job| job.zones.zbd);
    for drive in [plain, zoned] {
        let zones = drive.zoned.filter(|_| known).map(|_| Zones::new(&drive));
        match Jobs::new(&file.jobs, &drive, 1) {
            Ok(jobs) => play(jobs, zones),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}

/// Answers every access at once. The drive's zones accept it, if all jobs know them.
fn play(mut jobs: Jobs, mut zones: Option<Zones>) {
    let mut now = Time::ZERO;
    for _ in 0..ACCESSES {
        let mut wake = Time::MAX;
        for actor in 0..jobs.actors() {
            let next = match jobs.next(actor, now) {
                Ok(next) => next,
                Err(JobError::NothingHeld { .. } | JobError::NoZone { .. }) => return,
                Err(error) => panic!("nothing is read back yet: {error}"),
            };
            match next {
                Next::Wait(until) | Next::Watch(until) => {
                    assert!(until > now);
                    wake = wake.min(until);
                }
                Next::Request(request) => {
                    assert!(request.access.end() <= CAPACITY);
                    assert!(
                        request.access.offset.is_multiple_of(512)
                            && request.access.len.is_multiple_of(512)
                    );
                    if let Some(zones) = &mut zones {
                        let access = &request.access;
                        let asked = Request::new(0, access.op, access.offset, access.len);
                        assert_eq!(zones.execute(&asked).err(), None, "{access:?}");
                    }
                    let done = Done {
                        access: &request.access,
                        tag: request.tag,
                        completed: now,
                        data: None,
                    };
                    // A drive without bytes ends a job that verifies.
                    if jobs.done(actor, done).is_err() {
                        return;
                    }
                    wake = Time(now.0 + 1);
                }
            }
        }
        if wake == Time::MAX {
            return;
        }
        now = wake;
    }
}
