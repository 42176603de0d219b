//! Tests of single steps: what a step may do, what it records, and how it is resumed.

#![allow(clippy::unwrap_used)] // also in helpers outside of the test functions

use crate::fake::{Fake, KIB, MIB, Planted, Watch};
use fathom_base::{Dur, Time};
use fathom_block::{Device, IoErrorKind, Op};
use fathom_probe::run::target_of;
use fathom_probe::session::OtherRun;
use fathom_probe::{
    Ask, Io, Level, Method, Parameter, Record, RecordMeta, Sample, Series, Session, Stop,
    Unobserved,
};

const P: Parameter = Parameter::ReadBuffer;

fn meta(device: &Fake) -> RecordMeta {
    RecordMeta {
        fathom: "0".to_owned(),
        seed: 7,
        method: Method::Robust,
        parameters: vec![P],
        read_only: false,
        budget_bytes: None,
        budget_ns: None,
        cheapest_first: false,
        region: None,
        level: Level::Full,
        fitting: false,
        look: None,
        log: None,
        references: Vec::new(),
        thin: 1,
        target: target_of(device.info()),
        complete: false,
    }
}

fn drive() -> Fake {
    Fake::new(16 * MIB, Planted::default())
}

/// Runs `work` in a session that has not announced any writes.
fn with<R>(
    device: &mut Fake,
    meta: RecordMeta,
    previous: Option<Record>,
    work: impl FnOnce(&mut Session<'_>) -> R,
) -> Result<(R, Record), OtherRun> {
    let mut observer = Unobserved;
    let mut session = Session::open(device, &mut observer, meta, previous, 0)?;
    let result = work(&mut session);
    Ok((result, session.record().clone()))
}

/// Runs `work` in a new session with the settings of [`meta`].
fn fresh<R>(device: &mut Fake, work: impl FnOnce(&mut Session<'_>) -> R) -> (R, Record) {
    let meta = meta(device);
    with(device, meta, None, work).unwrap()
}

#[test]
fn a_long_read_is_split_and_kept_in_flight() {
    let mut device = drive();
    let ((), record) = fresh(&mut device, |session| {
        session
            .step(P, "long", |io| {
                let took = io.read(512, MIB + 512)?;
                // This drive serves requests one after the other: five requests of 1000 ns, and 10 ns per byte.
                assert_eq!(took, Dur(5 * 1_000 + 10 * (MIB + 512)));
                io.sample(Series::MISS, MIB, 3);
                Ok(())
            })
            .unwrap();
    });
    let quarter = 256 * KIB;
    let pieces: Vec<_> = (0..4)
        .map(|i| (Op::Read, 512 + i * quarter, quarter))
        .chain([(Op::Read, 512 + MIB, 512)])
        .collect();
    assert_eq!(device.log, pieces);
    assert_eq!(device.in_flight_max, 4);
    let sample = record.samples[0];
    assert_eq!(
        (sample.offset, sample.bytes, sample.rep),
        (512, MIB + 512, 3)
    );
    let cost = record.steps[0].cost;
    assert_eq!((cost.bytes_read, cost.requests), (MIB + 512, 5));
    assert_eq!(cost.device_ns, sample.ns);
}

#[test]
fn queued_requests_keep_to_their_depth() {
    let mut device = drive();
    fresh(&mut device, |session| {
        let list: Vec<_> = (0..6).map(|i| (i * 4096, 4096)).collect();
        session
            .step(P, "two", |io| io.read_queued(&list, 2).map(|_| ()))
            .unwrap();
    });
    assert_eq!(device.in_flight_max, 2);
    assert_eq!(device.log.len(), 6);
}

#[test]
fn a_busy_drive_gets_everything_in_order_and_one_that_takes_nothing_counts_as_gone() {
    let list: Vec<_> = (0..6).map(|i| (i * 4096, 4096)).collect();
    for busy_from in [1, 0] {
        let mut device = drive();
        device.busy_from = busy_from;
        let (result, _) = fresh(&mut device, |session| {
            session.step(P, "busy", |io| io.read_queued(&list, 4).map(|_| ()))
        });
        let asked: Vec<_> = device.log.iter().map(|&(_, at, len)| (at, len)).collect();
        if busy_from == 1 {
            assert_eq!(asked, list);
            result.unwrap();
        } else {
            assert!(matches!(result, Err(Stop::Io(e)) if e.kind == IoErrorKind::Gone));
        }
    }
}

#[test]
fn a_step_that_fails_leaves_no_sample_and_randomness_is_its_own() {
    let draw = |first: bool| {
        let mut device = drive();
        let meta = meta(&device);
        with(&mut device, meta, None, |session| {
            if first {
                let stop = session.step(P, "a", |io| {
                    io.rng.next_u64();
                    io.read(0, 512)?;
                    io.sample(Series::HIT, 1, 0);
                    io.read(0, 100).map(|_| ())
                });
                assert!(matches!(stop, Err(Stop::Io(e)) if e.kind == IoErrorKind::Misaligned));
                assert!(session.record().samples.is_empty() && session.record().steps.is_empty());
            }
            let mut drawn = 0;
            let work = session.step(P, "b", |io| {
                drawn = io.rng.next_u64();
                Ok(())
            });
            work.unwrap();
            drawn
        })
        .unwrap()
        .0
    };
    assert_eq!(draw(true), draw(false));
}

#[test]
fn nothing_leaves_the_region_and_names_are_unique() {
    let mut device = drive();
    let meta = RecordMeta {
        region: Some([MIB, 2 * MIB]),
        ..meta(&device)
    };
    with(&mut device, meta, None, |session| {
        for (name, offset) in [("below", MIB - 512), ("above", 2 * MIB - 512)] {
            let stop = session.step(P, name, |io| io.read(offset, KIB).map(|_| ()));
            assert!(matches!(stop, Err(Stop::Io(e)) if e.kind == IoErrorKind::OutOfRange));
        }
        session
            .step(P, "in", |io| io.read(2 * MIB - KIB, KIB).map(|_| ()))
            .unwrap();
        let twice = session.step(P, "in", |_| Ok(()));
        assert!(matches!(twice, Err(Stop::Repeated { .. })), "{twice:?}");
    })
    .unwrap();
    assert_eq!(device.log.len(), 1);
}

#[test]
fn what_was_not_announced_is_not_written() {
    let mut device = drive();
    fresh(&mut device, |session| {
        let stop = session.step(P, "write", |io| io.write(0, 512).map(|_| ()));
        let (wanted, left) = (512, 0);
        assert_eq!(stop, Err(Stop::Allowance { wanted, left }));
    });
    assert!(device.log.is_empty());
}

#[test]
fn a_budget_of_time_stops_before_the_transfer_and_before_the_pause() {
    let mut device = drive();
    let meta = RecordMeta {
        budget_ns: Some(50_000),
        ..meta(&device)
    };
    with(&mut device, meta, None, |session| {
        // Each read takes 1000 + 5120 ns, so the budget is spent after nine.
        for i in 0..9 {
            session
                .step(P, &format!("{i}"), |io| io.read(0, 512).map(|_| ()))
                .unwrap();
        }
        let stop = session.step(P, "over", |io| io.read(0, 512).map(|_| ()));
        let spent_ns = 9 * 6_120;
        let wanted = Stop::BudgetTime {
            spent_ns,
            budget_ns: 50_000,
        };
        assert_eq!(stop.unwrap_err(), wanted);
    })
    .unwrap();
    let mut device = drive();
    let meta = RecordMeta {
        budget_ns: Some(50_000),
        ..self::meta(&device)
    };
    with(&mut device, meta, None, |session| {
        session.step(P, "short", |io| io.idle(Dur::us(10))).unwrap();
        let stop = session.step(P, "long", |io| io.idle(Dur::us(40)));
        assert!(matches!(stop, Err(Stop::BudgetTime { .. })));
    })
    .unwrap();
    assert_eq!(device.now(), Time(10_000));
}

/// A request that is served by itself is split as a transfer is, and counts as one.
#[test]
fn a_served_request_may_be_longer_than_the_longest_of_the_drive() {
    let mut device = drive();
    device.info.max_request_bytes = 4 * KIB;
    let ((), record) = fresh(&mut device, |session| {
        session
            .step(P, "served", |io| {
                let asks = [
                    Ask::read(0, 16 * KIB),
                    Ask::read(MIB, 4 * KIB),
                    Ask::read(512, 8 * KIB + 512),
                ];
                let served = io.serve(&asks, 1)?;
                let asked: Vec<Ask> = served.iter().map(|one| one.ask).collect();
                assert_eq!(asked, asks);
                // One after the other: none begins before the one before it is complete.
                assert!(served.windows(2).all(|two| two[1].from >= two[0].to));
                // Three reads of 1000 ns, and 10 ns per byte.
                assert_eq!(served[2].took(), Dur(3 * 1_000 + 10 * (8 * KIB + 512)));
                Ok(())
            })
            .unwrap();
    });
    assert_eq!(record.steps[0].cost.requests, 4 + 1 + 3);
}

#[test]
fn a_budget_of_time_ends_within_a_transfer_of_many_requests() {
    for queued in [false, true] {
        let mut device = drive();
        let meta = RecordMeta {
            budget_ns: Some(50_000),
            ..meta(&device)
        };
        with(&mut device, meta, None, |session| {
            let stop = session.step(P, "many", |io| match queued {
                true => io.read_queued(&[(0, 512); 100], 1).map(|_| ()),
                false => io.serve(&[Ask::read(0, 512); 100], 1).map(|_| ()),
            });
            assert!(matches!(stop, Err(Stop::BudgetTime { .. })), "{stop:?}");
        })
        .unwrap();
        // Each read takes 6120 ns.
        assert!(device.now() < Time(50_000 + 6_120), "{:?}", device.now());
    }
}

#[test]
fn one_of_many_parameters_takes_a_part_of_the_time_at_the_quick_level() {
    const BUDGET_NS: u64 = 50_000;
    let stop_of = |parameter, level, parameters: &[Parameter]| {
        let mut device = drive();
        let meta = RecordMeta {
            budget_ns: Some(BUDGET_NS),
            level,
            parameters: parameters.to_vec(),
            ..meta(&device)
        };
        let mut stop = None;
        with(&mut device, meta, None, |session| {
            let read = |io: &mut Io<'_>| io.serve(&[Ask::read(0, 512); 100], 1).map(|_| ());
            stop = session.step(parameter, "many", read).err();
        })
        .unwrap();
        (stop.unwrap(), device.now())
    };
    // A volume shows its limit once its burst is spent.
    for (parameter, part_ns) in [(P, 12_500), (Parameter::RateLimit, 30_000)] {
        let (stop, now) = stop_of(parameter, Level::Quick, &Parameter::ALL);
        let budget_ns = BUDGET_NS;
        assert_eq!(stop, Stop::PartTime { part_ns, budget_ns });
        // Each read takes 6120 ns.
        assert!(now < Time(part_ns + 6_120), "{now:?}");
    }
    for (level, parameters) in [(Level::Quick, &[P][..]), (Level::Full, &Parameter::ALL)] {
        let (stop, _) = stop_of(P, level, parameters);
        assert!(matches!(stop, Stop::BudgetTime { .. }), "{stop:?}");
    }
}

fn two_steps(session: &mut Session<'_>) -> Result<Vec<Sample>, Stop> {
    for name in ["a", "b"] {
        session.step(P, name, |io| {
            let at = io.rng.below(100) * 4096;
            io.read(at, 4096)?;
            io.sample(Series::MISS, 4096, 0);
            Ok(())
        })?;
    }
    Ok(session.record().samples.clone())
}

#[test]
fn a_real_drive_is_not_asked_twice_and_a_modelled_one_must_agree() {
    let mut device = drive();
    let first = meta(&device);
    let (samples, record) = with(&mut device, first.clone(), None, two_steps).unwrap();
    let samples = samples.unwrap();
    assert_ne!(samples[0].offset, samples[1].offset);

    // Modelled: the steps are executed again, and another drive is detected.
    let mut same = drive();
    let again = with(&mut same, first.clone(), Some(record.clone()), two_steps).unwrap();
    assert_eq!((again.0.unwrap(), same.log.len()), (samples.clone(), 2));
    assert_eq!(again.1, record);
    let mut changed = record.clone();
    changed.samples[1].ns += 1;
    let (stop, left) = with(&mut drive(), first.clone(), Some(changed), two_steps).unwrap();
    let step = "b".to_owned();
    assert_eq!(stop, Err(Stop::Mismatch { parameter: P, step }));
    assert_eq!(left.samples, samples[..1]);

    // Real: complete steps come from the record.
    let mut real = first.clone();
    real.target.modelled = false;
    let mut old = record.clone();
    old.meta = real.clone();
    old.steps.pop();
    old.samples.pop();
    let mut device = drive();
    let (resumed, _) = with(&mut device, real, Some(old), two_steps).unwrap();
    assert_eq!(device.log.len(), 1);
    let places = |list: &[Sample]| list.iter().map(|s| (s.step, s.offset)).collect::<Vec<_>>();
    assert_eq!(places(&resumed.unwrap()), places(&samples));

    // Another seed is another run.
    let other = RecordMeta { seed: 8, ..first };
    let refused = with(&mut drive(), other, Some(record), |_| ()).unwrap_err();
    assert_eq!((refused.what, refused.recorded.as_str()), ("seed", "7"));
}

#[test]
fn an_interruption_is_seen_before_every_transfer() {
    let mut device = drive();
    let meta = meta(&device);
    // The observer is asked once when the step begins and once before each transfer.
    let mut watch = Watch::interrupting_at(3);
    let mut session = Session::open(&mut device, &mut watch, meta, None, 0).unwrap();
    let stop = session.step(P, "reads", |io| {
        for i in 0..10 {
            io.read(i * 512, 512)?;
            io.sample(Series::MISS, 512, 0);
        }
        Ok(())
    });
    assert_eq!(stop, Err(Stop::Interrupted));
    assert!(session.record().samples.is_empty());
    assert_eq!(device.log.len(), 2);
    assert_eq!(watch.checkpoints, 0);
}
