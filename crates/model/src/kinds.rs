//! The kinds of modelled drives: each kind is one file that implements [`Kind`], and one line in the list below.

mod disksim;
mod hdd;
mod ssd;

use fathom_base::{BadValue, Bytes, Named, SpecError, Time, drive_file};
use fathom_block::{
    Busy, Completion, Device, DeviceInfo, DriveLog, DriveStats, QueueWork, Request, Subject, Wear,
    Zone,
};
use serde::Deserialize;

/// The contents of a drive file of one kind.
trait Kind: Sized {
    /// Value of the `kind` key in the drive file.
    const NAME: &'static str;
    /// One-line description of what the kind models.
    const SUMMARY: &'static str;
    /// The drives of this kind that come with Fathom, in listing order.
    const PRESETS: &'static [&'static [Named]];
    /// The drive built from the file.
    type Drive: Modelled;

    /// Changes the capacity.
    fn resize(&mut self, size: Bytes) -> Result<(), SpecError>;

    /// True if a new drive holds no data: reads need no flash access, and writes invalidate nothing.
    const STARTS_EMPTY: bool = false;

    /// Returns the capacity of the write buffer, if the kind has one with a selectable policy.
    fn write_buffer(&self) -> Option<Bytes> {
        None
    }

    /// Returns true if drives of different seeds may differ. There is no default: each kind says so itself.
    fn depends_on_seed(&self) -> bool;

    /// Builds a new drive, as it leaves the factory.
    fn build(&self, seed: u64) -> Result<Self::Drive, SpecError>;
}

/// The abilities of a modelled drive beyond those of a device.
trait Modelled: Subject + Clone {
    /// Makes the drive store written data from now on, if its kind supports this.
    fn keep_data(self) -> Self {
        self
    }

    /// Returns the wear of its blocks, if the kind counts erases.
    fn wear(&self) -> Option<Wear> {
        None
    }
}

/// The `kind` key of a drive file.
#[derive(Deserialize)]
struct Head {
    kind: Option<String>,
}

/// Defines [`Model`] and [`Drive`] from one line per kind. `names!` does not fit: a kind has one type for its drive file
/// and one for its drive, and calls to a drive go to its type without dynamic dispatch.
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident: $spec:ty => $drive:ty,)*) => {
        /// The contents of a drive file of any kind. `Clone` is deep.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Model {
            $($(#[$doc])* $kind(Box<$spec>),)*
        }

        /// A modelled drive of any kind. `Clone` forks it with its complete state.
        #[derive(Clone, Debug)]
        pub enum Drive {
            $($(#[$doc])* $kind(Box<$drive>),)*
        }

        /// Evaluates an expression with the drive file or the drive of whichever kind a value has.
        macro_rules! each {
            ($of:ident, $value:expr, $inner:ident => $call:expr) => {
                match $value { $($of::$kind($inner) => $call,)* }
            };
        }

        /// Name and summary of each kind.
        const KINDS: &[(&str, &str)] = &[$((<$spec as Kind>::NAME, <$spec as Kind>::SUMMARY)),*];

        /// Iterates over all drives that come with Fathom, in listing order.
        pub fn catalog() -> impl Iterator<Item = &'static Named> {
            let lists = [$(<$spec as Kind>::PRESETS),*];
            lists.into_iter().flatten().copied().flatten()
        }

        impl Model {
            /// Reads a drive file, which states its kind as `kind = "..."`.
            ///
            /// # Errors
            /// Returns [`SpecError`] with the line or the key.
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

            /// Returns the text of the drive file with all defaults written out.
            pub fn to_toml(&self) -> String {
                each!(Model, self, spec => spec.to_toml())
            }

            /// Changes the capacity.
            ///
            /// # Errors
            /// Returns [`SpecError`] if the drive cannot have this capacity.
            pub fn resize(&mut self, size: Bytes) -> Result<(), SpecError> {
                each!(Model, self, spec => spec.resize(size))
            }

            /// Returns the capacity of the write buffer, if there is one with a selectable policy.
            pub fn write_buffer(&self) -> Option<Bytes> {
                each!(Model, self, spec => Kind::write_buffer(&**spec))
            }

            /// Returns true if a new drive holds no data: it answers reads without flash access, and writes invalidate
            /// nothing.
            pub fn starts_empty(&self) -> bool {
                match self {
                    $(Model::$kind(_) => <$spec as Kind>::STARTS_EMPTY,)*
                }
            }

            /// Returns true if drives of different seeds may differ. Otherwise [`Model::build`] gives the same drive for every
            /// seed, whatever it is asked to do later.
            pub fn depends_on_seed(&self) -> bool {
                each!(Model, self, spec => Kind::depends_on_seed(&**spec))
            }

            /// Builds a new drive, as it leaves the factory.
            ///
            /// # Errors
            /// Returns [`SpecError`] if no such drive can be built.
            pub fn build(&self, seed: u64) -> Result<Drive, SpecError> {
                Ok(match self {
                    $(Model::$kind(spec) => Drive::$kind(Box::new(spec.build(seed)?)),)*
                })
            }
        }

        impl Drive {
            /// Makes the drive store written data from now on, if its kind supports this. Only for a drive that was never
            /// written.
            pub fn keep_data(self) -> Self {
                match self {
                    $(Drive::$kind(drive) => Drive::$kind(Box::new(Modelled::keep_data(*drive))),)*
                }
            }

            /// Returns the wear of its blocks; `None` for a drive that does not count erases. O(blocks).
            pub fn wear(&self) -> Option<Wear> {
                each!(Drive, self, drive => drive.wear())
            }

            /// Returns the drive of its kind, so that a request need not look for the kind.
            pub fn of_kind(&mut self) -> &mut dyn Subject {
                each!(Drive, self, drive => &mut **drive)
            }
        }

        impl Subject for Drive {
            fn stats(&self) -> Option<DriveStats> {
                each!(Drive, self, drive => drive.stats())
            }

            fn queue(&self) -> Option<QueueWork> {
                each!(Drive, self, drive => drive.queue())
            }

            fn next_at(&mut self) -> Option<Time> {
                each!(Drive, self, drive => Subject::next_at(&mut **drive))
            }

            fn fill(&mut self) -> u64 {
                each!(Drive, self, drive => Subject::fill(&mut **drive))
            }
        }

        impl Device for Drive {
            fn info(&self) -> &DeviceInfo {
                each!(Drive, self, drive => drive.info())
            }

            fn now(&self) -> Time {
                each!(Drive, self, drive => drive.now())
            }

            fn submit(&mut self, request: Request) -> Result<(), Busy> {
                each!(Drive, self, drive => drive.submit(request))
            }

            fn wait(&mut self, until: Time, done: &mut Vec<Completion>) {
                each!(Drive, self, drive => drive.wait(until, done))
            }

            fn log(&mut self) -> Option<DriveLog> {
                each!(Drive, self, drive => drive.log())
            }

            fn zones(&mut self, from: u64, count: usize) -> Vec<Zone> {
                each!(Drive, self, drive => drive.zones(from, count))
            }
        }
    };
}

kinds! {
    /// A solid state drive, simulated by the general engine. It costs nothing to have no limits.
    Ssd: fathom_ssd::Spec => fathom_block::Limited<fathom_ssd::Ssd>,
    /// The solid state drive of the reference simulator.
    Disksim: fathom_disksim::Spec => fathom_disksim::MsSsd,
    /// A hard disk.
    Hdd: fathom_hdd::Spec => fathom_hdd::Hdd,
}

fn wrong_kind(found: String) -> SpecError {
    let one = |(name, summary): &(&str, &str)| format!("\"{name}\" ({summary})");
    let all: Vec<String> = KINDS.iter().map(one).collect();
    BadValue::new("kind", found, all.join(", ")).into()
}
