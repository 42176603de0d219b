//! Measures operations on real images in memory: `cargo bench -p fathom-ext --features libext2fs`.
//!
//! The operations are the recorded ones of Postmark's CVFS where they are there, else operations with its parameters: 5,000
//! files of 512 to 10,240 bytes in 50 directories, 20,000 transactions; with a sync every 1,000 operations. Items are
//! operations, syncs included; opening and closing the image are not measured.
#![cfg_attr(
    feature = "libext2fs",
    allow(clippy::unwrap_used, reason = "a benchmark stops at what is wrong")
)]

#[cfg(not(feature = "libext2fs"))]
fn main() {}

#[cfg(feature = "libext2fs")]
fn main() {
    divan::main();
}

#[cfg(feature = "libext2fs")]
mod bench {
    use divan::Bencher;
    use divan::counter::ItemsCount;
    use fathom_base::Rng;
    use fathom_ext::{Format, Image, Settings, format};
    use fathom_fs::ext::Version;
    use std::path::Path;
    use std::process::Command;

    const RECORDED: &str = "../../../shared/golden/fs/postmark_cvfs.sync1000.ops.xz";

    fn operations() -> String {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(RECORDED);
        let output = Command::new("xz").arg("-dc").arg(path).output();
        match output {
            Ok(output) if output.status.success() => String::from_utf8(output.stdout).unwrap(),
            _ => generated(),
        }
    }

    fn generated() -> String {
        let mut rng = Rng::new(42, 0);
        let mut lines: Vec<String> = (0..50).map(|index| format!("M s{index}")).collect();
        let mut files: Vec<String> = Vec::new();
        let size = |rng: &mut Rng| 512 + rng.below(9729);
        let create = |number: u64, rng: &mut Rng, files: &mut Vec<String>| {
            let name = format!("s{}/{number}", rng.below(50));
            files.push(name.clone());
            format!("C {name} {}", size(rng))
        };
        for number in 0..5000 {
            lines.push(create(number, &mut rng, &mut files));
        }
        for number in 5000..25_000 {
            let at = rng.below(files.len() as u64) as usize;
            match rng.below(2) {
                0 => lines.push(format!("R {} 10240", files[at])),
                _ => lines.push(format!("A {} {}", files[at], size(&mut rng))),
            }
            match rng.below(2) {
                0 => lines.push(create(number, &mut rng, &mut files)),
                _ => lines.push(format!("D {}", files.swap_remove(at))),
            }
        }
        let lines = lines.chunks(1000).map(|part| part.join("\n"));
        lines.collect::<Vec<_>>().join("\nS\n")
    }

    fn run(bencher: Bencher, version: Version, allocator: &str) {
        let dir = match Path::new("/dev/shm").is_dir() {
            true => tempfile::tempdir_in("/dev/shm").unwrap(),
            false => tempfile::tempdir().unwrap(),
        };
        let operations = operations();
        let path = dir.path().join("image");
        let layout = Format {
            version,
            identity: [7; 16],
            now: 1_700_000_000,
        };
        let open = || {
            let destroy = path.to_str().filter(|_| path.exists());
            format(&path, Some(8 << 30), destroy, &layout).unwrap();
            Image::open(
                &path,
                Settings::new(allocator, 4 << 20, 1_700_000_000).unwrap(),
            )
            .unwrap()
        };
        bencher
            .counter(ItemsCount::new(operations.lines().count()))
            .with_inputs(open)
            .bench_local_values(|mut image| {
                image.run(&operations, 4 << 20, &mut |_| {}).unwrap();
                image
            });
    }

    const ALLOCATORS: [&str; 7] = fathom_ext::ALLOCATORS;

    #[divan::bench(args = ALLOCATORS, sample_count = 5)]
    fn ext2(bencher: Bencher, allocator: &str) {
        run(bencher, Version::Ext2, allocator);
    }

    #[divan::bench(args = ALLOCATORS, sample_count = 5)]
    fn ext3(bencher: Bencher, allocator: &str) {
        run(bencher, Version::Ext3, allocator);
    }

    #[divan::bench(args = ALLOCATORS, sample_count = 5)]
    fn ext4(bencher: Bencher, allocator: &str) {
        run(bencher, Version::Ext4, allocator);
    }
}
