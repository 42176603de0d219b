//! The hit rate of the LRU buffer under independent references against the approximation of Che, Tung and Wang
//! ("Hierarchical Web caching systems: modeling, design and experimental results", IEEE JSAC 20(7), 2002), for
//! whose accuracy Fricker, Robert and Roberts ("A versatile and accurate approximation for LRU cache performance",
//! ITC 24, 2012) give the reason.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use fathom_base::Rng;
use fathom_ssd::spec::WritePolicy;
use fathom_ssd::{Evicted, PageBuffer, PageBufferSetup, Stored};

/// The probability of each page, most popular first.
fn zipf(pages: u32, exponent: f64) -> Vec<f64> {
    let weights: Vec<f64> = (1..=pages).map(|i| f64::from(i).powf(-exponent)).collect();
    let sum: f64 = weights.iter().sum();
    weights.into_iter().map(|w| w / sum).collect()
}

/// The characteristic time t, for which the expected number of pages that are referenced within t is the
/// capacity; the hit rate is the probability that a page was referenced within the last t.
fn che(popularity: &[f64], capacity: f64) -> f64 {
    let within = |t: f64| popularity.iter().map(move |p| -(-p * t).exp_m1());
    let (mut low, mut high) = (0.0, 1.0);
    while within(high).sum::<f64>() < capacity {
        (low, high) = (high, high * 2.0);
    }
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        if within(middle).sum::<f64>() < capacity {
            low = middle;
        } else {
            high = middle;
        }
    }
    within(high).zip(popularity).map(|(hit, p)| hit * p).sum()
}

/// The hit rate of a buffer, and the standard error of it. Hits are not independent of each other, so that the
/// error comes from the means of batches, each of them much longer than what the buffer remembers.
fn measured(policy: WritePolicy, popularity: &[f64], capacity: u32, seed: u64) -> (f64, f64) {
    const BATCHES: usize = 40;
    let setup = PageBufferSetup {
        policy,
        capacity_pages: capacity,
        ..PageBufferSetup::default()
    };
    let mut buffer = PageBuffer::new(&setup).unwrap();
    let sums: Vec<f64> = popularity
        .iter()
        .scan(0.0, |sum, p| {
            *sum += p;
            Some(*sum)
        })
        .collect();
    let (mut rng, mut evicted) = (Rng::new(seed, 0), Evicted::default());
    let mut hits = |references: u64| {
        let mut hits = 0;
        for request in 0..references {
            let u = rng.uniform() * sums[sums.len() - 1];
            // In an order that has nothing to do with popularity.
            let page = (sums.partition_point(|&sum| sum <= u) as u32).wrapping_mul(2_654_435_761);
            let stored = buffer.write(page, request, &mut evicted);
            hits += u64::from(stored == Stored::Replaced);
        }
        hits as f64 / references as f64
    };
    hits(20 * u64::from(capacity));
    let batch = 20_000.max(20 * u64::from(capacity));
    let means: Vec<f64> = (0..BATCHES).map(|_| hits(batch)).collect();
    let mean = means.iter().sum::<f64>() / BATCHES as f64;
    let square = means.iter().map(|m| (m - mean).powi(2)).sum::<f64>();
    let error = (square / (BATCHES * (BATCHES - 1)) as f64).sqrt();
    (mean, error)
}

/// Four standard errors: of nine comparisons one in two thousand runs would be off by chance, and the seed is
/// fixed. The approximation's own error is an order below at these sizes.
#[test]
fn lru_hits_as_often_as_che_says() {
    let mut seed = 1;
    for exponent in [0.6, 0.8, 1.1] {
        let popularity = zipf(10_000, exponent);
        for capacity in [100, 500, 2000] {
            let expected = che(&popularity, f64::from(capacity));
            let (hit, error) = measured(WritePolicy::Lru, &popularity, capacity, seed);
            assert!(
                (hit - expected).abs() < 4.0 * error,
                "zipf {exponent}, {capacity} pages: {hit:.5} +- {error:.5}, not {expected:.5}"
            );
            // What is compared is sharp enough to tell one policy from another.
            assert!(error < 0.02 * expected, "{error} of {expected}");
            seed += 1;
        }
    }
}

/// The queues of EPO share the pages evenly, so that together they are not far from one queue.
#[test]
fn epo_keeps_nearly_what_lru_keeps() {
    let popularity = zipf(10_000, 0.8);
    let expected = che(&popularity, 1000.0);
    let (hit, error) = measured(WritePolicy::Epo, &popularity, 1000, 7);
    // After an eviction up to 47 of the 1000 places are empty: it hits as a buffer between 952 and 1000 does.
    let least = che(&popularity, 952.0);
    assert!(hit < expected + 4.0 * error && hit > least - 4.0 * error);
}
