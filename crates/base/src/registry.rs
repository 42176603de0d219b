//! The registry of everything that has a name: one entry per thing, defined next to its code, and the macros that create
//! lists of them.
//!
//! The file of a thing defines its entry, an [`About`], as a constant. A list has one line per thing, with its name. From
//! the list the macros generate an enum with these names as they appear in files, and a constant of [`Named`] entries for
//! listing, explanation and search.

mod macros;
mod text;

pub use text::{BadName, find, parse, settings, table, table_of, value};

pub use toml::Table;

/// The common properties of all things of one kind.
#[derive(Debug, PartialEq, Eq)]
pub struct Kind {
    /// The word for one of them: `scheduler`.
    pub one: &'static str,
    /// The name of the list that contains them, as in `fathom list`: `schedulers`.
    pub list: &'static str,
    /// Summary of that list, in one line.
    pub summary: &'static str,
    /// Prefix of the name where names of other kinds are also possible, such as `generate:`; may be empty.
    pub prefix: &'static str,
    /// The command line option that takes one of them, such as `--sched`; may be empty.
    pub option: &'static str,
    /// The form of their texts.
    pub text: Text,
}

/// The form of the text of a thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Text {
    /// A few sentences, shown below name and summary.
    Prose,
    /// A Markdown page with its own title.
    Page,
    /// No text: the thing has a section under its name in this page of the documentation.
    Section(&'static str),
    /// A file that is printed unchanged.
    File,
    /// A drive file; the comments at its top explain it.
    DriveFile,
}

/// The description of a thing, without its name.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// Summary in one line.
    pub summary: &'static str,
    /// How it works, its source, its limits. [`Kind::text`] states the form.
    pub text: &'static str,
    /// The name with the required keys, as on the command line; empty if the name alone suffices.
    pub example: &'static str,
    /// Its settings.
    pub keys: &'static [Key],
    /// Keys that are sizes of a drive, each with the parameter of a profile that contains it.
    pub needs: &'static [(&'static str, &'static str)],
    /// Function that returns the default settings, if they do not follow from the example.
    pub settings: Option<fn() -> Table>,
}

impl About {
    /// Creates an entry with a summary only.
    pub const fn new(summary: &'static str) -> Self {
        Self {
            summary,
            text: "",
            example: "",
            keys: &[],
            needs: &[],
            settings: None,
        }
    }

    /// Adds the text.
    #[must_use]
    pub const fn text(self, text: &'static str) -> Self {
        Self { text, ..self }
    }

    /// Adds an example.
    #[must_use]
    pub const fn example(self, example: &'static str) -> Self {
        Self { example, ..self }
    }

    /// Adds the keys.
    #[must_use]
    pub const fn keys(self, keys: &'static [Key]) -> Self {
        Self { keys, ..self }
    }

    /// Adds the keys that are taken from a profile.
    #[must_use]
    pub const fn needs(self, needs: &'static [(&'static str, &'static str)]) -> Self {
        Self { needs, ..self }
    }

    /// Adds the default settings.
    #[must_use]
    pub const fn settings(self, settings: fn() -> Table) -> Self {
        Self {
            settings: Some(settings),
            ..self
        }
    }
}

/// A key of the settings of a thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// Its name in the structure.
    pub field: &'static str,
    /// True if files use `-` where the field has `_`.
    pub dashes: bool,
    /// Its meaning, with its unit.
    pub summary: &'static str,
}

impl Key {
    /// Returns the name of the key in files.
    pub fn name(&self) -> String {
        match self.dashes {
            true => self.field.replace('_', "-"),
            false => self.field.to_owned(),
        }
    }
}

/// The value of a key that is not given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unset {
    /// The default value.
    Value(String),
    /// None: the key is required, or comes from this parameter of a profile.
    Needed(Option<&'static str>),
    /// None, or a value that follows from other settings.
    Open,
}

/// A named entry of a list.
#[derive(Clone, Copy, Debug)]
pub struct Named {
    /// The kind of thing.
    pub kind: &'static Kind,
    /// Its name.
    pub name: &'static str,
    /// Its description.
    pub about: About,
}

impl Named {
    /// Creates an entry of that kind and name.
    pub const fn new(kind: &'static Kind, name: &'static str, about: About) -> Self {
        Self { kind, name, about }
    }

    /// Returns its name with the required keys.
    pub fn example(&self) -> &'static str {
        match self.about.example {
            "" => self.name,
            example => example,
        }
    }

    /// Returns its keys with their defaults.
    pub fn defaults(&self) -> Vec<(Key, Unset)> {
        let settings = self.about.settings.map(|settings| settings());
        let settings = settings.unwrap_or_default();
        let default = |key: &Key| {
            let name = key.name();
            if self.about.example.contains(&format!(",{name}=")) {
                let mut needs = self.about.needs.iter();
                let size = needs.find(|(key, _)| *key == name);
                return Unset::Needed(size.map(|(_, parameter)| *parameter));
            }
            settings.get(&name).map_or(Unset::Open, |value| {
                let text = value.as_str().map(str::to_owned);
                Unset::Value(text.unwrap_or_else(|| value.to_string()))
            })
        };
        let keys = self.about.keys.iter();
        keys.map(|key| (*key, default(key))).collect()
    }
}

/// Returns a copy of a list in which every thing gets `keys` without the first one, which holds the name. Also sets the
/// default settings, if given.
///
/// For a list that is defined below the structure with the keys.
pub const fn keyed<const N: usize>(
    list: &[Named],
    keys: &'static [Key],
    settings: Option<fn() -> Table>,
) -> [Named; N] {
    let mut all = [list[0]; N];
    let mut at = 0;
    while at < N {
        all[at] = list[at];
        all[at].about.keys = match keys {
            [_name, keys @ ..] => keys,
            [] => keys,
        };
        if settings.is_some() {
            all[at].about.settings = settings;
        }
        at += 1;
    }
    all
}

impl std::ops::Deref for Named {
    type Target = About;

    fn deref(&self) -> &About {
        &self.about
    }
}

impl PartialEq for Named {
    fn eq(&self, other: &Self) -> bool {
        (self.kind, self.name) == (other.kind, other.name)
    }
}

impl Eq for Named {}
