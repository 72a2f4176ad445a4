//! Enums, as `#[derive(ToolType)]` decodes them.
//!
//! The derive numbers variants in the order of the schema: the unit variants of an externally tagged
//! enum come first.

use std::borrow::Cow;

use super::Decode;
use super::reader::{ReadError, Reader, Result, Tag};
use super::structure::Fields;
use crate::schema::cursor::Cursor;
use crate::schema::{Kind, Property, Schema};

/// The chosen variant of an enum. The reader is before its content.
#[derive(Clone, Copy)]
pub struct Variant<'de> {
    /// Its number.
    pub number: usize,
    schema: &'static Schema,
    /// `true` if the type of the content is as exact as its schema.
    is_exact: bool,
    /// The syntax after the content.
    end: End<'de>,
}

#[derive(Clone, Copy)]
enum End<'de> {
    /// Nothing that belongs to the enum.
    Nothing,
    /// The end of the object around it, maybe after tags.
    Brace,
    /// The position after members that were read before: the end of the content and the end of the object.
    Jump(Cursor<'de>, Cursor<'de>),
}

impl<'de> Variant<'de> {
    /// A variant with content that `schema` describes, or one without content.
    fn new(number: usize, schema: &'static Schema) -> Self {
        Variant {
            number,
            schema,
            is_exact: true,
            end: End::Nothing,
        }
    }

    /// A variant whose content is a member of an object.
    fn of_member(number: usize, member: &'static Property, end: End<'de>) -> Self {
        Variant {
            number,
            schema: member.schema,
            is_exact: member.is_exact(),
            end,
        }
    }
}

/// Returns the schemas of the variants.
fn branches(schema: &'static Schema) -> impl Iterator<Item = &'static Schema> {
    let (only, several): (_, &'static [&'static Schema]) = match schema.kind {
        Kind::AnyOf(schemas) => (None, schemas),
        _ => (Some(schema), &[]),
    };
    only.into_iter().chain(several.iter().copied())
}

/// Returns the variant with a tag: its number, and the schema and the properties of the object.
fn tagged(
    schema: &'static Schema,
    tag: &str,
    name: &str,
) -> Result<(usize, &'static Schema, &'static [Property])> {
    let (mut number, mut last, mut other) = (0, None, None);
    for branch in branches(schema) {
        let properties = branch.properties();
        let mut tags = properties.iter().filter(|property| property.name() == tag);
        let Some(Kind::Enum(strings)) = tags.next().map(|property| property.schema.kind) else {
            continue;
        };
        // A variant whose type has several forms has as many schemas.
        number += usize::from(last.is_some_and(|last| last != strings.values));
        last = Some(strings.values);
        let found = (number, branch, properties);
        match strings.number_of(name) {
            Some(_) if strings.contains(name) => return Ok(found),
            Some(_) => other = Some(found),
            None => {}
        }
    }
    other.ok_or_else(ReadError::mismatch)
}

impl<'de> Reader<'de> {
    /// Reads a value of an externally tagged enum whose variants hold nothing: the number of the variant.
    pub fn unit(&mut self, schema: &'static Schema) -> Result<usize> {
        if let Kind::Enum(strings) = &schema.kind
            && self.cursor.peek() == b'"'
            && self.tags.is_empty()
        {
            let mut names = strings.values.iter();
            let number =
                names.position(|name| name.is_plain() && self.cursor.eat_string(name.as_str()));
            if let Some(number) = number {
                return Ok(number);
            }
        }
        self.external(schema).map(|variant| variant.number)
    }

    /// Reads the variant of an externally tagged enum.
    pub fn external(&mut self, schema: &'static Schema) -> Result<Variant<'de>> {
        let is_string = match self.cursor.peek() {
            b'"' => self.tags.is_empty(),
            b'{' => false,
            _ => return Err(ReadError::mismatch()),
        };
        let name = if is_string {
            self.string()?
        } else {
            let mut is_first = self.open_around()?;
            self.key_around(&mut is_first)?
                .ok_or_else(ReadError::mismatch)?
        };
        // Beside a tag, a unit variant is a key, too.
        let is_unit = is_string || self.is_beside_tags();
        let mut number = 0;
        for branch in branches(schema) {
            match branch.kind {
                Kind::Enum(strings) => {
                    if let Some(found) = strings.number_of(&name).filter(|_| is_unit) {
                        if !is_string {
                            self.wrapped(branch, true, |()| ())?;
                            self.end(End::Brace)?;
                        }
                        return Ok(Variant::new(found, branch));
                    }
                    number = strings.variants();
                }
                Kind::Object([content]) => {
                    if !is_string && content.has_name(&name) {
                        return Ok(Variant::of_member(number, content, End::Brace));
                    }
                    number += 1;
                }
                _ => {}
            }
        }
        Err(ReadError::mismatch())
    }

    /// Reads the tag of an internally tagged enum, and goes back to the start of the object.
    pub fn internal(&mut self, schema: &'static Schema, tag: &str) -> Result<Variant<'de>> {
        self.cursor.peek();
        let start = self.cursor;
        self.require(b'{')?;
        let mut is_first = true;
        while let Some(key) = self.key(&mut is_first, &mut [])? {
            if key == tag {
                let name = self.tag()?;
                let (number, branch, _) = tagged(schema, tag, &name)?;
                self.cursor = start;
                return Ok(Variant::new(number, branch));
            }
            self.cursor.value();
        }
        Err(ReadError::mismatch())
    }

    /// Reads the tag of an adjacently tagged enum, and moves to the content if there is some.
    pub fn adjacent(&mut self, schema: &'static Schema, tag: &str) -> Result<Variant<'de>> {
        let mut is_first = self.open_around()?;
        let (mut found, mut content) = (None, None);
        while let Some(key) = self.key_around(&mut is_first)? {
            if key == tag && found.is_none() {
                let name = self.tag()?;
                found = Some(tagged(schema, tag, &name)?);
                continue;
            }
            if key == tag || content.is_some() {
                return Err(ReadError::mismatch());
            }
            if let Some((number, _, [_, member])) = found
                && member.is_required()
                && member.has_name(&key)
            {
                return Ok(Variant::of_member(number, member, End::Brace));
            }
            self.cursor.peek();
            let start = self.cursor;
            self.cursor.value();
            content = Some((key, start));
        }
        let object = self.cursor;
        let (number, branch, properties) = found.ok_or_else(ReadError::mismatch)?;
        match (properties, content) {
            ([_, member], Some((key, start))) if member.has_name(&key) => {
                // The content came first.
                self.cursor = start;
                self.cursor.value();
                let end = End::Jump(std::mem::replace(&mut self.cursor, start), object);
                if member.is_required() {
                    return Ok(Variant::of_member(number, member, end));
                }
                // A variant whose only field is skipped may have `null`.
                self.wrapped(member.schema, true, |()| ())?;
                self.end(end)?;
            }
            ([_, member], None) if member.is_required() => return Err(ReadError::mismatch()),
            (properties, None) => {
                // Its normalised form has `null`.
                self.is_normal &= properties.len() < 2;
                self.end(End::Brace)?;
            }
            _ => return Err(ReadError::mismatch()),
        }
        Ok(Variant::new(number, branch))
    }

    /// Reads the value of a tag.
    fn tag(&mut self) -> Result<Cow<'de, str>> {
        match self.cursor.peek() {
            b'"' => self.string(),
            _ => Err(ReadError::mismatch()),
        }
    }

    /// Reads the content of a variant as one value.
    #[inline]
    pub fn content<V: Decode<'de>, T>(
        &mut self,
        variant: Variant<'de>,
        build: impl FnOnce(V) -> T,
    ) -> Result<T> {
        let value = self.wrapped(variant.schema, variant.is_exact, build);
        self.ended(variant, value)
    }

    /// Reads the content of a variant with named fields.
    #[inline]
    pub fn fields<F: Fields<'de>, T>(
        &mut self,
        variant: Variant<'de>,
        build: impl FnOnce(F) -> T,
    ) -> Result<T> {
        let value = self.structure(variant.schema, build);
        self.ended(variant, value)
    }

    /// Reads what a variant of an internally tagged enum holds, beside its tag.
    pub fn beside<V: Decode<'de>, T>(
        &mut self,
        schema: &'static Schema,
        is_exact: bool,
        tag: &'static str,
        build: impl FnOnce(V) -> T,
    ) -> Result<T> {
        let decode = |reader: &mut Self| {
            reader.tags.push(Tag {
                key: tag,
                is_seen: false,
            });
            V::decode(reader)
        };
        self.checked(schema, is_exact, decode).map(build)
    }

    /// Reads what follows the content of a variant.
    #[inline]
    fn ended<T>(&mut self, variant: Variant<'de>, value: Result<T>) -> Result<T> {
        if value.is_ok()
            && let Err(error) = self.end(variant.end)
        {
            return Err(error);
        }
        value
    }

    fn end(&mut self, end: End<'de>) -> Result<()> {
        match end {
            End::Nothing => Ok(()),
            End::Brace => self.close_around(),
            End::Jump(content, object) => {
                if self.cursor.position() != content.position() {
                    return Err(ReadError::mismatch());
                }
                self.cursor = object;
                self.close_around()
            }
        }
    }
}
