//! Tests charts of every kind in a browser: drawing, tick labels, and interaction.

#![allow(clippy::unwrap_used, reason = "a helper of a test fails like the test")]

mod browser;

use browser::{all_drawn, chromium, complaints, data, drawing, drawn, open, up};
use fathom_report::chart::{Axis, Chart, Column, Mark, MarkKind, Mode, Scale, Series, Unit};
use fathom_report::study::{Section, StudyPage, render};

const ODD: &str = "</script><script>alert(1)</script><b>&\"'";

fn series(name: &str, look: usize, mode: Mode, points: &[(f64, f64)]) -> Series {
    Series {
        name: name.into(),
        look,
        mode,
        x: points.iter().map(|p| p.0).collect(),
        y: points.iter().map(|p| Some(p.1)).collect(),
        ..Series::default()
    }
}

fn chart(title: &str, [x, y]: [Axis; 2], series: Vec<Series>) -> Chart {
    Chart {
        title: title.into(),
        see: "What there is to see.".into(),
        x,
        y,
        series,
        ..Chart::default()
    }
}

fn page(charts: Vec<Chart>) -> String {
    let section = Section {
        charts,
        ..Section::default()
    };
    render(&StudyPage {
        title: "charts".into(),
        sections: vec![section],
        ..StudyPage::default()
    })
}

fn time(scale: Scale) -> Axis {
    Axis::new("latency", Unit::Ns, scale)
}

/// A chart with every mode, mark and unit.
fn every_kind() -> Vec<Chart> {
    let points: Vec<(f64, f64)> = (1..100u32)
        .map(|i| (f64::from(i) * 4096.0, f64::from(i * i) * 1e3))
        .collect();
    let lines = |mode| {
        let other: Vec<(f64, f64)> = points.iter().map(|(x, y)| (*x, y * 2.0)).collect();
        vec![
            series(ODD, 0, mode, &points),
            series("other", 1, mode, &other),
        ]
    };
    let sizes = |scale| Axis::new("size", Unit::Bytes, scale);
    let mark = |kind, x: &[f64]| Mark {
        kind,
        x: x.to_vec(),
        text: "64 KiB".into(),
    };
    let mut marked = chart(
        "Marks",
        [sizes(Scale::Log), time(Scale::Log)],
        lines(Mode::Points),
    );
    marked.marks = vec![
        mark(MarkKind::Line, &[65536.0]),
        mark(MarkKind::Band, &[8192.0, 16384.0]),
        mark(MarkKind::Dotted, &[131_072.0, 196_608.0]),
    ];
    marked.series[0].columns = vec![Column {
        name: "offset".into(),
        unit: Unit::Bytes,
        values: vec![1_234_567.0; points.len()],
    }];
    let names = || {
        Axis::names(
            "drive",
            vec!["one".into(), "a drive with a long name".into()],
        )
    };
    let two = |mode| {
        let bars = [(0.0, 5.0), (1.0, 7.0)];
        let one = series("noop", 0, mode, &bars).with_halves(&[0.5, 0.25]);
        vec![one, series("cfq", 1, mode, &bars)]
    };
    let number = || Axis::new("MB/s", Unit::Number, Scale::Zero);
    let tail: Vec<(f64, f64)> = points.iter().map(|(_, y)| (*y, 900.0 / y)).collect();
    vec![
        chart(
            "Lines",
            [sizes(Scale::Linear), time(Scale::Zero)],
            lines(Mode::Line),
        ),
        chart(
            "Steps",
            [time(Scale::Zero), time(Scale::Zero)],
            lines(Mode::Steps),
        ),
        marked,
        chart("Bars", [names(), number()], two(Mode::Bars)),
        chart("Strips", [names(), number()], two(Mode::Marks)),
        chart(
            "Tail",
            [
                time(Scale::Log),
                Axis::new("share", Unit::Above, Scale::Tail),
            ],
            vec![series("", 0, Mode::Line, &tail)],
        ),
        stack(names()),
    ]
}

/// A stack of three series; one of them has a part in the second stack only.
fn stack(names: Axis) -> Chart {
    let part = |name, look, points| series(name, look, Mode::Stack, points);
    let all = vec![
        part("entry", 0, &[(0.0, 10.0), (1.0, 20.0)]),
        part("copy", 1, &[(1.0, 50.0)]),
        part("return", 12, &[(0.0, 30.0), (1.0, 10.0)]),
    ];
    chart(
        "Stack",
        [names, Axis::new("clocks", Unit::Number, Scale::Zero)],
        all,
    )
}

#[test]
fn every_kind_of_chart_is_data_and_has_a_caption_and_a_label() {
    let page = page(every_kind());
    let charts = data(&page);
    assert_eq!(charts.len(), 7);
    assert_eq!(charts[0]["series"][0]["name"], ODD);
    assert!(!page.contains("alert(1)</script>"));
    assert_eq!(page.matches("<figcaption><h3>").count(), 7);
    for chart in every_kind() {
        let label = format!("role=\"img\" aria-label=\"{}\"", chart.title);
        assert!(page.contains(&label), "{label}");
    }
}

#[test]
fn a_browser_draws_every_kind() {
    let Some(browser) = chromium() else {
        println!("skipped: no chromium in /usr/bin");
        return;
    };
    let page = page(every_kind());
    let (dom, log) = open(&browser, "every-kind", &page);
    assert_eq!(complaints(&log), [""; 0]);
    all_drawn(&dom, &page);
    for (id, parts) in [
        (
            "chart-0-0",
            [
                "class=\"line\"",
                "class=\"marker\"",
                "stroke-dasharray=\"7 4\"",
            ],
        ),
        (
            "chart-0-2",
            ["class=\"cloud\"", "class=\"band\"", "mark-dotted"],
        ),
        (
            "chart-0-3",
            ["class=\"bar\"", "class=\"whisker ink\"", "class=\"hatch\""],
        ),
        (
            "chart-0-4",
            ["marker large", "class=\"whisker ink\"", ">one</text>"],
        ),
        (
            "chart-0-6",
            ["class=\"bar\"", "class=\"parts\"", ">80</text>"],
        ),
    ] {
        for part in parts {
            assert!(drawing(&dom, id).contains(part), "{id}: {part}");
        }
    }
    // A linear axis has its unit in the title; other axes have it at the ticks.
    assert!(drawing(&dom, "chart-0-0").contains(">latency (ms)</text>"));
    let ticks = up(drawing(&dom, "chart-0-2"));
    assert!(ticks.iter().any(|(text, _)| text == "1 ms"), "{ticks:?}");
    assert!(drawing(&dom, "chart-0-2").contains(">64 KiB</text>"));
}

/// The browser of the tests has the width of a phone.
#[test]
fn every_name_is_written_where_they_have_no_room_beside_one_another() {
    let names: Vec<String> = (1..=8).map(|i| format!("mean response time {i}")).collect();
    let points: Vec<(f64, f64)> = (0..8u8).map(|i| (f64::from(i), 5.0)).collect();
    let all = vec![chart(
        "Names",
        [Axis::names("", names.clone()), time(Scale::Zero)],
        vec![series("", 0, Mode::Marks, &points)],
    )];
    let page = page(all);
    let Some(browser) = chromium() else {
        println!("skipped: no chromium in /usr/bin");
        return;
    };
    let (dom, log) = open(&browser, "names", &page);
    assert_eq!(complaints(&log), [""; 0]);
    let drawing = drawing(&dom, "chart-0-0");
    for name in names {
        assert!(drawing.contains(&format!(">{name}</text>")), "{name}");
    }
}

/// Values that are not finite or not positive on a logarithmic axis are left out; the rest is drawn.
#[test]
fn what_has_no_place_is_left_out() {
    let odd = [
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        0.0,
        -1.0,
        1e308,
        5.0,
    ];
    let points: Vec<(f64, f64)> = odd.into_iter().flat_map(|x| odd.map(|y| (x, y))).collect();
    let mut charts = Vec::new();
    for scale in [Scale::Linear, Scale::Zero, Scale::Log, Scale::Tail] {
        for mode in [
            Mode::Line,
            Mode::Steps,
            Mode::Points,
            Mode::Marks,
            Mode::Bars,
            Mode::Stack,
        ] {
            let one = series("odd", 0, mode, &points).with_halves(&[f64::NAN; 49]);
            let nothing = series("nothing", 1, mode, &[(f64::NAN, f64::NAN)]);
            let axis = || Axis::new("", Unit::Number, scale);
            charts.push(chart("Odd", [axis(), axis()], vec![one, nothing]));
        }
    }
    charts.push(chart(
        "Empty",
        [Axis::names("", Vec::new()), time(Scale::Log)],
        Vec::new(),
    ));
    let page = page(charts);
    assert_eq!(data(&page).len(), 25);
    let Some(browser) = chromium() else {
        println!("skipped: no chromium in /usr/bin");
        return;
    };
    let (dom, log) = open(&browser, "odd", &page);
    assert_eq!(complaints(&log), [""; 0]);
    drawn(&dom, 25);
    for id in (0..25).map(|i| format!("chart-0-{i}")) {
        let drawing = drawing(&dom, &id);
        assert!(
            !drawing.contains("NaN") && !drawing.contains("Infinity"),
            "{id}"
        );
    }
}

/// Heckbert, "Nice numbers for graph labels", Graphics Gems (1990): steps of 1, 2 or 5 times a power of ten.
#[test]
fn ticks_are_at_round_values() {
    let Some(browser) = chromium() else {
        println!("skipped: no chromium in /usr/bin");
        return;
    };
    let highest = [0.07, 1.0, 3.3, 7.0, 12.0, 999.0, 1.5e6];
    let axis = || Axis::new("", Unit::Number, Scale::Zero);
    let one = |high: f64| {
        let line = series("", 0, Mode::Line, &[(0.0, 0.0), (high, high)]);
        chart("Round", [axis(), axis()], vec![line])
    };
    let page = page(highest.map(one).into());
    let (dom, _) = open(&browser, "round", &page);
    for (i, high) in highest.into_iter().enumerate() {
        let ticks = up(drawing(&dom, &format!("chart-0-{i}")));
        let values: Vec<f64> = ticks
            .iter()
            .map(|(text, _)| text.parse().unwrap())
            .collect();
        let step = values[1] - values[0];
        let digit = (step / 10f64.powf(step.log10().floor())).round();
        assert!([1.0, 2.0, 5.0, 10.0].contains(&digit), "{high}: {values:?}");
        assert!((3..=12).contains(&values.len()), "{high}: {values:?}");
        let even = values
            .windows(2)
            .all(|two| (two[1] - two[0] - step).abs() < step / 1e6);
        assert!(
            even && values[0] == 0.0 && values[values.len() - 1] <= high * 1.05,
            "{values:?}"
        );
    }
}

/// A script in the page that acts like a reader and writes the results into the page's title.
const READER: &str = r#"<script>
const said = [];
const plot = document.getElementById("chart-0-2");
plot.setPointerCapture = () => {};
const chart = plot.parentElement;
const at = (type, x, y) => {
  const box = plot.getBoundingClientRect();
  const where = { clientX: box.left + x * box.width, clientY: box.top + y * box.height };
  plot.dispatchEvent(new PointerEvent(type, { ...where, pointerType: "mouse", button: 0, pointerId: 1, bubbles: true }));
};
const shapes = () => [...plot.querySelectorAll(".series")].map((one) => one.childElementCount > 0);
const first = plot.innerHTML;
// A point is found somewhere on the way, and told with its values and its columns.
const tip = chart.querySelector(".tip");
let told = "";
for (let x = 0.2; x < 1 && !told.includes("offset"); x += 0.02) {
  for (let y = 0.1; y < 0.9; y += 0.02) {
    at("pointermove", x, y);
    if (!tip.hidden && tip.textContent.includes("offset")) told = tip.textContent;
  }
}
said.push(/latency[0-9.]+ [mµ]s/.test(told) && told.includes("1.18 MiB (1234567 B)") && told.includes("<\/script>"));
at("pointerleave", 0, 0);
said.push(tip.hidden);
// The legend hides a series and shows it again.
const entry = () => chart.querySelector(".legend button");
entry().click();
said.push(!shapes()[0] && shapes()[1] && entry().getAttribute("aria-pressed") === "false");
entry().click();
said.push(shapes().every(Boolean) && plot.innerHTML === first);
// A drag zooms, a double click goes back.
at("pointerdown", 0.4, 0.3); at("pointermove", 0.7, 0.6); at("pointerup", 0.7, 0.6);
said.push(plot.innerHTML !== first && chart.querySelector(".reset") !== null);
plot.dispatchEvent(new MouseEvent("dblclick", { bubbles: true }));
said.push(plot.innerHTML === first && chart.querySelector(".reset") === null);
// Paper has a width of its own.
window.dispatchEvent(new Event("beforeprint"));
said.push(plot.querySelector("svg").getAttribute("viewBox").startsWith("0 0 700 "));
window.dispatchEvent(new Event("afterprint"));
said.push(plot.innerHTML === first);
document.title = "said " + said.join(" ");
</script></body>"#;

#[test]
fn a_reader_points_hides_zooms_and_prints() {
    let Some(browser) = chromium() else {
        println!("skipped: no chromium in /usr/bin");
        return;
    };
    let page = page(every_kind()).replace("</body>", READER);
    let (dom, log) = open(&browser, "reader", &page);
    assert_eq!(complaints(&log), [""; 0]);
    let (_, title) = dom.split_once("<title>").unwrap();
    let title = title.split('<').next().unwrap();
    assert_eq!(title, format!("said{}", " true".repeat(8)));
}

/// A script in the page that points at the parts of a stack and hides one, and writes the results into the page's title.
const STACK_READER: &str = r#"<script>
const said = [];
const plot = document.getElementById("chart-0-0");
const chart = plot.parentElement;
const tip = chart.querySelector(".tip");
const point = (x, y) => {
  const box = plot.getBoundingClientRect();
  const place = { clientX: box.left + x, clientY: box.top + y };
  plot.dispatchEvent(new PointerEvent("pointermove", { ...place, pointerType: "mouse", bubbles: true }));
  return tip.hidden ? "" : tip.textContent;
};
const parts = () => [...plot.querySelectorAll(".series")].map((one) => [...one.querySelectorAll("rect")].map((rect) =>
  ["x", "y", "width", "height"].reduce((all, key) => ({ ...all, [key]: Number(rect.getAttribute(key)) }), {})));
const middle = ({ x, y, width, height }) => point(x + width / 2, y + height / 2);
const meets = (low, high) => Math.abs(high.y + high.height - low.y) < 0.2 && high.x === low.x && high.width === low.width;
const texts = () => [...plot.querySelectorAll(".parts text")].map((one) => one.textContent);
let [entry, copy, back] = parts();
// Each part begins where the one below ends, and is as high as its value.
said.push(entry.length === 2 && copy.length === 1 && back.length === 2);
said.push(meets(entry[0], back[0]) && meets(entry[1], copy[0]) && meets(copy[0], back[1]));
said.push(Math.abs(copy[0].height / entry[1].height - 2.5) < 0.05 && Math.abs(back[0].height / entry[0].height - 3) < 0.05);
// A part is told with its share and the total.
said.push(middle(copy[0]).includes("copy") && middle(copy[0]).includes("50") && middle(copy[0]).includes("62.5 %") && middle(copy[0]).includes("total80"));
said.push(middle(back[0]).includes("75 %") && middle(back[0]).includes("total40"));
// Above a stack its highest part is the nearest.
said.push(point(back[1].x + 3, back[1].y - 5).includes("return"));
said.push(texts().includes("80") && texts().includes("40") && texts().includes("50"));
// The legend has the order of the stack. Without a part, those above it come down, and the shares stay those of the whole.
const buttons = [...chart.querySelectorAll(".legend button")];
said.push(buttons.map((one) => one.textContent).join() === "entry,copy,return");
buttons[1].click();
[entry, copy, back] = parts();
said.push(copy.length === 0 && meets(entry[1], back[1]) && texts().includes("30"));
said.push(middle(entry[1]).includes("25 %") && middle(entry[1]).includes("total80"));
document.title = "said " + said.join(" ");
</script></body>"#;

#[test]
fn a_reader_points_at_parts_of_a_stack_and_hides_one() {
    let Some(browser) = chromium() else {
        println!("skipped: no chromium in /usr/bin");
        return;
    };
    let names = Axis::names("way", vec!["one".into(), "two".into()]);
    let page = page(vec![stack(names)]).replace("</body>", STACK_READER);
    let (dom, log) = open(&browser, "stack-reader", &page);
    assert_eq!(complaints(&log), [""; 0]);
    let (_, title) = dom.split_once("<title>").unwrap();
    let title = title.split('<').next().unwrap();
    assert_eq!(title, format!("said{}", " true".repeat(10)));
}
