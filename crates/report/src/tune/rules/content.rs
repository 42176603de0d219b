//! What is written: compression by the file system, and the data of a benchmark (fio's names).

use super::family::{Family, Rule};
use crate::tune::advice::{Decided, Decision, Undecided};
use crate::tune::case::Case;
use fathom_probe::{Value, Verdict};

pub(super) const FAMILY: Family = Family {
    name: "content",
    rules: &[
        Rule {
            setting: "file system compression",
            decide: file_system,
        },
        Rule {
            setting: "benchmark data",
            decide: benchmark,
        },
    ],
};

const PARAMETER: &str = "compression";

/// Returns what shrinks in the drive, in words.
fn shrinks(case: &Case<'_>) -> Result<&'static str, Undecided> {
    let answer = case.measured.identified(PARAMETER).map_err(|why| {
        let absent = why.verdict == Some(Verdict::Absent);
        Undecided {
            why: match absent {
                true => "the drive programs every byte as it comes, whatever it is: any content measures it, and only a file \
                         system can write less"
                    .to_owned(),
                false => why.why,
            },
            ..why
        }
    })?;
    Ok(match &answer.value {
        Some(Value::Word(word)) if word == "zeros" => "zeros",
        _ => "zeros and repeated bytes",
    })
}

fn file_system(case: &Case<'_>) -> Decision {
    let what = shrinks(case)?;
    if what == "zeros" {
        let why = "the drive shrinks zeros alone, and what a file system compresses besides is still a gain";
        return Err(Undecided::identified(PARAMETER, why));
    }
    Ok(Decided::new(
        "off",
        PARAMETER,
        "the drive shrinks repeated bytes itself, and compressed files leave it nothing: compress for room only",
    ))
}

fn benchmark(case: &Case<'_>) -> Decision {
    let what = shrinks(case)?;
    Ok(Decided::new(
        "refill_buffers=1 buffer_compress_percentage=0 dedupe_percentage=0",
        PARAMETER,
        format!(
            "the drive writes {what} faster than other bytes: a job that writes one buffer again and again measures its best \
             case"
        ),
    ))
}
