//! The schedulers by name, with their tunables.

use crate::Scheduler;
use crate::sched::{
    anticipatory, bfq, cfq, deadline, irbw_fifo, irbw_fifo_rp, kyber, mq_deadline, mq_none, noop,
    pai,
};
use crate::scheduler::Policy;
use fathom_base::registry::Text;
use fathom_base::{BadValue, Dur, Kind, names};
use fathom_block::DeviceInfo;

/// I/O schedulers.
const SCHEDULER: Kind = Kind {
    one: "scheduler",
    list: "schedulers",
    summary: "I/O schedulers",
    prefix: "",
    option: "--sched",
    text: Text::Section("schedulers.md"),
};

names! {
    /// A scheduler with its tunables.
    pub enum Config by "name" of SCHEDULER in SCHEDULERS, macro each {
        Noop(noop::Tunables) = "noop", noop::ABOUT;
        Deadline(deadline::Tunables) = "deadline", deadline::ABOUT;
        Anticipatory(anticipatory::Tunables) = "anticipatory", anticipatory::ABOUT;
        Cfq(cfq::Tunables) = "cfq", cfq::ABOUT;
        Pai(pai::Tunables) = "pai", pai::ABOUT;
        IrbwFifo(irbw_fifo::Tunables) = "irbw-fifo", irbw_fifo::ABOUT;
        IrbwFifoRp(irbw_fifo_rp::Tunables) = "irbw-fifo-rp", irbw_fifo_rp::ABOUT;
        MqNone(mq_none::Tunables) = "mq-none", mq_none::ABOUT;
        MqDeadline(mq_deadline::Tunables) = "mq-deadline", mq_deadline::ABOUT;
        Kyber(kyber::Tunables) = "kyber", kyber::ABOUT;
        Bfq(bfq::Tunables) = "bfq", bfq::ABOUT;
    }
}

impl Config {
    /// Builds the scheduler.
    ///
    /// # Errors
    /// [`BadValue`] names the invalid tunable.
    pub fn build(&self) -> Result<Box<dyn Scheduler>, BadValue> {
        each!(self, tunables => tunables.build()).map_err(|bad| bad.of(self.name()))
    }

    /// The longest time that [`crate::check`] lets a request wait behind a stream of others.
    pub fn starvation(&self) -> Dur {
        fn of<P: Policy>(_: &P) -> Dur {
            P::STARVATION
        }
        each!(self, tunables => of(tunables))
    }

    /// Returns the configuration with unset tunables taken from the drive.
    pub(crate) fn over(&self, info: &DeviceInfo) -> Self {
        let mut config = self.clone();
        each!(&mut config, tunables => tunables.over(info));
        config
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Linux 6.12, `block/bfq-iosched.c`: `blk_queue_nonrot(bfqd->queue)`, which is `queue/rotational`.
    #[test]
    fn bfq_asks_the_drive_whether_it_has_a_head_unless_it_is_told() {
        let drive = |rotational| DeviceInfo {
            rotational,
            ..fathom_block::devices::modelled_info("drive", 1 << 20)
        };
        let over = |said: Option<bool>, drive: &DeviceInfo| {
            let tunables = bfq::Tunables {
                rotational: said,
                ..bfq::Tunables::default()
            };
            match Config::Bfq(tunables).over(drive) {
                Config::Bfq(tunables) => tunables.is_rotational(),
                _ => panic!("not bfq"),
            }
        };
        for (disk, expected) in [(Some(true), true), (Some(false), false), (None, false)] {
            assert_eq!(over(None, &drive(disk)), expected);
            assert!(over(Some(true), &drive(disk)) && !over(Some(false), &drive(disk)));
        }
    }
}
