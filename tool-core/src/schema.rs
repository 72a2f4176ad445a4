//! The schema tree: what a type accepts, as constant data.
//!
//! A [`Schema`] is written by `#[tool]` and `#[derive(ToolType)]`, composed through
//! [`ToolType::SCHEMA`](crate::ToolType::SCHEMA), rendered to JSON text while compiling
//! and walked to judge a model's arguments. One tree, three readers:
//! they cannot disagree.

#[doc(hidden)]
pub mod check;
pub(crate) mod cursor;
pub(crate) mod json;
pub(crate) mod validate;
pub(crate) mod words;

/// Text of a schema: as a person wrote it, and as it stands between the quotes of a JSON string.
///
/// The JSON form is made by the macro, so that writing a schema while compiling only copies
/// slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text {
    plain: &'static str,
    json: &'static str,
}

impl Text {
    /// No text.
    pub const EMPTY: Text = Text::new("");

    /// Text that is the same in JSON.
    ///
    /// # Panics
    ///
    /// When `text` holds a quote, a backslash or a control character, which JSON escapes. In a
    /// constant this is a compile error.
    pub const fn new(text: &'static str) -> Text {
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            assert!(
                bytes[at] >= 0x20 && bytes[at] != b'"' && bytes[at] != b'\\',
                "this text needs JSON escapes; leave out quotes, backslashes and control characters"
            );
            at += 1;
        }
        Text {
            plain: text,
            json: text,
        }
    }

    /// The text in both its forms, trusted to be the same text.
    pub(crate) const fn escaped(plain: &'static str, json: &'static str) -> Text {
        Text { plain, json }
    }

    /// The text as written.
    pub const fn as_str(&self) -> &'static str {
        self.plain
    }

    /// Whether there is any text.
    pub const fn is_empty(&self) -> bool {
        self.plain.is_empty()
    }
}

/// What a type accepts: the node of a schema tree.
///
/// Built from its constants and constant functions:
///
/// ```
/// use tool_core::schema::{Schema, Text};
///
/// const COLOUR: &Schema = &Schema::STRING.describe(Text::new("A CSS colour."));
/// assert_eq!(COLOUR.to_json(), r#"{"type":"string","description":"A CSS colour."}"#);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Schema {
    pub(crate) kind: Kind,
    pub(crate) description: Text,
}

/// The kinds of schema node.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Kind {
    /// Any JSON value.
    Any,
    /// `true` or `false`.
    Boolean,
    /// A whole number; `20.0` is one.
    Integer(IntegerRange),
    /// Any number.
    Number,
    /// A string with a number of characters between two bounds.
    String(Lengths),
    /// One of these strings.
    Enum(&'static [Text]),
    /// An array of values of one kind, with a number of items between two bounds.
    Array(&'static Schema, Lengths),
    /// An object with free keys and values of one kind.
    Map(&'static Schema),
    /// An object with exactly these keys: nothing else is accepted.
    Object(&'static [Property]),
    /// `null`, or what the inner schema says. A parameter or a field of this kind may be left out,
    /// and its schema is then written without `null`.
    Nullable(&'static Schema),
}

/// The whole numbers that a node accepts.
///
/// A limit of `i128::MIN` or `i128::MAX` is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntegerRange {
    pub(crate) minimum: i128,
    pub(crate) maximum: i128,
    /// Whether the limits are written into the schema: `i64`'s are true but only noise to a model.
    pub(crate) shows_minimum: bool,
    pub(crate) shows_maximum: bool,
}

/// How long a string or an array may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lengths {
    pub(crate) minimum: usize,
    pub(crate) maximum: usize,
}

impl Lengths {
    /// No bound.
    pub const ANY: Lengths = Lengths {
        minimum: 0,
        maximum: usize::MAX,
    };

    /// Exactly this long.
    pub const fn exactly(length: usize) -> Lengths {
        Lengths {
            minimum: length,
            maximum: length,
        }
    }

    pub(crate) const fn admits(self, length: usize) -> bool {
        self.minimum <= length && length <= self.maximum
    }
}

/// A named member of an object schema.
#[derive(Clone, Copy, Debug)]
pub struct Property {
    pub(crate) name: Text,
    pub(crate) description: Text,
    pub(crate) schema: &'static Schema,
    /// The JSON text of the default that the schema advertises; empty is none.
    pub(crate) default: &'static str,
    pub(crate) required: bool,
    /// Whether an absent value is decoded from `null`, as for an `Option`.
    pub(crate) nullable: bool,
    /// Whether decoding alone enforces the schema, so that no walk over the tree is needed.
    pub(crate) exact: bool,
    /// Whether a result may leave it out though a call may not: `skip_serializing_if`.
    pub(crate) skipped: bool,
}

impl Property {
    /// A member of this name, required unless `schema` accepts `null`.
    pub const fn new(name: Text, description: Text, schema: &'static Schema) -> Property {
        let (nullable, schema) = match schema.kind {
            Kind::Nullable(inner) => (true, inner),
            _ => (false, schema),
        };
        Property {
            name,
            description,
            schema,
            default: "",
            required: !nullable,
            nullable,
            exact: false,
            skipped: false,
        }
    }

    /// The same member, which may be left out.
    pub const fn optional(mut self) -> Property {
        self.required = false;
        self
    }

    /// The same member, which a result may leave out though a call may not.
    pub const fn skipped_in_results(mut self) -> Property {
        self.skipped = true;
        self
    }

    /// Its key.
    pub const fn name(&self) -> &'static str {
        self.name.plain
    }

    /// Its own description, or that of its type.
    pub const fn description(&self) -> &'static str {
        self.text().plain
    }

    /// What its value must be.
    pub const fn schema(&self) -> &'static Schema {
        self.schema
    }

    /// Whether a call must name it.
    pub const fn is_required(&self) -> bool {
        self.required
    }

    /// The JSON text of the default that the schema advertises.
    pub const fn default_json(&self) -> Option<&'static str> {
        if self.default.is_empty() {
            None
        } else {
            Some(self.default)
        }
    }

    pub(crate) const fn text(&self) -> Text {
        if self.description.is_empty() {
            self.schema.description
        } else {
            self.description
        }
    }
}

impl Schema {
    /// Any JSON value.
    pub const ANY: Schema = Schema::of(Kind::Any);
    /// `true` or `false`.
    pub const BOOLEAN: Schema = Schema::of(Kind::Boolean);
    /// A number.
    pub const NUMBER: Schema = Schema::of(Kind::Number);
    /// A string of any length.
    pub const STRING: Schema = Schema::of(Kind::String(Lengths::ANY));

    pub(crate) const fn of(kind: Kind) -> Schema {
        Schema {
            kind,
            description: Text::EMPTY,
        }
    }

    /// A whole number between two limits, both written into the schema.
    pub const fn integer(minimum: i128, maximum: i128) -> Schema {
        Schema::of(Kind::Integer(IntegerRange {
            minimum,
            maximum,
            shows_minimum: true,
            shows_maximum: true,
        }))
    }

    /// An array whose items all follow one schema.
    pub const fn array(items: &'static Schema) -> Schema {
        Schema::of(Kind::Array(items, Lengths::ANY))
    }

    /// An object with free keys whose values all follow one schema.
    pub const fn map(values: &'static Schema) -> Schema {
        Schema::of(Kind::Map(values))
    }

    /// A closed object: these keys and no other.
    pub const fn object(properties: &'static [Property]) -> Schema {
        Schema::of(Kind::Object(properties))
    }

    /// One of these strings.
    pub const fn strings(values: &'static [Text]) -> Schema {
        Schema::of(Kind::Enum(values))
    }

    /// `null`, or what `inner` says.
    pub const fn nullable(inner: &'static Schema) -> Schema {
        Schema {
            kind: Kind::Nullable(inner),
            description: inner.description,
        }
    }

    /// The same schema with this description.
    pub const fn describe(mut self, description: Text) -> Schema {
        self.description = description;
        self
    }

    /// What kind of value it is.
    pub const fn kind(&self) -> &Kind {
        &self.kind
    }

    /// Its description, empty for none.
    pub const fn description(&self) -> &'static str {
        self.description.plain
    }

    /// Its members, if it is an object with known keys.
    pub const fn properties(&self) -> &'static [Property] {
        match self.kind {
            Kind::Object(properties) => properties,
            _ => &[],
        }
    }

    /// The member of this name, if it is an object that has one.
    pub fn property(&self, name: &str) -> Option<&'static Property> {
        self.properties().iter().find(|p| p.name() == name)
    }

    /// The JSON text of this schema.
    pub fn to_json(&self) -> String {
        json::to_string(self)
    }
}
