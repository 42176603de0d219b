//! Any text as a job file of fio: refused with a reason, or jobs whose accesses lie on the drive.

use fathom_base::Time;
use fathom_block::program::{Done, Next, Program};
use fathom_workload::program::fio::{Around, Jobs, parse_with};

const CAPACITY: u64 = 1 << 24;
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
    match Jobs::new(&file.jobs, CAPACITY, 512, 1) {
        Ok(jobs) => play(jobs),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Answers every access at once.
fn play(mut jobs: Jobs) {
    let mut now = Time::ZERO;
    for _ in 0..ACCESSES {
        let mut wake = Time::MAX;
        for actor in 0..jobs.actors() {
            match jobs.next(actor, now).expect("nothing is read back yet") {
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
