//! What tracing itself costs.

/// The cost of an event, from the same load with and without tracing.
///
/// Every event is taken to cost the same. It is not quite so: the first event of a system call also takes the kernel off its
/// fast path. The sum is right by construction, its split over the parts is an estimate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TracingCost {
    /// Clocks or nanoseconds of an event.
    pub per_event: f64,
}

impl TracingCost {
    /// Returns the cost from what an I/O took without and with tracing, and the number of its events. It is zero if tracing
    /// made no difference, or if noise was larger.
    pub fn between(untraced: f64, traced: f64, events_per_io: f64) -> Self {
        let more = traced - untraced;
        let per_event = if more > 0.0 && events_per_io > 0.0 {
            more / events_per_io
        } else {
            0.0
        };
        Self { per_event }
    }

    /// Returns a measured part without the cost of its events; not less than zero.
    pub fn without(&self, measured: f64, events: f64) -> f64 {
        (measured - events * self.per_event).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_without_their_events_sum_to_the_untraced_whole() {
        let cost = TracingCost::between(900.0, 1000.0, 20.0);
        assert_eq!(cost.per_event, 5.0);
        let parts = [(600.0, 12.0), (400.0, 8.0)];
        let sum: f64 = parts
            .iter()
            .map(|(part, events)| cost.without(*part, *events))
            .sum();
        assert_eq!(sum, 900.0);
        assert_eq!(cost.without(3.0, 1.0), 0.0);
    }

    #[test]
    fn noise_is_no_cost() {
        assert_eq!(TracingCost::between(900.0, 890.0, 20.0).per_event, 0.0);
        assert_eq!(TracingCost::between(900.0, 1000.0, 0.0).per_event, 0.0);
    }
}
