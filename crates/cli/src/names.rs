//! Everything that has a name: the lists of all crates, the papers and the example files. `fathom list` shows them, and
//! `fathom explain` looks them up.

use fathom_base::registry::Text;
use fathom_base::{About, Kind, Named};
use fathom_fs::{ALLOCATORS, FORMATS as FILE_SYSTEMS};
use fathom_iosched::{SCHEDULERS, SPLITS};
use fathom_lab::reproduce::PAPERS;
use fathom_platform::PLATFORMS;
use fathom_probe::Parameter;
use fathom_ssd::spec::{BUFFERS, FTLS, VICTIMS};
use fathom_trace::FORMATS;
use fathom_workload::generate::GENERATORS;
use fathom_workload::program::PROGRAMS;
use fathom_workload::step::STEPS;

const PARAMETER: Kind = Kind {
    one: "parameter",
    list: "parameters",
    summary: "What can be measured",
    prefix: "",
    option: "--only",
    text: Text::Page,
};

const PAPER: Kind = Kind {
    one: "paper",
    list: "studies",
    summary: "Papers that can be run again",
    prefix: "paper:",
    option: "",
    text: Text::Page,
};

const EXAMPLE: Kind = Kind {
    one: "example",
    list: "examples",
    summary: "Commented files to start from: a drive, a study, jobs; `fathom explain NAME` prints one",
    prefix: "",
    option: "",
    text: Text::File,
};

/// Builds the list of example files with their summaries.
macro_rules! examples {
    ($($name:literal: $summary:literal,)+) => {
        &[$(Named::new(
            &EXAMPLE,
            $name,
            About::new($summary).text(include_str!(concat!("../../../examples/", $name))),
        )),+]
    };
}

const EXAMPLES: &[Named] = examples! {
    "drive.toml": "a drive file with every key and what it may be",
    "drive-zoned.toml": "a drive file of a zoned drive",
    "disk.toml": "a drive file of a disk with every key and what it may be",
    "study.toml": "a study for `fathom study`",
    "schedulers.toml": "a study of schedulers over one drive",
    "file-server.fio": "jobs for `fathom run`: a file server",
    "five-readers.fio": "jobs for `fathom run`: five processes that read at random",
};

/// Returns everything with a name, in the order of the lists.
pub(crate) fn all() -> Vec<Named> {
    let parameter = |parameter: Parameter| {
        let about = About::new(parameter.about().summary()).text(parameter.about().page);
        Named::new(&PARAMETER, parameter.name(), about)
    };
    let papers = PAPERS.iter().map(|paper| {
        Named::new(
            &PAPER,
            paper.name,
            About::new(paper.title).text(paper.readme),
        )
    });
    let lists = [
        FTLS,
        BUFFERS,
        VICTIMS,
        SCHEDULERS,
        SPLITS,
        FORMATS,
        FILE_SYSTEMS,
        ALLOCATORS,
        GENERATORS,
        PROGRAMS,
        STEPS,
        PLATFORMS,
    ];
    fathom_model::catalog()
        .copied()
        .chain(Parameter::ALL.map(parameter))
        .chain(lists.into_iter().flatten().copied())
        .chain(papers)
        .chain(EXAMPLES.iter().copied())
        .collect()
}

/// Returns the lists, each represented by the first kind in it.
pub(crate) fn lists() -> Vec<&'static Kind> {
    let mut lists: Vec<&Kind> = all().iter().map(|named| named.kind).collect();
    lists.dedup_by_key(|kind| kind.list);
    lists
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_probe::Method;

    #[test]
    fn every_page_begins_with_its_parameter_and_explains_every_verdict() {
        for parameter in Parameter::ALL {
            let text = parameter.about().page;
            assert!(text.starts_with(&format!("# {parameter}: ")), "{parameter}");
            for part in ["identified", "absent", "not identifiable", "inconclusive"] {
                assert!(text.contains(part), "{parameter} lacks {part}");
            }
            for method in Method::ALL {
                let named = text.contains(&format!("--method {}", method.name()));
                let has = parameter.about().probe(method).is_some();
                assert!(named || !has, "{parameter} lacks {method:?}");
            }
        }
    }

    #[test]
    fn names_of_a_kind_are_unique_and_every_kind_is_listed_in_one_place() {
        let all = all();
        let mut seen = std::collections::BTreeSet::new();
        for named in &all {
            assert!(seen.insert((named.kind.one, named.name)), "{}", named.name);
            assert!(!named.summary.is_empty(), "{}", named.name);
        }
        let lists = lists();
        let names: std::collections::BTreeSet<_> = lists.iter().map(|kind| kind.list).collect();
        assert_eq!(names.len(), lists.len());
    }
}
