//! Arrays, and objects that are read as structs.

use serde::Deserialize;
use serde::de::{DeserializeSeed, IntoDeserializer, MapAccess, SeqAccess};

use super::{Problem, Reader, Result};

impl<'de> Reader<'de> {
    /// The string that comes next. Where it holds escapes, its characters are put into `space`.
    pub(super) fn string<'s>(&mut self, space: &'s mut String) -> Result<&'s str>
    where
        'de: 's,
    {
        if let Some(text) = self.cursor.eat_plain_string() {
            return Ok(text);
        }
        *space = self.json(|json| String::deserialize(json))?;
        Ok(space)
    }

    /// The key that comes next, behind a comma unless it is the first, or nothing at the end.
    fn key<'s>(&mut self, is_first: &mut bool, space: &'s mut String) -> Result<Option<&'s str>>
    where
        'de: 's,
    {
        if !self.follows(b'}', is_first)? {
            return Ok(None);
        }
        let key = self.string(space)?;
        self.require(b':')?;
        Ok(Some(key))
    }

    /// Whether a member or an item follows. All but the first are behind a comma.
    fn follows(&mut self, end: u8, is_first: &mut bool) -> Result<bool> {
        let mut next = self.cursor.peek();
        if next == end {
            return Ok(false);
        }
        if !std::mem::replace(is_first, false) {
            self.require(b',')?;
            next = self.cursor.peek();
        }
        match next == end || end == b'}' && next != b'"' {
            true => Err(Problem::unfit()),
            false => Ok(true),
        }
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
    type Error = Problem;

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
    type Error = Problem;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>> {
        if let Some(key) = self.reader.cursor.eat_plain_key(self.is_first) {
            self.is_first = false;
            return seed.deserialize(key.into_deserializer()).map(Some);
        }
        let mut space = String::new();
        match self.reader.key(&mut self.is_first, &mut space)? {
            Some(key) => seed.deserialize(key.into_deserializer()).map(Some),
            None => Ok(None),
        }
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value> {
        seed.deserialize(&mut *self.reader)
    }
}
