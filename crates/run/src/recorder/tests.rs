//! Accesses that enter the figures in groups give the figures of accesses that enter one by one.

use super::*;
use fathom_base::Rng;

fn recorder<'a>() -> Recorder<'a> {
    let mut recorder = Recorder::new(|| false);
    recorder.begin(Time(1_000), Moment::default());
    recorder
}

/// Draws an access that ends no earlier than `now`.
fn drawn(number: u64, processes: u64, now: Time, rng: &mut Rng) -> Played {
    let op = match rng.below(40) {
        0 => Op::Trim,
        1 => Op::Flush,
        2 => Op::Append,
        n if n % 3 == 0 => Op::Read,
        _ => Op::Write,
    };
    // Some complete out of order, as on a real drive.
    let completed = Time(now.0 - rng.below(300));
    let submitted = Time(completed.0 - rng.below(400));
    Played {
        number,
        process: rng.below(processes) as u32,
        access: Access::new(now, op, 0, 512 * rng.below(9)),
        asked: Time(submitted.0.saturating_sub(rng.below(900)).max(1_000)),
        submitted,
        completed,
        counts: Time(4_000),
        busy: Dur(number),
    }
}

#[test]
fn groups_give_the_figures_of_single_accesses() {
    for seed in 0..60 {
        let mut rng = Rng::new(seed, 0);
        let processes = 1 + seed % 4;
        // From many accesses in a bucket to many buckets between two accesses.
        let gap = 1 << rng.below(20);
        let (mut grouped, mut single) = (recorder(), recorder());
        let mut now = Time(2_000);
        for number in 0..1_500 {
            now += Dur(rng.below(gap));
            let played = drawn(number, processes, now, &mut rng);
            grouped.played(&played, &Moment::default);
            single.played_closely(&played, &Moment::default);
        }
        assert_eq!(grouped.done, single.done);
        assert_eq!(grouped.finish(), single.finish(), "seed {seed}");
    }
}

#[test]
fn a_warm_up_in_a_busy_period_is_not_in_the_busy_time() {
    // The device has an access from 1,000 on, but for a gap between two of them. The run begins behind the warm-up, in the gap or
    // in a busy period.
    for (gap, begins, busy) in [(0, 4_000, 6_000), (500, 3_300, 7_000), (500, 3_700, 6_800)] {
        let mut recorder = recorder();
        let (mut at, mut total) = (Time(1_000), Dur::ZERO);
        for number in 0..9 {
            if number == 2 {
                at += Dur(gap);
            }
            let submitted = at;
            at += Dur(1_000);
            total += Dur(1_000);
            let played = Played {
                number,
                process: 0,
                access: Access::new(submitted, Op::Read, 0, 4096),
                asked: submitted,
                submitted,
                completed: at,
                counts: Time(begins),
                busy: total,
            };
            recorder.played(&played, &Moment::default);
        }
        let totals = recorder.finish();
        assert_eq!(totals.duration, Dur(10_000 + gap - begins), "{begins}");
        assert_eq!(totals.busy, Dur(busy), "{begins}");
    }
}
