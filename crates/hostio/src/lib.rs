//! Real drives and files through io_uring and O_DIRECT, and the safety lock in front of them.
