//! Whether there is memory for tables as large as a drive file makes them.

/// Whether so many bytes of memory can be had now. Asked before tables are made, a drive that is too large is an error;
/// an allocation that fails ends the process.
pub fn room_for(bytes: u64) -> bool {
    let Ok(bytes) = usize::try_from(bytes) else {
        return false;
    };
    let mut room: Vec<u8> = Vec::new();
    let fits = room.try_reserve_exact(bytes).is_ok();
    // A compiler may leave out an allocation that nobody looks at.
    std::hint::black_box(&room);
    fits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_room_for_little_and_none_for_all_addresses() {
        assert!(room_for(0) && room_for(1 << 20));
        assert!(!room_for(1 << 60) && !room_for(u64::MAX));
    }
}
