//! Counts tests in the output of the test runner: passed, failed, ignored, and those that said they skipped something.

/// The counts so far.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    passed: usize,
    failed: usize,
    ignored: Vec<(String, String)>,
    failures: Vec<String>,
    skips: Vec<(String, String)>,
    place: Place,
    test: String,
}

/// The current section of the runner's output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    /// The list of tests, the summary, or the output of failed tests.
    #[default]
    Shown,
    /// The output of tests that passed.
    Successes,
}

/// Prefixes of the output of a test that cannot run here.
const SKIPS: [&str; 2] = ["skipped: ", "skip: "];

impl Tally {
    /// Processes a line. Returns true if it should be shown.
    pub(crate) fn line(&mut self, line: &str) -> bool {
        match line {
            "successes:" => self.place = Place::Successes,
            "failures:" => self.place = Place::Shown,
            _ if line.starts_with("test result: ") => {
                self.place = Place::Shown;
                self.summary(line);
            }
            _ => self.inside(line),
        }
        self.place == Place::Shown
    }

    fn inside(&mut self, line: &str) {
        let header = line.strip_prefix("---- ");
        if let Some(name) = header.and_then(|l| l.strip_suffix(" stdout ----")) {
            name.clone_into(&mut self.test);
        }
        let why = SKIPS.iter().find_map(|prefix| line.strip_prefix(prefix));
        if let (Place::Successes, Some(why)) = (self.place, why) {
            self.skips.push((self.test.clone(), why.to_owned()));
        }
        if self.place == Place::Shown
            && let Some((name, how)) = line
                .strip_prefix("test ")
                .and_then(|l| l.split_once(" ... "))
        {
            self.verdict(name, how);
        }
    }

    /// Processes a verdict: `ok`, `FAILED`, `ignored` or `ignored, the reason`.
    fn verdict(&mut self, name: &str, how: &str) {
        if how == "FAILED" {
            self.failures.push(name.to_owned());
        } else if let Some(why) = how.strip_prefix("ignored") {
            let why = why.trim_start_matches(", ");
            let why = if why.is_empty() {
                "ignored, no reason given"
            } else {
                why
            };
            self.ignored.push((name.to_owned(), why.to_owned()));
        }
    }

    /// Processes a summary: `test result: ok. 12 passed; 0 failed; 1 ignored; ...`
    fn summary(&mut self, line: &str) {
        let numbers = line.split(['.', ';']).filter_map(|part| {
            let (number, what) = part.trim().split_once(' ')?;
            Some((number.parse::<usize>().ok()?, what))
        });
        for (number, what) in numbers {
            match what {
                "passed" => self.passed += number,
                "failed" => self.failed += number,
                _ => {}
            }
        }
    }

    /// Returns the number of tests that passed and skipped nothing.
    pub(crate) fn passed(&self) -> usize {
        self.passed.saturating_sub(self.tests_that_skipped())
    }

    /// Returns the number of tests that failed.
    pub(crate) fn failed(&self) -> usize {
        self.failed
    }

    /// Returns the number of tests that were ignored or skipped a check, completely or in part.
    pub(crate) fn skipped(&self) -> usize {
        self.ignored.len() + self.tests_that_skipped()
    }

    /// Returns the skipped and ignored tests, each with its reason.
    pub(crate) fn skips(&self) -> impl Iterator<Item = &(String, String)> {
        self.skips.iter().chain(&self.ignored)
    }

    /// Returns the failed tests.
    pub(crate) fn failures(&self) -> &[String] {
        &self.failures
    }

    fn tests_that_skipped(&self) -> usize {
        // The lines of one test are adjacent.
        let mut names: Vec<&str> = self.skips.iter().map(|(name, _)| name.as_str()).collect();
        names.dedup();
        names.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "
running 4 tests
test a ... ok
test b ... FAILED
test c ... ok
test d ... ignored, takes an hour

successes:

---- a stdout ----
skipped: no loop device
skip: no chromium
test x ... FAILED
---- c stdout ----
fine


successes:
    a
    c

failures:

---- b stdout ----
skipped: is no skip, the test failed

failures:
    b

test result: FAILED. 2 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s
";

    #[test]
    fn counts_what_passed_failed_and_was_skipped() {
        let mut tally = Tally::default();
        let shown: Vec<&str> = OUTPUT.lines().filter(|line| tally.line(line)).collect();
        assert_eq!((tally.passed(), tally.failed(), tally.skipped()), (1, 1, 2));
        assert_eq!(tally.failures(), ["b"]);
        let why: Vec<&str> = tally.skips().map(|(_, why)| why.as_str()).collect();
        assert_eq!(why, ["no loop device", "no chromium", "takes an hour"]);
        let names: Vec<&str> = tally.skips().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["a", "a", "d"]);
        assert!(shown.contains(&"---- b stdout ----"), "{shown:?}");
        assert!(!shown.contains(&"fine"), "{shown:?}");
    }

    #[test]
    fn adds_up_over_several_runners() {
        let mut tally = Tally::default();
        for _ in 0..3 {
            tally.line(
                "test result: ok. 10 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out",
            );
        }
        assert_eq!(
            (tally.passed(), tally.failed(), tally.skipped()),
            (30, 0, 0)
        );
    }
}
