//! Teeth at the multiples of one size: finds the size that explains at which of many places an access took another time.
//!
//! Every place has one value. To decide *whether* a size means anything, the values are replaced by their normal scores (van
//! der Waerden 1952): if it means nothing, the mean score of the places at its multiples over its standard error is
//! approximately a standard normal variable, whatever the distribution of the values. To decide *which* size it is, their
//! logarithms are used, clipped at both ends: a few large differences explain more than many small ones. Half and twice the
//! right size explain less by a factor of the square root of two. In addition, every kind of multiple must be a tooth, and
//! no simple fraction of the size may be one.
//!
//! The places are assumed to be exchangeable. If neighbours are alike for another reason, access them in random order.

mod places;
mod seen;
mod slots;

pub use places::{Place, Places, Tooth};
pub use seen::{Fit, Seen, Wanted};

#[cfg(test)]
#[path = "teeth_tests.rs"]
mod tests;
