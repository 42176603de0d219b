//! Reads the grammar of the workload model language, after filebench's `parser_gram.y`.

use super::error::{ModelError, Problem};
use super::lexer::{Token, Word, words};
use super::model::{
    Attribute, Given, Item, Model, Operation, Process, Run, Thread, Value, undefined,
};
use super::random::distribution;
use super::tables::{self, Place};
use super::workload::Quit;
use std::collections::BTreeMap;

struct Parser {
    words: Vec<Token>,
    at: usize,
    model: Model,
}

impl Model {
    /// Reads a text. Names and values are checked by [`Model::workload`].
    ///
    /// # Errors
    /// The first error, with its line.
    pub fn parse(text: &[u8]) -> Result<Self, ModelError> {
        let mut parser = Parser {
            words: words(text)?,
            at: 0,
            model: Self {
                variables: BTreeMap::new(),
                file_sets: Vec::new(),
                processes: Vec::new(),
                event_rate: None,
                run: None,
                quit: Quit::Timeout,
            },
        };
        while *parser.peek() != Word::End {
            parser.statement()?;
        }
        Ok(parser.model)
    }
}

impl Parser {
    fn peek(&self) -> &Word {
        self.words
            .get(self.at)
            .map_or(&Word::End, |token| &token.word)
    }

    /// The line of the next word.
    fn line(&self) -> usize {
        let token = self.words.get(self.at).or(self.words.last());
        token.map_or(1, |token| token.line)
    }

    fn next(&mut self) -> Word {
        let word = self.peek().clone();
        self.at += 1;
        word
    }

    /// The error for the next word.
    fn expected<T>(&self, wanted: impl Into<String>) -> Result<T, ModelError> {
        let found = self.peek().to_string();
        let wanted = wanted.into();
        Err(Problem::Syntax { found, wanted }.at(self.line()))
    }

    fn is_mark(&self, mark: char) -> bool {
        *self.peek() == Word::Mark(mark)
    }

    fn takes_mark(&mut self, mark: char) -> bool {
        let found = self.is_mark(mark);
        self.at += usize::from(found);
        found
    }

    fn mark(&mut self, mark: char) -> Result<(), ModelError> {
        match self.takes_mark(mark) {
            true => Ok(()),
            false => self.expected(format!("`{mark}`")),
        }
    }

    fn name(&mut self, wanted: &str) -> Result<String, ModelError> {
        match self.peek() {
            Word::Name(name) => {
                let name = name.clone();
                self.at += 1;
                Ok(name)
            }
            _ => self.expected(wanted),
        }
    }

    fn is_name(&self, name: &str) -> bool {
        matches!(self.peek(), Word::Name(found) if found == name)
    }

    fn statement(&mut self) -> Result<(), ModelError> {
        let line = self.line();
        if self.model.run.is_some() {
            let what = "nothing may follow `run`: filebench ends there";
            return Err(Problem::Order { what }.at(line));
        }
        let name = self.name("a statement")?;
        tables::statement(&name).map_err(|problem| problem.at(line))?;
        match name.as_str() {
            "set" => self.set(),
            "define" => self.define(line),
            "eventgen" => {
                let attributes = self.attributes(Place::EventGenerator)?;
                self.model.event_rate = attributes.into_iter().next();
                Ok(())
            }
            "run" => self.run(line),
            "echo" => match self.next() {
                Word::Text(_) => Ok(()),
                _ => self.wanted_before("a text in quotes"),
            },
            "debug" => match self.next() {
                Word::Number(_) => Ok(()),
                _ => self.wanted_before("a number"),
            },
            _ => match self.name("`files`")?.as_str() {
                "files" | "fileset" | "filesets" => Ok(()),
                _ => self.wanted_before("`files`"),
            },
        }
    }

    /// The error for the word that was taken last.
    fn wanted_before<T>(&mut self, wanted: &str) -> Result<T, ModelError> {
        self.at -= 1;
        self.expected(wanted)
    }

    fn set(&mut self) -> Result<(), ModelError> {
        if self.is_name("mode") {
            self.at += 1;
            return self.mode();
        }
        let Word::Variable(variable) = self.next() else {
            return self.wanted_before("a variable, or `mode`");
        };
        self.mark('=')?;
        let line = self.line();
        let value = match self.next() {
            Word::Number(number) => Value::Number(number),
            Word::Text(text) => Value::Text(text),
            Word::Name(name) if name == "cvar" && self.is_mark('(') => self.random(line)?,
            Word::Name(name) if name == "randvar" && self.is_mark('(') => {
                let why = "use cvar(...), which is the newer form";
                return Err(Problem::Refused { name, why }.at(line));
            }
            Word::Name(name) => plain(name),
            _ => {
                let wanted = "a number, true, false, a text or cvar(...): variables are not set to variables";
                return self.wanted_before(wanted);
            }
        };
        self.model.variables.insert(variable, value);
        Ok(())
    }

    fn mode(&mut self) -> Result<(), ModelError> {
        if self.is_name("nousestats") {
            self.at += 1;
            return Ok(());
        }
        let modes = "`quit` with `timeout`, `alldone` or `firstdone`, or `nousestats`";
        if !self.is_name("quit") {
            return self.expected(modes);
        }
        self.at += 1;
        self.model.quit = match self.name(modes)?.as_str() {
            "timeout" => Quit::Timeout,
            "alldone" => Quit::AllDone,
            "firstdone" => Quit::FirstDone,
            _ => return self.wanted_before(modes),
        };
        Ok(())
    }

    /// Reads the brackets of a `cvar`.
    fn random(&mut self, line: usize) -> Result<Value, ModelError> {
        self.mark('(')?;
        let mut keys = Vec::new();
        loop {
            let key = self.name("a key of cvar")?;
            self.mark('=')?;
            let value = match self.next() {
                Word::Number(number) => Value::Number(number),
                Word::Name(text) | Word::Text(text) => Value::Text(text),
                _ => return self.wanted_before("a number or a text"),
            };
            keys.push((key, value));
            if !self.takes_mark(',') {
                break;
            }
        }
        self.mark(')')?;
        let random = distribution(&keys).map_err(|problem| problem.at(line))?;
        Ok(Value::Random(random))
    }

    fn define(&mut self, line: usize) -> Result<(), ModelError> {
        let wanted = "`fileset`, `file` or `process`";
        match self.name(wanted)?.as_str() {
            "fileset" | "filesets" => {
                let item = self.item(Place::FileSet, line)?;
                self.model.file_sets.push(item);
            }
            "file" => {
                let item = self.item(Place::File, line)?;
                self.model.file_sets.push(item);
            }
            "process" | "processes" => {
                let item = self.item(Place::Process, line)?;
                let threads = self.block("thread", Self::thread)?;
                self.model.processes.push(Process { item, threads });
            }
            "flowop" => {
                let name = "define flowop".into();
                let why = "write its operations where it is used";
                return Err(Problem::Refused { name, why }.at(line));
            }
            _ => return self.wanted_before(wanted),
        }
        Ok(())
    }

    fn thread(&mut self, line: usize) -> Result<Thread, ModelError> {
        let item = self.item(Place::Thread, line)?;
        let flowops = self.block("flowop", Self::flowop)?;
        Ok(Thread { item, flowops })
    }

    fn flowop(&mut self, line: usize) -> Result<Operation, ModelError> {
        let name = self.name("the name of a flowop")?;
        let kind = tables::flowop(&name).map_err(|problem| problem.at(line))?;
        let item = self.item(Place::Flowop, line)?;
        Ok(Operation { kind, item })
    }

    /// Reads `{ KEYWORD ... KEYWORD ... }`, with at least one.
    fn block<T>(
        &mut self,
        keyword: &str,
        mut read: impl FnMut(&mut Self, usize) -> Result<T, ModelError>,
    ) -> Result<Vec<T>, ModelError> {
        self.mark('{')?;
        let mut all = Vec::new();
        while all.is_empty() || !self.is_mark('}') {
            let line = self.line();
            if !self.is_name(keyword) {
                return self.expected(match all.is_empty() {
                    true => format!("`{keyword}`"),
                    false => format!("`,`, `{keyword}` or `}}`"),
                });
            }
            self.at += 1;
            all.push(read(self, line)?);
        }
        self.mark('}')?;
        Ok(all)
    }

    fn item(&mut self, place: Place, line: usize) -> Result<Item, ModelError> {
        let attributes = self.attributes(place)?;
        Ok(Item {
            line,
            place,
            attributes,
        })
    }

    fn attributes(&mut self, place: Place) -> Result<Vec<Attribute>, ModelError> {
        let mut all: Vec<Attribute> = Vec::new();
        loop {
            let line = self.line();
            let wanted = format!("an attribute of the {}", place.name());
            let found = self.name(&wanted)?;
            let known = tables::attribute(place, &found).map_err(|problem| problem.at(line))?;
            let name = known.name;
            if all.iter().any(|other| other.name == name) {
                return Err(Problem::Twice { name: found }.at(line));
            }
            let given = match self.takes_mark('=') {
                true => Some(self.given()?),
                false => None,
            };
            all.push(Attribute { line, name, given });
            if !self.takes_mark(',') {
                return Ok(all);
            }
        }
    }

    fn given(&mut self) -> Result<Given, ModelError> {
        let line = self.line();
        let value = match self.next() {
            Word::Number(number) => Value::Number(number),
            Word::Text(text) => Value::Text(text),
            Word::Name(name) => plain(name),
            Word::Variable(name) => {
                self.is_set(&name).map_err(|problem| problem.at(line))?;
                return Ok(Given::Variable(name));
            }
            _ => return self.wanted_before("a number, a text or a variable"),
        };
        Ok(Given::Value(value))
    }

    fn is_set(&self, name: &str) -> Result<(), Problem> {
        match self.model.variables.contains_key(name) {
            true => Ok(()),
            false => Err(undefined(name, self.model.known())),
        }
    }

    fn run(&mut self, line: usize) -> Result<(), ModelError> {
        let seconds = match self.peek() {
            Word::Number(_) | Word::Variable(_) => Some(self.given()?),
            _ => None,
        };
        self.model.run = Some(Run { line, seconds });
        Ok(())
    }
}

/// A word without quotes as a value.
fn plain(name: String) -> Value {
    match name.as_str() {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        _ => Value::Text(name),
    }
}
