//! [`resolve`]: finds the tool for a call whose name no tool has.

use std::{fmt, mem};

use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::snapshot::Snapshot;
use crate::call::{Arguments, CALL_TOOL, ToolCall};
use crate::schema::messages::bare_name;
use crate::tool::ToolEntry;

/// Returns the tool for a call: one of [`entries`](super::deferred::entries), a deferred tool, or in a lenient registry the
/// tool whose name is a part of the given one. Changes the call to a call of that tool.
#[cold]
pub(super) fn resolve(
    snapshot: &Snapshot,
    call: &mut ToolCall,
    is_lenient: bool,
) -> Option<ToolEntry> {
    if let Some(tool) = resolve_named(snapshot, call) {
        return Some(tool);
    }
    let bare = bare_name(&call.name);
    if !is_lenient || bare == call.name {
        return None;
    }
    let bare = bare.to_owned();
    let written = mem::replace(&mut call.name, bare);
    let tool = snapshot.get(&call.name).cloned();
    let Some(tool) = tool.or_else(|| resolve_named(snapshot, call)) else {
        call.name = written;
        return None;
    };
    call.origin.get_or_insert_default().written_name = Some(written);
    Some(tool)
}

/// Returns the tool of a call of `call_tool`, or one that is built in.
fn resolve_named(snapshot: &Snapshot, call: &mut ToolCall) -> Option<ToolEntry> {
    if call.name == CALL_TOOL
        && snapshot.has_deferred()
        && !call.is_truncated
        && let Some((name, arguments)) = inner(&call.arguments)
    {
        call.name = name;
        call.arguments = arguments;
        call.is_wrapped = true;
        return snapshot.get(&call.name).cloned();
    }
    snapshot.built_in(&call.name)
}

/// Returns the name and the arguments in the arguments of `call_tool`, if they have their form.
fn inner(arguments: &Arguments) -> Option<(String, Arguments)> {
    match arguments {
        Arguments::Text(text) => {
            let Wrapped { name, arguments } = serde_json::from_str(text).ok()?;
            let text = arguments.map_or("{}", RawValue::get);
            let arguments = match text.as_bytes().first()? {
                b'{' | b'n' => Arguments::from(text),
                b'"' => Arguments::Text(serde_json::from_str(text).ok()?),
                _ => return None,
            };
            Some((name, arguments))
        }
        Arguments::Json(Value::Object(members)) => {
            let is_known = |key: &String| key == "name" || key == "arguments";
            let name = members.get("name")?.as_str()?;
            let arguments = members.get("arguments").unwrap_or(&Value::Null);
            let is_wrong = arguments.is_array() || arguments.is_number() || arguments.is_boolean();
            if is_wrong || !members.keys().all(is_known) {
                return None;
            }
            Some((name.to_owned(), Arguments::from(arguments.clone())))
        }
        Arguments::Json(_) | Arguments::Freeform(_) => None,
    }
}

/// The arguments of `call_tool`. Models often write the inner arguments as a string.
struct Wrapped<'a> {
    name: String,
    arguments: Option<&'a RawValue>,
}

impl<'de> Deserialize<'de> for Wrapped<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = Wrapped<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name and arguments")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Wrapped<'de>, M::Error> {
                let (mut name, mut arguments) = (None, None);
                while let Some(key) = map.next_key::<String>()? {
                    match &*key {
                        "name" if name.is_none() => name = Some(map.next_value()?),
                        "arguments" if arguments.is_none() => arguments = Some(map.next_value()?),
                        _ => return Err(M::Error::custom("an unknown or duplicate key")),
                    }
                }
                let name = name.ok_or_else(|| M::Error::missing_field("name"))?;
                Ok(Wrapped { name, arguments })
            }
        }

        deserializer.deserialize_map(Members)
    }
}
