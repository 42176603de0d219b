//! Detection of a trace's format from its content: by magic number, or by parsing the first lines as each text format.
//!
//! A format fits if every sampled line parses and at least one of them is a record. If no format fits, but only one of them
//! parses at least three of four lines, that one is chosen, so that its reader can report the wrong line. File names
//! are ignored.

use super::error::{ErrorKind, TraceError};
use super::format::blktrace;
use super::line::Line;
use super::{Access, Format, Options, compress};

/// Size of the sample, in bytes. At most `LINES_MAX` lines of it are parsed.
pub(super) const SAMPLE_BYTES: usize = 64 << 10;
const LINES_MAX: usize = 512;

/// Limits on the end and the length of a plausible access, in bytes. Larger numbers are not taken for byte counts.
const END_PLAUSIBLE: u64 = 1 << 56;
const LEN_PLAUSIBLE: u64 = 4 << 30;

/// Minimum mean distance of requests, in the trace's unit of time, at which the whole-number times of a trace that may be
/// DiskSim or MQSim are taken for nanoseconds. A distance of 1000 ns is a million requests per second; 1000 ms is one.
const NS_APART_MIN: u64 = 1_000;

/// Returns the format of a trace, detected from the first bytes of its decompressed content; 64 KiB are enough. `whole`
/// is true if the sample is the whole input.
///
/// # Errors
/// The input is empty or an archive, or it fits no format or several.
pub(super) fn detect(sample: &[u8], whole: bool, options: &Options) -> Result<Format, TraceError> {
    if let Some(what) = compress::archive(sample) {
        return Err(TraceError::input(ErrorKind::Archive { what }));
    }
    if sample.starts_with(b"PAR1") {
        return Ok(Format::Parquet);
    }
    if blktrace::is_magic(sample) {
        return Ok(Format::Blktrace);
    }
    let lines = first_lines(sample, whole);
    if lines.is_empty() {
        return Err(TraceError::input(ErrorKind::Empty));
    }
    by_lines(&lines, options)
}

fn first_lines(sample: &[u8], whole: bool) -> Vec<&[u8]> {
    let mut lines: Vec<&[u8]> = sample.split(|&b| b == b'\n').collect();
    // The last line may be cut by the end of the sample.
    if !whole && lines.len() > 1 {
        lines.pop();
    }
    lines.retain(|line| !line.trim_ascii().is_empty());
    lines.truncate(LINES_MAX);
    lines
}

/// The result of parsing the sampled lines as one format.
struct Trial {
    format: Format,
    /// Number of lines that are records of the format.
    good: usize,
    bad: usize,
    first_wrong: Option<String>,
    first: Option<Access>,
    last: Option<Access>,
    accesses: usize,
}

impl Trial {
    fn fits(&self) -> bool {
        self.good > 0 && self.bad == 0
    }

    fn nearly_fits(&self) -> bool {
        self.good >= 3 * self.bad && self.good > 0
    }

    fn why_not(self) -> (&'static str, String) {
        let why = self.first_wrong.unwrap_or("no record in it".into());
        (self.format.name(), why)
    }
}

fn by_lines(lines: &[&[u8]], options: &Options) -> Result<Format, TraceError> {
    let trials: Vec<Trial> = Format::ALL
        .into_iter()
        .filter_map(|format| trial(format, lines, options))
        .collect();
    let fitting = |fits: fn(&Trial) -> bool| trials.iter().filter(move |t| fits(t));
    let mut fit: Vec<&Trial> = fitting(Trial::fits).collect();
    if fit.is_empty() {
        fit = fitting(Trial::nearly_fits).collect();
    }
    match fit[..] {
        [] => {
            let mut tried: Vec<_> = trials.into_iter().map(Trial::why_not).collect();
            if super::text::is_column_names(lines[0]) {
                // What is said of the first line then says most.
                tried.sort_by_key(|(format, _)| *format != Format::Csv.name());
            }
            Err(TraceError::input(ErrorKind::Unrecognised { tried }))
        }
        [only] => Ok(only.format),
        _ => choose(&fit),
    }
}

/// Chooses among several formats that fit. DiskSim and MQSim have the same columns, with times in milliseconds and in
/// nanoseconds. Times with decimals are milliseconds, because MQSim's reader accepts whole numbers only; whole numbers that
/// are far apart are nanoseconds.
fn choose(fit: &[&Trial]) -> Result<Format, TraceError> {
    let formats: Vec<Format> = fit.iter().map(|t| t.format).collect();
    // CSV names its columns and their units; the other formats are guessed from values.
    if formats.contains(&Format::Csv) {
        return Ok(Format::Csv);
    }
    if formats == [Format::DiskSim, Format::MqSim]
        && let Some((first, last)) = fit[1].first.zip(fit[1].last)
        && fit[1].accesses > 1
        && last.at.since(first.at).0 / (fit[1].accesses as u64 - 1) >= NS_APART_MIN
    {
        return Ok(Format::MqSim);
    }
    let formats = formats.into_iter().map(Format::name).collect();
    Err(TraceError::input(ErrorKind::Ambiguous { formats }))
}

fn trial(format: Format, lines: &[&[u8]], options: &Options) -> Option<Trial> {
    let mut parser = format.parser()?(&options.choices());
    let mut trial = Trial {
        format,
        good: 0,
        bad: 0,
        first_wrong: None,
        first: None,
        last: None,
        accesses: 0,
    };
    for (index, line) in lines.iter().enumerate() {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if super::text::is_comment(line) {
            continue;
        }
        if index == 0 && super::text::is_column_names(line) {
            if let Err(fault) = parser.names(line) {
                trial.wrong(|| fault.kind().to_string());
            } else if format != Format::Csv && !names_are(parser.columns(), line) {
                // The values may fit nevertheless, but they are something else.
                trial.wrong(|| "the first line names other columns".into());
                trial.bad = lines.len();
            }
            continue;
        }
        match parser.line(line) {
            Ok(Line::Access(access)) if is_plausible(&access) => {
                trial.good += 1;
                trial.accesses += 1;
                trial.first.get_or_insert(access);
                trial.last = Some(access);
            }
            Ok(Line::Access(_)) => trial.wrong(|| "an offset or a length that no drive has".into()),
            Ok(Line::Event) => trial.good += 1,
            Ok(Line::Text) => {}
            Err(fault) => trial.wrong(|| fault.kind().to_string()),
        }
    }
    Some(trial)
}

/// Returns true if a line has the names of all columns, whatever their case.
fn names_are(columns: &[&str], line: &[u8]) -> bool {
    let named: Vec<&[u8]> = line.split(|&byte| byte == b',').collect();
    let mut both = named.iter().zip(columns);
    let same =
        |(named, name): (&&[u8], &&str)| named.trim_ascii().eq_ignore_ascii_case(name.as_bytes());
    named.len() == columns.len() && both.all(same)
}

impl Trial {
    fn wrong(&mut self, why: impl FnOnce() -> String) {
        self.bad += 1;
        self.first_wrong.get_or_insert_with(why);
    }
}

fn is_plausible(access: &Access) -> bool {
    access.end() <= END_PLAUSIBLE && access.len <= LEN_PLAUSIBLE
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line that the end of the sample cuts does not count against a format.
    #[test]
    fn the_last_line_of_a_sample_may_be_cut() {
        let sample = b"0,1,512,r,0\n0,1";
        let told = |whole| detect(sample, whole, &Options::default());
        assert_eq!(told(false).unwrap(), Format::Spc);
        assert!(matches!(
            *told(true).unwrap_err().kind,
            ErrorKind::Unrecognised { .. }
        ));
    }
}
