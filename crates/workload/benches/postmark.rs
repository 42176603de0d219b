//! Measures the drawing of Postmark's operations by name: `cargo bench -p fathom-workload`. Items are operations.

use divan::Bencher;
use divan::counter::ItemsCount;
use fathom_workload::program::postmark::{self, Operations, Settings};

fn main() {
    divan::main();
}

#[divan::bench(sample_count = 20)]
fn cvfs(bencher: Bencher) {
    draw(bencher, &postmark::cvfs());
}

#[divan::bench(sample_count = 20)]
fn fsl(bencher: Bencher) {
    draw(bencher, &postmark::fsl());
}

fn draw(bencher: Bencher, settings: &Settings) {
    let all = operations(settings).count();
    bencher.counter(ItemsCount::new(all)).bench_local(|| {
        operations(settings).fold(0, |n, operation| {
            divan::black_box(&operation);
            n + 1
        })
    });
}

fn operations(settings: &Settings) -> Operations {
    let made = settings.operations(0);
    made.unwrap_or_else(|error| panic!("{error}"))
}
