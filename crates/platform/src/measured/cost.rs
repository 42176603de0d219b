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

    /// Returns measured parts without the cost of their events. No part becomes negative: what one cannot bear is divided
    /// among the others, so that the sum is that of the parts less the cost of all events.
    pub fn without(&self, parts: &[Part]) -> Vec<f64> {
        let mut left = self.per_event * parts.iter().map(|part| part.events).sum::<f64>();
        let mut bears: Vec<bool> = parts.iter().map(|part| part.events > 0.0).collect();
        loop {
            let bearing = parts.iter().zip(&bears).filter(|(_, bears)| **bears);
            let events: f64 = bearing.map(|(part, _)| part.events).sum();
            let each = if events > 0.0 { left / events } else { 0.0 };
            let exhausted = parts
                .iter()
                .zip(&bears)
                .position(|(part, bears)| *bears && part.time < each * part.events);
            let Some(index) = exhausted else {
                let rest = |(part, bears): (&Part, &bool)| match (*bears, part.events > 0.0) {
                    (true, _) => part.time - each * part.events,
                    (false, true) => 0.0,
                    (false, false) => part.time,
                };
                return parts.iter().zip(&bears).map(rest).collect();
            };
            bears[index] = false;
            left -= parts[index].time;
        }
    }
}

/// A measured part of an I/O, and the number of events that were recorded in it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Part {
    /// Its time, with the cost of the events.
    pub time: f64,
    /// Number of events.
    pub events: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(time: f64, events: f64) -> Part {
        Part { time, events }
    }

    #[test]
    fn parts_without_their_events_sum_to_the_untraced_whole() {
        let cost = TracingCost::between(900.0, 1000.0, 20.0);
        assert_eq!(cost.per_event, 5.0);
        let parts = [part(600.0, 12.0), part(400.0, 8.0)];
        assert_eq!(cost.without(&parts), [540.0, 360.0]);
    }

    #[test]
    fn what_a_part_cannot_bear_the_others_do() {
        let cost = TracingCost { per_event: 5.0 };
        // 100 in all; the second part has only 10, so 90 are left for 15 events.
        let parts = [
            part(600.0, 10.0),
            part(10.0, 5.0),
            part(7.0, 0.0),
            part(300.0, 5.0),
        ];
        assert_eq!(cost.without(&parts), [540.0, 0.0, 7.0, 270.0]);
        let sum: f64 = cost.without(&parts).iter().sum();
        assert_eq!(sum, 917.0 - 100.0);
        assert_eq!(cost.without(&[part(3.0, 1.0)]), [0.0]);
        assert_eq!(cost.without(&[]), [0.0; 0]);
    }

    #[test]
    fn noise_is_no_cost() {
        assert_eq!(TracingCost::between(900.0, 890.0, 20.0).per_event, 0.0);
        assert_eq!(TracingCost::between(900.0, 1000.0, 0.0).per_event, 0.0);
    }
}
