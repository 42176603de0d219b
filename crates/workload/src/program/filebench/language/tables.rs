//! The names of the language: statements, operations and attributes, those that are supported and those that are not.

use super::error::Problem;
use super::workload::Kind;

/// How a name of filebench is treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// It has its meaning.
    Read,
    /// It may stand, and has no effect on a simulated machine.
    Ignored,
    /// It must not stand, for this reason; an attribute may be 0 or false.
    Refused(&'static str),
}

/// A name and how it is treated.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub(super) name: &'static str,
    pub(super) treated: Use,
}

const fn read(name: &'static str) -> Known {
    let treated = Use::Read;
    Known { name, treated }
}

const fn ignored(name: &'static str) -> Known {
    let treated = Use::Ignored;
    Known { name, treated }
}

const fn refused(name: &'static str, why: &'static str) -> Known {
    let treated = Use::Refused(why);
    Known { name, treated }
}

/// The kinds of lists that attributes stand in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    FileSet,
    File,
    Process,
    Thread,
    Flowop,
    EventGenerator,
}

impl Place {
    /// The statement in words.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::FileSet => "fileset",
            Self::File => "file",
            Self::Process => "process",
            Self::Thread => "thread",
            Self::Flowop => "flowop",
            Self::EventGenerator => "eventgen",
        }
    }

    /// The attributes.
    pub(super) fn attributes(self) -> &'static [Known] {
        match self {
            Self::FileSet => FILE_SET,
            Self::File => FILE,
            Self::Process => PROCESS,
            Self::Thread => THREAD,
            Self::Flowop => FLOWOP,
            Self::EventGenerator => EVENT_GENERATOR,
        }
    }
}

const DIRECTORIES: &str = "directories are not nested and have `dirwidth` files each";

const FILE_SET: &[Known] = &[
    read("name"),
    read("path"),
    read("entries"),
    read("size"),
    read("dirwidth"),
    read("prealloc"),
    ignored("readonly"),
    ignored("writeonly"),
    ignored("reuse"),
    ignored("trusttree"),
    ignored("paralloc"),
    refused("dirgamma", DIRECTORIES),
    refused("dirdepthrv", DIRECTORIES),
    refused("leafdirs", "no operation works on directories"),
];

const FILE: &[Known] = &[
    read("name"),
    read("path"),
    read("size"),
    read("prealloc"),
    ignored("readonly"),
    ignored("writeonly"),
    ignored("reuse"),
    ignored("trusttree"),
    ignored("paralloc"),
];

const EVENT_GENERATOR: &[Known] = &[read("rate")];

const PROCESS: &[Known] = &[read("name"), read("instances"), ignored("nice")];

const THREAD: &[Known] = &[
    read("name"),
    read("instances"),
    ignored("memsize"),
    ignored("useism"),
    ignored("ioprio"),
];

const FLOWOP: &[Known] = &[
    read("name"),
    read("filesetname"),
    read("fd"),
    read("srcfd"),
    read("opennext"),
    read("iosize"),
    read("workingset"),
    read("random"),
    read("dsync"),
    read("iters"),
    read("value"),
    read("highwater"),
    read("blocking"),
    read("target"),
    refused("directio", "the machine has no `O_DIRECT`"),
    refused("noreadahead", "the machine always reads ahead"),
    refused("indexed", "files are taken in rotation"),
];

/// Other names for attributes.
const ALIASES: [(&str, &str); 2] = [("filesize", "size"), ("filename", "filesetname")];

/// The operations.
pub(super) const FLOWOPS: &[(&str, Kind)] = &[
    ("openfile", Kind::OpenFile),
    ("createfile", Kind::CreateFile),
    ("closefile", Kind::CloseFile),
    ("read", Kind::Read),
    ("readwholefile", Kind::ReadWholeFile),
    ("write", Kind::Write),
    ("writewholefile", Kind::WriteWholeFile),
    ("appendfile", Kind::AppendFile),
    ("appendfilerand", Kind::AppendFileRand),
    ("deletefile", Kind::DeleteFile),
    ("statfile", Kind::StatFile),
    ("fsync", Kind::Fsync),
    ("aiowrite", Kind::AioWrite),
    ("aiowait", Kind::AioWait),
    ("hog", Kind::Hog),
    ("delay", Kind::Delay),
    ("semblock", Kind::SemBlock),
    ("sempost", Kind::SemPost),
    ("eventlimit", Kind::EventLimit),
    ("bwlimit", Kind::BwLimit),
    ("iopslimit", Kind::IopsLimit),
    ("opslimit", Kind::OpsLimit),
    ("finishoncount", Kind::FinishOnCount),
    ("finishonbytes", Kind::FinishOnBytes),
];

/// Operations of filebench that are not supported.
const OTHER_FLOWOPS: &[Known] = &[
    refused("block", "use semblock and sempost"),
    refused("wakeup", "use semblock and sempost"),
    refused("makedir", DIRECTORIES),
    refused("removedir", DIRECTORIES),
    refused("listdir", "the contents of directories are not read"),
    refused("fsyncset", "use fsync for each descriptor"),
    refused("testrandvar", "it only prints"),
    refused("print", "it only prints"),
];

/// The statements.
pub(super) const STATEMENTS: &[Known] = &[
    read("set"),
    read("define"),
    read("eventgen"),
    read("run"),
    ignored("echo"),
    ignored("debug"),
    ignored("create"),
    refused("psrun", "use run; the run has figures over time anyway"),
    refused("system", "no other program runs on the simulated machine"),
    refused("sleep", "there is a single run, which begins at once"),
    refused("quit", "the text ends with run"),
    refused("list", "it only prints"),
    refused("version", "it only prints"),
    refused("enable", "it needs several machines, or only prints"),
    refused("domultisync", "it needs several machines"),
];

/// Finds an attribute of a statement or operation.
pub(super) fn attribute(place: Place, name: &str) -> Result<Known, Problem> {
    let alias = ALIASES.iter().find(|(alias, _)| *alias == name);
    let own = alias.map_or(name, |(_, own)| own);
    let attributes = place.attributes();
    let found = attributes.iter().find(|known| known.name == own);
    found.copied().ok_or_else(|| Problem::Unknown {
        what: match place {
            Place::FileSet => "attribute of a fileset",
            Place::File => "attribute of a file",
            Place::Process => "attribute of a process",
            Place::Thread => "attribute of a thread",
            Place::Flowop => "attribute of a flowop",
            Place::EventGenerator => "attribute of eventgen",
        },
        name: name.into(),
        known: supported(attributes),
    })
}

/// Finds an operation.
pub(super) fn flowop(name: &str) -> Result<Kind, Problem> {
    if let Some(&(_, kind)) = FLOWOPS.iter().find(|(own, _)| *own == name) {
        return Ok(kind);
    }
    refuse(OTHER_FLOWOPS, name)?;
    let known: Vec<&str> = FLOWOPS.iter().map(|(name, _)| *name).collect();
    Err(Problem::Unknown {
        what: "flowop",
        name: name.into(),
        known: known.join(", "),
    })
}

/// Finds a statement that is supported.
pub(super) fn statement(name: &str) -> Result<(), Problem> {
    refuse(STATEMENTS, name)?;
    match STATEMENTS.iter().any(|known| known.name == name) {
        true => Ok(()),
        false => Err(Problem::Unknown {
            what: "statement",
            name: name.into(),
            known: supported(STATEMENTS),
        }),
    }
}

fn refuse(list: &[Known], name: &str) -> Result<(), Problem> {
    match list.iter().find(|known| known.name == name) {
        Some(Known {
            treated: Use::Refused(why),
            ..
        }) => Err(Problem::Refused {
            name: name.into(),
            why,
        }),
        _ => Ok(()),
    }
}

fn supported(list: &[Known]) -> String {
    let refused = |known: &&Known| matches!(known.treated, Use::Refused(_));
    let names = list
        .iter()
        .filter(|known| !refused(known))
        .map(|known| known.name);
    names.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_every_name_of_the_language() {
        let page = include_str!("../../../../../../docs/filebench.md");
        let places = [
            Place::FileSet,
            Place::File,
            Place::Process,
            Place::Thread,
            Place::Flowop,
        ];
        let attributes = places.iter().flat_map(|place| place.attributes());
        let flowops = FLOWOPS.iter().map(|(name, _)| *name);
        let names = attributes
            .chain(STATEMENTS)
            .chain(OTHER_FLOWOPS)
            .map(|known| known.name);
        for name in names
            .chain(flowops)
            .chain(ALIASES.iter().map(|(alias, _)| *alias))
        {
            let named = ["`", " "].map(|end| format!("`{name}{end}"));
            assert!(
                named.iter().any(|name| page.contains(name)),
                "docs/filebench.md does not name `{name}`"
            );
        }
    }
}
