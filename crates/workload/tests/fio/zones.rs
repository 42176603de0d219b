//! Jobs on zoned drives (`zonemode=zbd`): every access must be one that the rules of zones allow.
//!
//! The expected places follow from fio's manual (3.33, "zonemode", "max_open_zones", "read_beyond_wp") and from the rules
//! of zones.

use super::harness::{Drive, Played, tally};
use fathom_base::Time;
use fathom_block::devices::Zones;
use fathom_block::zoned::{Zone, ZoneAction, ZoneState, Zoned};
use fathom_block::{Access, DeviceInfo, Op, Request};
use fathom_workload::program::fio::{JobError, Jobs, parse};

const K: u64 = 1024;
const ZONE: u64 = 256 * K;
/// What a zone holds: 12 blocks of 16 KiB of 16.
const HOLDS: u64 = 192 * K;
const ZONES: u64 = 8;

/// A drive of 8 zones, of which 3 may be open.
fn info() -> DeviceInfo {
    DeviceInfo {
        capacity_bytes: ZONES * ZONE,
        zoned: Some(Zoned {
            zone_bytes: ZONE,
            zone_capacity_bytes: HOLDS,
            max_open: 3,
            max_active: 3,
            max_append_bytes: 64 * K,
            reads_cross: false,
        }),
        ..DeviceInfo::default()
    }
}

/// A run: its accesses in the order in which they were issued, and the zones after it.
struct Run {
    played: Vec<Played>,
    zones: Vec<Zone>,
}

/// Writes to the zones of `states` before the run: all that they hold, or so many bytes.
fn prepared(held: &[u64]) -> Zones {
    let mut zones = Zones::new(&info());
    for (number, &bytes) in (0..).zip(held).filter(|(_, bytes)| **bytes > 0) {
        let write = Request::new(0, Op::Write, number * ZONE, bytes);
        zones.execute(&write).unwrap();
    }
    zones
}

/// Plays a job file on zones in which the first ones hold these bytes. Fails if the drive would refuse an access.
fn run(text: &str, held: &[u64]) -> Run {
    try_run(text, held).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn try_run(text: &str, held: &[u64]) -> Result<Run, JobError> {
    let mut drive = Drive::new(ZONES * ZONE);
    drive.zones = Some(prepared(held));
    drive.bytes = text.contains("verify").then(Default::default);
    let file = parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut jobs = Jobs::new(&file.jobs, &info(), 1).unwrap_or_else(|error| panic!("{error}"));
    let report = |drive: &Drive| drive.zones.as_ref().unwrap().report(0, usize::MAX);
    jobs.zones(&report(&drive));
    drive.play(&mut jobs)?;
    let zones = report(&drive);
    let played = std::mem::take(&mut drive.issued);
    Ok(Run { played, zones })
}

fn zbd(options: &str) -> String {
    format!("[a]\nzonemode=zbd\nbs=16k\n{options}")
}

impl Run {
    fn of(&self, op: Op) -> Vec<&Access> {
        let all = self.played.iter().map(|one| &one.access);
        all.filter(|access| access.op == op).collect()
    }

    fn resets(&self) -> Vec<u64> {
        let resets = self.of(Op::Zone(ZoneAction::Reset));
        resets.iter().map(|access| access.offset / ZONE).collect()
    }

    fn in_state(&self, state: ZoneState) -> usize {
        self.zones.iter().filter(|zone| zone.state == state).count()
    }
}

#[test]
fn sequential_writes_fill_zone_after_zone_and_leave_out_what_none_holds() {
    let run = run(&zbd("rw=write"), &[]);
    let places: Vec<u64> = run.of(Op::Write).iter().map(|one| one.offset).collect();
    let expected: Vec<u64> = (0..ZONES)
        .flat_map(|zone| (0..HOLDS / (16 * K)).map(move |n| zone * ZONE + n * 16 * K))
        .collect();
    assert_eq!(places, expected);
    assert_eq!(run.resets(), [] as [u64; 0]);
    assert_eq!(run.in_state(ZoneState::Full), ZONES as usize);
}

#[test]
fn a_write_that_begins_at_a_full_zone_has_it_reset_and_one_at_a_pointer_goes_on_there() {
    // Zone 0 is full, zone 1 has 48 KiB left, zone 2 is empty.
    let run = run(&zbd("rw=write\nsize=3z"), &[HOLDS, HOLDS - 48 * K]);
    assert_eq!(run.resets(), [0]);
    assert_eq!(run.played[0].access.op, Op::Zone(ZoneAction::Reset));
    let writes = tally(run.of(Op::Write).iter().map(|one| one.offset / ZONE));
    assert_eq!(
        writes.into_iter().collect::<Vec<_>>(),
        [(0, 12), (1, 3), (2, 12)]
    );
}

#[test]
fn random_writes_go_to_as_many_zones_as_may_be_open_and_replace_the_full_ones() {
    for (options, most) in [
        ("", 3),
        ("max_open_zones=2", 2),
        ("job_max_open_zones=1", 1),
        ("ioengine=libaio\niodepth=8", 3),
        ("ioengine=libaio\niodepth=8\nmax_open_zones=1", 1),
    ] {
        let run = run(&zbd(&format!("rw=randwrite\n{options}")), &[HOLDS; 8]);
        // As much as the address space: a third more than the zones hold.
        let writes = run.of(Op::Write);
        assert_eq!(writes.len() as u64, ZONES * ZONE / (16 * K), "{options}");
        let most_active = run.played.iter().map(|one| one.zones_active).max();
        assert_eq!(most_active, Some(most), "{options}");
        let touched = tally(writes.iter().map(|one| one.offset / ZONE));
        assert!(touched.len() > 5, "{options}: {touched:?}");
        // A reset for every zone that was begun, and none while anything was in flight there.
        let begun = writes.iter().filter(|one| one.offset % ZONE == 0).count();
        assert_eq!(run.resets().len(), begun, "{options}");
    }
}

#[test]
fn random_writes_with_no_limit_go_to_all_zones() {
    let run = run(
        &zbd("rw=randwrite\nignore_zone_limits=1\nio_size=512k\nsize=3z"),
        &[],
    );
    let touched = tally(run.of(Op::Write).iter().map(|one| one.offset / ZONE));
    assert_eq!(touched.len(), 3);
}

#[test]
fn reads_stay_below_the_write_pointer_unless_they_are_told_otherwise() {
    let held = [HOLDS, 32 * K, 0, 0, 64 * K];
    for options in [
        "rw=read",
        "rw=randread",
        "rw=randread\nnorandommap",
        "rw=randread\nbsrange=16k-64k",
    ] {
        let run = run(&zbd(options), &held);
        assert!(!run.played.is_empty());
        for access in run.of(Op::Read) {
            let within = access.offset % ZONE + access.len;
            let zone = (access.offset / ZONE) as usize;
            assert!(within <= held[zone], "{options}: {access:?}");
        }
    }
    // In order: each block that is written once, and nothing else.
    let run_once = run(&zbd("rw=read"), &held);
    let bytes: u64 = run_once.of(Op::Read).iter().map(|one| one.len).sum();
    assert_eq!(bytes, held.iter().sum::<u64>());
    // Over all that is written, and at random over much of it.
    let random = run(&zbd("rw=randread"), &held);
    let places = tally(random.of(Op::Read).iter().map(|one| one.offset));
    assert!(places.len() > 15, "{} of 18", places.len());
    let beyond = run(&zbd("rw=randread\nread_beyond_wp=1"), &held);
    let behind = |one: &&Access| one.offset / ZONE == 7;
    assert_eq!(beyond.of(Op::Read).into_iter().filter(behind).count(), 16);
}

#[test]
fn a_mix_on_an_empty_drive_begins_with_a_write() {
    for rw in ["rw", "randrw"] {
        let run = run(&zbd(&format!("rw={rw}\nrwmixread=80")), &[]);
        assert_eq!(run.played[0].access.op, Op::Write);
        assert!(run.of(Op::Read).len() > 20, "{rw}");
    }
}

#[test]
fn what_is_written_at_random_is_read_back_as_it_was() {
    for options in [
        "rw=randwrite",
        "rw=write",
        "rw=randwrite\nioengine=libaio\niodepth=16",
        "rw=randrw",
    ] {
        let text = zbd(&format!(
            "{options}\nverify=crc32c\nbsrange=16k-48k\nloops=2"
        ));
        let run = run(&text, &[HOLDS, 16 * K]);
        // The zones that hold something are reset before a pass, and none within it.
        let mut in_pass = Vec::new();
        for one in &run.played {
            match one.access.op {
                Op::Zone(ZoneAction::Reset) => assert!(in_pass.is_empty(), "{options}"),
                Op::Write => in_pass.push(one.access.offset),
                // Reading back ends the pass.
                _ => in_pass.clear(),
            }
        }
        assert!(run.resets().len() >= 2, "{options}");
        assert!(run.of(Op::Read).len() >= run.of(Op::Write).len() / 2);
    }
}

#[test]
fn a_zone_whose_rest_is_too_short_is_finished() {
    // 12 blocks of 16 KiB: two writes of 80 KiB leave 32 KiB.
    let run = run(
        &zbd("bs=80k\nrw=randwrite\nio_size=1m\nmax_open_zones=1"),
        &[],
    );
    let finished = run.of(Op::Zone(ZoneAction::Finish));
    assert!(finished.len() >= 5, "{}", finished.len());
    for write in run.of(Op::Write) {
        assert_eq!(write.len, 80 * K);
    }
}

#[test]
fn trims_reset_the_zones_that_hold_data() {
    let held = [HOLDS, 0, 16 * K, 0, 0, HOLDS];
    for rw in ["trim", "randtrim"] {
        let run = run(&format!("[a]\nzonemode=zbd\nrw={rw}\nbs={ZONE}"), &held);
        let mut resets = run.resets();
        resets.sort_unstable();
        assert_eq!(resets, [0, 2, 5], "{rw}");
        assert_eq!(run.in_state(ZoneState::Empty), ZONES as usize);
    }
}

#[test]
fn appends_go_to_the_start_of_a_zone_and_fill_it() {
    let run = run(
        &zbd("rw=write\nzone_append=1\nioengine=libaio\niodepth=4"),
        &[16 * K],
    );
    let appends = run.of(Op::Append);
    assert!(run.of(Op::Write).is_empty());
    assert!(appends.iter().all(|one| one.offset % ZONE == 0));
    assert_eq!(appends.len() as u64, ZONES * HOLDS / (16 * K) - 1);
    assert_eq!(run.in_state(ZoneState::Full), ZONES as usize);
}

/// Several processes share the zones: the limit is one for all, and no reset meets an access of another.
#[test]
fn processes_share_the_limit_and_the_zones() {
    for options in [
        "numjobs=4\nrw=randwrite",
        "numjobs=3\nrw=write\nsize=2z\noffset_increment=2z",
        "numjobs=4\nrw=randrw\nioengine=libaio\niodepth=4",
        "numjobs=2\nrw=randtrim\nbs=16k,16k,256k\n[b]\nzonemode=zbd\nbs=16k\nrw=randwrite\nnumjobs=3",
    ] {
        let run = run(&zbd(options), &[HOLDS; 8]);
        let most_active = run.played.iter().map(|one| one.zones_active).max();
        assert!(most_active <= Some(3), "{options}");
        assert!(run.played.len() > 75, "{options}");
    }
}

#[test]
fn who_cannot_go_on_is_told_so() {
    let empty = try_run(&zbd("rw=randread"), &[]);
    let expected = JobError::NothingHeld {
        job: "a".into(),
        process: 0,
    };
    assert_eq!(empty.err(), Some(expected));
    // The first job leaves three zones open, and the other has no part in them.
    let text = zbd(
        "rw=randwrite\nio_size=160k\nsize=3z\n[b]\nzonemode=zbd\nbs=16k\nstonewall\nrw=write\noffset=4z",
    );
    let error = try_run(&text, &[]).err().unwrap();
    let expected = JobError::NoZone {
        job: "b".into(),
        process: 1,
    };
    assert_eq!(error, expected);
    // Where the first goes on to fill them, the other waits for that.
    let text = zbd(
        "rw=randwrite\nio_size=576k\nsize=3z\n[b]\nzonemode=zbd\nbs=16k\nrw=write\noffset=4z\nstartdelay=1ms",
    );
    let run = run(&text, &[]);
    let full = |zone: &Zone| zone.state == ZoneState::Full;
    assert!(run.zones[4..].iter().all(full));
    let others = run.played.iter().filter(|one| one.actor == 1);
    let first = others.map(|one| one.asked).min();
    assert!(first > Some(Time(1_000_000)), "{first:?}");
}

#[test]
fn a_job_that_does_not_fit_the_zones_is_refused() {
    let refusal = |text: &str, drive: &DeviceInfo| {
        let file = parse(text).unwrap();
        Jobs::new(&file.jobs, drive, 1).unwrap_err().to_string()
    };
    for (options, part) in [
        (
            "zonesize=128k",
            "`zonesize` is 131072, and the zones of the drive have 262144 bytes",
        ),
        (
            "size=100k",
            "there is no whole zone in the 102400 bytes from 0 on",
        ),
        (
            "max_open_zones=4",
            "`max_open_zones` is 4, and the drive has at most 3 zones open",
        ),
        (
            "rw=write\nbs=256k",
            "writes of 262144 bytes are too long: a zone holds at most 196608",
        ),
        (
            "rw=write\nbs=128k\nzone_append=1",
            "an append has at most 65536",
        ),
        ("rw=trim", "a trim resets a zone of 262144 bytes"),
        (
            "max_open_zones=2\n[b]\nzonemode=zbd\nmax_open_zones=3",
            "another job has 2",
        ),
    ] {
        let said = refusal(&zbd(options), &info());
        assert!(said.contains(part), "{options}: {said}");
    }
    let plain = super::harness::info(ZONES * ZONE);
    let said = refusal(&zbd(""), &plain);
    assert!(
        said.contains("needs a drive whose zones are known, and this one has none"),
        "{said}"
    );
    for (options, line, part) in [
        ("zonesize=1m", 1, "`zonemode=strided` in fio"),
        (
            "max_open_zones=2",
            1,
            "`max_open_zones` needs `zonemode=zbd`",
        ),
        ("size=4z", 1, "a number of zones, such as 4z, needs"),
        ("zonemode=strided", 2, "none or zbd"),
        ("zoneskip=1m", 2, "is not supported"),
        ("zonemode=zbd\nrw=write:16k", 1, "without gaps"),
        (
            "zonemode=zbd\nrw=write\nverify=crc32c\nzone_append=1",
            1,
            "the drive choose",
        ),
    ] {
        let error = parse(&format!("[a]\n{options}")).unwrap_err();
        assert_eq!(error.line, Some(line), "{options}");
        assert!(error.to_string().contains(part), "{options}: {error}");
    }
}

#[test]
fn offset_and_size_in_zones_and_rounded_to_them() {
    let region = |options: &str| {
        let file = parse(&zbd(options)).unwrap();
        let regions = file.jobs[0].resolve(&info()).unwrap();
        (regions[0].offset / K, regions[0].size / K)
    };
    assert_eq!(region("offset=2z\nsize=3z"), (512, 768));
    assert_eq!(region("offset=16k"), (256, 7 * 256));
    assert_eq!(region("offset=16k\nsize=600k"), (256, 256));
    assert_eq!(region("size=50%"), (0, 4 * 256));
    assert_eq!(region("offset=1m"), (1024, 1024));
    // Also where zones are no multiples of a block.
    assert_eq!(region("bs=48k\nsize=3z"), (0, 768));
}

#[test]
fn a_time_based_job_goes_round() {
    let run = run(&zbd("rw=write\ntime_based\nruntime=1"), &[]);
    let writes = run.of(Op::Write).len() as u64;
    // An access each 100 us, and the resets among them.
    let resets = run.resets().len() as u64;
    assert!(writes + resets >= 9_990, "{writes} {resets}");
    assert_eq!(resets, writes.div_ceil(HOLDS / (16 * K)) - ZONES);
}

/// The numbers of accesses of fio 3.33 on a file of 2 MiB with the zones of [`info`], which it emulates: `--filename=f --size=2m
/// --zonemode=zbd --zonesize=256k --zonecapacity=192k --bs=16k --direct=1` and these options, counted in its `write_iolog`.
#[test]
fn as_many_accesses_as_fio_makes() {
    for (options, writes, reads, resets) in [
        ("rw=write", 96, 0, Some(0)),
        ("rw=write\nloops=2", 192, 0, Some(8)),
        ("rw=randwrite\nmax_open_zones=3", 128, 0, None),
        ("rw=randwrite\nmax_open_zones=1", 128, 0, None),
        (
            "rw=randwrite\nverify=crc32c\nmax_open_zones=3",
            96,
            96,
            Some(0),
        ),
    ] {
        let run = run(&zbd(options), &[]);
        let counts = (run.of(Op::Write).len(), run.of(Op::Read).len());
        assert_eq!(counts, (writes, reads), "{options}");
        if let Some(resets) = resets {
            assert_eq!(run.resets().len(), resets, "{options}");
        }
    }
}
