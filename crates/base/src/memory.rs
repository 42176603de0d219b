//! Checks whether there is enough memory for the tables of a drive.

/// Returns true if this many bytes can be allocated now. Called before the tables are created, this turns a drive that is
/// too large into an error; a failing allocation would abort the process.
pub fn room_for(bytes: u64) -> bool {
    let Ok(bytes) = usize::try_from(bytes) else {
        return false;
    };
    let mut room: Vec<u8> = Vec::new();
    let fits = room.try_reserve_exact(bytes).is_ok();
    // Keeps the compiler from removing the unused allocation.
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
