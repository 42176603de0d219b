//! The configuration of a program in a study file: its name and the settings to override.

use super::filebench::Server;
use super::{filebench, postmark};
use fathom_base::registry::Text;
use fathom_base::{BadValue, Dur, Kind, names};
use fathom_fs::FileSystem;
use fathom_platform::{Benchmark, System};

/// Entry of the programs in the list of kinds; they are listed with the generators.
const PROGRAM: Kind = Kind {
    one: "program",
    list: "workloads",
    summary: "Generators and programs",
    prefix: "program:",
    option: "",
    text: Text::Prose,
};

names! {
    /// A program with the settings to override. Omitted settings keep the program's values.
    pub enum Config by "program" of PROGRAM in PROGRAMS, macro each {
        PostmarkA(postmark::Overrides) = "postmark-type-a", postmark::TYPE_A;
        PostmarkB(postmark::Overrides) = "postmark-type-b", postmark::TYPE_B;
        PostmarkFixed(postmark::Overrides) = "postmark-fixed", postmark::FIXED;
        PostmarkCvfs(postmark::Overrides) = "postmark-cvfs", postmark::CVFS;
        PostmarkCvfsLarge(postmark::Overrides) = "postmark-cvfs-large", postmark::CVFS_LARGE;
        PostmarkFsl(postmark::Overrides) = "postmark-fsl", postmark::FSL;
        Webserver(filebench::FileOverrides) = "filebench-webserver", filebench::WEBSERVER;
        Fileserver(filebench::FileOverrides) = "filebench-fileserver", filebench::FILESERVER;
        Varmail(filebench::FileOverrides) = "filebench-varmail", filebench::VARMAIL;
        Oltp(filebench::OltpOverrides) = "filebench-oltp", filebench::OLTP;
        Filebench(filebench::ModelOverrides) = "filebench", filebench::OWN;
    }
}

impl Config {
    /// The program `filebench` with a text in filebench's language.
    pub fn of_model(text: String) -> Self {
        Self::Filebench(filebench::ModelOverrides {
            model: Some(text),
            ..filebench::ModelOverrides::default()
        })
    }

    /// Makes the program for a drive of `capacity` bytes, ready to start: its files are laid out, and the drive is
    /// filled as far as the settings say. The same seed gives the same run on equal drives.
    ///
    /// # Errors
    /// The first key whose value is invalid or does not fit the drive.
    pub fn build(&self, capacity: u64, seed: u64) -> Result<Box<dyn Benchmark>, BadValue> {
        match self {
            Self::PostmarkA(o) => boxed(o.onto(postmark::type_a()).build(capacity, seed)),
            Self::PostmarkB(o) => boxed(o.onto(postmark::type_b()).build(capacity, seed)),
            Self::PostmarkFixed(o) => boxed(o.onto(postmark::fixed()).build(capacity, seed)),
            Self::PostmarkCvfs(o) => boxed(o.onto(postmark::cvfs()).build(capacity, seed)),
            Self::PostmarkCvfsLarge(o) => {
                boxed(o.onto(postmark::cvfs_large()).build(capacity, seed))
            }
            Self::PostmarkFsl(o) => boxed(o.onto(postmark::fsl()).build(capacity, seed)),
            Self::Webserver(o) => {
                let settings = o.onto(filebench::webserver());
                boxed(settings.build(Server::Web, capacity, seed))
            }
            Self::Fileserver(o) => {
                let settings = o.onto(filebench::fileserver());
                boxed(settings.build(Server::File, capacity, seed))
            }
            Self::Varmail(o) => {
                let settings = o.onto(filebench::varmail());
                boxed(settings.build(Server::Mail, capacity, seed))
            }
            Self::Oltp(o) => boxed(o.onto(filebench::oltp()).build(capacity, seed)),
            Self::Filebench(o) => boxed(o.onto(filebench::example()).build(capacity, seed)),
        }
    }
}

impl Config {
    /// The operations on a file system that is there, with this many free blocks, by the names of its files. Only
    /// Postmark has one process, and with it one order of operations.
    ///
    /// # Errors
    /// Another program, or the first key whose value is invalid or has no effect.
    pub fn by_name(&self, free_blocks: u64, seed: u64) -> Result<postmark::ByName, BadValue> {
        let (overrides, own) = match self {
            Self::PostmarkA(o) => (o, postmark::type_a()),
            Self::PostmarkB(o) => (o, postmark::type_b()),
            Self::PostmarkFixed(o) => (o, postmark::fixed()),
            Self::PostmarkCvfs(o) => (o, postmark::cvfs()),
            Self::PostmarkCvfsLarge(o) => (o, postmark::cvfs_large()),
            Self::PostmarkFsl(o) => (o, postmark::fsl()),
            _ => {
                let problem = "has threads, whose order depends on the drive: use Postmark";
                return Err(BadValue::new("program", self.name(), problem));
            }
        };
        overrides.check_by_name()?;
        overrides.onto(own).by_name(free_blocks, seed)
    }
}

fn boxed<T: Benchmark + 'static>(
    made: Result<T, BadValue>,
) -> Result<Box<dyn Benchmark>, BadValue> {
    Ok(Box::new(made?))
}

impl Config {
    /// The file system that the program asks for; `None` for the program's own.
    pub fn file_system(&mut self) -> &mut Option<FileSystem> {
        match self {
            Self::PostmarkA(o)
            | Self::PostmarkB(o)
            | Self::PostmarkFixed(o)
            | Self::PostmarkCvfs(o)
            | Self::PostmarkCvfsLarge(o)
            | Self::PostmarkFsl(o) => &mut o.file_system,
            Self::Webserver(o) | Self::Fileserver(o) | Self::Varmail(o) => &mut o.file_system,
            Self::Oltp(o) => &mut o.file_system,
            Self::Filebench(o) => &mut o.file_system,
        }
    }

    /// Checks the file system and the machine, as far as they do not depend on the drive.
    ///
    /// # Errors
    /// The first key with an invalid value.
    pub fn check(&self) -> Result<(), BadValue> {
        let (file_system, system) = match self {
            Self::PostmarkA(o)
            | Self::PostmarkB(o)
            | Self::PostmarkFixed(o)
            | Self::PostmarkCvfs(o)
            | Self::PostmarkCvfsLarge(o)
            | Self::PostmarkFsl(o) => (&o.file_system, &o.system),
            Self::Webserver(o) | Self::Fileserver(o) | Self::Varmail(o) => {
                (&o.file_system, &o.system)
            }
            Self::Oltp(o) => (&o.file_system, &o.system),
            Self::Filebench(o) => (&o.file_system, &o.system),
        };
        let checked = file_system.as_ref().map_or(Ok(()), FileSystem::check);
        checked.map_err(|bad| bad.of("file-system"))?;
        system.as_ref().map_or(Ok(()), System::check)
    }

    /// Divides the number of transactions, or the duration, by `divisor` (0 is taken as 1).
    pub fn shorten(&mut self, divisor: u64) {
        let divisor = divisor.max(1);
        let duration = |all: &mut Option<Dur>, own: Dur| {
            *all = Some(Dur(all.unwrap_or(own).0 / divisor));
        };
        let (overrides, own) = match self {
            Self::PostmarkA(o) => (o, postmark::type_a()),
            Self::PostmarkB(o) => (o, postmark::type_b()),
            Self::PostmarkFixed(o) => (o, postmark::fixed()),
            Self::PostmarkCvfs(o) => (o, postmark::cvfs()),
            Self::PostmarkCvfsLarge(o) => (o, postmark::cvfs_large()),
            Self::PostmarkFsl(o) => (o, postmark::fsl()),
            Self::Webserver(o) => {
                return duration(&mut o.duration, filebench::webserver().duration);
            }
            Self::Fileserver(o) => {
                return duration(&mut o.duration, filebench::fileserver().duration);
            }
            Self::Varmail(o) => {
                return duration(&mut o.duration, filebench::varmail().duration);
            }
            Self::Oltp(o) => return duration(&mut o.duration, filebench::oltp().duration),
            Self::Filebench(o) => {
                let all = o.onto(filebench::example()).length();
                o.duration = Some(all.map(|all| Dur(all.0 / divisor)));
                return;
            }
        };
        let all = overrides.transactions.unwrap_or(own.transactions);
        overrides.transactions = Some((all / divisor).max(1));
    }
}
