//! What a file system is told that does not go together is refused by its key, in words that say why.

use fathom_base::Bytes;
use fathom_fs::{FileSystem, Format, Policy};

fn refused(file_system: &FileSystem) -> String {
    let bad = file_system.check();
    bad.map_or_else(|bad| bad.to_string(), |()| panic!("{file_system:?}"))
}

#[test]
fn an_allocator_of_another_format_is_refused() {
    let of = |format, allocator| FileSystem {
        format,
        allocator: Some(allocator),
        logical_block: Some(Bytes::mib(4)),
        ..FileSystem::default()
    };
    let said = refused(&of(Format::F2fs, Policy::GreedySpace));
    assert!(
        said.contains("greedy-space") && said.contains("f2fs-like has none but log-structured"),
        "{said}"
    );
    let said = refused(&of(Format::Ext4, Policy::Logs));
    assert!(
        said.contains("log-structured") && said.contains("for f2fs-like, and not for ext4"),
        "{said}"
    );
}

#[test]
fn what_a_format_does_not_have_is_refused() {
    for format in Format::ALL {
        let journal = FileSystem {
            format,
            journal: Some(Bytes::mib(8)),
            ..FileSystem::default()
        };
        match format {
            Format::Ext2 | Format::F2fs => {
                let said = refused(&journal);
                assert!(said.contains("has no journal"), "{said}");
            }
            Format::Ext3 | Format::Ext4 | Format::Reiserfs => assert_eq!(journal.check(), Ok(())),
        }
    }
    let at_once = FileSystem {
        format: Format::F2fs,
        delayed_allocation: Some(false),
        ..FileSystem::default()
    };
    let said = refused(&at_once);
    assert!(said.contains("delayed-allocation"), "{said}");
}
