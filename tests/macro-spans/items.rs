/// A generic type without a clause.
#[derive(ToolType)]
struct Page<T> {
    items: Vec<T>,
    #[serde(flatten)]
    rest: Rest<T>,
    #[param(recursive)]
    next: Option<Box<Page<T>>>,
}

#[derive(ToolType)]
struct Both<T: Clone, U>
where
    T: Copy
{
    #[serde(alias = "first", default)]
    #[param(length = 1..=3, example = ["a"])]
    one: Vec<T>,
    #[serde(flatten)]
    other: U,
}

/// A newtype.
#[derive(ToolType)]
#[serde(transparent)]
struct Id<T>(T);

#[derive(ToolType)]
struct Pair(#[param(range = 0.5..=1.0)] f64, #[param(multiple_of = 5)] i64);

#[derive(ToolType)]
struct Nothing;

#[derive(ToolType)]
#[serde(try_from = "String", deny_unknown_fields)]
struct Even {
    #[param(schema = r#"{"type": "object", "properties": {"a": {"type": "string", "minLength": 1, "format": "email"}, "b": {"type": "integer", "multipleOf": 2, "minimum": 0}}}"#)]
    a: Value,
    #[param(as = String)]
    #[serde(with = "other")]
    b: Other,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    c: Vec<u8>,
    #[param(description = TEXT)]
    d: u8,
}

/// A kind.
#[derive(ToolType)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Internal {
    /// With fields.
    #[serde(alias = "fields")]
    Fields { a: u8 },
    Holds(Other),
    Unit,
    #[serde(other)]
    Unknown,
}

#[derive(ToolType)]
#[serde(tag = "kind", content = "value")]
enum Adjacent {
    Fields { a: u8 },
    Holds(Other),
    Skipped(#[serde(skip)] u8),
    Unit,
}

#[derive(ToolType)]
enum External {
    /// One.
    #[serde(alias = "1")]
    One,
    #[doc = NOTE!()]
    Two,
    Holds(#[param(length = 1..)] String),
    #[serde(skip_deserializing)]
    Written { a: u8 },
    #[serde(untagged)]
    Rest(String),
}

#[derive(ToolType)]
#[serde(untagged)]
enum Untagged {
    Text(String),
    Fields { a: u8 },
}

#[derive(ToolType)]
enum Open {
    One,
    Holds(u8),
    #[serde(other)]
    Other,
}

#[derive(ToolType)]
#[serde(into = "String")]
struct Into {
    #[serde(rename(serialize = "b"))]
    a: u8,
}

#[derive(ToolType)]
struct Renamed {
    #[serde(rename(serialize = "b"))]
    a: u8,
    #[serde(flatten)]
    rest: Rest,
}

/// Every key.
#[tool(
    name = "every-key",
    title = "Every key",
    tags = ["a", "b"],
    read_only,
    destructive = false,
    idempotent,
    open_world,
    timeout = "30s",
    parallel,
    unlinked
)]
async fn every_key<'a>(
    #[param(context)] context: &CallContext,
    #[param(context)] database: Option<&Database>,
    #[param(default = [1, 2], unique, example = [3])] numbers: Vec<i64>,
    #[param(default)] text: String,
    #[param(default = -0.5, range = -1.0..1.0)] number: f64,
    #[param(default = "a", format = "email", rename = "mail")] email: &'a str,
    #[param(default = true)] flag: bool,
    #[param(as = String)] other: Option<&Other>,
    #[param(schema = r#"{"type": ["string", "null"], "description": "\"quoted\""}"#)] schema: Value,
    /// "Quoted"
    quoted: u8,
    #[cfg(unix)] conditional: [u8; 3],
) -> Result<Json<Vec<&'a str>>, Error<'a>> {
    todo!()
}

/// A blocking tool.
///
/// # When to use
/// Always.
///
/// # Returns
/// Nothing.
#[tool(blocking, timeout = "500ms", parallel = false, handler = Blocking)]
pub(crate) fn blocking(of: u8) -> impl Display {
    todo!()
}

#[doc = include_str!("a.md")]
#[doc = "Text."]
#[tool]
fn parts() {}

/// A toolset with generics.
#[toolset(blocks = 3)]
impl<'a, T: Backend<Self>, const N: usize> Home<T, N>
where
    T: Copy
{
    /// Gets it.
    #[tool]
    async fn get(&self, one: Option<T>, #[param(length = 1..=3)] list: [Self; N]) -> Self {
        todo!()
    }
}
