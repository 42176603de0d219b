//! The words of the workload model language, after filebench's `parser_lex.l`.
//!
//! Different from filebench: a variable may have a single letter, and a carriage return is white space. Escapes in texts
//! are kept as they are written.

use super::error::{ModelError, Problem};
use std::fmt;

/// Powers of 1024 that may follow a number.
const SUFFIXES: [(u8, u64); 3] = [(b'k', 1 << 10), (b'm', 1 << 20), (b'g', 1 << 30)];

/// Numbers are below this.
const NUMBER_END: u64 = 1 << 63;

/// A word with its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) line: usize,
    pub(super) word: Word,
}

/// A word of the language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// A keyword, a name, a path or parameters.
    Name(String),
    Number(u64),
    /// A text in quotes.
    Text(String),
    /// A variable, without `$` and brackets.
    Variable(String),
    /// One of `{ } ( ) = ,`.
    Mark(char),
    End,
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => write!(f, "`{name}`"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => write!(f, "\"{text}\""),
            Self::Variable(name) => write!(f, "`${name}`"),
            Self::Mark(mark) => write!(f, "`{mark}`"),
            Self::End => write!(f, "the end of the text"),
        }
    }
}

struct Lexer<'a> {
    text: &'a [u8],
    at: usize,
    line: usize,
}

/// Splits a text into words; the last one is [`Word::End`].
pub(super) fn words(text: &[u8]) -> Result<Vec<Token>, ModelError> {
    let mut lexer = Lexer {
        text,
        at: 0,
        line: 1,
    };
    let mut found = Vec::new();
    loop {
        lexer.skip();
        let line = lexer.line;
        let word = lexer.word().map_err(|problem| problem.at(line))?;
        let ends = word == Word::End;
        found.push(Token { line, word });
        if ends {
            return Ok(found);
        }
    }
}

impl Lexer<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// Takes the bytes as long as `belongs` holds.
    fn take(&mut self, belongs: impl Fn(u8) -> bool) -> String {
        let rest = &self.text[self.at..];
        let len = rest.iter().position(|&byte| !belongs(byte));
        let taken = &rest[..len.unwrap_or(rest.len())];
        self.at += taken.len();
        String::from_utf8_lossy(taken).into_owned()
    }

    /// Skips white space and comments.
    fn skip(&mut self) {
        while let Some(byte) = self.peek() {
            match byte {
                b'\n' => self.line += 1,
                b' ' | b'\t' | b'\r' => {}
                b'#' => {
                    self.take(|byte| byte != b'\n');
                    continue;
                }
                _ => return,
            }
            self.at += 1;
        }
    }

    fn word(&mut self) -> Result<Word, Problem> {
        let Some(byte) = self.peek() else {
            return Ok(Word::End);
        };
        match byte {
            b'{' | b'}' | b'(' | b')' | b'=' | b',' => {
                self.at += 1;
                Ok(Word::Mark(char::from(byte)))
            }
            b'"' => self.quoted(),
            b'$' => self.variable(),
            b'0'..=b'9' => self.number(),
            b'/' | b'-' => Ok(self.name()),
            _ if byte.is_ascii_alphabetic() => Ok(self.name()),
            byte => Err(Problem::Byte { byte }),
        }
    }

    fn name(&mut self) -> Word {
        Word::Name(self.take(|b| b.is_ascii_alphanumeric() || b"/._:;-".contains(&b)))
    }

    fn number(&mut self) -> Result<Word, Problem> {
        let found = self.take(|b| b.is_ascii_alphanumeric() || b == b'_');
        let (digits, unit) = SUFFIXES
            .iter()
            .find_map(|&(suffix, unit)| Some((found.strip_suffix(char::from(suffix))?, unit)))
            .unwrap_or((&found, 1));
        let number = digits.parse::<u64>().ok();
        match number.and_then(|n| n.checked_mul(unit)) {
            Some(number) if number < NUMBER_END => Ok(Word::Number(number)),
            _ => Err(Problem::Number { found }),
        }
    }

    fn variable(&mut self) -> Result<Word, Problem> {
        self.at += 1;
        let open = self.peek().filter(|byte| b"({".contains(byte));
        self.at += usize::from(open.is_some());
        let name = self.take(|b| b.is_ascii_alphanumeric() || b == b'_');
        let close = match open {
            Some(b'(') => Some(b')'),
            Some(_) => Some(b'}'),
            None => None,
        };
        let closed = close.is_none() || self.peek() == close;
        if !closed || !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            return Err(Problem::Syntax {
                found: format!("`${name}`"),
                wanted: "a variable: $NAME, ${NAME} or $(NAME)".into(),
            });
        }
        self.at += usize::from(close.is_some());
        Ok(Word::Variable(name))
    }

    fn quoted(&mut self) -> Result<Word, Problem> {
        self.at += 1;
        let from = self.at;
        loop {
            match self.peek() {
                None => return Err(Problem::OpenText),
                Some(b'"') => break,
                Some(byte) => {
                    self.at += usize::from(byte == b'\\');
                    self.line += usize::from(self.peek() == Some(b'\n'));
                }
            }
            self.at += 1;
        }
        let text = String::from_utf8_lossy(&self.text[from..self.at]).into_owned();
        self.at += 1;
        Ok(Word::Text(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<Word> {
        let tokens = words(text.as_bytes()).unwrap();
        tokens.into_iter().map(|token| token.word).collect()
    }

    #[test]
    fn words_are_told_apart() {
        let name = |name: &str| Word::Name(name.into());
        assert_eq!(
            of("set $dir=/tmp/a_1 # $x\n\"a \\\" b\",{16k}"),
            [
                name("set"),
                Word::Variable("dir".into()),
                Word::Mark('='),
                name("/tmp/a_1"),
                Word::Text("a \\\" b".into()),
                Word::Mark(','),
                Word::Mark('{'),
                Word::Number(16_384),
                Word::Mark('}'),
                Word::End
            ]
        );
        assert_eq!(of("mean:16384;gamma:1.5")[0], name("mean:16384;gamma:1.5"));
        assert_eq!(
            of("${a}$(b)")[..2],
            [Word::Variable("a".into()), Word::Variable("b".into())]
        );
    }

    #[test]
    fn hard_bytes_are_errors_with_their_line() {
        let error = |text: &[u8]| words(text).unwrap_err();
        assert_eq!(error(b"\n\xff").line, 2);
        assert_eq!(error(b"\n\xff").problem, Problem::Byte { byte: 0xff });
        assert_eq!(error(b"a\n\n\"b\n").problem, Problem::OpenText);
        assert_eq!(error(b"a\n\n\"b\n").line, 3);
        assert_eq!(error(b"\"a\\").problem, Problem::OpenText);
        // A line that ends in a text with a backslash ends, too.
        assert_eq!(error(b"echo \"a\\\nb\nc\"\n%").line, 4);
        for number in [
            "9223372036854775808",
            "99999999999999999999",
            "9007199254740992k",
            "16K",
            "1.5",
        ] {
            assert!(words(number.as_bytes()).is_err(), "{number}");
        }
        assert_eq!(of("9223372036854775807")[0], Word::Number(u64::MAX >> 1));
        for variable in ["$", "$1", "${a", "$(a}"] {
            assert!(words(variable.as_bytes()).is_err(), "{variable}");
        }
        // In comments and texts any byte may stand.
        assert!(words(b"# \xff\necho \"\xff\"").is_ok());
    }
}
