//! Measures the drawing of Postmark's operations by name: `cargo bench -p fathom-workload`. Items are operations.

use divan::Bencher;
use divan::counter::ItemsCount;
use fathom_workload::program::postmark::{self, Settings};

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
    let all = settings.operations(0).count();
    bencher.counter(ItemsCount::new(all)).bench_local(|| {
        settings.operations(0).fold(0, |n, operation| {
            divan::black_box(&operation);
            n + 1
        })
    });
}
