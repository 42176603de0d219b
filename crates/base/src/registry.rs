//! Everything that has a name: one entry for each, made where the thing is, and the macros that make lists of them.
//!
//! A thing's file has its entry, an [`About`], as a constant. A list has a line for each thing, with its name. From the list
//! come an enum with these names, as files say them, and a constant of [`Named`] that is listed, explained and
//! searched.

mod macros;
mod text;

pub use text::{BadName, find, parse, settings, table, table_of, value};

pub use toml::Table;

/// What things of one kind have in common.
#[derive(Debug, PartialEq, Eq)]
pub struct Kind {
    /// What one is called: `scheduler`.
    pub one: &'static str,
    /// The list that has it, as `fathom list` names it: `schedulers`.
    pub list: &'static str,
    /// What that list has, in one line.
    pub summary: &'static str,
    /// What stands before a name where other kinds of names may stand too, such as `generate:`; may be empty.
    pub prefix: &'static str,
    /// The option of the command that takes one, such as `--sched`; may be empty.
    pub option: &'static str,
    /// What the text of each is.
    pub text: Text,
}

/// What the text of a thing is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Text {
    /// Some sentences, shown below name and summary.
    Prose,
    /// A page in Markdown with a title of its own.
    Page,
    /// Nothing: it has a section under its name in this page of the documentation.
    Section(&'static str),
    /// A file that is printed as it is.
    File,
    /// A drive file, whose comments at the top explain it.
    DriveFile,
}

/// What is said of a thing besides its name.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// What it is, in one line.
    pub summary: &'static str,
    /// How it works, where it comes from, what it does not do; [`Kind::text`] says what it is.
    pub text: &'static str,
    /// Its name with the keys that it needs, as the command line takes it; empty where that is its name alone.
    pub example: &'static str,
    /// What can be set.
    pub keys: &'static [Key],
    /// Keys that are sizes of a drive, each with the parameter of a profile that has it.
    pub needs: &'static [(&'static str, &'static str)],
    /// The values of the keys where nothing is said, if they do not follow from the example.
    pub settings: Option<fn() -> Table>,
}

impl About {
    /// A thing with nothing but a summary.
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

    /// With its text.
    #[must_use]
    pub const fn text(self, text: &'static str) -> Self {
        Self { text, ..self }
    }

    /// With an example.
    #[must_use]
    pub const fn example(self, example: &'static str) -> Self {
        Self { example, ..self }
    }

    /// With its keys.
    #[must_use]
    pub const fn keys(self, keys: &'static [Key]) -> Self {
        Self { keys, ..self }
    }

    /// With what it needs of a profile.
    #[must_use]
    pub const fn needs(self, needs: &'static [(&'static str, &'static str)]) -> Self {
        Self { needs, ..self }
    }

    /// With the values of its keys.
    #[must_use]
    pub const fn settings(self, settings: fn() -> Table) -> Self {
        Self {
            settings: Some(settings),
            ..self
        }
    }
}

/// A key of a thing's settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// The field of the structure.
    pub field: &'static str,
    /// Whether files have `-` where the field has `_`.
    pub dashes: bool,
    /// What it is, with its unit.
    pub summary: &'static str,
}

impl Key {
    /// As files have it.
    pub fn name(&self) -> String {
        match self.dashes {
            true => self.field.replace('_', "-"),
            false => self.field.to_owned(),
        }
    }
}

/// What a key is where nothing is said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unset {
    /// This value.
    Value(String),
    /// It has to be given, or comes from this parameter of a profile.
    Needed(Option<&'static str>),
    /// Nothing, or what follows from something else.
    Open,
}

/// A thing with a name.
#[derive(Clone, Copy, Debug)]
pub struct Named {
    /// What it is one of.
    pub kind: &'static Kind,
    /// What it is called.
    pub name: &'static str,
    /// What is said of it.
    pub about: About,
}

impl Named {
    /// A thing of that kind and name.
    pub const fn new(kind: &'static Kind, name: &'static str, about: About) -> Self {
        Self { kind, name, about }
    }

    /// Its name with the keys that it needs.
    pub fn example(&self) -> &'static str {
        match self.about.example {
            "" => self.name,
            example => example,
        }
    }

    /// Its keys with what they are where nothing is said.
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

/// A list whose things all have the same keys besides the first, which names them; and settings, unless they have their own.
///
/// For a list that stands below the structure that has the keys.
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
