//! The least number that passes a test.

/// Returns the least number in `from..=to` that passes a test, with what the test found; `None` if `to` fails. The test must
/// pass for every number above one that passes. It begins at a guess, moves away from it in steps that double, and halves the
/// rest, until what fails is at most the share `near` below what passes.
pub(super) fn least<T, E>(
    (from, to): (u32, u32),
    near: f64,
    guess: u32,
    mut test: impl FnMut(u32) -> Result<Option<T>, E>,
) -> Result<Option<(u32, T)>, E> {
    let mut fails = from.saturating_sub(1);
    let mut best: Option<(u32, T)> = None;
    let mut at = guess.clamp(from, to);
    let mut step = 1;
    loop {
        match test(at)? {
            Some(found) => best = Some((at, found)),
            None if at >= to => return Ok(None),
            None => fails = at,
        }
        at = match &best {
            Some((passes, _)) if *passes <= fails + 1 => return Ok(best),
            Some((passes, _))
                if fails >= from && f64::from(*passes) * (1.0 - near) <= f64::from(fails) =>
            {
                return Ok(best);
            }
            // Both ends are known.
            Some((passes, _)) if fails >= from => fails + (passes - fails) / 2,
            Some((passes, _)) => passes.saturating_sub(step).max(fails + 1),
            None => fails.saturating_add(step).min(to),
        };
        step = step.saturating_mul(2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    #[test]
    fn near_is_enough() {
        for guess in [1, 500, 950, 1_000, 2_000] {
            let test = |n: u32| Ok::<_, Infallible>((n >= 1_000).then_some(()));
            let Ok(found) = least((1, 2_000), 0.03, guess, test);
            let (least, ()) = found.unwrap();
            assert!((1_000..1_031).contains(&least), "{guess}: {least}");
        }
    }

    #[test]
    fn the_least_is_found_from_any_guess() {
        for (from, to) in [(1, 1), (1, 20), (3, 9)] {
            for wanted in 1..=to + 1 {
                for guess in 0..=to + 2 {
                    let mut tested = Vec::new();
                    let test = |n: u32| {
                        assert!((from..=to).contains(&n) && !tested.contains(&n));
                        tested.push(n);
                        Ok::<_, Infallible>((n >= wanted).then_some(2 * n))
                    };
                    let Ok(found) = least((from, to), 0.0, guess, test);
                    let least = wanted.max(from);
                    let expected = (wanted <= to).then_some((least, 2 * least));
                    assert_eq!(found, expected, "{from} {to} {wanted} {guess}");
                }
            }
        }
    }
}
