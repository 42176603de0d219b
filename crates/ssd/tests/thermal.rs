//! Heat: the response of one resistance and one capacitance to a constant load, and the stages of throttling.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common::{base, run};
use fathom_base::{Bytes, Dur, Time};
use fathom_block::{Device, Op, Request};
use fathom_ssd::spec::Thermal;
use fathom_ssd::{Spec, Ssd};

const PAGE: u64 = 4096;
/// Time of a program of a page that fills both dies: two pages of 2 KiB cross two channels at 400 MB/s, then tPROG.
const PROGRAM_S: f64 = 5.12e-6 + 200e-6;
const TAU_S: f64 = 0.1;
const AMBIENT: f64 = 25.0;

/// A drive whose writes warm it by `hot` degrees in the end, at full speed.
fn heated(hot: f64, light: f64, light_speed_percent: f64, hysteresis_celsius: f64) -> Spec {
    let mut spec = base();
    spec.capacity = Bytes::mib(16);
    spec.thermal = Some(Thermal {
        ambient_celsius: AMBIENT,
        degrees_per_gib_programmed: hot / TAU_S * PROGRAM_S * (1u64 << 30) as f64 / PAGE as f64,
        degrees_per_gib_read: 0.0,
        time_constant: Dur::ms(100),
        light_celsius: light,
        heavy_celsius: 200.0,
        hysteresis_celsius,
        light_speed_percent,
        heavy_speed_percent: 1.0,
    });
    spec
}

/// Writes `pages` pages in order, with enough of them in flight to keep the flash array busy. Returns the times of their
/// completion in seconds, and the drive.
fn writes(spec: &Spec, pages: u64) -> (Vec<f64>, Ssd) {
    let mut drive = Ssd::new(spec, 1).unwrap();
    let requests = (0..pages).map(|page| Request::new(page, Op::Write, page * PAGE, PAGE));
    let completions = run(&mut drive, 8, requests);
    let seconds = completions.iter().map(|c| c.completed.0 as f64 / 1e9);
    (seconds.collect(), drive)
}

fn close(value: f64, wanted: f64, percent: f64) {
    let off = (value / wanted - 1.0).abs() * 100.0;
    assert!(
        off < percent,
        "{value} is not within {percent} % of {wanted}"
    );
}

#[test]
fn a_constant_load_warms_and_a_pause_cools_exponentially() {
    let spec = heated(100.0, 200.0, 100.0, 0.0);
    for pages in [100, 500, 2000] {
        let (times, mut drive) = writes(&spec, pages);
        let end = times[times.len() - 1];
        let wanted = AMBIENT + 100.0 * (1.0 - (-end / TAU_S).exp());
        let found = f64::from(drive.temperature_celsius(drive.now()).unwrap());
        assert!((found - wanted).abs() < 1.0, "{found} for {wanted}");
        let later = Time(drive.now().0 + 150_000_000);
        drive.wait(later, &mut Vec::new());
        let cooled = AMBIENT + (wanted - AMBIENT) * (-1.5f64).exp();
        let found = f64::from(drive.temperature_celsius(later).unwrap());
        assert!((found - cooled).abs() < 1.0, "{found} for {cooled}");
    }
    assert_eq!(
        Ssd::new(&base(), 1)
            .unwrap()
            .temperature_celsius(Time::ZERO),
        None
    );
}

#[test]
fn throttling_starts_when_the_response_reaches_its_threshold() {
    // 25 + 100 (1 - exp(-t / tau)) reaches 75 degrees after tau ln 2. At half of the speed, it stays at 75.
    let (times, _) = writes(&heated(100.0, 75.0, 25.0, 1.0), 1500);
    let gaps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let first = gaps.iter().position(|&gap| gap > 2.0 * PROGRAM_S).unwrap();
    close(times[first], TAU_S * 2f64.ln(), 2.0);
    let gap = gaps[first + 1];
    close(gap, 5.12e-6 + 800e-6, 0.1);
}

#[test]
fn a_throttled_drive_alternates_as_two_exponentials_say() {
    // At full speed it tends to 125 degrees, at a quarter to about 50; it alternates between 65 and 75.
    let (light, hysteresis) = (75.0, 10.0);
    let pages = 4000;
    let (times, _) = writes(&heated(100.0, light, 25.0, hysteresis), pages);
    let slow_s = 5.12e-6 + 800e-6;
    let (up, down) = (100.0, 100.0 * PROGRAM_S / slow_s);
    let (high, low) = (light - AMBIENT, light - hysteresis - AMBIENT);
    let warming = TAU_S * ((up - low) / (up - high)).ln();
    let cooling = TAU_S * ((low.max(high) - down) / (low - down)).ln();
    let rate = (warming / PROGRAM_S + cooling / slow_s) / (warming + cooling);
    // Leaves out the time before the first alternation.
    let from = times.iter().position(|&t| t > 0.2).unwrap();
    let found = (times.len() - from) as f64 / (times[times.len() - 1] - times[from]);
    close(found, rate, 3.0);
    let gaps = times[from..].windows(2).map(|pair| pair[1] - pair[0]);
    let (mut fast, mut slow) = (0.0, 0.0);
    for gap in gaps {
        if gap > 2.0 * PROGRAM_S {
            slow += gap
        } else {
            fast += gap
        }
    }
    close(fast / (fast + slow), warming / (warming + cooling), 5.0);
}

#[test]
fn a_heavy_stage_begins_above_the_light_one() {
    let mut spec = heated(100.0, 40.0, 50.0, 5.0);
    let thermal = spec.thermal.as_mut().unwrap();
    (thermal.heavy_celsius, thermal.heavy_speed_percent) = (60.0, 10.0);
    let (times, _) = writes(&spec, 1500);
    let has = |wanted: f64| {
        let near = |pair: &[f64]| ((pair[1] - pair[0]) / wanted - 1.0).abs() < 0.01;
        times.windows(2).any(near)
    };
    // At half of the speed it tends to 75 degrees, so it reaches both stages.
    for array_us in [200.0, 400.0, 2000.0] {
        assert!(has(5.12e-6 + array_us * 1e-6), "{array_us}");
    }
}
