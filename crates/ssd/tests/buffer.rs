//! Write buffers over page numbers: contents, victims and eviction times, compared with a naive model of each policy and
//! with the examples of the papers.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common::naive::Naive;
use fathom_ssd::spec::{BUFFERS, WritePolicy};
use fathom_ssd::{Evicted, PageBuffer, PageBufferSetup, Stored};
use proptest::prelude::*;

fn setup(
    policy: WritePolicy,
    capacity_pages: u32,
    elements: u32,
    block_pages: u32,
) -> PageBufferSetup {
    PageBufferSetup {
        policy,
        capacity_pages,
        elements,
        block_pages,
        ..PageBufferSetup::default()
    }
}

#[derive(Clone, Debug)]
enum Step {
    /// First page, number of pages.
    Write(u32, u32),
    Trim(u32),
    Evict,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0u32..40, 1u32..3).prop_map(|(page, n)| Step::Write(page, n)),
        4 => (0u32..8, 1u32..2).prop_map(|(page, n)| Step::Write(page, n)),
        2 => (0u32..40, 1u32..12).prop_map(|(page, n)| Step::Write(page, n)),
        1 => (0u32..40).prop_map(Step::Trim),
        1 => Just(Step::Evict),
    ];
    proptest::collection::vec(step, 1..120)
}

fn setups() -> impl Strategy<Value = PageBufferSetup> {
    let policy = proptest::sample::select(WritePolicy::ALL.to_vec());
    (policy, 1u32..24, 1u32..7, 1u32..9, 1u32..4).prop_map(
        |(policy, capacity, elements, block, stride)| PageBufferSetup {
            stride_pages: stride,
            ..setup(policy, capacity, elements, block)
        },
    )
}

/// The buffer and its naive model, which must behave the same. Properties of all policies are checked as well.
struct Pair {
    setup: PageBufferSetup,
    buffer: PageBuffer,
    naive: Naive,
    /// Pages written and not evicted, with repetitions.
    inside: Vec<u32>,
}

impl Pair {
    fn new(setup: &PageBufferSetup) -> Self {
        Self {
            setup: setup.clone(),
            buffer: PageBuffer::new(setup).unwrap(),
            naive: Naive::new(setup),
            inside: Vec::new(),
        }
    }

    fn write(&mut self, page: u32, request: u64) -> Result<(), TestCaseError> {
        let mut evicted = Evicted::default();
        let stored = self.buffer.write(page, request, &mut evicted);
        prop_assert_eq!(&evicted, &self.naive.write(page, request));
        if stored == Stored::Passed {
            prop_assert_eq!(self.setup.policy, WritePolicy::NoCache);
            return Ok(());
        }
        self.leave(&evicted)?;
        if stored == Stored::New {
            self.inside.push(page);
        }
        prop_assert!(self.inside.contains(&page));
        let twice = self.inside.iter().filter(|&&p| p == page).count() > 1;
        prop_assert!(!(twice && self.setup.policy.is_cache()));
        self.check()
    }

    fn leave(&mut self, evicted: &Evicted) -> Result<(), TestCaseError> {
        for page in &evicted.pages {
            let at = self.inside.iter().position(|p| p == page);
            prop_assert!(at.is_some(), "page {page} left and was not in");
            self.inside.remove(at.unwrap());
        }
        Ok(())
    }

    fn check(&self) -> Result<(), TestCaseError> {
        prop_assert!(self.buffer.len() <= self.setup.capacity_pages as usize);
        prop_assert_eq!(self.buffer.len(), self.inside.len());
        let mut inside = self.inside.clone();
        inside.sort_unstable();
        prop_assert_eq!(inside, self.naive.pages());
        for page in 0..52 {
            prop_assert_eq!(self.buffer.read(page), self.inside.contains(&page));
        }
        Ok(())
    }

    fn step(&mut self, step: &Step, request: u64) -> Result<(), TestCaseError> {
        match *step {
            Step::Write(first, n) => {
                for page in first..first + n {
                    self.write(page, request)?;
                }
            }
            Step::Trim(page) => {
                prop_assert_eq!(self.buffer.trim(page), self.naive.trim(page));
                self.inside.retain(|&p| p != page);
                self.check()?;
            }
            Step::Evict => self.evict()?,
        }
        Ok(())
    }

    fn evict(&mut self) -> Result<(), TestCaseError> {
        let mut evicted = Evicted::default();
        if self.buffer.evict(&mut evicted) {
            prop_assert_eq!(&evicted, &self.naive.evict());
            prop_assert!(!evicted.pages.is_empty());
            self.leave(&evicted)?;
        } else {
            prop_assert!(self.inside.is_empty());
        }
        self.check()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    /// Also checks that equal writes give equal evictions, because the naive model draws nothing at random.
    #[test]
    fn every_policy_does_what_its_plain_model_does(setup in setups(), steps in steps()) {
        let mut pair = Pair::new(&setup);
        for (step, request) in steps.iter().zip(1..) {
            pair.step(step, request)?;
        }
        while !pair.buffer.is_empty() {
            pair.evict()?;
        }
        prop_assert!(pair.inside.is_empty());
    }
}

/// Writes pages, each as a request of its own. Returns the evicted pages in order.
fn write(buffer: &mut PageBuffer, pages: &[u32]) -> Vec<u32> {
    let (mut left, mut evicted) = (Vec::new(), Evicted::default());
    for (&page, request) in pages.iter().zip(1000..) {
        buffer.write(page, request, &mut evicted);
        left.append(&mut evicted.pages);
    }
    left
}

fn evict(buffer: &mut PageBuffer) -> Evicted {
    let mut evicted = Evicted::default();
    assert!(buffer.evict(&mut evicted));
    evicted
}

/// `epo` Figure 2c: Q1 from its tail on after the requests 1, 2, 3, then 2, then 4, then 3.
#[test]
fn epo_keeps_the_queue_of_its_figure_2c() {
    let scenarios: [(&[u32], &[u32]); 4] = [
        (&[1, 2, 3], &[1, 2, 3]),
        (&[1, 2, 3, 2], &[1, 3, 2]),
        (&[1, 2, 3, 2, 4], &[1, 3, 2, 4]),
        (&[1, 2, 3, 2, 4, 3], &[1, 2, 4, 3]),
    ];
    for (requests, queue) in scenarios {
        // All pages are on one element.
        let mut buffer = PageBuffer::new(&setup(WritePolicy::Epo, 4, 1, 64)).unwrap();
        assert!(write(&mut buffer, requests).is_empty());
        assert_eq!(buffer.len(), queue.len());
        for &page in queue {
            assert_eq!(evict(&mut buffer).pages, [page]);
        }
    }
}

/// `epo` Figure 3 with four elements: one victim from the tail of every queue. If some queues are empty, there are fewer
/// victims, and less room until the next eviction.
#[test]
fn epo_evicts_one_page_of_every_element_that_has_one() {
    let mut buffer = PageBuffer::new(&setup(WritePolicy::Epo, 8, 4, 64)).unwrap();
    // Elements 0, 1, 2, 3 hold pages 0 and 4, 1 and 5, 2 and 6, 3; page 0 is written again.
    write(&mut buffer, &[0, 1, 2, 3, 4, 5, 6, 0]);
    assert_eq!(buffer.len(), 7);
    assert!(write(&mut buffer, &[9]).is_empty());
    assert_eq!(write(&mut buffer, &[7]), [4, 1, 2, 3]);
    // 0, 5, 9, 6 and 7 remain: three places are free, and the fourth new page causes an eviction.
    assert_eq!(buffer.len(), 5);
    assert!(write(&mut buffer, &[8, 12, 16]).is_empty());
    assert_eq!(write(&mut buffer, &[20]), [0, 5, 6, 7]);
    assert!(write(&mut buffer, &[24, 28, 32]).is_empty());
    // Elements 2 and 3 hold no pages: two pages are evicted, so only one more page fits without eviction, not three.
    assert_eq!(write(&mut buffer, &[36]), [8, 9]);
    assert!(write(&mut buffer, &[40]).is_empty());
    assert_eq!(write(&mut buffer, &[44]), [12]);
}

/// Kim and Ahn, 3.1: a write to any page of a block makes the whole block the most recent.
#[test]
fn bplru_keeps_blocks_in_order_of_their_last_write() {
    let mut buffer = PageBuffer::new(&setup(WritePolicy::Bplru, 8, 1, 4)).unwrap();
    write(&mut buffer, &[16, 5, 17, 12, 14, 0, 1]);
    // Page 19 belongs to block 4, whose other pages were written first: block 1 is now the oldest.
    assert!(write(&mut buffer, &[19]).is_empty());
    assert_eq!(evict(&mut buffer).pages, [5]);
    assert_eq!(evict(&mut buffer).pages, [12, 14]);
    assert_eq!(evict(&mut buffer).pages, [0, 1]);
    assert_eq!(evict(&mut buffer).pages, [16, 17, 19]);
}

/// Kim and Ahn, 3.2: pages 0 and 3 of a block of four are evicted, pages 1 and 2 are read to pad the block.
#[test]
fn bplru_pads_a_block_to_a_whole_one() {
    let mut buffer = PageBuffer::new(&setup(WritePolicy::Bplru, 2, 1, 4)).unwrap();
    write(&mut buffer, &[3, 0]);
    let mut evicted = Evicted::default();
    buffer.write(9, 1, &mut evicted);
    assert_eq!((evicted.pages, evicted.padded), (vec![0, 3], Some(0..4)));
}

/// Kim and Ahn, 3.3: with page 11, block 2 has been written in order from 8 to 11, and becomes the oldest.
#[test]
fn bplru_lets_a_block_go_that_was_written_in_order() {
    let sequences: [(&[u32], &[u32]); 4] = [
        (&[8, 9, 10, 11], &[8, 9, 10, 11]),
        // Not in order, not from the start, not to the end, or one page written twice: the oldest block is block 1.
        (&[8, 10, 9, 11], &[5]),
        (&[9, 10, 11, 8], &[5]),
        (&[8, 9, 10], &[5]),
    ];
    for (pages, oldest) in sequences {
        let mut buffer = PageBuffer::new(&setup(WritePolicy::Bplru, 8, 1, 4)).unwrap();
        write(&mut buffer, &[5]);
        write(&mut buffer, pages);
        assert_eq!(evict(&mut buffer).pages, oldest, "{pages:?}");
    }
    let mut buffer = PageBuffer::new(&setup(WritePolicy::Bplru, 8, 1, 4)).unwrap();
    write(&mut buffer, &[5, 8, 9, 10, 11, 9]);
    assert_eq!(evict(&mut buffer).pages, [5]);
}

/// Debnath et al.: recency first, then the number of pages present.
#[test]
fn lb_clock_evicts_the_fullest_block_that_was_not_written_lately() {
    let mut buffer = PageBuffer::new(&setup(WritePolicy::LbClock, 8, 1, 4)).unwrap();
    write(&mut buffer, &[0, 1, 4, 8, 9, 10, 12, 13]);
    // All blocks were written recently: the hand goes round once, and the largest block is evicted.
    assert_eq!(write(&mut buffer, &[16]), [8, 9, 10]);
    // Blocks 0 and 3 have two pages each; 0 is written again, so 3 is evicted.
    assert!(write(&mut buffer, &[0, 20]).is_empty());
    assert_eq!(write(&mut buffer, &[24, 25]), [12, 13]);
}

#[test]
fn a_stream_leaves_before_what_is_older() {
    let mut buffer = PageBuffer::new(&setup(WritePolicy::Streams, 8, 1, 4)).unwrap();
    // 30 to 33 is a stream, 50 to 52 is not; their pages are interleaved.
    write(&mut buffer, &[10, 30, 31, 50, 32, 51, 33, 52]);
    assert_eq!(write(&mut buffer, &[70]), [30, 31, 32, 33]);
    assert_eq!(evict(&mut buffer).pages, [10]);
    assert_eq!(evict(&mut buffer).pages, [50, 51, 52]);
}

/// `epo` IV.A: LRU keeps the age of whole requests.
#[test]
fn lru_evicts_whole_requests_without_what_later_ones_wrote() {
    let mut buffer = PageBuffer::new(&setup(WritePolicy::Lru, 6, 1, 4)).unwrap();
    let mut evicted = Evicted::default();
    for (first, pages, request) in [(0, 4, 1), (10, 2, 2), (2, 1, 3)] {
        for page in first..first + pages {
            assert_ne!(buffer.write(page, request, &mut evicted), Stored::Passed);
            assert!(evicted.pages.is_empty());
        }
    }
    assert_eq!(evict(&mut buffer).pages, [0, 1, 3]);
    assert_eq!(evict(&mut buffer).pages, [10, 11]);
    assert_eq!(evict(&mut buffer).pages, [2]);
}

#[test]
fn a_buffer_that_cannot_be_says_which_number_is_wrong() {
    for (key, change) in [
        ("capacity_pages", 0usize),
        ("elements", 1),
        ("stride_pages", 2),
        ("block_pages", 3),
        ("drive_pages", 4),
    ] {
        let mut setup = PageBufferSetup::default();
        *[
            &mut setup.capacity_pages,
            &mut setup.elements,
            &mut setup.stride_pages,
            &mut setup.block_pages,
            &mut setup.drive_pages,
        ][change] = 0;
        let error = PageBuffer::new(&setup).unwrap_err();
        assert_eq!((error.key, error.found, error.least), (key, 0, 1));
        assert!(error.to_string().contains(key));
    }
}

#[test]
fn every_policy_has_a_name_of_its_own_and_a_word_about_it() {
    let mut names: Vec<_> = BUFFERS.iter().map(|listed| listed.name).collect();
    let of_enum: Vec<_> = WritePolicy::ALL
        .iter()
        .map(|policy| policy.name())
        .collect();
    assert_eq!(names, of_enum);
    for listed in BUFFERS {
        let policy: WritePolicy = listed.name.parse().unwrap();
        assert_eq!(policy.name(), listed.name);
        assert!(!listed.summary.is_empty() && listed.text.len() > listed.summary.len());
    }
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), BUFFERS.len());
    let unknown = "mru".parse::<WritePolicy>().unwrap_err();
    assert_eq!(unknown.near, ["lru"]);
}
