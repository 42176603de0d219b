//! Formats a job as the equivalent section of a job file.

use super::choices::{Amount, Distribution, Each, Engine, Pace, Rw, Sequencer};
use super::job::Job;
use super::lengths::{Range, Split};
use fathom_base::Dur;
use std::fmt;

struct OfEach<'a, T>(&'a Each<T>);

impl<T: fmt::Display> fmt::Display for OfEach<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Each { read, write, trim } = self.0;
        write!(f, "{read},{write},{trim}")
    }
}

struct Splits<'a>(&'a [Split]);

impl fmt::Display for Splits<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, Split { bytes, percent }) in self.0.iter().enumerate() {
            let between = if index > 0 { ":" } else { "" };
            write!(f, "{between}{bytes}/{percent}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.least {
            // An empty value means that the option is not set.
            0 => Ok(()),
            least => write!(f, "{least}-{}", self.most),
        }
    }
}

/// A time of a job; a whole number of microseconds.
struct Us(Dur);

impl fmt::Display for Us {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}us", self.0.0 / 1_000)
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Amount::Bytes(bytes) => write!(f, "{bytes}"),
            Amount::Percent(percent) => write!(f, "{percent}%"),
        }
    }
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Distribution::Random => f.write_str("random"),
            Distribution::Zipf(theta) => write!(f, "zipf:{theta}"),
            Distribution::Pareto(h) => write!(f, "pareto:{h}"),
        }
    }
}

impl fmt::Display for Rw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Rw::NAMES.iter().find(|(_, rw)| rw == self);
        f.write_str(name.map_or("", |(name, _)| name))
    }
}

/// Writes a section that includes every value that fio would otherwise choose. [`super::parse()`] reads it as the same
/// job.
impl fmt::Display for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A name that would end its section early, or open the global one, is written as an option.
        if self.name == "global" || self.name.contains(['[', ']']) {
            writeln!(f, "[job]\nname={}", self.name)?;
        } else {
            writeln!(f, "[{}]", self.name)?;
        }
        self.write_accesses(f)?;
        self.write_times(f)?;
        if let Some(randseed) = self.randseed {
            writeln!(f, "randseed={randseed}")?;
        }
        if let Some(prio) = self.prio {
            writeln!(f, "prio={prio}")?;
        }
        if let Some(class) = self.prioclass {
            writeln!(f, "prioclass={}", 1 + class as u8)?;
        }
        self.write_group(f)
    }
}

impl Job {
    fn write_accesses(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rw={}", self.rw)?;
        let behind = match self.rw.is_random() {
            true => (self.order.rw_every > 1).then_some(self.order.rw_every),
            false => (self.order.rw_skip > 0).then_some(self.order.rw_skip),
        };
        if let Some(number) = behind {
            write!(f, ":{number}")?;
        }
        writeln!(f, "\nbs={}", OfEach(&self.blocks.bs))?;
        if let Some(range) = &self.blocks.bsrange {
            writeln!(f, "bsrange={}", OfEach(range))?;
        }
        if self.order.rw_sequencer == Sequencer::Identical {
            writeln!(f, "rw_sequencer=identical")?;
        }
        if self.order.percentage_random != Each::all(100) {
            let percent = OfEach(&self.order.percentage_random);
            writeln!(f, "percentage_random={percent}")?;
        }
        if let Some(Each { read, write, trim }) = &self.blocks.bssplit {
            let (read, write, trim) = (Splits(read), Splits(write), Splits(trim));
            writeln!(f, "bssplit={read},{write},{trim}")?;
        }
        if self.blocks.blockalign != Each::all(0) {
            // Zero means that the option is not set; as a value it is invalid.
            let [read, write, trim] = [
                self.blocks.blockalign.read,
                self.blocks.blockalign.write,
                self.blocks.blockalign.trim,
            ]
            .map(|align| match align {
                0 => String::new(),
                align => align.to_string(),
            });
            writeln!(f, "blockalign={read},{write},{trim}")?;
        }
        let engine = match self.ioengine {
            Engine::Sync => "psync",
            Engine::Async => "io_uring",
        };
        writeln!(f, "ioengine={engine}\niodepth={}", self.iodepth)?;
        writeln!(f, "numjobs={}\nrwmixread={}", self.numjobs, self.rwmixread)?;
        writeln!(f, "random_distribution={}", self.order.random_distribution)?;
        writeln!(f, "norandommap={}", u8::from(self.order.norandommap))?;
        if let Some(size) = self.area.size {
            writeln!(f, "size={size}")?;
        }
        if let Some(io_size) = self.area.io_size {
            writeln!(f, "io_size={io_size}")?;
        }
        writeln!(f, "offset={}", self.area.offset)?;
        writeln!(f, "offset_increment={}", self.area.offset_increment)
    }

    fn write_group(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (option, set) in [
            ("new_group", self.schedule.new_group),
            ("exitall", self.schedule.exitall),
            ("exit_what=all", self.schedule.exit_all),
        ] {
            if set {
                writeln!(f, "{option}")?;
            }
        }
        Ok(())
    }

    fn write_times(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(runtime) = self.ends.runtime {
            writeln!(f, "runtime={}", Us(runtime))?;
        }
        writeln!(f, "time_based={}", u8::from(self.ends.time_based))?;
        writeln!(
            f,
            "loops={}\nstartdelay={}",
            self.ends.loops,
            Us(self.schedule.startdelay)
        )?;
        writeln!(f, "stonewall={}", u8::from(self.schedule.stonewall))?;
        writeln!(f, "rate={}", OfEach(&self.pace.rate))?;
        writeln!(f, "rate_iops={}", OfEach(&self.pace.rate_iops))?;
        writeln!(f, "thinktime={}", Us(self.pace.thinktime))?;
        writeln!(f, "thinktime_blocks={}", self.pace.thinktime_blocks)?;
        if self.pace.rate_process == Pace::Poisson {
            writeln!(f, "rate_process=poisson")?;
        }
        if self.ends.ramp_time > Dur::ZERO {
            writeln!(f, "ramp_time={}", Us(self.ends.ramp_time))?;
        }
        if self.ends.number_ios > 0 {
            writeln!(f, "number_ios={}", self.ends.number_ios)?;
        }
        writeln!(
            f,
            "fsync={}\nfdatasync={}",
            self.flushes.fsync, self.flushes.fdatasync
        )?;
        writeln!(f, "end_fsync={}", u8::from(self.flushes.end_fsync))?;
        writeln!(
            f,
            "sync={}",
            if self.flushes.sync { "sync" } else { "none" }
        )?;
        writeln!(f, "verify={}", if self.verify { "crc32c" } else { "0" })?;
        writeln!(f, "do_verify={}", u8::from(self.do_verify))
    }
}
