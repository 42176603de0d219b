//! Determines the kind of a text file, so that a message can name the kind of a misplaced one.

use crate::failure::Failure;
use fathom_lab::store::{PROFILE_FILE, RECORD_FILE, REQUESTS_FILE, RUN_FILE};
use fathom_lab::target::describes_drive;
use std::path::Path;
use toml::Table;

/// Names of the files of a stored run.
const STORED: [&str; 4] = [PROFILE_FILE, RECORD_FILE, REQUESTS_FILE, RUN_FILE];

/// Kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileKind {
    Drive,
    Study,
    Workload,
    Jobs,
    /// A text in filebench's language.
    Model,
    /// A file of a stored run.
    Stored,
    /// A path that ends in `.toml`, with contents of no known kind or without a readable file.
    Toml,
    /// A trace, or a file that the trace reader will refuse.
    Other,
}

impl FileKind {
    /// Determines the kind from the extension and the content.
    pub(crate) fn of(path: &Path) -> Self {
        let ending = path.extension().and_then(|ending| ending.to_str());
        let text = fathom_lab::text::read(path).unwrap_or_default();
        // The parser reads a trace to its end to tell all its errors: 1,900 instructions a line of DiskSim.
        let table = may_be_toml(&text).then(|| text.parse().ok()).flatten();
        let told = table.and_then(|table| Self::of_table(&table));
        match (told, ending) {
            (Some(kind), _) => kind,
            _ if path.is_file()
                && path
                    .file_name()
                    .is_some_and(|name| STORED.iter().any(|file| name == *file)) =>
            {
                Self::Stored
            }
            (None, Some("toml")) => Self::Toml,
            (None, Some("fio")) => Self::Jobs,
            (None, Some("f")) => Self::Model,
            (None, _) if begins_with_section(&text) => Self::Jobs,
            (None, _) => Self::Other,
        }
    }

    fn of_table(table: &Table) -> Option<Self> {
        let has = |keys: &[&str]| keys.iter().any(|key| table.contains_key(*key));
        match () {
            () if describes_drive(table) => Some(Self::Drive),
            () if has(&["axis", "workload", "drive", "seeds"]) => Some(Self::Study),
            () if has(&["trace", "generate", "jobs", "job", "program"]) => Some(Self::Workload),
            () => None,
        }
    }

    /// Returns the failure for a file of this kind in the place of a `wanted` one.
    pub(crate) fn misplaced(self, path: &Path, wanted: &str) -> Failure {
        let file = path.display();
        let (is, help) = match self {
            Self::Drive => (
                "a drive file",
                format!(
                    "the drive that it describes is model:{file}: `fathom run generate:uniform --on model:{file}` runs a \
                     workload on it"
                ),
            ),
            Self::Study => (
                "a study",
                format!("run it with `fathom study {file} --out DIR`"),
            ),
            Self::Stored => {
                let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty());
                let dir = dir.unwrap_or(Path::new(".")).display();
                (
                    "a file of a stored run",
                    format!(
                        "`fathom report {dir}` renders its page; `fathom compare` and `fathom diff` take the directory"
                    ),
                )
            }
            Self::Workload | Self::Toml | Self::Other => ("a workload", run(path)),
            Self::Jobs => ("a file of jobs", run(path)),
            Self::Model => ("a text of filebench", run(path)),
        };
        Failure::input(
            "fathom::input::kind",
            format!("{file} is {is} and no {wanted}"),
        )
        .help(help)
    }
}

fn run(path: &Path) -> String {
    format!("run it with `fathom run {} --on DRIVE`", path.display())
}

/// Returns true if the first line that is no comment is a section header, as in an fio job file.
fn begins_with_section(text: &str) -> bool {
    let first = first_line(text, &['#', ';']);
    first.is_some_and(|line| line.starts_with('[') && line.ends_with(']'))
}

/// Returns true if the first line that is no comment is a header or begins a value, as it must in TOML.
fn may_be_toml(text: &str) -> bool {
    let first = first_line(text, &['#']);
    first.is_some_and(|line| line.starts_with('[') || line.contains('='))
}

/// Returns the first line that is neither empty nor a comment.
fn first_line<'a>(text: &'a str, comments: &[char]) -> Option<&'a str> {
    let mut lines = text.lines().map(str::trim);
    lines.find(|line| !line.is_empty() && !line.starts_with(comments))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_told_by_its_content_and_else_by_its_ending() {
        let dir = tempfile::tempdir().unwrap();
        let of = |name: &str, text: &str| {
            let path = dir.path().join(name);
            std::fs::write(&path, text).unwrap();
            FileKind::of(&path)
        };
        assert_eq!(of("a.toml", "kind = 'ssd'"), FileKind::Drive);
        assert_eq!(of("a", "drive = 'model:epo'\nseeds = [1]"), FileKind::Study);
        assert_eq!(of("a", "[program]\nname = 'x'"), FileKind::Workload);
        assert_eq!(
            of("a", "# a study\n\n  [[axis]]\nname = 'x'"),
            FileKind::Study
        );
        assert_eq!(of("a.toml", "[global]\nnmae"), FileKind::Toml);
        assert_eq!(of("a", "; fio\n\n[global]\nrw=randread"), FileKind::Jobs);
        assert_eq!(of("a.fio", "nonsense"), FileKind::Jobs);
        assert_eq!(of("a.f", "run 60"), FileKind::Model);
        assert_eq!(of("a.spc", "0,8,512,r,0.2"), FileKind::Other);
        assert_eq!(
            FileKind::of(&dir.path().join("missing.fio")),
            FileKind::Jobs
        );
    }
}
