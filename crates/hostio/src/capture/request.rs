//! The meaning of an event's `rwbs`: the kernel's letters for the operation and flags of a request (`blk_fill_rwbs`,
//! kernel/trace/blktrace.c).

use fathom_block::Op;

/// A request as its letters describe it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Request {
    /// The drive's write cache is flushed first.
    pub(super) flush: bool,
    /// The operation that moves data; `None` for an operation without a counterpart in a trace.
    pub(super) op: Option<Op>,
    /// Force unit access.
    pub(super) fua: bool,
}

/// Parses `rwbs`.
pub(super) fn request(rwbs: &str) -> Request {
    let (flush, rest) = match rwbs.strip_prefix('F') {
        Some(rest) => (true, rest),
        None => (false, rwbs),
    };
    let mut letters = rest.chars();
    let op = match letters.next() {
        Some('R') => Some(Op::Read),
        Some('W') => Some(Op::Write),
        Some('D') => Some(Op::Trim),
        _ => None,
    };
    let fua = op.is_some() && letters.any(|letter| letter == 'F');
    Request { flush, op, fua }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_the_kernel_are_read() {
        let of = |rwbs| {
            let found = request(rwbs);
            (found.flush, found.op, found.fua)
        };
        assert_eq!(of("R"), (false, Some(Op::Read), false));
        assert_eq!(of("RAM"), (false, Some(Op::Read), false));
        assert_eq!(of("WS"), (false, Some(Op::Write), false));
        assert_eq!(of("WFS"), (false, Some(Op::Write), true));
        // A write of a journal's commit: flush before, and force unit access.
        assert_eq!(of("FWFSM"), (true, Some(Op::Write), true));
        assert_eq!(of("DS"), (false, Some(Op::Trim), false));
        assert_eq!(of("DE"), (false, Some(Op::Trim), false));
        // A flush at the driver: the flag and the operation.
        assert_eq!(of("FF"), (true, None, false));
        assert_eq!(of("F"), (true, None, false));
        assert_eq!(of("N"), (false, None, false));
        assert_eq!(of(""), (false, None, false));
    }
}
