//! Statistics that no crate provides, as pure functions on numbers.
//!
//! | module | question it answers |
//! |---|---|
//! | [`location`] | location, spread and ranks of samples with spikes |
//! | [`mod@separate`] | whether one sample is larger than another, by how much, or equivalent to it |
//! | [`place`] | whether times depend on the place of an access |
//! | [`mod@onset`] | from which measurement on the values are larger: a change point |
//! | [`mod@levels`] | the constant levels of a series: change points (PELT) |
//! | [`mod@period`] | after how many values the same pattern comes again |
//! | [`mod@excess`] | when events come together, beside others that come at any time |
//! | [`isotonic`] | the ascending curve nearest to values |
//! | [`teeth`] | at the multiples of which size the values differ: a comb |
//! | [`multiples`] | which unit explains the times at the multiples of several sizes |
//! | [`mod@knee`] | from where on a rising curve has levelled off |
//! | [`line`](mod@line) | a line through points of many magnitudes, with intervals |
//! | [`terms`] | which few of many terms explain values |
//! | [`batches`] | the mean of a stream, with its interval |
//! | [`mod@ratio`] | the ratio of two means, paired or not, with its interval |
//! | [`mod@reach`] | how far caches reach, from times over spans |
//! | [`law`] | quantiles and tails of distributions |
//!
//! Nothing here does I/O, depends on a drive, reads a clock or draws a random number. Latencies and rates are compared as
//! ratios, on a log scale. Every test has a null model and may answer that the samples do not decide.
//!
//! Samples are assumed to be exchangeable within a group. A drive whose speed drifts over minutes violates that, so measure
//! the groups interleaved, not one after the other.

pub mod batches;
pub mod excess;
pub mod isotonic;
pub mod knee;
pub mod law;
pub mod levels;
pub mod line;
pub mod location;
pub mod multiples;
pub mod onset;
pub mod period;
pub mod place;
pub mod ratio;
pub mod reach;
pub mod separate;
pub mod teeth;
pub mod terms;
