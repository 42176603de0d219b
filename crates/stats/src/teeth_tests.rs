//! Tests that planted sizes are found, and that nothing is found where nothing was planted.

use super::*;
use fathom_base::Rng;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// Returns reads of `len` bytes every `pitch` over `covered` bytes. At the multiples of a size they take the share `dip` of
/// the time. The errors are lognormal with `sigma`.
fn reads(
    (len, pitch, covered): (u64, u64, u64),
    block: Option<(u64, f64)>,
    sigma: f64,
    seed: u64,
) -> Places {
    let mut rng = Rng::new(seed, 0);
    let places = (0..covered / pitch).map(|i| {
        let from = i * pitch;
        let share = block.map_or(0.0, |(size, _)| {
            let end = (from + len) / size * size;
            let before = end.saturating_sub(from).min(len);
            let shorter = before.min(len - before) as f64 / len as f64;
            if end == 0 { 0.0 } else { 2.0 * shorter }
        });
        let dip = block.map_or(1.0, |(_, dip)| dip);
        let value = 1e6 * (1.0 - share * (1.0 - dip)) * (sigma * rng.normal()).exp();
        Place { from, len, value }
    });
    Places::new(Tooth::Halved, pitch, places.collect())
}

/// Returns writes that take `merge` times as long if they are the first to end after a multiple of a size.
fn writes((len, pitch, covered): (u64, u64, u64), block: u64, merge: f64, seed: u64) -> Places {
    let mut rng = Rng::new(seed, 1);
    let mut in_block = u64::MAX;
    let places = (0..covered / pitch).map(|i| {
        let from = i * pitch;
        let now = (from + len - 1) / block;
        let first = std::mem::replace(&mut in_block, now) != now;
        let value = if first { merge } else { 1.0 } * 1e6 * (0.2 * rng.normal()).exp();
        Place { from, len, value }
    });
    Places::new(Tooth::First, pitch, places.collect())
}

fn wanted(sizes: (u64, u64), factor: f64) -> Wanted {
    Wanted {
        sizes,
        grain: 512,
        teeth: 4,
        strength: 6.0,
        factor,
    }
}

const SCAN: (u64, u64, u64) = (256 * KIB, 124 * KIB, 1024 * MIB);
const SIZES: (u64, u64) = (992 * KIB, 96 * MIB);

fn best(places: &Places, wanted: &Wanted) -> Option<Fit> {
    Seen::new(places, 0).best(wanted)
}

/// Returns blocks of any number of pages, from 1.5 to 64 MiB.
fn blocks() -> impl Iterator<Item = (u64, u64)> {
    (0..24).map(|seed| (seed, (96 + Rng::new(seed, 2).below(4000)) * 16 * KIB))
}

#[test]
fn blocks_of_any_size_are_found() {
    // Dips to 60 % of the time, with errors of 20 %.
    for (seed, block) in blocks() {
        let fit = best(
            &reads(SCAN, Some((block, 0.6)), 0.2, seed),
            &wanted(SIZES, 1.02),
        );
        let fit = fit.unwrap_or_else(|| panic!("{seed}: {block} is not found"));
        assert!(
            fit.period.abs_diff(block) < block / 1000,
            "{seed}: {block} {fit:?}"
        );
    }
}

#[test]
fn first_writes_into_blocks_are_found() {
    for (seed, block) in blocks() {
        let places = writes((34 * KIB, 268 * KIB, 2048 * MIB), block, 5.0, seed);
        let fit = best(&places, &wanted((1072 * KIB, 96 * MIB), 1.5));
        let fit = fit.unwrap_or_else(|| panic!("{seed}: {block} is not found"));
        assert!(
            fit.period.abs_diff(block) < block / 500,
            "{seed}: {block} {fit:?}"
        );
    }
}

#[test]
fn nothing_is_made_of_noise() {
    for seed in 0..24 {
        let sigma = Rng::new(seed, 3).uniform();
        let fit = best(&reads(SCAN, None, sigma, seed), &wanted(SIZES, 1.02));
        assert_eq!(fit, None, "{seed}: {sigma}");
    }
}

#[test]
fn a_stripe_is_no_block() {
    // Every second read is fast: all multiples of 248 KiB are teeth, and so is everything between them.
    let (len, pitch, covered) = SCAN;
    let places = (0..covered / pitch).map(|i| Place {
        from: i * pitch,
        len,
        value: if i % 2 == 0 { 5e5 } else { 1e6 },
    });
    let places = Places::new(Tooth::Halved, pitch, places.collect());
    assert_eq!(best(&places, &wanted(SIZES, 1.02)), None);
}

#[test]
fn twice_a_block_is_not_taken_for_it() {
    // The block itself is too small for this scan, but twice its size is not.
    let block = 600 * KIB;
    let places = reads(SCAN, Some((block, 0.5)), 0.05, 3);
    assert_eq!(best(&places, &wanted(SIZES, 1.02)), None);
}

#[test]
fn the_middle_of_a_dip_is_exact() {
    let block = 1330 * 16 * KIB;
    let (len, pitch) = (512 * KIB, 16 * KIB);
    let all = reads((len, pitch, 512 * MIB), Some((block, 0.5)), 0.1, 5);
    let wanted = wanted((block - 20 * KIB, block + 20 * KIB), 1.02);
    let fit = Seen::new(&all, 0).middle(&wanted, len / 2).expect("a size");
    assert!((fit.between.0..=fit.between.1).contains(&block), "{fit:?}");
    assert!(fit.between.1 - fit.between.0 < 16 * KIB, "{fit:?}");
}

#[test]
fn places_that_are_no_scan_show_nothing_and_take_no_memory() {
    let place = |i: u64| Place {
        from: i * (u64::MAX / 64),
        len: KIB,
        value: if i.is_multiple_of(8) { 9.0 } else { 1.0 },
    };
    let places = Places::new(Tooth::First, KIB, (0..64).map(place).collect());
    let wanted = Wanted {
        sizes: (MIB, 2 * MIB),
        grain: KIB,
        teeth: 4,
        strength: 1.0,
        factor: 1.1,
    };
    assert!(places.extents.is_empty());
    // Close together, but where no drive is.
    let far = |i: u64| Place {
        from: u64::MAX - (64 - i) * KIB,
        ..place(i)
    };
    let far = Places::new(Tooth::First, KIB, (0..64).map(far).collect());
    assert_eq!(Seen::best_of_each(&far, &wanted, 16), vec![None; 17]);
    assert_eq!(best(&places, &wanted), None);
}

#[test]
fn all_delays_at_once_give_what_each_gives_alone() {
    // A block whose first write shows some writes later, with pitches that have four, two and one slot.
    for (later, pitch) in [
        (0, 268 * KIB),
        (5, 268 * KIB),
        (16, 134 * KIB + 2),
        (3, 201 * KIB + 1),
    ] {
        let block = 1330 * 16 * KIB;
        let scan = writes((34 * KIB, pitch, 768 * MIB), block, 5.0, later);
        let extents = scan.extents.iter().zip(&scan.values);
        let places = extents.map(|(&(from, end), &value)| Place {
            from: from + later * pitch,
            len: end - from,
            value,
        });
        let places = Places::new(Tooth::First, pitch, places.collect());
        let wanted = wanted((4 * pitch, 96 * MIB), 1.5);
        let each = Seen::best_of_each(&places, &wanted, 16);
        let alone: Vec<Option<Fit>> = (0..=16)
            .map(|n| Seen::new(&places, n).best(&wanted))
            .collect();
        assert_eq!(each, alone, "{later} {pitch}");
        let strongest = each
            .iter()
            .flatten()
            .max_by(|a, b| a.explains.total_cmp(&b.explains));
        assert_eq!(strongest, each[later as usize].as_ref(), "{later} {pitch}");
        let fit = strongest.expect("a size");
        assert!(fit.period.abs_diff(block) < block / 500, "{fit:?}");
    }
}

#[test]
fn a_position_is_found_wherever_the_places_lie() {
    let mut rng = Rng::new(7, 0);
    for tooth in [Tooth::First, Tooth::Halved] {
        // In a row, in clumps with gaps, and all in one place.
        for (spread, clump) in [(1, 1), (40, 9), (0, 1)] {
            let place = |i: u64| Place {
                from: MIB + (i / clump * clump * spread + i % clump) * 16 * KIB,
                len: 4 * KIB,
                value: 1e6,
            };
            let places = Places::new(tooth, 16 * KIB, (0..500).map(place).collect());
            for _ in 0..2000 {
                let position = rng.below(10 * MIB * (1 + spread));
                let expected = places
                    .extents
                    .partition_point(|extent| places.is_before(extent, position));
                assert_eq!(places.before(position), expected, "{tooth:?} {position}");
            }
        }
    }
}
