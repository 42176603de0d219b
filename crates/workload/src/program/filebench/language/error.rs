//! What can be wrong with a text in the workload model language.

/// An error in a text: where, and what.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct ModelError {
    /// The line, from 1.
    pub line: usize,
    /// The problem.
    pub problem: Problem,
}

/// A problem with a text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// A byte with which no word begins.
    #[error(
        "nothing begins with the byte {byte:#04x}; only comments and texts in quotes have others than ASCII"
    )]
    Byte {
        /// The byte.
        byte: u8,
    },
    /// A number that is too large or has an unknown suffix.
    #[error("`{found}` is no number: expected digits with k, m or g (powers of 1024), below 2^63")]
    Number {
        /// The text that was found.
        found: String,
    },
    /// A text without its closing quote.
    #[error("the text that begins here has no closing quote")]
    OpenText,
    /// Something else than the grammar has here.
    #[error("found {found}, expected {wanted}")]
    Syntax {
        /// The text that was found.
        found: String,
        /// What can stand here.
        wanted: String,
    },
    /// A name that the language does not have.
    #[error("there is no {what} `{name}`; known: {known}")]
    Unknown {
        /// The kind of name.
        what: &'static str,
        /// The name.
        name: String,
        /// The names there are.
        known: String,
    },
    /// A part of the language that is not supported here.
    #[error("filebench's `{name}` is not supported: {why}")]
    Refused {
        /// The name.
        name: String,
        /// The reason.
        why: &'static str,
    },
    /// An attribute that must be given.
    #[error("the {what} has no `{attribute}`")]
    Missing {
        /// The statement or operation.
        what: String,
        /// The attribute.
        attribute: &'static str,
    },
    /// A value that an attribute does not take.
    #[error("`{attribute}` is {found}, and it takes {takes}")]
    Value {
        /// The attribute or variable.
        attribute: String,
        /// The value that was found.
        found: String,
        /// The values that it takes.
        takes: String,
    },
    /// A name or an attribute that stands twice.
    #[error("`{name}` stands twice")]
    Twice {
        /// The name.
        name: String,
    },
    /// An operation that must fail, as filebench would find only when it performs it.
    #[error("`{flowop}` {what}")]
    Flow {
        /// The operation's name.
        flowop: String,
        /// What is wrong.
        what: String,
    },
    /// A text without a statement that it needs, or with one behind `run`.
    #[error("{what}")]
    Order {
        /// What is wrong.
        what: &'static str,
    },
}

impl Problem {
    /// Makes the error at a line.
    pub(super) fn at(self, line: usize) -> ModelError {
        let problem = self;
        ModelError { line, problem }
    }
}
