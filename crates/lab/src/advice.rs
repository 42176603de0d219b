//! Advice on steps and sizes, which are options of the command line or keys of a study file.

/// The place where the user writes what is advised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    /// Options of a command.
    CommandLine,
    /// Keys of a study file.
    StudyFile,
}

/// A step that is advised: its name, and the values of its keys.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Step {
    name: &'static str,
    keys: Vec<(&'static str, String)>,
}

impl Step {
    pub(crate) fn new(name: &'static str, keys: &[(&'static str, &dyn ToString)]) -> Self {
        let keys = keys.iter().map(|(key, value)| (*key, value.to_string()));
        Self {
            name,
            keys: keys.collect(),
        }
    }

    /// Returns the step as the user writes it.
    pub(crate) fn at(&self, written: Written) -> String {
        let keys = |pattern: fn(&str, &str) -> String| -> String {
            let keys = self.keys.iter();
            keys.map(|(key, value)| pattern(key, value)).collect()
        };
        match written {
            Written::CommandLine => {
                let keys = keys(|key, value| format!(",{key}={value}"));
                format!("--step {}{keys}", self.name)
            }
            Written::StudyFile => {
                let keys = keys(|key, value| format!(", {key} = \"{value}\""));
                format!("`{{ step = \"{}\"{keys} }}`", self.name)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_an_option_or_an_entry_of_a_file() {
        let step = Step::new("wrap", &[("capacity", &"1MiB")]);
        let option = step.at(Written::CommandLine);
        assert_eq!(option, "--step wrap,capacity=1MiB");
        let entry = step.at(Written::StudyFile);
        assert_eq!(entry, "`{ step = \"wrap\", capacity = \"1MiB\" }`");
    }
}
