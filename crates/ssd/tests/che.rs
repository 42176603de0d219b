//! The hit rate of the LRU buffer under independent references, compared with the approximation of Che, Tung and Wang
//! ("Hierarchical Web caching systems: modeling, design and experimental results", IEEE JSAC 20(7), 2002). Fricker,
//! Robert and Roberts ("A versatile and accurate approximation for LRU cache performance", ITC 24, 2012) explain its
//! accuracy.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use fathom_base::Rng;
use fathom_ssd::spec::WritePolicy;
use fathom_ssd::{Evicted, PageBuffer, PageBufferSetup, Stored};

/// Returns the probability of each page, most popular first.
fn zipf(pages: u32, exponent: f64) -> Vec<f64> {
    let weights: Vec<f64> = (1..=pages).map(|i| f64::from(i).powf(-exponent)).collect();
    let sum: f64 = weights.iter().sum();
    weights.into_iter().map(|w| w / sum).collect()
}

/// Returns the hit rate of the approximation. The characteristic time t is that for which the expected number of pages
/// referenced within t equals the capacity; the hit rate is the probability that a page was referenced within the last t.
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

/// Returns the measured hit rate and its standard error. Hits are not independent, so the error is computed from the
/// means of batches that are much longer than the memory of the buffer.
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
            // Scatters the pages, so that their order is unrelated to popularity.
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

/// Four standard errors: one of the nine comparisons would fail by chance in one of two thousand runs, and the seed is
/// fixed. The approximation's own error is an order of magnitude smaller at these sizes.
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
            // The error is small enough to distinguish the policies.
            assert!(error < 0.02 * expected, "{error} of {expected}");
            seed += 1;
        }
    }
}

/// EPO divides the pages evenly over its queues, so together they behave almost like one queue.
#[test]
fn epo_keeps_nearly_what_lru_keeps() {
    let popularity = zipf(10_000, 0.8);
    let expected = che(&popularity, 1000.0);
    let (hit, error) = measured(WritePolicy::Epo, &popularity, 1000, 7);
    // After an eviction up to 47 of the 1000 places are empty, so the hit rate lies between those of buffers of 952 and
    // 1000 pages.
    let least = che(&popularity, 952.0);
    assert!(hit < expected + 4.0 * error && hit > least - 4.0 * error);
}
