//! Typed Python stubs of the tools of a registry.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use tool_core::schema::Json;
use tool_core::{Registry, ToolEntry, visible};

/// Returns Python stubs of the tools of a registry. Each tool that is not deferred becomes a function with `start`,
/// types from its schemas, and a docstring from its descriptions. The stubs also declare `ToolError` and `call_tool`.
/// They pass `mypy --strict` and pyright as a `.pyi` file.
///
/// A tool or a parameter gets another name if its own is not a Python identifier, is a keyword or hides a builtin. A
/// tool without an output schema returns a `str`.
///
/// ```
/// use tool_core::{Registry, tool, tools};
///
/// /// Adds two numbers.
/// #[tool]
/// fn add(
///     a: i64,
///     /// Added to `a`.
///     #[param(default = 1)]
///     b: i64,
/// ) -> i64 {
///     a + b
/// }
///
/// let registry = Registry::builder().tools(tools![add]).build()?;
/// let stubs = tool_python::stubs(&registry);
/// assert!(stubs.contains("def add(a: int, b: int = 1) -> int:"));
/// # Ok::<(), tool_core::RegistryError>(())
/// ```
pub fn stubs(registry: &Registry) -> String {
    Functions::new(registry).stubs
}

/// The tools of a registry as Python functions.
#[derive(Default)]
pub(crate) struct Functions {
    /// Stubs for a type checker.
    pub(crate) stubs: String,
    /// The stubs without the parts that are the same for all tools: `start`, the helpers and the imports.
    pub(crate) shown: String,
    /// Python source that defines the functions, deferred tools included.
    pub(crate) prelude: String,
    /// A line of Python that imports the stubs from `tools`, and declares the names that they lack.
    pub(crate) import: String,
    pub(crate) has_deferred: bool,
}

const HELPERS: &str = include_str!("code/prelude.py");

impl Functions {
    pub(crate) fn new(registry: &Registry) -> Functions {
        let mut writer = Writer::default();
        let mut taken = [KEYWORDS, BUILTINS]
            .iter()
            .flat_map(|names| names.split(' '))
            .map(str::to_owned)
            .collect();
        let mut bindings = Vec::new();
        let mut has_deferred = false;
        let mut listed = vec!["ToolError".to_owned(), "call_tool".to_owned()];
        let mut import = "import typing".to_owned();
        let tools = registry.specs().into_iter();
        for tool in tools.filter(|tool| tool.is_for_models()) {
            let name = identifier(&tool.name, &mut taken);
            let is_listed = !tool.is_deferred();
            has_deferred |= !is_listed;
            if is_listed {
                listed.push(name.clone());
            } else {
                let _ = write!(import, "; {name}: typing.Any");
            }
            let parameters = writer.function(&tool, &name, is_listed);
            bindings.push((name, tool.name.to_string(), parameters));
        }
        if has_deferred {
            let parameters = ["query", "limit"].map(|key| (key.to_owned(), key.to_owned()));
            let name = "search_tools".to_owned();
            listed.push(name.clone());
            bindings.push((name.clone(), name, parameters.to_vec()));
            writer.functions.push(
                "def search_tools(query: str, limit: int = 5) -> str:\n    \"\"\"Finds more tools. Call one with \
                 `call_tool(name, **arguments)`.\"\"\"\n\n"
                    .to_owned(),
            );
        }
        // JSON strings and arrays are valid Python literals.
        let bindings = serde_json::to_string(&bindings).expect("strings serialize");
        let mut classes: Vec<_> = writer.names.iter().collect();
        classes.sort();
        listed.extend(classes.iter().map(|&name| name.clone()));
        let classes = serde_json::to_string(&classes).expect("strings serialize");
        let shown = writer.shown();
        let declared = serde_json::to_string(&shown).expect("strings serialize");
        Functions {
            stubs: writer.stubs(),
            shown,
            prelude: format!(
                "{HELPERS}\n_bind_all({bindings})\n_declare({declared}, {classes})\ndel _bind, _bind_all, _declare\n"
            ),
            import: format!(
                "{import}; start_tool: typing.Any; from tools import {}",
                listed.join(", ")
            ),
            has_deferred,
        }
    }
}

/// Python's keywords, which can't be names of functions or parameters.
const KEYWORDS: &str = "\
    False None True and as assert async await break class continue def del elif else except \
    finally for from global if import in is lambda nonlocal not or pass raise return try while \
    with yield";

/// Further names that functions don't get: common builtins, and names defined in the prelude.
const BUILTINS: &str = "\
    abs all any ascii bin bool breakpoint bytearray bytes callable chr classmethod compile \
    complex delattr dict dir divmod enumerate eval exec exit filter float format frozenset \
    getattr globals hasattr hash help hex id input int isinstance issubclass iter len list \
    locals map max memoryview min next object oct open ord pow print property quit range repr \
    reversed round set setattr slice sorted staticmethod str sum super tuple type vars zip \
    Exception BaseException TypeError ValueError KeyError ToolError call_tool start_tool \
    search_tools Any Callable Coroutine Generic Literal NotRequired ParamSpec TypeAlias TypeVar \
    TypedDict _P _R _Tool _tool";

fn is_reserved(name: &str) -> bool {
    is_keyword(name) || BUILTINS.split(' ').any(|other| other == name)
}

/// Returns `true` for a Python keyword.
pub(crate) fn is_keyword(name: &str) -> bool {
    KEYWORDS.split(' ').any(|other| other == name)
}

fn is_identifier(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Returns the name as an unused identifier, and marks it as used.
fn identifier(name: &str, taken: &mut HashSet<String>) -> String {
    let mut mapped: String = name
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || c == '_' {
                c
            } else {
                '_'
            }
        })
        .collect();
    // Inside classes Python mangles names that begin with two underscores.
    if !is_identifier(&mapped) || mapped.starts_with("__") {
        mapped.insert_str(0, "tool_");
    }
    unique(mapped, taken)
}

fn unique(name: String, taken: &mut HashSet<String>) -> String {
    let mut unique = name.clone();
    let mut number = 1;
    while !taken.insert(unique.clone()) {
        number += 1;
        unique = if number == 2 {
            format!("{name}_")
        } else {
            format!("{name}_{number}")
        };
    }
    unique
}

#[derive(Default)]
struct Writer {
    classes: String,
    functions: Vec<String>,
    names: HashSet<String>,
}

/// The schema being written, and the names of its references.
struct Scope<'a> {
    root: &'a Json,
    references: HashMap<String, String>,
}

impl Writer {
    /// Writes a tool. Returns the names and keys of its parameters.
    fn function(&mut self, tool: &ToolEntry, name: &str, is_listed: bool) -> Vec<(String, String)> {
        let schema = parsed(tool.parameters_json());
        let mut scope = Scope {
            root: &schema,
            references: HashMap::new(),
        };
        let class = camel(name);
        let mut keys = keywords();
        let required = schema.get_items("required");
        let mut parameters = Vec::new();
        for (key, property) in schema.get_members("properties") {
            let name = parameter(key, &mut keys);
            parameters.push((
                name,
                key.clone(),
                property,
                required.contains(&Json::from(&**key)),
            ));
        }
        // In Python, parameters without a default must come first.
        parameters.sort_by_key(|&(.., is_required)| !is_required);
        if is_listed {
            let mut signature = Vec::new();
            let mut notes = String::new();
            for (name, key, property, is_required) in &parameters {
                let kind = self.kind(property, &mut scope, &format!("{class}{}", camel(key)));
                let mut default = if *is_required {
                    String::new()
                } else {
                    format!(" = {}", default(property))
                };
                let mut kind = kind;
                if let Some(value) = default.strip_prefix(" = ")
                    && value != "..."
                    && !holds(&kind, value)
                {
                    // A default of `None` makes the parameter optional. Any other default of the wrong type is a
                    // mistake.
                    if value == "None" {
                        kind.push_str(" | None");
                    } else {
                        default.replace_range(3.., "...");
                    }
                }
                signature.push(format!("{name}: {kind}{default}"));
                let note = note(property);
                if !note.is_empty() {
                    let _ = writeln!(notes, "    {name}: {}", docstring(&note));
                }
            }
            let result = match tool.output_json() {
                None => "str".to_owned(),
                Some(output) => {
                    let output = parsed(output);
                    let mut scope = Scope {
                        root: &output,
                        references: HashMap::new(),
                    };
                    self.kind(&output, &mut scope, &format!("{class}Result"))
                }
            };
            let text = docstring(tool.prompt().trim());
            let mut function = format!(
                "def {name}({}) -> {result}:\n    \"\"\"{text}",
                signature.join(", ")
            );
            if notes.is_empty() {
                function.push_str("\"\"\"\n\n");
            } else {
                let _ = write!(function, "\n\n{notes}    \"\"\"\n\n");
            }
            self.functions.push(function);
        }
        parameters
            .into_iter()
            .map(|(name, key, ..)| (name, key))
            .collect()
    }

    /// Returns the Python type for a schema.
    fn kind(&mut self, schema: &Json, scope: &mut Scope<'_>, class: &str) -> String {
        let Json::Object(_) = schema else {
            return "Any".to_owned();
        };
        if let Some(Json::String(reference)) = schema.get("$ref") {
            return self.reference(reference, scope, class);
        }
        if let Some(value) = schema.get("const") {
            return literals(std::slice::from_ref(value));
        }
        if let Some(Json::Array(values)) = schema.get("enum") {
            return literals(values);
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(Json::Array(schemas)) = schema.get(key) {
                let kinds = schemas.iter().enumerate().map(|(at, member)| {
                    let class = if schemas.len() > 1 {
                        format!("{class}{}", variant(member, at))
                    } else {
                        class.to_owned()
                    };
                    self.kind(member, scope, &class)
                });
                return union(kinds.collect());
            }
        }
        if let Some(Json::Array(schemas)) = schema.get("allOf") {
            return match &schemas[..] {
                [one] => self.kind(one, scope, class),
                _ => "Any".to_owned(),
            };
        }
        match schema.get("type") {
            Some(Json::String(kind)) => self.plain(kind, schema, scope, class),
            Some(Json::Array(kinds)) => {
                let kinds = kinds.iter().map(|kind| match kind {
                    Json::String(kind) => self.plain(kind, schema, scope, class),
                    _ => "Any".to_owned(),
                });
                union(kinds.collect())
            }
            _ if schema.get("properties").is_some() => self.plain("object", schema, scope, class),
            _ => "Any".to_owned(),
        }
    }

    fn plain(&mut self, kind: &str, schema: &Json, scope: &mut Scope<'_>, class: &str) -> String {
        match kind {
            "string" => "str".to_owned(),
            "integer" => "int".to_owned(),
            "number" => "float".to_owned(),
            "boolean" => "bool".to_owned(),
            "null" => "None".to_owned(),
            "array" => {
                let mut kinds = Vec::new();
                if let Some(Json::Array(items)) = schema.get("prefixItems") {
                    for (at, item) in items.iter().enumerate() {
                        kinds.push(self.kind(item, scope, &format!("{class}{}", at + 1)));
                    }
                }
                match schema.get("items") {
                    Some(Json::Boolean(false)) => {}
                    Some(item) => kinds.push(self.kind(item, scope, &format!("{class}Item"))),
                    None if kinds.is_empty() => kinds.push("Any".to_owned()),
                    None => {}
                }
                let item = if kinds.is_empty() {
                    "Any".to_owned()
                } else {
                    union(kinds)
                };
                format!("list[{item}]")
            }
            "object" if !schema.get_members("properties").is_empty() => {
                self.class(schema, scope, class)
            }
            "object" => match schema.get("additionalProperties") {
                Some(values @ Json::Object(_)) => {
                    format!(
                        "dict[str, {}]",
                        self.kind(values, scope, &format!("{class}Value"))
                    )
                }
                _ => "dict[str, Any]".to_owned(),
            },
            _ => "Any".to_owned(),
        }
    }

    /// Writes a `TypedDict` and returns its name.
    fn class(&mut self, schema: &Json, scope: &mut Scope<'_>, class: &str) -> String {
        let name = self.class_name(class);
        let required = schema.get_items("required");
        let fields: Vec<_> = schema
            .get_members("properties")
            .iter()
            .map(|(key, property)| {
                let kind = self.kind(property, scope, &format!("{name}{}", camel(key)));
                let is_required = required.contains(&Json::from(&**key));
                let kind = if is_required {
                    kind
                } else {
                    format!("NotRequired[{kind}]")
                };
                (key, kind, note(property))
            })
            .collect();
        // In the body of a class, a key hides the type with the same name, and a key that begins with two underscores
        // is mangled.
        let is_type = |name: &str| {
            let mut kinds = fields.iter().map(|(_, kind, _)| kind);
            kinds.any(|kind| words(kind).any(|word| word == name))
        };
        let is_plain = fields.iter().all(|(key, ..)| {
            is_identifier(key) && !key.starts_with("__") && !is_keyword(key) && !is_type(key)
        });
        let mut text = String::new();
        if is_plain {
            let _ = writeln!(text, "class {name}(TypedDict):");
        } else {
            let _ = writeln!(text, "{name} = TypedDict(\"{name}\", {{");
        }
        for (key, kind, note) in fields {
            let note = if note.is_empty() {
                note
            } else {
                format!("  # {}", one_line(&note))
            };
            let _ = if is_plain {
                writeln!(text, "    {key}: {kind}{note}")
            } else {
                writeln!(text, "    {}: {kind},{note}", quoted(key))
            };
        }
        text.push_str(if is_plain { "\n" } else { "})\n\n" });
        self.classes.push_str(&text);
        name
    }

    fn class_name(&mut self, class: &str) -> String {
        let class = if class.starts_with(|c: char| c.is_ascii_alphabetic()) {
            class.to_owned()
        } else {
            format!("T{class}")
        };
        if is_reserved(&class) {
            return unique(format!("{class}Type"), &mut self.names);
        }
        unique(class, &mut self.names)
    }

    fn reference(&mut self, reference: &str, scope: &mut Scope<'_>, class: &str) -> String {
        if let Some(name) = scope.references.get(reference) {
            return name.clone();
        }
        let root = scope.root;
        let Some(schema) = reference
            .strip_prefix('#')
            .and_then(|pointer| root.pointer(pointer))
        else {
            return "Any".to_owned();
        };
        let last = reference.rsplit('/').next().unwrap_or_default();
        let hint = if last == "#" || last.is_empty() {
            class.to_owned()
        } else {
            camel(last)
        };
        // Chosen before the class is written, because it may refer to itself.
        let name = self.class_name(&hint);
        scope.references.insert(reference.to_owned(), name.clone());
        if !schema.get_members("properties").is_empty()
            && schema.get("anyOf").is_none()
            && schema.get("oneOf").is_none()
        {
            self.names.remove(&name);
            return self.class(schema, scope, &name);
        }
        let kind = self.kind(schema, scope, &name);
        let _ = writeln!(self.classes, "{name}: TypeAlias = {kind}\n");
        name
    }

    /// Returns the classes and functions in the form for models.
    fn shown(&self) -> String {
        with_imports(format!("{}{}", self.classes, self.functions.concat()))
    }

    /// Returns all declarations in the form for type checkers.
    fn stubs(&self) -> String {
        let functions = self.functions.iter();
        let functions: String = functions
            .map(|function| format!("@_tool\n{function}"))
            .collect();
        with_imports(format!("{HEAD}{}{functions}", self.classes))
    }
}

/// The part that is the same for all tools.
const HEAD: &str = "\
_P = ParamSpec(\"_P\")
_R = TypeVar(\"_R\")

class _Tool(Generic[_P, _R]):
    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        \"\"\"Calls the tool and waits for its result.\"\"\"

    def start(self, *args: _P.args, **kwargs: _P.kwargs) -> Coroutine[Any, Any, _R]:
        \"\"\"Calls the tool when it is awaited, side by side with other calls.\"\"\"

def _tool(function: Callable[_P, _R]) -> _Tool[_P, _R]: ...

class ToolError(Exception):
    \"\"\"A tool failed.\"\"\"

@_tool
def call_tool(name: str, /, **arguments: Any) -> Any:
    \"\"\"Calls a tool by its name.\"\"\"

";

/// Adds the imports that the stubs need.
fn with_imports(body: String) -> String {
    let imports: Vec<_> = [
        "Any",
        "Callable",
        "Coroutine",
        "Generic",
        "Literal",
        "NotRequired",
        "ParamSpec",
        "TypeAlias",
        "TypeVar",
        "TypedDict",
    ]
    .into_iter()
    .filter(|name| words(&body).any(|word| word == *name))
    .collect();
    let head = if imports.is_empty() {
        String::new()
    } else {
        format!("from typing import {}\n\n", imports.join(", "))
    };
    format!("{head}{}\n", body.trim_end())
}

/// Returns the names, keywords and numbers in Python code.
fn words(source: &str) -> impl Iterator<Item = &str> {
    source.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
}

/// Returns `true` if a Python literal belongs to a type.
fn holds(kind: &str, literal: &str) -> bool {
    let kinds: &[&str] = match literal {
        "None" => &["Any", "None"],
        "True" | "False" => &["Any", "bool"],
        text if text.starts_with('"') => &["Any", "str"],
        number if number.contains(['.', 'e', 'E']) => &["Any", "float"],
        _ => &["Any", "float", "int"],
    };
    let mut parts = kind.split(" | ");
    parts.any(|part| {
        let literals = part.strip_prefix("Literal[");
        let mut literals = literals.map(|literals| literals.trim_end_matches(']').split(", "));
        kinds.contains(&part)
            || literals
                .as_mut()
                .is_some_and(|all| all.any(|one| one == literal))
    })
}

fn keywords() -> HashSet<String> {
    KEYWORDS.split(' ').map(str::to_owned).collect()
}

fn parameter(key: &str, taken: &mut HashSet<String>) -> String {
    if is_identifier(key) {
        return unique(key.to_owned(), taken);
    }
    let name: String = key
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    let name = if is_identifier(&name) {
        name
    } else {
        format!("p_{name}")
    };
    unique(name, taken)
}

fn camel(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric());
    words
        .map(|word| {
            let mut chars = word.chars();
            chars.next().map_or(String::new(), |first| {
                first.to_ascii_uppercase().to_string() + chars.as_str()
            })
        })
        .collect()
}

/// Names a member of a union by its distinguishing constant, or by its number.
fn variant(schema: &Json, at: usize) -> String {
    let constant = schema
        .get_members("properties")
        .iter()
        .find_map(
            |(_, property)| match (property.get("const"), property.get("enum")) {
                (Some(Json::String(text)), _) => Some(camel(text)),
                (None, Some(Json::Array(values))) => match &values[..] {
                    [Json::String(text)] => Some(camel(text)),
                    _ => None,
                },
                _ => None,
            },
        );
    constant
        .filter(|name| !name.is_empty())
        .unwrap_or_else(|| (at + 1).to_string())
}

fn union(kinds: Vec<String>) -> String {
    let mut unique: Vec<String> = Vec::new();
    for kind in kinds {
        if kind == "Any" {
            return kind;
        }
        if !unique.contains(&kind) {
            unique.push(kind);
        }
    }
    if unique.is_empty() {
        "Any".to_owned()
    } else {
        unique.join(" | ")
    }
}

fn literals(values: &[Json]) -> String {
    let literals: Option<Vec<_>> = values
        .iter()
        .map(|value| match value {
            Json::String(text) => Some(quoted(text)),
            Json::Boolean(value) => Some(if *value { "True" } else { "False" }.to_owned()),
            Json::Null => Some("None".to_owned()),
            Json::Number(number)
                if number
                    .bytes()
                    .all(|byte| byte == b'-' || byte.is_ascii_digit()) =>
            {
                Some(number.clone())
            }
            _ => None,
        })
        .collect();
    match literals {
        Some(literals) if !literals.is_empty() => format!("Literal[{}]", literals.join(", ")),
        _ => "Any".to_owned(),
    }
}

/// Parses a schema. If the text is not JSON, the schema accepts anything.
fn parsed(text: &str) -> Json {
    Json::parse(text).unwrap_or(Json::Boolean(true))
}

/// Returns a Python string literal. A JSON string is one.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("strings serialize")
}

fn default(property: &Json) -> String {
    match property.get("default") {
        Some(Json::String(text)) if text.len() <= 40 => quoted(text),
        Some(Json::Boolean(value)) => if *value { "True" } else { "False" }.to_owned(),
        Some(Json::Number(number)) => number.clone(),
        Some(Json::Null) => "None".to_owned(),
        _ => "...".to_owned(),
    }
}

/// Returns the description of a value and its constraints, with those of its items or members.
fn note(schema: &Json) -> String {
    let mut notes = Vec::new();
    push_constraints(schema, "", &mut notes);
    let description = schema.get_str("description").unwrap_or_default().trim();
    match (description, notes.is_empty()) {
        (description, true) => description.to_owned(),
        ("", false) => format!("({})", notes.join("; ")),
        (description, false) => format!("{description} ({})", notes.join("; ")),
    }
}

/// Adds the constraints of a schema, its items and the values of a map.
fn push_constraints(schema: &Json, path: &str, notes: &mut Vec<String>) {
    let constraints = schema.constraints();
    if !constraints.is_empty() {
        notes.push(format!("{path}{}", constraints.join(", ")));
    }
    for (key, part) in [("items", "item"), ("additionalProperties", "value")] {
        if let Some(inner) = schema.get(key) {
            push_constraints(inner, &format!("each {part}: "), notes);
        }
    }
}

fn one_line(text: &str) -> String {
    let text = text.replace(char::is_control, " ");
    let text = visible::remove(&text);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Escapes text for a docstring, and indents all lines but the first.
fn docstring(text: &str) -> String {
    let text = text.replace(|c: char| c.is_control() && c != '\n', " ");
    let text = visible::remove(&text)
        .replace('\\', "\\\\")
        .replace("\"\"\"", "\\\"\\\"\\\"");
    let lines: Vec<_> = text.lines().map(str::trim_end).collect();
    let text = lines.join("\n    ").replace("\n    \n", "\n\n");
    // A quote at the end would close the docstring early.
    if text.ends_with('"') {
        text + " "
    } else {
        text
    }
}
