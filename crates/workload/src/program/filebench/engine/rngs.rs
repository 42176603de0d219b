//! The random numbers of threads.
//!
//! Filebench 1.5 seeds neither the generator of offsets nor that of `cvar-gamma`, and each process has its own. So all
//! processes draw the same numbers: the recording of its transaction processing has pages that each of the ten writers has
//! written once. Before 1.5 the numbers came from `/dev/urandom`.

use crate::program::filebench::language::{Amount, Shape, Threads};
use fathom_base::Rng;
use std::collections::BTreeMap;

/// The streams before these are those of files.
const FIRST: u64 = 2;

/// There are fewer threads than this.
const OWN: u64 = 1 << 16;

/// The random numbers of a thread.
#[derive(Clone, Debug)]
pub(super) struct Rngs {
    /// For offsets, lengths of appends and gamma distributions.
    of_process: Rng,
    /// For the other distributions, whose state all processes share.
    own: Rng,
}

impl Rngs {
    /// Makes those of all threads. If all processes draw the same numbers, those of a thread depend on its place in its
    /// process only.
    pub(super) fn of(threads: &[Threads], same_draws: bool, seed: u64) -> Vec<Self> {
        let mut before: BTreeMap<&str, u64> = BTreeMap::new();
        let mut all = Vec::new();
        for of in threads {
            let first = before.entry(&of.process).or_default();
            for number in 0..of.instances {
                let id = all.len() as u64;
                let stream = match same_draws {
                    true => *first + number % of.in_process.max(1),
                    false => id,
                };
                all.push(Self {
                    of_process: Rng::new(seed, FIRST + stream),
                    own: Rng::new(seed, FIRST + OWN + id),
                });
            }
            *first += of.in_process;
        }
        all
    }

    /// For what the program itself draws.
    pub(super) fn of_process(&mut self) -> &mut Rng {
        &mut self.of_process
    }

    /// Draws an amount.
    pub(super) fn draw(&mut self, amount: &Amount) -> u64 {
        amount.draw(match amount {
            Amount::Random(of) if !matches!(of.shape, Shape::Gamma { .. }) => &mut self.own,
            _ => &mut self.of_process,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn threads(process: &str, instances: u64, in_process: u64) -> Threads {
        Threads {
            process: process.into(),
            thread: "t".into(),
            instances,
            in_process,
            flowops: Vec::new(),
        }
    }

    /// What the threads draw of two processes `a` with a thread and two others, and of a process `b`.
    fn drawn(same_draws: bool) -> Vec<u64> {
        let threads = [threads("a", 2, 1), threads("a", 4, 2), threads("b", 1, 1)];
        let rngs = Rngs::of(&threads, same_draws, 7).into_iter();
        rngs.map(|mut of| of.of_process().next_u64()).collect()
    }

    #[test]
    fn processes_draw_the_same_and_threads_of_a_process_do_not() {
        let same = drawn(true);
        assert_eq!(same[0], same[1]);
        assert_eq!(same[2..4], same[4..6]);
        assert_eq!(same[0], same[6]);
        assert!(same[0] != same[2] && same[0] != same[3] && same[2] != same[3]);
        let mut all = drawn(false);
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 7);
    }

    #[test]
    fn only_gamma_is_drawn_by_the_process() {
        let text = "set $g=cvar(type=cvar-gamma,parameters=mean:1000000)\n\
             set $u=cvar(type=cvar-uniform,parameters=upper:1000000)\n\
             define process name=p,instances=2 {\n thread name=t {\n flowop hog name=g,value=$g\n \
             flowop hog name=u,value=$u\n }\n}\nrun 1\n";
        let model = crate::program::filebench::language::Model::parse(text.as_bytes()).unwrap();
        let threads = model.workload().unwrap().threads;
        let mut rngs = Rngs::of(&threads, true, 7);
        let mut draw = |flowop: usize| -> Vec<u64> {
            let amount = threads[0].flowops[flowop].value;
            rngs.iter_mut().map(|of| of.draw(&amount)).collect()
        };
        let (gamma, uniform) = (draw(0), draw(1));
        assert_eq!(gamma[0], gamma[1]);
        assert_ne!(uniform[0], uniform[1]);
    }
}
