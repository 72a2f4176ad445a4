//! Recursive types.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tool_core::ToolType;

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
struct Tree {
    name: String,
    children: Vec<Tree>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
struct Chain {
    value: u8,
    next: Option<Box<Chain>>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
struct Folder {
    /// What it holds.
    #[serde(default)]
    entries: BTreeMap<String, Folder>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Expression {
    Number(i32),
    Negate(Box<Expression>),
    Sum(Vec<Expression>),
    Product {
        left: Box<Expression>,
        right: Box<Expression>,
    },
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
#[serde(tag = "op")]
enum Query {
    All,
    Not { query: Box<Query> },
    Any { queries: Vec<Query> },
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
#[serde(untagged)]
enum Json {
    Null,
    Bool(bool),
    Text(String),
    Array(Vec<Json>),
    Object(BTreeMap<String, Json>),
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
struct List(Vec<List>);

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
struct Generic<T> {
    value: T,
    more: Vec<Generic<T>>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
struct Person {
    name: String,
    employer: Option<Box<Company>>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
struct Company {
    title: String,
    #[param(recursive)]
    staff: Vec<Person>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
struct Holder {
    tree: Option<Tree>,
    chains: (Chain, Chain),
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
struct Wrapper(Tree);

super::table! {
    both {
        recursive_list: Tree;
        recursive_option: Chain;
        recursive_map: Folder;
        recursive_external: Expression;
        recursive_internal: Query;
        recursive_untagged: Json;
        recursive_newtype: List;
        recursive_generic: Generic<u8>;
        recursive_mutual: Person;
        recursive_inside: Holder;
        recursive_many: Vec<Option<Chain>>;
        recursive_optional: Option<Expression>;
        recursive_wrapped: Wrapper;
    }
    read {
        recursive_borrowed: &Tree;
    }
}
