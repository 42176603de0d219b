//! The write-cost model and the causes of spikes, on drives where both follow from the drive file.

use fathom_model::Model;
use fathom_probe::cost::{
    Cause, Config, Figure, Hooks, Order, Source, Verdict, WriteCost, measure,
};
use fathom_run::{Precondition, prepare};

/// A logical block: 64 pages of 4 KiB.
const BLOCK: u64 = 256 << 10;
const PAGES: f64 = 64.0;
/// Written for each panel: 256 logical blocks.
const TOTAL: u64 = 64 << 20;

/// A drive of one die without noise, buffers and command processing.
fn drive(mapping: &str) -> Model {
    let text = format!(
        r#"
kind = "ssd"
name = "one-die"
capacity = "64MiB"

[host]
protocol = "sata"
bandwidth = "1GB/s"
command_overhead = "0us"
queue_depth = 1

[flash]
channels = 1
packages_per_channel = 1
dies_per_package = 1
planes_per_die = 1
pages_per_block = 64
page = "4KiB"
bus = "40MT/s"
read = "25us"
program = "200us"
erase = "1500us"
clustered_page = "4KiB"
clustered_block = "256KiB"

[mapping]
over_provisioning_percent = 10.0
{mapping}
"#
    );
    Model::from_toml(&text).unwrap()
}

fn cost(model: &Model, sizes: &[u64]) -> WriteCost {
    let mut drive = model.build(1).unwrap();
    prepare(&mut drive, Precondition::Filled, 1).unwrap();
    let config = Config {
        seed: 1,
        block: Some((BLOCK, Source::Given)),
        figure_bytes: TOTAL,
        figure_sizes: sizes.to_vec(),
        ..Config::default()
    };
    let hooks = Hooks {
        stopped: &|| false,
        part: &|_| {},
    };
    measure(&mut drive, &config, hooks).unwrap()
}

fn panel(found: &WriteCost, bytes: u64, order: Order) -> &Figure {
    let panel = |f: &&Figure| f.bytes == bytes && f.order == order;
    found.figures.iter().find(panel).unwrap()
}

fn spikes(figure: &Figure, cause: Cause) -> u64 {
    let of = figure.causes.iter().find(|causes| causes.cause == cause);
    of.map_or(0, |causes| causes.spikes)
}

/// A page of 4 KiB takes 102.4 us over the bus of 40 MT/s, and 4.096 us over the link.
const TRANSFER_NS: f64 = 102_400.0;
/// A copy: read, out, in, program.
const COPY_NS: f64 = 25_000.0 + 2.0 * TRANSFER_NS + 200_000.0;

#[test]
fn the_model_of_a_drive_with_one_log_is_that_of_its_file() {
    let found = cost(&drive("kind = \"block\"\nlog_blocks = 1"), &[BLOCK]);
    assert_eq!(found.verdict, Verdict::Fits, "{}", found.reason);
    let fit = found.fit.unwrap();
    // Every page of the block is copied into a new one, and the data block and the log are erased.
    let merge_ns = PAGES * COPY_NS + 2.0 * 1_500_000.0;
    let near = fit.merge_ns.value / merge_ns - 1.0;
    assert!(near.abs() < 0.03, "{near}: {fit:?}");
    // One die programs a page at a time; the next one crosses the bus afterwards.
    let rate = 4096e9 / (TRANSFER_NS + 200_000.0);
    let near = fit.bytes_per_s.value / rate - 1.0;
    assert!(near.abs() < 0.1, "{near}: {fit:?}");
    // A whole block is a switch merge: one erase in place of the merge.
    let whole = fit.rows.last().unwrap();
    let switch_ns = PAGES * (TRANSFER_NS + 200_000.0) + 1_500_000.0;
    let near = whole.measured.value / switch_ns - 1.0;
    assert!(!whole.fitted && near.abs() < 0.03, "{near}: {whole:?}");
    // A request costs nothing of its own here and no page is read first, so pages apart are predicted as well as a run.
    for of in &found.predictions {
        assert!(of.error.abs() < 0.06, "{of:?}");
    }
}

#[test]
fn spikes_of_one_log_are_the_merges_that_its_writes_call_for() {
    let found = cost(
        &drive("kind = \"block\"\nlog_blocks = 1"),
        &[BLOCK / 2, BLOCK],
    );
    // Half of the requests write the first half of a block, which leaves a log in order: completed by a partial merge.
    // The others leave a log that needs a full merge. The next request pays, unless it writes to the same block, which
    // about one of 512 does.
    let halves = panel(&found, BLOCK / 2, Order::Random);
    assert_eq!(halves.requests, 512);
    for cause in [Cause::PartialMerge, Cause::FullMerge] {
        let count = spikes(halves, cause);
        assert!(
            (250..=257).contains(&count),
            "{cause:?}: {:?}",
            halves.causes
        );
    }
    assert_eq!(halves.causes.len(), 2, "{:?}", halves.causes);
    // Whole blocks: only the log of the panel before costs a merge.
    let whole = panel(&found, BLOCK, Order::Random);
    assert!(whole.in_band + 1 >= whole.requests, "{:?}", whole.causes);
    let sequential = panel(&found, BLOCK / 2, Order::Sequential);
    let merges = spikes(sequential, Cause::FullMerge) + spikes(sequential, Cause::PartialMerge);
    assert!(merges <= 1, "{:?}", sequential.causes);
}

#[test]
fn a_stream_into_fast_has_merges_and_no_other_cause() {
    let found = cost(&drive("kind = \"fast\"\nlog_blocks = 4"), &[4096]);
    let random = panel(&found, 4096, Order::Random);
    assert!(
        spikes(random, Cause::FullMerge) > 100,
        "{:?}",
        random.causes
    );
    let other = [
        Cause::Collection,
        Cause::MappingTable,
        Cause::BufferStall,
        Cause::Untraced,
    ];
    for cause in other {
        assert_eq!(spikes(random, cause), 0, "{:?}", random.causes);
    }
}

#[test]
fn a_page_mapped_drive_has_no_merge_and_collects() {
    let found = cost(&drive("kind = \"page\""), &[16384]);
    assert_eq!(found.verdict, Verdict::NoMerge, "{}", found.reason);
    let random = panel(&found, 16384, Order::Random);
    let merges = [Cause::FullMerge, Cause::PartialMerge, Cause::SwitchMerge];
    assert!(
        spikes(random, Cause::Collection) > 50,
        "{:?}",
        random.causes
    );
    assert!(
        merges.iter().all(|cause| spikes(random, *cause) == 0),
        "{:?}",
        random.causes
    );
    assert_eq!(spikes(random, Cause::Untraced), 0, "{:?}", random.causes);
}

#[test]
fn a_full_buffer_is_told_from_a_merge() {
    let buffer = "kind = \"page\"\n[write_buffer]\npolicy = \"fifo\"\ncapacity = \"64KiB\"\ndrain = \"on-full\"";
    let found = cost(&drive(buffer), &[4096]);
    let sequential = panel(&found, 4096, Order::Sequential);
    let stalls = spikes(sequential, Cause::BufferStall);
    assert!(stalls > 0, "{:?}", sequential.causes);
    assert_eq!(
        spikes(sequential, Cause::Untraced),
        0,
        "{:?}",
        sequential.causes
    );
}

#[test]
fn what_is_not_traced_is_the_noise_of_the_drive() {
    let quiet = fathom_model::find("mtron-sata7035").unwrap();
    let silent: String = quiet.text.split("[noise]").next().unwrap().to_owned();
    let untraced = |text: &str| {
        let mut drive = Model::from_toml(text).unwrap().build(1).unwrap();
        prepare(&mut drive, Precondition::Filled, 1).unwrap();
        let config = Config {
            block: Some((2 << 20, Source::Given)),
            figure_bytes: 256 << 20,
            ..Config::default()
        };
        let hooks = Hooks {
            stopped: &|| false,
            part: &|_| {},
        };
        let found = measure(&mut drive, &config, hooks).unwrap();
        let figures = found.figures.iter();
        figures
            .map(|figure| spikes(figure, Cause::Untraced))
            .sum::<u64>()
    };
    assert!(untraced(quiet.text) > 0);
    assert_eq!(untraced(&silent), 0);
}
