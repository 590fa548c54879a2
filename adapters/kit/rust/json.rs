//! Just enough JSON for the protocol. Replace it by a library, if you have one.

use std::collections::BTreeMap;
use std::fmt::{Display, Formatter, Result as Written};
use std::iter::Peekable;
use std::ops::Index;
use std::str::Chars;

#[derive(Clone, Debug)]
pub enum Json {
    Null,
    Bool(bool),
    Integer(i64),
    Fraction(f64),
    Text(String),
    List(Vec<Json>),
    Object(BTreeMap<String, Json>),
}

/// Read one value, which is all of the text.
pub fn read(text: &str) -> Result<Json, String> {
    let mut reader = Reader {
        chars: text.chars().peekable(),
    };
    let value = reader.value()?;
    reader.space();
    match reader.chars.next() {
        None => Ok(value),
        Some(more) => Err(format!("{more:?} behind the end of a JSON value")),
    }
}

/// An object with these fields.
pub fn object<const N: usize>(fields: [(&str, Json); N]) -> Json {
    Json::Object(fields.map(|(name, value)| (name.to_string(), value)).into())
}

/// A request with the wrong type of value is a mistake of the suite: the adapter ends, and stderr says why.
impl Json {
    pub fn integer(&self) -> i64 {
        match self {
            Json::Integer(integer) => *integer,
            other => panic!("{other} is no integer"),
        }
    }

    pub fn text(&self) -> &str {
        match self {
            Json::Text(text) => text,
            other => panic!("{other} is no string"),
        }
    }

    pub fn list(&self) -> &[Json] {
        match self {
            Json::List(items) => items,
            other => panic!("{other} is no list"),
        }
    }

    pub fn fields(&self) -> &BTreeMap<String, Json> {
        match self {
            Json::Object(fields) => fields,
            other => panic!("{other} is no object"),
        }
    }
}

/// `json["field"]`, which is null if there is no such field.
impl Index<&str> for Json {
    type Output = Json;

    fn index(&self, name: &str) -> &Json {
        self.fields().get(name).unwrap_or(&Json::Null)
    }
}

impl From<bool> for Json {
    fn from(value: bool) -> Json {
        Json::Bool(value)
    }
}

impl From<usize> for Json {
    fn from(count: usize) -> Json {
        Json::Integer(count as i64)
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Json {
        Json::Text(text.to_string())
    }
}

/// All on one line, because a line is a message.
impl Display for Json {
    fn fmt(&self, out: &mut Formatter) -> Written {
        match self {
            Json::Null => write!(out, "null"),
            Json::Bool(value) => write!(out, "{value}"),
            Json::Integer(integer) => write!(out, "{integer}"),
            Json::Fraction(fraction) => write!(out, "{fraction:?}"),
            Json::Text(text) => write_text(text, out),
            Json::List(items) => {
                let mut before = "";
                write!(out, "[")?;
                for item in items {
                    write!(out, "{before}{item}")?;
                    before = ", ";
                }
                write!(out, "]")
            }
            Json::Object(fields) => {
                let mut before = "";
                write!(out, "{{")?;
                for (name, value) in fields {
                    write!(out, "{before}")?;
                    write_text(name, out)?;
                    write!(out, ": {value}")?;
                    before = ", ";
                }
                write!(out, "}}")
            }
        }
    }
}

fn write_text(text: &str, out: &mut Formatter) -> Written {
    write!(out, "\"")?;
    for c in text.chars() {
        match c {
            '"' | '\\' => write!(out, "\\{c}")?,
            '\0'..='\x1f' => write!(out, "\\u{:04x}", c as u32)?,
            _ => write!(out, "{c}")?,
        }
    }
    write!(out, "\"")
}

struct Reader<'a> {
    chars: Peekable<Chars<'a>>,
}

impl Reader<'_> {
    fn value(&mut self) -> Result<Json, String> {
        self.space();
        match self.chars.peek() {
            Some('{') => self.object(),
            Some('[') => self.list(),
            Some('"') => Ok(Json::Text(self.text()?)),
            Some('a'..='z') => self.word(),
            _ => self.number(),
        }
    }

    fn object(&mut self) -> Result<Json, String> {
        let mut fields = BTreeMap::new();
        let mut more = self.opens('{', '}')?;
        while more {
            self.space();
            let name = self.text()?;
            self.space();
            self.take(':')?;
            fields.insert(name, self.value()?);
            more = self.goes_on('}')?;
        }
        Ok(Json::Object(fields))
    }

    fn list(&mut self) -> Result<Json, String> {
        let mut items = Vec::new();
        let mut more = self.opens('[', ']')?;
        while more {
            items.push(self.value()?);
            more = self.goes_on(']')?;
        }
        Ok(Json::List(items))
    }

    /// The begin of a list or an object; whether there is anything in it.
    fn opens(&mut self, begin: char, end: char) -> Result<bool, String> {
        self.take(begin)?;
        self.space();
        Ok(self.chars.next_if_eq(&end).is_none())
    }

    /// What is behind an item: whether there is another one.
    fn goes_on(&mut self, end: char) -> Result<bool, String> {
        self.space();
        if self.chars.next_if_eq(&end).is_some() {
            return Ok(false);
        }
        self.take(',')?;
        Ok(true)
    }

    /// The text is put together in UTF-16, because that is what escapes are: two of them can be one character.
    fn text(&mut self) -> Result<String, String> {
        let mut units = Vec::new();
        self.take('"')?;
        loop {
            match self.next()? {
                '"' => return String::from_utf16(&units).map_err(|error| error.to_string()),
                '\\' => units.push(self.escape()?),
                c => units.extend_from_slice(c.encode_utf16(&mut [0; 2])),
            }
        }
    }

    fn escape(&mut self) -> Result<u16, String> {
        let c = match self.next()? {
            'b' => '\x08',
            'f' => '\x0c',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => return self.unit(),
            c @ ('"' | '\\' | '/') => c,
            c => return Err(format!("\\{c} is no escape of JSON")),
        };
        Ok(c as u16)
    }

    fn unit(&mut self) -> Result<u16, String> {
        let mut unit = 0;
        for _ in 0..4 {
            let c = self.next()?;
            let digit = c
                .to_digit(16)
                .ok_or_else(|| format!("{c:?} is no hexadecimal digit"))?;
            unit = 16 * unit + digit as u16;
        }
        Ok(unit)
    }

    fn word(&mut self) -> Result<Json, String> {
        match self.take_while(|c| c.is_ascii_lowercase()).as_str() {
            "null" => Ok(Json::Null),
            "true" => Ok(Json::Bool(true)),
            "false" => Ok(Json::Bool(false)),
            other => Err(format!("{other} is no JSON")),
        }
    }

    /// An integer, or else a fraction, as the `seconds` of a run can be one.
    fn number(&mut self) -> Result<Json, String> {
        let digits = self.take_while(|c| matches!(c, '+' | '-' | '.' | 'e' | 'E' | '0'..='9'));
        match (digits.parse(), digits.parse()) {
            (Ok(integer), _) => Ok(Json::Integer(integer)),
            (_, Ok(fraction)) => Ok(Json::Fraction(fraction)),
            _ => Err(format!("{digits:?} is no JSON")),
        }
    }

    fn take_while(&mut self, is_part: impl Fn(char) -> bool) -> String {
        let mut taken = String::new();
        while let Some(c) = self.chars.next_if(|&c| is_part(c)) {
            taken.push(c);
        }
        taken
    }

    fn space(&mut self) {
        self.take_while(|c| matches!(c, ' ' | '\t' | '\r' | '\n'));
    }

    fn take(&mut self, wanted: char) -> Result<(), String> {
        match self.next()? {
            c if c == wanted => Ok(()),
            c => Err(format!("{c:?} where {wanted:?} is expected")),
        }
    }

    fn next(&mut self) -> Result<char, String> {
        self.chars
            .next()
            .ok_or_else(|| "the end of the line within a JSON value".to_string())
    }
}
