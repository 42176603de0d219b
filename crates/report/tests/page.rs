//! Tests the page of a probe: its text, forbidden content, and drawing in a browser.

#![allow(clippy::unwrap_used, reason = "a helper of a test fails like the test")]

mod browser;
mod common;

use browser::{all_drawn, chromium, complaints, data, open};
use common::NASTY;

use fathom_probe::{Parameter, Profile, Record, Sample, Series, Unit, Value};
use fathom_report::html;
use serde_json::json;
use std::path::PathBuf;

/// Returns the page without the contents of style and script elements, one element per line.
fn skeleton(page: &str) -> String {
    let mut out = String::new();
    let mut rest = page;
    while let Some(start) = ["<style>", "<script"]
        .iter()
        .filter_map(|t| rest.find(t))
        .min()
    {
        let open = start + rest[start..].find('>').unwrap() + 1;
        let close = open + rest[open..].find("</").unwrap();
        let close = if rest[start..].starts_with("<style") {
            close
        } else {
            open + rest[open..].find("</script>").unwrap()
        };
        out.push_str(&rest[..open]);
        rest = &rest[close..];
    }
    out.push_str(rest);
    out.replace("><", ">\n<")
}

fn both() -> (Record, Profile) {
    let record = common::record();
    let profile = common::profile(&record);
    (record, profile)
}

fn figures(page: &str) -> usize {
    page.matches("class=\"plot\"").count()
}

#[test]
fn the_page_to_the_byte() {
    let (record, profile) = both();
    let page = html::render(&record, &profile);
    assert_eq!(page, html::render(&record.clone(), &profile.clone()));
    insta::assert_snapshot!(skeleton(&page));
}

#[test]
fn nothing_is_fetched() {
    let (record, profile) = both();
    let page = skeleton(&html::render(&record, &profile));
    assert!(
        !page.contains("http:") && !page.contains("https:"),
        "an address in the page"
    );
    assert!(!page.contains(" src="), "an outside source");
    assert!(page.contains("default-src &#39;none&#39;") || page.contains("default-src 'none'"));
    for href in page.split("href=\"").skip(1) {
        assert!(href.starts_with('#'), "{href:.40}");
    }
}

/// Without its data, a page consists of style and script and must be small, because pages are mailed and archived.
#[test]
fn a_page_is_small_and_says_that_its_figures_need_a_script() {
    let (record, profile) = both();
    let page = html::render(&record, &profile);
    let (_, rest) = page.split_once("type=\"application/json\">").unwrap();
    let figures = rest.split("</script>").next().unwrap().len();
    assert!(
        page.len() - figures < 150_000,
        "{} bytes",
        page.len() - figures
    );
    assert!(page.len() < 1_500_000, "{} bytes", page.len());
    let (_, without) = page.split_once("<noscript>").unwrap();
    assert!(
        without
            .split("</noscript>")
            .next()
            .unwrap()
            .contains("need JavaScript")
    );
}

#[test]
fn names_from_outside_are_escaped() {
    let (mut record, mut profile) = both();
    record.meta.target.name = NASTY.to_owned();
    record.meta.target.identity = NASTY.to_owned();
    record.meta.target.spec = Some(NASTY.to_owned());
    record.meta.fathom = NASTY.to_owned();
    record.steps[0].name = NASTY.to_owned();
    profile.target = record.meta.target.clone();
    profile.fathom = NASTY.to_owned();
    for estimate in profile.parameters.values_mut() {
        estimate.evidence.reason = NASTY.to_owned();
        estimate.evidence.figures.insert(NASTY.to_owned(), 1.0);
        if estimate.unit == Unit::Word {
            estimate.value = Some(Value::Word(NASTY.to_owned()));
        }
    }
    let page = html::render(&record, &profile);
    assert!(!page.contains("alert(1)</script>"));
    assert!(page.contains("&lt;/script&gt;&lt;script&gt;alert(1)"));
    assert_eq!(
        page.matches("<script").count(),
        html::render(&both().0, &both().1)
            .matches("<script")
            .count()
    );
}

#[test]
fn figures_without_samples_are_left_out_with_a_reason() {
    let (mut record, mut profile) = both();
    record.meta.read_only = true;
    record
        .samples
        .retain(|s| s.parameter == Parameter::ReadBuffer);
    profile
        .parameters
        .retain(|p, _| *p == Parameter::ReadBuffer);
    let page = skeleton(&html::render(&record, &profile));
    assert_eq!(figures(&page), 1);
    // Five parameters need writes; prefetch was merely not sampled.
    assert_eq!(page.matches("the run was read-only").count(), 5);
    assert_eq!(
        page.matches("no sample was taken for this question")
            .count(),
        1
    );
    assert_eq!(page.matches("without an answer").count(), 6);
}

#[test]
fn samples_of_an_unexpected_series_are_shown_all_the_same() {
    let (mut record, profile) = both();
    let before = figures(&html::render(&record, &profile));
    record.samples.push(fathom_probe::Sample {
        parameter: Parameter::WritePolicy,
        ..record.samples[0]
    });
    let page = html::render(&record, &profile);
    assert_eq!(figures(&page), before + 1);
    assert!(page.contains("Other samples"));
}

#[test]
fn an_unfinished_run_and_a_foreign_profile_are_pointed_out() {
    let (mut record, mut profile) = both();
    assert!(!html::render(&record, &profile).contains("<p class=\"notice\">This run did not"));
    record.meta.complete = false;
    profile.seed += 1;
    let page = html::render(&record, &profile);
    assert!(page.contains("did not come to its end"));
    assert!(page.contains("name different drives, seeds or methods"));
}

#[test]
fn nonsense_does_not_panic() {
    let (mut record, mut profile) = both();
    for (i, sample) in record.samples.iter_mut().enumerate() {
        let value = [0, 1, u64::MAX, u64::MAX - 1][i % 4];
        (sample.x, sample.ns, sample.bytes) = (value, value.rotate_left(3), !value);
        (sample.offset, sample.at_ns, sample.step) = (value, value, u32::MAX);
    }
    for estimate in profile.parameters.values_mut() {
        (estimate.low, estimate.high) = (Some(Value::Bytes(u64::MAX)), Some(Value::Bytes(0)));
        estimate.evidence.figures.insert("nan".to_owned(), f64::NAN);
    }
    assert!(figures(&html::render(&record, &profile)) > 7);
    record.samples.clear();
    record.steps.clear();
    record.meta.parameters.clear();
    profile.parameters.clear();
    assert!(html::render(&record, &profile).contains("Nothing was asked after."));
}

#[test]
fn what_the_figures_say_of_their_samples_is_so() {
    let (mut record, profile) = both();
    record
        .samples
        .retain(|s| s.parameter == Parameter::ClusteredPage && s.x == 16 << 10);
    record.samples.truncate(10);
    for (rep, sample) in record.samples.iter_mut().enumerate() {
        (sample.series, sample.rep) = (Series::SWEEP, rep as u32);
        sample.ns = 100;
    }
    record.samples[9].ns = 1_000;
    let page = html::render(&record, &profile);
    assert!(page.contains("10 samples, all drawn; large marks are medians, bars the middle half."));
    assert!(
        page.contains("<strong>1 of 10 samples lies above the axis and is not shown.</strong>")
    );
    assert!(page.contains("Show all"));
    // Nine tenths at 100 ns: the median is 100, and the outlier must still be in the data.
    let chart = &data(&page)[0];
    assert_eq!(chart["x"]["names"], json!(["16 KiB"]));
    let [cloud, medians] = [0, 1].map(|i| &chart["series"][i]);
    assert_eq!(
        cloud["y"],
        json!([100, 100, 100, 100, 100, 100, 100, 100, 100, 1000])
    );
    assert_eq!((&medians["x"], &medians["y"]), (&json!([0]), &json!([100])));
    assert_eq!(medians["interval"]["high"], json!([100]));
    assert_eq!(medians["columns"][0]["values"], json!([10]));
}

/// Returns a record with samples of one parameter, at these sizes in each of these series.
fn of(parameter: Parameter, series: &[Series], sizes: &[u64]) -> (Record, Profile) {
    let (mut record, profile) = both();
    let sample = record.samples[0];
    let kinds = series
        .iter()
        .flat_map(|series| sizes.iter().map(move |x| (*series, *x)));
    let samples = kinds.flat_map(|(series, x)| {
        (0..8).map(move |rep| Sample {
            parameter,
            series,
            x,
            rep,
            bytes: 4096,
            ns: 10_000 + u64::from(rep),
            ..sample
        })
    });
    record.samples = samples.collect();
    (record, profile)
}

/// A few sizes are drawn side by side: one or two make no curve, and pairs would hide each other.
#[test]
fn few_sizes_and_pairs_stand_side_by_side() {
    let kib = |sizes: &[u64]| sizes.iter().map(|k| k << 10).collect::<Vec<u64>>();
    let streams = [Series::STREAM_ACROSS, Series::STREAM_WITHIN];
    let pairs = [Series::ALIGNED, Series::SHIFTED];
    let cases: [(&[Series], Vec<u64>, &str, &str); 4] = [
        (
            &streams,
            kib(&[160, 192, 224, 240, 256]),
            "names",
            "size whose multiples are tried",
        ),
        (&pairs, kib(&[64, 256]), "names", "request size"),
        (&[Series::RANDOM_READ], kib(&[8]), "names", "request size"),
        (
            &[Series::SWEEP],
            kib(&[4, 8, 12, 16]),
            "linear",
            "request size",
        ),
    ];
    for (series, sizes, axis, title) in cases {
        let (record, profile) = of(Parameter::ClusteredPage, series, &sizes);
        let page = html::render(&record, &profile);
        let figures = data(&page);
        assert_eq!(
            (&figures[0]["x"]["scale"], &figures[0]["x"]["title"]),
            (&axis.into(), &title.into()),
            "{series:?}"
        );
        let about_streams = page.contains("Look for sizes at which the streams");
        assert_eq!(about_streams, series == streams, "{series:?}");
    }
}

/// The question concerns writes only.
#[test]
fn reads_are_drawn_apart_from_the_writes_that_are_asked_about() {
    let sizes: Vec<u64> = (0..6).map(|power| (64 << 10) << power).collect();
    for parameter in [Parameter::LogicalBlock, Parameter::ClusteredBlock] {
        let (record, profile) = of(
            parameter,
            &[
                Series::SEQUENTIAL,
                Series::RANDOM,
                Series::SEQUENTIAL_READ,
                Series::RANDOM_READ,
            ],
            &sizes,
        );
        let page = html::render(&record, &profile);
        let figures = data(&page);
        let lines: Vec<usize> = figures
            .iter()
            .map(|f| f["series"].as_array().unwrap().len())
            .collect();
        // Points and medians of two series.
        assert_eq!(lines, [4, 4], "{parameter}");
        assert!(
            figures[1]["series"][0]["name"] == "Sequential reads" && figures[1]["marks"].is_null()
        );
        assert!(page.contains("The answer does not rest on it."));
    }
}

/// No round size lies between two powers of two.
#[test]
fn an_axis_has_ticks_where_no_round_size_lies() {
    let Some(browser) = chromium() else {
        println!("skipped: no chromium in /usr/bin");
        return;
    };
    let sizes = [160, 192, 224, 240].map(|k: u64| k << 10);
    let series = [Series::SEQUENTIAL_READ, Series::RANDOM_READ];
    let (record, profile) = of(Parameter::LogicalBlock, &series, &sizes);
    let page = html::render(&record, &profile);
    let (dom, log) = open(&browser, "ticks", &page);
    assert_eq!(complaints(&log), [""; 0]);
    let sizes = ["160 KiB", "192 KiB", "224 KiB", "240 KiB"];
    let written = |size: &&&str| dom.contains(&format!(">{size}</text>"));
    assert!(sizes.iter().filter(written).count() > 1, "{dom}");
}

#[test]
fn a_browser_draws_every_figure_without_an_error() {
    let Some(browser) = chromium() else {
        println!("skipped: no chromium in /usr/bin");
        return;
    };
    let (record, mut profile) = both();
    profile.target.name = NASTY.to_owned();
    let page = html::render(&record, &profile);
    let (dom, log) = open(&browser, "draws", &page);
    assert_eq!(complaints(&log), [""; 0]);
    assert_eq!(data(&page).len(), figures(&page));
    all_drawn(&dom, &page);
}

/// Numbers that no drive has must not stop the script: it must draw the remaining points.
#[test]
fn a_browser_takes_nonsense() {
    let Some(browser) = chromium() else {
        println!("skipped: no chromium in /usr/bin");
        return;
    };
    let (mut record, profile) = both();
    for (i, sample) in record.samples.iter_mut().enumerate() {
        let value = [0, 1, u64::MAX, u64::MAX - 1][i % 4];
        (sample.x, sample.ns, sample.bytes) = (value, value.rotate_left(3), !value);
        (sample.offset, sample.at_ns) = (value, value);
    }
    let page = html::render(&record, &profile);
    let (dom, log) = open(&browser, "nonsense", &page);
    assert_eq!(complaints(&log), [""; 0]);
    browser::drawn(&dom, figures(&page));
    assert!(!dom[dom.find("<main").unwrap()..dom.find("id=\"figures\"").unwrap()].contains("NaN"));
}

/// `parameter-aware-io` 4.3: a buffer makes writes wait once its capacity is written; a cache does not if the writes return.
/// The capacity and both latencies must be visible.
#[test]
fn the_write_policy_is_drawn_around_the_capacity() {
    let (mut record, mut profile) = of(
        Parameter::WritePolicy,
        &[Series::REWRITE, Series::DISTINCT],
        &(1..=32u64).map(|i| i * 16384).collect::<Vec<u64>>(),
    );
    for (i, sample) in record.samples.iter_mut().enumerate() {
        // Beyond 256 KiB, three of four writes wait.
        let waits = sample.x > 256 << 10 && i % 4 > 0;
        sample.ns = if waits { 900_000 } else { 50_000 };
    }
    let written = common::size(256 << 10, 256 << 10, 256 << 10);
    profile.parameters.insert(Parameter::WriteBuffer, written);
    let page = html::render(&record, &profile);
    let chart = &data(&page)[0];
    assert_eq!(chart["marks"][0]["x"], json!([256 << 10]));
    assert_eq!(chart["y"]["scale"], "log");
    assert!(page.contains("the capacity of the memory (here at 256\u{a0}KiB)"));
    assert!(page.contains("not every one and not all equally long"));
}

/// Samples outside the question's figures must not get the question's description.
#[test]
fn what_no_figure_is_made_for_is_not_said_to_show_the_answer() {
    let (record, profile) = of(Parameter::WriteBuffer, &[Series::new("onset")], &[4096]);
    let page = html::render(&record, &profile);
    let (_, others) = page.split_once("Other samples").unwrap();
    assert!(others.starts_with("</h3><p class=\"see\">Taken beside the others"));
    assert!(page.contains("\"name\":\"onset\""));
    let (record, profile) = of(Parameter::WriteBuffer, &[Series::RANDOM_READ], &[4096]);
    let page = html::render(&record, &profile);
    assert!(
        !page.contains("Other samples") && page.contains("For comparison: reads from the flash")
    );
}

#[test]
fn nothing_is_wider_than_a_phone() {
    let Some(browser) = chromium() else {
        println!("skipped: no chromium in /usr/bin");
        return;
    };
    let (mut record, profile) = both();
    record.steps[0].name = "a step with quite a long name, longer than a line".to_owned();
    // A window cannot be as narrow as a phone, but a frame can. The inner page reports to the outer one.
    let tell = "<script>setTimeout(() => {\
        document.querySelectorAll('details').forEach((one) => { one.open = true; });\
        const root = document.documentElement;\
        parent.postMessage(root.clientWidth > 300 && root.scrollWidth <= root.clientWidth, '*');\
    }, 3000)</script></body>";
    let page = html::render(&record, &profile).replace("</body>", tell);
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("narrow-page");
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join("inner.html"), page).unwrap();
    let outer = format!(
        "<script>addEventListener('message', (e) => {{ document.title = 'fits: ' + e.data; }})</script>\
         <iframe src='file://{}' style='width:360px;height:800px;border:0'></iframe>",
        dir.join("inner.html").display()
    );
    let (dom, _) = open(&browser, "narrow", &outer);
    assert!(dom.contains("<title>fits: true</title>"), "{dom}");
}

#[test]
fn a_failing_script_is_seen_on_the_page() {
    let Some(browser) = chromium() else {
        println!("skipped: no chromium in /usr/bin");
        return;
    };
    let (record, profile) = both();
    let page =
        html::render(&record, &profile).replace("states.forEach(draw)", "states.forEach(missing)");
    let (dom, log) = open(&browser, "fails", &page);
    assert!(
        log.contains("CONSOLE"),
        "the other test would not have seen it"
    );
    assert!(dom.contains("data-error=") && dom.contains("A figure could not be drawn"));
}
