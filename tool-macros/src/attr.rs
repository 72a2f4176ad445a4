//! Attributes and signatures as written.

mod block;
mod function;
mod keys;
mod parameter;
mod quick;
mod written;

pub(crate) use block::{Block, Member};
pub(crate) use function::{Function, is_tool, with_self_replaced};
pub(crate) use keys::{Keys, TextOrConstant};
pub(crate) use parameter::{Parameter, ParameterKind, is_conditional};
pub(crate) use written::{Place, WrittenAttribute, WrittenKey, of_tool, of_toolset, of_type};
