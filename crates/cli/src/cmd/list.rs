//! `fathom list`: lists everything that has a name.

use crate::args::ListArgs;
use crate::failure::{Exit, Failure};
use crate::{names, out};
use fathom_base::Named;
use fathom_base::registry::Text;
use fathom_probe::Parameter;
use fathom_report::table::{Kind, table};
use serde::Serialize;

/// The JSON output.
#[derive(Serialize)]
struct Items {
    items: Vec<Item>,
}

#[derive(Serialize)]
struct Item {
    name: &'static str,
    /// A drive's name as the command line accepts it.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
    /// Unit, for a parameter.
    #[serde(skip_serializing_if = "Option::is_none")]
    unit: Option<&'static str>,
    summary: &'static str,
}

pub(super) fn run(args: &ListArgs) -> Result<Exit, Failure> {
    let items: Vec<Item> = match &args.what {
        None => names::lists()
            .into_iter()
            .map(|kind| plain(kind.list, kind.summary))
            .collect(),
        Some(list) => {
            let all = names::all().into_iter();
            all.filter(|named| named.kind.list == list)
                .map(|named| item(&named))
                .collect()
        }
    };
    if args.json {
        out::json(&Items { items })?;
        return Ok(Exit::Done);
    }
    let row = |item: &Item| {
        let name = item.target.as_deref().unwrap_or(item.name);
        vec![name.to_owned(), item.summary.to_owned()]
    };
    let rows: Vec<_> = items.iter().map(row).collect();
    out::text(&table(&rows, Kind::List, out::screen()))?;
    Ok(Exit::Done)
}

fn plain(name: &'static str, summary: &'static str) -> Item {
    Item {
        name,
        target: None,
        unit: None,
        summary,
    }
}

fn item(named: &Named) -> Item {
    let drive = named.kind.text == Text::DriveFile;
    Item {
        target: drive.then(|| format!("{}{}", named.kind.prefix, named.name)),
        unit: Parameter::from_name(named.name).map(|p| p.about().unit.symbol()),
        ..plain(named.name, named.summary)
    }
}
