//! `fathom list`: the modelled drives and the parameters.

use super::explain;
use crate::args::{ListArgs, Listing};
use crate::failure::{Exit, Failure};
use crate::out;
use fathom_probe::Parameter;
use fathom_ssd::presets::PRESETS;
use serde::Serialize;

#[derive(Serialize)]
struct Drive {
    name: &'static str,
    target: String,
    summary: &'static str,
}

#[derive(Serialize)]
struct Measured {
    name: &'static str,
    unit: &'static str,
    summary: &'static str,
}

pub(super) fn run(args: &ListArgs) -> Result<Exit, Failure> {
    match args.what {
        Listing::Drives => {
            let drives: Vec<Drive> = PRESETS
                .iter()
                .map(|preset| Drive {
                    name: preset.name,
                    target: format!("model:{}", preset.name),
                    summary: preset.summary,
                })
                .collect();
            let rows = drives.iter().map(|d| [d.target.as_str(), d.summary]);
            print(&drives, rows.collect(), args.json)?;
        }
        Listing::Parameters => {
            let parameters = Parameter::ALL.map(|parameter| Measured {
                name: parameter.name(),
                unit: parameter.unit(),
                summary: explain::title(parameter),
            });
            let rows = parameters.iter().map(|p| [p.name, p.summary]);
            print(&parameters, rows.collect(), args.json)?;
        }
    }
    Ok(Exit::Done)
}

fn print(items: &impl Serialize, rows: Vec<[&str; 2]>, json: bool) -> Result<(), Failure> {
    if json {
        return out::json(items);
    }
    let width = rows.iter().map(|[name, _]| name.len()).max().unwrap_or(0);
    let line = |[name, summary]: &[&str; 2]| format!("{name:width$}  {summary}\n");
    out::data(&rows.iter().map(line).collect::<String>())
}
