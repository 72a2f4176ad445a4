//! From the JSON Schemas of tools to Rust types. A value whose schema has no such type stays JSON.

use std::collections::HashMap;

use proc_macro2::Ident;

use super::list::Listed;
use super::names::{Names, pascal};
use crate::util::json::Json;
use crate::util::markdown::code;

/// Below so many schemas, a value stays JSON.
const DEPTH: usize = 32;

/// The generated functions and types.
#[derive(Default)]
pub(super) struct Api {
    pub(super) functions: Vec<Function>,
    pub(super) types: Vec<Type>,
}

pub(super) struct Function {
    /// The name at the server.
    pub(super) tool: String,
    pub(super) description: String,
    pub(super) ident: Ident,
    pub(super) arguments: Ident,
    /// `None` for a tool without an output schema.
    pub(super) output: Option<Ty>,
}

/// A struct or an enum.
pub(super) struct Type {
    pub(super) ident: Ident,
    /// The beginning of its documentation.
    pub(super) title: String,
    pub(super) description: String,
    pub(super) is_argument: bool,
    pub(super) shape: Shape,
}

pub(super) enum Shape {
    Struct(Vec<Field>),
    /// The texts and their variants.
    Enum(Vec<(String, Ident)>),
}

pub(super) struct Field {
    pub(super) key: String,
    pub(super) ident: Ident,
    pub(super) description: String,
    pub(super) is_required: bool,
    pub(super) ty: Ty,
}

#[derive(Clone)]
pub(super) enum Ty {
    Json,
    String,
    Integer,
    Number,
    Boolean,
    List(Box<Ty>),
    Map(Box<Ty>),
    /// Or null.
    Nullable(Box<Ty>),
    Named(Ident),
    /// A type that contains this one.
    Boxed(Ident),
}

impl Api {
    pub(super) fn of(tools: &[Listed]) -> Api {
        let mut api = Api::default();
        let (mut functions, mut types) = (Names::default(), Names::default());
        for tool in tools {
            let title = format!("the tool {}", code(&tool.name));
            let mut schemas = Schemas {
                root: &tool.input,
                prefix: pascal(&tool.name),
                title: format!("arguments of {title}"),
                is_argument: true,
                types: &mut api.types,
                names: &mut types,
                references: HashMap::new(),
            };
            let arguments = schemas.names.ty(&schemas.prefix);
            schemas
                .references
                .insert("#", Reference::Open(arguments.clone()));
            schemas.structure(arguments.clone(), &tool.input, 0);
            let output = tool.output.as_ref().map(|output| {
                let mut schemas = Schemas {
                    root: output,
                    prefix: format!("{}Result", pascal(&tool.name)),
                    title: format!("result of {title}"),
                    is_argument: false,
                    types: &mut api.types,
                    names: &mut types,
                    references: HashMap::new(),
                };
                schemas.reference("#", &schemas.prefix.clone(), 0)
            });
            api.functions.push(Function {
                tool: tool.name.clone(),
                description: tool.description.clone(),
                ident: functions.value(&tool.name),
                arguments,
                output,
            });
        }
        api
    }
}

/// A schema that a `$ref` has led to.
enum Reference {
    /// Its type is not complete.
    Open(Ident),
    /// It has no name, and contains itself.
    Unnamed,
    Done(Ty),
}

/// The schemas of the arguments or the results of a tool.
struct Schemas<'s, 'a> {
    root: &'s Json,
    /// Types begin with it.
    prefix: String,
    title: String,
    is_argument: bool,
    types: &'a mut Vec<Type>,
    names: &'a mut Names,
    references: HashMap<&'s str, Reference>,
}

impl<'s> Schemas<'s, '_> {
    /// Returns the type of a schema. `name` is for a struct or an enum.
    fn ty(&mut self, schema: &'s Json, name: &str, depth: usize) -> Ty {
        let depth = depth + 1;
        if depth > DEPTH {
            return Ty::Json;
        }
        if let Some(target) = schema.str("$ref") {
            let own = target.rsplit('/').next().unwrap_or_default();
            let name = format!("{}{}", self.prefix, pascal(own));
            return self.reference(target, &name, depth);
        }
        if let Some(texts) = texts(schema) {
            return self.enumeration(schema, texts, name);
        }
        if let Some(Json::Array(kinds)) = schema.get("type") {
            return match &without_null(kinds, |kind| kind.is("null"))[..] {
                [Json::String(kind)] => nullable(self.of_kind(kind, schema, name, depth), kinds),
                _ => Ty::Json,
            };
        }
        if let Some(kind) = schema.str("type") {
            return self.of_kind(kind, schema, name, depth);
        }
        if is_structure(schema) {
            return self.of_kind("object", schema, name, depth);
        }
        for key in ["anyOf", "oneOf", "allOf"] {
            if let Some(Json::Array(all)) = schema.get(key) {
                return match &without_null(all, |one| {
                    one.get("type").is_some_and(|kind| kind.is("null"))
                })[..]
                {
                    [one] => nullable(self.ty(one, name, depth), all),
                    _ => Ty::Json,
                };
            }
        }
        Ty::Json
    }

    fn of_kind(&mut self, kind: &str, schema: &'s Json, name: &str, depth: usize) -> Ty {
        match kind {
            "string" => Ty::String,
            "integer" => Ty::Integer,
            "number" => Ty::Number,
            "boolean" => Ty::Boolean,
            "array" => Ty::List(Box::new(match schema.get("items") {
                Some(items) => self.ty(items, name, depth),
                None => Ty::Json,
            })),
            "object" if is_structure(schema) => {
                let ident = self.names.ty(name);
                self.structure(ident.clone(), schema, depth);
                Ty::Named(ident)
            }
            "object" => Ty::Map(Box::new(match schema.get("additionalProperties") {
                Some(values) => self.ty(values, name, depth),
                None => Ty::Json,
            })),
            _ => Ty::Json,
        }
    }

    /// Returns the type of what a `$ref` leads to.
    fn reference(&mut self, target: &'s str, name: &str, depth: usize) -> Ty {
        match self.references.get(target) {
            Some(Reference::Open(ident)) => return Ty::Boxed(ident.clone()),
            Some(Reference::Unnamed) => return Ty::Json,
            Some(Reference::Done(ty)) => return ty.clone(),
            None => {}
        }
        let pointer = target.strip_prefix('#');
        let Some(schema) = pointer.and_then(|pointer| self.root.pointer(pointer)) else {
            return Ty::Json;
        };
        let ty = if is_structure(schema) && depth < DEPTH {
            let ident = self.names.ty(name);
            self.references
                .insert(target, Reference::Open(ident.clone()));
            self.structure(ident.clone(), schema, depth);
            Ty::Named(ident)
        } else {
            self.references.insert(target, Reference::Unnamed);
            self.ty(schema, name, depth)
        };
        self.references.insert(target, Reference::Done(ty.clone()));
        ty
    }

    fn structure(&mut self, ident: Ident, schema: &'s Json, depth: usize) {
        let at = self.types.len();
        self.add(ident.clone(), schema, Shape::Struct(Vec::new()));
        let required = match schema.get("required") {
            Some(Json::Array(keys)) => &keys[..],
            _ => &[],
        };
        let mut names = Names::default();
        let properties = schema.get("properties").map_or(&[][..], Json::members);
        let fields = properties.iter().map(|(key, property)| Field {
            key: key.clone(),
            ident: names.value(key),
            description: property.str("description").unwrap_or_default().to_owned(),
            is_required: required.iter().any(|other| other.is(key)),
            ty: self.ty(property, &format!("{ident}{}", pascal(key)), depth),
        });
        let fields = Shape::Struct(fields.collect());
        self.types[at].shape = fields;
    }

    fn enumeration(&mut self, schema: &Json, texts: Texts, name: &str) -> Ty {
        let ident = self.names.ty(name);
        let mut names = Names::default();
        let variants = texts.of.into_iter().map(|text| (names.ty(&text), text));
        let variants = variants.map(|(ident, text)| (text, ident)).collect();
        self.add(ident.clone(), schema, Shape::Enum(variants));
        let ty = Ty::Named(ident);
        if texts.has_null {
            Ty::Nullable(Box::new(ty))
        } else {
            ty
        }
    }

    fn add(&mut self, ident: Ident, schema: &Json, shape: Shape) {
        let description = schema.str("description").unwrap_or_default();
        let part = if ident == *self.prefix {
            "The"
        } else {
            "Part of the"
        };
        let title = format!("{part} {}", self.title);
        self.types.push(Type {
            ident,
            title,
            description: description.to_owned(),
            is_argument: self.is_argument,
            shape,
        });
    }
}

/// The texts of an enum.
struct Texts {
    of: Vec<String>,
    has_null: bool,
}

/// Returns the texts that a schema accepts, if it lists them.
fn texts(schema: &Json) -> Option<Texts> {
    let constant = schema.get("const").map(std::slice::from_ref);
    let values = match schema.get("enum") {
        Some(Json::Array(values)) => values,
        _ => constant?,
    };
    let mut texts = Texts {
        of: Vec::new(),
        has_null: false,
    };
    for value in values {
        match value {
            Json::String(text) if texts.of.contains(text) => {}
            Json::String(text) => texts.of.push(text.clone()),
            Json::Null => texts.has_null = true,
            _ => return None,
        }
    }
    (!texts.of.is_empty()).then_some(texts)
}

/// Returns `true` for an object with properties.
fn is_structure(schema: &Json) -> bool {
    let is_object = schema.get("type").is_none_or(|kind| kind.is("object"));
    let properties = schema.get("properties").map_or(&[][..], Json::members);
    is_object && !properties.is_empty()
}

fn without_null(all: &[Json], is_null: impl Fn(&Json) -> bool) -> Vec<&Json> {
    all.iter().filter(|one| !is_null(one)).collect()
}

/// Adds null to a type that is one of several, of which all others are null.
fn nullable(ty: Ty, all: &[Json]) -> Ty {
    match ty {
        Ty::Json | Ty::Nullable(_) => ty,
        ty if all.len() > 1 => Ty::Nullable(Box::new(ty)),
        ty => ty,
    }
}
