//! The rows of a study as comma-separated values (RFC 4180), for spreadsheets and other programs.

use fathom_lab::study::{Row, Study};

/// A line of names, and a line for each row. Times are in nanoseconds; what is not known is empty.
pub(super) fn csv(study: &Study, rows: &[Row]) -> String {
    let axes = study.axes.iter().map(|axis| axis.name.clone());
    let numbers = [
        "seeds",
        "mean_response_ns",
        "mean_response_low_ns",
        "mean_response_high_ns",
        "p99_ns",
        "accesses_per_second",
        "write_amplification",
        "erases",
    ];
    let head = std::iter::once("workload".to_owned())
        .chain(axes)
        .chain(numbers.map(str::to_owned));
    let head = line(head);
    let rows: String = rows.iter().map(|row| line(cells(row))).collect();
    head + &rows
}

fn cells(row: &Row) -> impl Iterator<Item = String> {
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    let response = row.response_ns;
    let numbers = [
        Some(row.seeds as f64),
        response.map(|response| response.mean),
        response.and_then(|response| response.low),
        response.and_then(|response| response.high),
        row.p99_ns,
        Some(row.accesses_per_second),
        row.write_amplification,
        Some(row.erases),
    ];
    let points = row.points.iter().map(|(_, point)| point.clone());
    std::iter::once(row.workload.clone())
        .chain(points)
        .chain(numbers.map(number))
}

fn line(cells: impl Iterator<Item = String>) -> String {
    let cells: Vec<String> = cells.map(|cell| quoted(&cell)).collect();
    cells.join(",") + "\n"
}

fn quoted(cell: &str) -> String {
    match cell.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_with_commas_and_quotes_are_quoted() {
        let cells = ["a", "b,c", "say \"d\"", ""].map(str::to_owned);
        assert_eq!(line(cells.into_iter()), "a,\"b,c\",\"say \"\"d\"\"\",\n");
    }
}
