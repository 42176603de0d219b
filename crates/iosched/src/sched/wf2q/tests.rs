//! Tests of B-WF2Q+: shares, and no credit for idle time.

use super::*;

fn queues(weights: &[u64], budget: u64) -> Wf2q {
    let mut time = Wf2q::default();
    for (id, &weight) in (0..).zip(weights) {
        time.add(1);
        time.wake(id, weight, budget, false, 1);
    }
    time
}

/// Serves `count` whole budgets. Returns how many each queue got.
fn serve(time: &mut Wf2q, weights: &[u64], budget: u64, count: u32) -> Vec<u32> {
    let mut order = Vec::new();
    for _ in 0..count {
        let id = time.serve().unwrap();
        time.served(id, budget);
        time.requeue(id, budget, weights[id as usize], budget);
        order.push(id);
    }
    order
}

#[test]
fn nobody_is_ahead_of_the_share_by_more_than_a_budget() {
    let weights = [50, 10, 10, 10, 10, 10];
    let mut time = queues(&weights, 100);
    let order = serve(&mut time, &weights, 100, 60);
    // The first queue has half of all at any time; in plain fair queueing its five turns would come at once.
    for end in 1..=order.len() {
        let got = order[..end].iter().filter(|&&id| id == 0).count() as f64;
        assert!((got - end as f64 / 2.0).abs() <= 1.0, "{got} of {end}");
    }
    for id in 1..6 {
        assert_eq!(order.iter().filter(|&&other| other == id).count(), 6);
    }
}

#[test]
fn who_was_idle_is_owed_nothing_and_keeps_its_debt() {
    let mut time = queues(&[10], 100);
    time.add(1);
    serve(&mut time, &[10], 100, 50);
    time.wake(1, 10, 100, false, 1);
    let order = serve(&mut time, &[10, 10], 100, 6);
    assert_eq!(order.iter().filter(|&&id| id == 1).count(), 3, "{order:?}");
    // A queue that leaves after a whole budget and comes back at once gets no extra turn.
    let mut time = queues(&[10, 10], 100);
    let first = time.serve().unwrap();
    time.served(first, 100);
    time.rest(first, 100, true);
    time.wake(first, 10, 10, false, 1);
    assert_eq!(time.serve(), Some(1 - first));
}

/// `bfq_lookup_next_entity`, Linux 6.12: the highest busy class is served; the last one once in 200 ms.
#[test]
fn a_class_goes_before_those_below_it_and_the_last_once_in_a_while() {
    let mut time = Wf2q::default();
    for class in 0..CLASSES {
        time.add(class);
    }
    for id in [2, 1, 0] {
        time.wake(id, 40, 100, false, 1);
    }
    // A turn that ends at `end`. The next queue is chosen at its end.
    let mut turn = |end: Dur| {
        let id = time.serve().unwrap();
        time.tick(Time::ZERO + end);
        time.served(id, 100);
        time.requeue(id, 100, 40, 100);
        id
    };
    let ends = [1, 100, 201, 202, 300, 401, 402, 500];
    let order = ends.map(|ms| turn(Dur::ms(ms)));
    // The turns after those that ended at 201 ms and 402 ms belong to the last class.
    assert_eq!(order, [0, 0, 0, 2, 0, 0, 0, 2]);
    assert_eq!([600, 603, 604].map(|ms| turn(Dur::ms(ms))), [0, 0, 2]);
}
