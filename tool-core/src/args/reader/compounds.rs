//! Arrays, and objects that are read as structs.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::value::CowStrDeserializer;
use serde::de::{DeserializeSeed, IntoDeserializer, MapAccess, SeqAccess};
use serde_json::{Error, Result};

use super::{Reader, malformed};

impl<'de> Reader<'de> {
    /// The string that comes next.
    pub(super) fn string(&mut self) -> Result<Cow<'de, str>> {
        if let Some(text) = self.cursor.eat_plain_string() {
            return Ok(Cow::Borrowed(text));
        }
        self.json(|json| String::deserialize(json)).map(Cow::Owned)
    }

    /// The same, as what chooses a field or a variant.
    pub(super) fn text(&mut self) -> Result<CowStrDeserializer<'de, Error>> {
        self.string().map(IntoDeserializer::into_deserializer)
    }

    /// Whether a member or an item follows. All but the first are behind a comma.
    fn follows(&mut self, end: u8, is_first: &mut bool) -> Result<bool> {
        if self.cursor.peek() == end {
            return Ok(false);
        }
        if !std::mem::replace(is_first, false) {
            self.require(b',')?;
            if self.cursor.peek() == end {
                return Err(malformed());
            }
        }
        Ok(true)
    }
}

/// The items of an array.
pub(super) struct Items<'r, 'de> {
    reader: &'r mut Reader<'de>,
    is_first: bool,
}

impl<'r, 'de> Items<'r, 'de> {
    pub(super) fn of(reader: &'r mut Reader<'de>) -> Self {
        Items {
            reader,
            is_first: true,
        }
    }
}

impl<'de> SeqAccess<'de> for Items<'_, 'de> {
    type Error = Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>> {
        match self.reader.follows(b']', &mut self.is_first)? {
            true => seed.deserialize(&mut *self.reader).map(Some),
            false => Ok(None),
        }
    }
}

/// The members of an object that is read as a struct.
pub(super) struct Members<'r, 'de> {
    reader: &'r mut Reader<'de>,
    is_first: bool,
}

impl<'r, 'de> Members<'r, 'de> {
    pub(super) fn of(reader: &'r mut Reader<'de>) -> Self {
        Members {
            reader,
            is_first: true,
        }
    }
}

impl<'de> MapAccess<'de> for Members<'_, 'de> {
    type Error = Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>> {
        if !self.reader.follows(b'}', &mut self.is_first)? {
            return Ok(None);
        }
        if self.reader.cursor.peek() != b'"' {
            return Err(malformed());
        }
        let key = seed.deserialize(self.reader.text()?)?;
        self.reader.require(b':')?;
        Ok(Some(key))
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value> {
        seed.deserialize(&mut *self.reader)
    }
}
