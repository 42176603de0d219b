//! A drive that says that it does not depend on its seed is the same for every seed.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use fathom_base::{Bytes, Rng, Time};
use fathom_block::{Completion, Device as _, Op, Request, Subject as _};
use fathom_model::{Drive, Model, catalog};

/// Bytes at the end of a drive that are written by requests if it cannot be filled at once.
const END_BYTES: u64 = 48 << 20;

fn send(drive: &mut Drive, requests: impl Iterator<Item = Request>, done: &mut Vec<Completion>) {
    let mut left = 0;
    for mut request in requests {
        let mut now = Vec::new();
        while let Err(busy) = drive.submit(request) {
            request = busy.0;
            drive.wait(Time::MAX, &mut now);
        }
        left = left + 1 - now.len();
        done.append(&mut now);
    }
    while left > 0 {
        let before = done.len();
        drive.wait(Time::MAX, done);
        left -= done.len() - before;
    }
}

/// Fills a drive, then overwrites and reads it at random. Returns everything that can be seen of it.
fn life(model: &Model, seed: u64) -> (Vec<Completion>, String) {
    let (mut drive, mut done) = (model.build(seed).unwrap(), Vec::new());
    let capacity = drive.info().capacity_bytes;
    let piece = drive.info().max_request_bytes.min(1 << 20);
    let begin = drive
        .fill()
        .max(capacity.saturating_sub(END_BYTES) / piece * piece);
    let pieces = (begin..capacity).step_by(piece as usize);
    let fill = pieces.map(|at| Request::new(at, Op::Write, at, piece.min(capacity - at)));
    send(&mut drive, fill, &mut done);
    let mut rng = Rng::new(5, 0);
    let mixed = (0..1500).map(|id| {
        let op = *rng.pick(&[Op::Write, Op::Write, Op::Read]).unwrap();
        // Part of them goes to what was written last, so that log blocks are merged.
        let from = [0, capacity - (capacity - begin).clamp(4096, 8 << 20)][rng.below(2) as usize];
        let place = from + rng.below((capacity - from) / 4096) * 4096;
        Request::new(id, op, place / 4096 * 4096, 4096)
    });
    send(&mut drive, mixed, &mut done);
    (done, format!("{:?} {:?}", drive.stats(), drive.wear()))
}

/// Returns the drives that come with Fathom, as they are and without noise, none of them large.
fn models() -> Vec<(String, Model)> {
    let mut models = Vec::new();
    for preset in catalog() {
        let mut model = Model::from_toml(preset.text).unwrap();
        let sizes = [256, 1 << 10, 4 << 10, 16 << 10].map(Bytes::mib);
        let fits = |&size: &Bytes| model.clone().resize(size).is_ok();
        if let Some(size) = sizes.into_iter().find(fits) {
            model.resize(size).unwrap();
        }
        models.push((preset.name.to_owned(), model.clone()));
        if let Model::Ssd(spec) = &mut model {
            spec.noise = Default::default();
            models.push((format!("{} without noise", preset.name), model));
        }
    }
    models
}

#[test]
fn a_drive_that_does_not_depend_on_its_seed_is_the_same_for_all_seeds() {
    let (mut same, mut others) = (Vec::new(), Vec::new());
    for (name, model) in models() {
        let is_same = life(&model, 1) == life(&model, 2);
        if model.depends_on_seed() {
            assert!(!is_same, "{name}: it need not depend on the seed");
            others.push(name);
        } else {
            assert!(is_same, "{name}");
            same.push(name);
        }
    }
    assert!(same.len() > 10 && others.len() > 10, "{same:?}, {others:?}");
    for name in ["ms-ssd", "ssd-a without noise"] {
        assert!(same.iter().any(|one| one == name), "{same:?}");
    }
    for name in ["ssd-a", "hitachi-7k160"] {
        assert!(others.iter().any(|one| one == name), "{others:?}");
    }
}
