//! Columns of runs on the terminal: what they are called, and how many of them stand beside one another.

use super::table;
use fathom_report::screen::Screen;
use fathom_run::compare::Comparison;

/// How wide a table with a column for each run may be where no screen says: beyond it, the runs go into one more table.
const WIDTH: usize = 100;

/// What the runs are called where a column or a line is one's: without the directories that all of them are in.
pub(in super::super) fn short_names(comparison: &Comparison) -> Vec<String> {
    let names = || comparison.runs.iter().map(|run| run.name.as_str());
    let dir = |name: &str| name.rfind('/').map_or(0, |at| at + 1);
    let first = names().next().unwrap_or_default();
    let mut common = &first[..dir(first)];
    let below =
        |common: &str| names().all(|name| name.len() > common.len() && name.starts_with(common));
    while !common.is_empty() && !below(common) {
        common = &common[..dir(common.trim_end_matches('/'))];
    }
    names()
        .map(|name| name[common.len()..].to_owned())
        .collect()
}

/// A table with a column for each run, cut into several where it would be too wide.
pub(super) fn narrow(rows: &[Vec<String>], screen: Screen) -> String {
    let width = Some(screen.width.unwrap_or(WIDTH));
    table(rows, Screen { width, ..screen })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_run::compare::Compared;

    #[test]
    fn the_directories_of_all_runs_are_left_out_where_room_is_short() {
        let short = |names: &[&str]| {
            let run = |name: &&str| Compared {
                name: (*name).to_owned(),
                changes: Vec::new(),
                warnings: Vec::new(),
                sides: Vec::new(),
                accesses_per_second: 0.0,
                bytes_per_second: 0.0,
                write_amplification: None,
                erases: None,
            };
            short_names(&Comparison {
                runs: names.iter().map(run).collect(),
            })
        };
        assert_eq!(short(&["runs/a/x", "runs/a/y"]), ["x", "y"]);
        assert_eq!(short(&["runs/a/x", "runs/b/x"]), ["a/x", "b/x"]);
        assert_eq!(short(&["runs/x/", "runs/xy"]), ["x/", "xy"]);
        assert_eq!(short(&["x", "runs/x"]), ["x", "runs/x"]);
        assert_eq!(short(&["/tmp/x", "x"]), ["/tmp/x", "x"]);
        assert_eq!(short(&["a/", "a/"]), ["a/", "a/"]);
        assert_eq!(short(&["a/b", "a/"]), ["a/b", "a/"]);
        assert_eq!(short(&["ä//x", "ä//y"]), ["x", "y"]);
        assert_eq!(short(&["", "x"]), ["", "x"]);
        assert!(short(&[]).is_empty());
    }
}
