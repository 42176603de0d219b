//! Runs a headless browser on pages and checks that it draws the charts.

#![allow(dead_code, reason = "every test binary uses a part of it")]
#![allow(clippy::unwrap_used, reason = "a helper of a test fails like the test")]

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the path of a browser, if one is installed.
pub(crate) fn chromium() -> Option<PathBuf> {
    let names = [
        "/usr/bin/chromium",
        "/usr/bin/chromium-browser",
        "/usr/bin/google-chrome",
    ];
    names.iter().map(PathBuf::from).find(|path| path.exists())
}

/// Returns the page after its scripts ran, and the browser's log.
pub(crate) fn open(browser: &Path, name: &str, page: &str) -> (String, String) {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).unwrap();
    let file = dir.join("report.html");
    std::fs::write(&file, page).unwrap();
    let output = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
        ])
        .args([
            "--disable-background-networking",
            "--enable-logging=stderr",
            "--v=0",
        ])
        .args([
            "--virtual-time-budget=10000",
            "--window-size=390,844",
            "--dump-dom",
        ])
        .arg(format!("--user-data-dir={}", dir.join("profile").display()))
        .arg(format!("file://{}", file.display()))
        .output()
        .unwrap();
    let _ = std::fs::remove_dir_all(dir.join("profile"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// Returns the browser's messages about the page's scripts.
pub(crate) fn complaints(log: &str) -> Vec<&str> {
    log.lines()
        .filter(|line| line.contains("CONSOLE"))
        .collect()
}

/// Checks that the page's script drew this number of figures and finished.
pub(crate) fn drawn(dom: &str, figures: usize) {
    let root = &dom[dom.find("<html").unwrap()..];
    let root = &root[..root.find('>').unwrap()];
    assert!(!root.contains("data-error"), "{root}");
    assert!(
        root.contains(&format!("data-drawn=\"{figures}\"")),
        "{root}"
    );
}

/// Returns the charts in a page, as data. Panics if they are not valid JSON.
pub(crate) fn data(page: &str) -> Vec<Value> {
    let (_, rest) = page.split_once("id=\"figures\"").unwrap();
    let (_, rest) = rest.split_once('>').unwrap();
    let (json, _) = rest.split_once("</script>").unwrap();
    serde_json::from_str(json).unwrap()
}

/// Returns the drawing of a chart in the page after its scripts ran.
pub(crate) fn drawing<'a>(dom: &'a str, id: &str) -> &'a str {
    let start = dom.find(&format!("id=\"{id}\"")).unwrap();
    let end = start + dom[start..].find("class=\"legend\"").unwrap();
    &dom[start..end]
}

/// Checks that every chart is drawn with all the series of its data, each with a shape at a position.
pub(crate) fn all_drawn(dom: &str, page: &str) {
    let charts = data(page);
    drawn(dom, charts.len());
    for chart in charts {
        let id = chart["id"].as_str().unwrap();
        let drawing = drawing(dom, id);
        let series: Vec<&str> = drawing.split("<g class=\"series\"").skip(1).collect();
        assert_eq!(
            series.len(),
            chart["series"].as_array().unwrap().len(),
            "{id}"
        );
        let shape = |series: &&str| !series.split_once('>').unwrap().1.starts_with("</g>");
        assert!(
            series.iter().all(shape),
            "{id} has a series without a shape"
        );
        let nowhere = ["NaN", "Infinity", "undefined"];
        assert!(
            !nowhere.iter().any(|no| drawing.contains(no)),
            "{id} has no place"
        );
    }
}

/// Returns the tick labels of the vertical axis from the bottom, each with its distance from the top.
pub(crate) fn up(drawing: &str) -> Vec<(String, f64)> {
    let ticks = drawing.split("<text ").skip(1);
    let ticks = ticks.filter(|text| text.contains("text-anchor=\"end\""));
    let tick = |text: &str| {
        let (attributes, rest) = text.split_once('>').unwrap();
        let (_, y) = attributes.split_once(" y=\"").unwrap();
        let y = y.split('"').next().unwrap().parse().unwrap();
        (rest.split('<').next().unwrap().to_owned(), y)
    };
    ticks.map(tick).collect()
}
