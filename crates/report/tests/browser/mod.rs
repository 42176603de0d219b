//! A browser that opens pages without a screen.

#![allow(clippy::unwrap_used, reason = "a helper of a test fails like the test")]

use std::path::{Path, PathBuf};
use std::process::Command;

/// A browser, where there is one.
pub(crate) fn chromium() -> Option<PathBuf> {
    let names = [
        "/usr/bin/chromium",
        "/usr/bin/chromium-browser",
        "/usr/bin/google-chrome",
    ];
    names.iter().map(PathBuf::from).find(|path| path.exists())
}

/// The page after its scripts ran, and what the browser complained of.
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

/// What the browser said about the page's scripts.
pub(crate) fn complaints(log: &str) -> Vec<&str> {
    log.lines()
        .filter(|line| line.contains("CONSOLE"))
        .collect()
}

/// Checks that the page's script drew so many figures and came to its end.
pub(crate) fn drawn(dom: &str, figures: usize) {
    let root = &dom[dom.find("<html").unwrap()..];
    let root = &root[..root.find('>').unwrap()];
    assert!(!root.contains("data-error"), "{root}");
    assert!(
        root.contains(&format!("data-drawn=\"{figures}\"")),
        "{root}"
    );
}
