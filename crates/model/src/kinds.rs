//! The kinds of modelled drives: what a kind has to say of itself, one file each, and one line for it in the list.

mod disksim;
mod hdd;
mod ssd;

use fathom_base::{BadValue, Bytes, Named, SpecError, Time, drive_file};
use fathom_block::{
    Busy, Completion, Device, DeviceInfo, DriveStats, QueueWork, Request, Subject, Wear,
};
use serde::Deserialize;

/// What a drive file of one kind says.
trait Kind: Sized {
    /// What a drive file says after `kind =`.
    const NAME: &'static str;
    /// What it models, in one line.
    const SUMMARY: &'static str;
    /// Its drives that come with Fathom, in the order in which they are listed.
    const PRESETS: &'static [&'static [Named]];
    /// What is built from it.
    type Drive: Modelled;

    /// Gives it another capacity.
    fn resize(&mut self, size: Bytes) -> Result<(), SpecError>;

    /// Whether a new drive holds nothing, so that reads find no data in it and writes nothing to replace.
    const STARTS_EMPTY: bool = false;

    /// How much the memory for writes holds, where there is one whose policy can be chosen.
    fn write_buffer(&self) -> Option<Bytes> {
        None
    }

    /// A drive, as it leaves the factory.
    fn build(&self, seed: u64) -> Result<Self::Drive, SpecError>;
}

/// What a modelled drive does beyond a device.
trait Modelled: Subject + Clone {
    /// From now on it keeps what is written, where its kind can.
    fn keep_data(self) -> Self {
        self
    }

    /// How often its blocks were erased, where it counts that.
    fn wear(&self) -> Option<Wear> {
        None
    }
}

/// The line of a drive file that says what it describes.
#[derive(Deserialize)]
struct Head {
    kind: Option<String>,
}

/// One line for each kind. Not `names!`: a kind has a type for its drive file and one for its drive, and a call to a drive goes to
/// its type without dynamic dispatch.
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident: $spec:ty => $drive:ty,)*) => {
        /// What a drive file says. `Clone` is deep.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Model {
            $($(#[$doc])* $kind(Box<$spec>),)*
        }

        /// A modelled drive of any kind. `Clone` forks it with all that it holds.
        #[derive(Clone, Debug)]
        pub enum Drive {
            $($(#[$doc])* $kind(Box<$drive>),)*
        }

        /// Name and summary of every kind.
        const KINDS: &[(&str, &str)] = &[$((<$spec as Kind>::NAME, <$spec as Kind>::SUMMARY)),*];

        /// Every drive that comes with Fathom, in the order in which they are listed.
        pub fn catalog() -> impl Iterator<Item = &'static Named> {
            let lists = [$(<$spec as Kind>::PRESETS),*];
            lists.into_iter().flatten().copied().flatten()
        }

        impl Model {
            /// Reads a drive file, which says its kind in `kind = "..."`.
            ///
            /// # Errors
            /// [`SpecError`] with the line or the key.
            pub fn from_toml(text: &str) -> Result<Model, SpecError> {
                let head: Head = drive_file::from_toml(text)?;
                let Some(kind) = head.kind else {
                    return Err(wrong_kind("missing".to_owned()));
                };
                $(if kind == <$spec as Kind>::NAME {
                    return Ok(Model::$kind(Box::new(<$spec>::from_toml(text)?)));
                })*
                Err(wrong_kind(format!("{kind:?}")))
            }

            /// The drive file with every default written out.
            pub fn to_toml(&self) -> String {
                match self {
                    $(Model::$kind(spec) => spec.to_toml(),)*
                }
            }

            /// Gives it another capacity.
            ///
            /// # Errors
            /// [`SpecError`] where the drive cannot have it.
            pub fn resize(&mut self, size: Bytes) -> Result<(), SpecError> {
                match self {
                    $(Model::$kind(spec) => spec.resize(size),)*
                }
            }

            /// How much the memory for writes holds, where there is one whose policy can be chosen.
            pub fn write_buffer(&self) -> Option<Bytes> {
                match self {
                    $(Model::$kind(spec) => Kind::write_buffer(&**spec),)*
                }
            }

            /// Whether a new drive holds nothing: it answers reads without touching flash, and writes replace nothing.
            pub fn starts_empty(&self) -> bool {
                match self {
                    $(Model::$kind(_) => <$spec as Kind>::STARTS_EMPTY,)*
                }
            }

            /// A drive, as it leaves the factory.
            ///
            /// # Errors
            /// [`SpecError`] where no such drive can be built.
            pub fn build(&self, seed: u64) -> Result<Drive, SpecError> {
                Ok(match self {
                    $(Model::$kind(spec) => Drive::$kind(Box::new(spec.build(seed)?)),)*
                })
            }
        }

        impl Drive {
            /// From now on it keeps what is written, where its kind can: for a drive that was never written.
            pub fn keep_data(self) -> Self {
                match self {
                    $(Drive::$kind(drive) => Drive::$kind(Box::new(Modelled::keep_data(*drive))),)*
                }
            }

            /// How often its blocks were erased; `None` for a drive that does not count it. O(blocks).
            pub fn wear(&self) -> Option<Wear> {
                match self {
                    $(Drive::$kind(drive) => drive.wear(),)*
                }
            }
        }

        impl Subject for Drive {
            fn stats(&self) -> Option<DriveStats> {
                match self {
                    $(Drive::$kind(drive) => drive.stats(),)*
                }
            }

            fn queue(&self) -> Option<QueueWork> {
                match self {
                    $(Drive::$kind(drive) => drive.queue(),)*
                }
            }

            fn fill(&mut self) -> u64 {
                match self {
                    $(Drive::$kind(drive) => Subject::fill(&mut **drive),)*
                }
            }
        }

        impl Device for Drive {
            fn info(&self) -> &DeviceInfo {
                match self {
                    $(Drive::$kind(drive) => drive.info(),)*
                }
            }

            fn now(&self) -> Time {
                match self {
                    $(Drive::$kind(drive) => drive.now(),)*
                }
            }

            fn submit(&mut self, request: Request) -> Result<(), Busy> {
                match self {
                    $(Drive::$kind(drive) => drive.submit(request),)*
                }
            }

            fn wait(&mut self, until: Time, done: &mut Vec<Completion>) {
                match self {
                    $(Drive::$kind(drive) => drive.wait(until, done),)*
                }
            }
        }
    };
}

kinds! {
    /// A solid state drive of the general engine.
    Ssd: fathom_ssd::Spec => fathom_ssd::Ssd,
    /// The solid state drive of the reference simulator.
    Disksim: fathom_disksim::Spec => fathom_disksim::MsSsd,
    /// A disk.
    Hdd: fathom_hdd::Spec => fathom_hdd::Hdd,
}

fn wrong_kind(found: String) -> SpecError {
    let one = |(name, summary): &(&str, &str)| format!("\"{name}\" ({summary})");
    let all: Vec<String> = KINDS.iter().map(one).collect();
    BadValue::new("kind", found, all.join(", ")).into()
}
