//! Checks of a completion.

use super::Breach;
use super::driver::{Driver, Expect, Sent, pattern};
use crate::{Completion, Device, Op};
use fathom_base::Time;

impl<D: Device> Driver<'_, D> {
    /// Checks a completion against all rules.
    pub(super) fn finish(&mut self, completion: &Completion, now: Time) -> Result<(), Breach> {
        let id = completion.id;
        let Some(sent) = self.in_flight.remove(&id) else {
            return Err(Breach::NotInFlight { id });
        };
        self.report.requests += 1;
        if completion.op != sent.op {
            let (asked, got) = (sent.op, completion.op);
            return Err(Breach::WrongOp { id, asked, got });
        }
        let (from, to, got) = (sent.from, sent.to, completion.submitted);
        if got < from || got > to {
            return Err(Breach::WrongSubmitted { id, from, to, got });
        }
        let earliest = completion.submitted.max(self.last_completed);
        let from = if self.info.modelled { now } else { earliest };
        let got = completion.completed;
        if got < from || got > now {
            let to = now;
            return Err(Breach::WrongCompleted { id, from, to, got });
        }
        self.last_completed = got;
        self.check_result(completion, &sent)?;
        let (expected, got) = (sent.placed, completion.placed);
        if expected != got {
            return Err(Breach::WrongPlace { id, expected, got });
        }
        self.check_data(completion, &sent)
    }

    fn check_result(&mut self, completion: &Completion, sent: &Sent) -> Result<(), Breach> {
        let &Sent {
            op, offset, len, ..
        } = sent;
        let id = completion.id;
        let got = completion.result.map_err(|error| error.kind);
        let may_fail = self.options.may_fail;
        let (expected, right) = match sent.expect {
            Expect::Success => (Ok(()), got.is_ok() || may_fail),
            Expect::AnyError => (Err(None), got.is_err()),
            Expect::Error(kind) => {
                let right = got == Err(kind) || (may_fail && got.is_err());
                (Err(Some(kind)), right)
            }
        };
        if !right {
            return Err(Breach::WrongResult {
                id,
                op,
                offset,
                len,
                expected,
                got,
            });
        }
        let Err(error) = completion.result else {
            return Ok(());
        };
        if (error.op, error.offset, error.len) != (op, offset, len) {
            return Err(Breach::WrongError { id });
        }
        if sent.expect == Expect::Success && matches!(op, Op::Write | Op::Trim) {
            let block = self.block_bytes();
            self.set(offset / block..(offset + len) / block, None);
        }
        Ok(())
    }

    fn check_data(&mut self, completion: &Completion, sent: &Sent) -> Result<(), Breach> {
        let id = completion.id;
        let got = completion.data.as_ref().map(|data| data.len() as u64);
        let brings = sent.op == Op::Read && completion.result.is_ok();
        let right = match got {
            Some(len) => brings && len == sent.len,
            None => !(brings && self.options.keeps_bytes),
        };
        if !right {
            let expected = brings.then_some(sent.len);
            return Err(Breach::DataLength { id, expected, got });
        }
        let Some(data) = &completion.data else {
            return Ok(());
        };
        let block = self.block_bytes();
        let first = sent.offset / block;
        for ((number, bytes), holds) in (first..).zip(data.chunks(block as usize)).zip(&sent.holds)
        {
            let Some(content) = holds else { continue };
            if bytes != pattern(*content, number, bytes.len()) {
                let offset = number * block;
                return Err(Breach::WrongData { id, offset });
            }
            self.report.bytes_compared += block;
        }
        Ok(())
    }
}
