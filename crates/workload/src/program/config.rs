//! The configuration of a program in a study file: its name and the settings to override.

use super::filebench::Server;
use super::{filebench, postmark};
use fathom_base::registry::Text;
use fathom_base::{BadValue, Dur, Kind, names};
use fathom_fs::FileSystem;
use fathom_platform::Benchmark;

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

/// The settings of a program, the overrides applied.
enum Settings {
    Postmark(Box<postmark::Settings>),
    Files(Server, Box<filebench::FileSettings>),
    Oltp(Box<filebench::OltpSettings>),
    Model(Box<filebench::ModelSettings>),
}

impl Config {
    /// The program `filebench` with a text in filebench's language.
    pub fn of_model(text: String) -> Self {
        Self::Filebench(filebench::ModelOverrides {
            model: Some(text),
            ..filebench::ModelOverrides::default()
        })
    }

    fn settings(&self) -> Settings {
        let postmark = |overrides: &postmark::Overrides, own| {
            Settings::Postmark(Box::new(overrides.onto(own)))
        };
        let files = |overrides: &filebench::FileOverrides, own, server| {
            Settings::Files(server, Box::new(overrides.onto(own)))
        };
        match self {
            Self::PostmarkA(o) => postmark(o, postmark::type_a()),
            Self::PostmarkB(o) => postmark(o, postmark::type_b()),
            Self::PostmarkFixed(o) => postmark(o, postmark::fixed()),
            Self::PostmarkCvfs(o) => postmark(o, postmark::cvfs()),
            Self::PostmarkCvfsLarge(o) => postmark(o, postmark::cvfs_large()),
            Self::PostmarkFsl(o) => postmark(o, postmark::fsl()),
            Self::Webserver(o) => files(o, filebench::webserver(), Server::Web),
            Self::Fileserver(o) => files(o, filebench::fileserver(), Server::File),
            Self::Varmail(o) => files(o, filebench::varmail(), Server::Mail),
            Self::Oltp(o) => Settings::Oltp(Box::new(o.onto(filebench::oltp()))),
            Self::Filebench(o) => Settings::Model(Box::new(o.onto(filebench::example()))),
        }
    }

    /// Makes the program for a drive of `capacity` bytes, ready to start: its files are laid out, and the drive is
    /// filled as far as the settings say. The same seed gives the same run on equal drives.
    ///
    /// # Errors
    /// The first key whose value is invalid or does not fit the drive.
    pub fn build(&self, capacity: u64, seed: u64) -> Result<Box<dyn Benchmark>, BadValue> {
        match self.settings() {
            Settings::Postmark(settings) => boxed(settings.build(capacity, seed)),
            Settings::Files(server, settings) => boxed(settings.build(server, capacity, seed)),
            Settings::Oltp(settings) => boxed(settings.build(capacity, seed)),
            Settings::Model(settings) => boxed(settings.build(capacity, seed)),
        }
    }

    /// The operations on a file system that is there, with this many free blocks, by the names of its files. Only
    /// Postmark has one process, and with it one order of operations.
    ///
    /// # Errors
    /// Another program, or the first key whose value is invalid or has no effect.
    pub fn by_name(&self, free_blocks: u64, seed: u64) -> Result<postmark::ByName, BadValue> {
        let (Some(overrides), Settings::Postmark(settings)) = (self.postmark(), self.settings())
        else {
            let problem = "has threads, whose order depends on the drive: use Postmark";
            return Err(BadValue::new("program", self.name(), problem));
        };
        overrides.check_by_name()?;
        settings.by_name(free_blocks, seed)
    }

    fn postmark(&self) -> Option<&postmark::Overrides> {
        match self {
            Self::PostmarkA(o)
            | Self::PostmarkB(o)
            | Self::PostmarkFixed(o)
            | Self::PostmarkCvfs(o)
            | Self::PostmarkCvfsLarge(o)
            | Self::PostmarkFsl(o) => Some(o),
            _ => None,
        }
    }

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
        let settings = self.settings();
        let (file_system, system) = match &settings {
            Settings::Postmark(of) => (&of.file_system, &of.system),
            Settings::Files(_, of) => (&of.file_system, &of.system),
            Settings::Oltp(of) => (&of.file_system, &of.system),
            Settings::Model(of) => (&of.file_system, &of.system),
        };
        file_system.check().map_err(|bad| bad.of("file-system"))?;
        system.check()
    }

    /// Divides the number of transactions, or the duration, by `divisor` (0 is taken as 1).
    pub fn shorten(&mut self, divisor: u64) {
        let divisor = divisor.max(1);
        let part = |all: Dur| Dur(all.0 / divisor);
        match (self.settings(), self) {
            (
                Settings::Postmark(of),
                Self::PostmarkA(o)
                | Self::PostmarkB(o)
                | Self::PostmarkFixed(o)
                | Self::PostmarkCvfs(o)
                | Self::PostmarkCvfsLarge(o)
                | Self::PostmarkFsl(o),
            ) => o.transactions = Some((of.transactions / divisor).max(1)),
            (
                Settings::Files(_, of),
                Self::Webserver(o) | Self::Fileserver(o) | Self::Varmail(o),
            ) => {
                o.duration = Some(part(of.duration));
            }
            (Settings::Oltp(of), Self::Oltp(o)) => o.duration = Some(part(of.duration)),
            (Settings::Model(of), Self::Filebench(o)) => o.duration = Some(of.length().map(part)),
            // The settings are of the kind of the program.
            _ => {}
        }
    }
}

fn boxed<T: Benchmark + 'static>(
    made: Result<T, BadValue>,
) -> Result<Box<dyn Benchmark>, BadValue> {
    Ok(Box::new(made?))
}
