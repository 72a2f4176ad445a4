use std::fmt::Write;

use crate::{Contender, Function};

/// Returns a module with these functions as tools, and a function or static that lists them.
pub fn source(contender: Contender, functions: &[Function]) -> String {
    let mut out = String::from("// Written by the crate `generate`.\n");
    types(contender, &mut out);
    tools(contender, functions, &mut out);
    out
}

/// Returns a module for each function, with types of its own: those that its parameters name. Nothing is derived that tools
/// don't need.
pub fn modules(contender: Contender, functions: &[Function]) -> String {
    let mut all = String::new();
    types(contender, &mut all);
    let mut out = String::new();
    for function in functions {
        writeln!(out, "pub mod {} {{", function.name).unwrap();
        for item in all.split("\n\n") {
            let mut parameters = function.parameters.iter();
            if parameters.any(|parameter| item.contains(&format!(" {} {{", parameter.r#type))) {
                out += item;
                out.push('\n');
            }
        }
        tools(contender, std::slice::from_ref(function), &mut out);
        out.push_str("}\n");
    }
    lean(contender, &out)
}

/// Removes the derives that tools don't need: `Debug`, that of serde beside `ToolType`, and all of functions that are no tools.
pub fn lean(contender: Contender, source: &str) -> String {
    let source = source.replace("Debug, ", "");
    match contender {
        Contender::ToolCore => source.replace("serde::Deserialize, ", ""),
        Contender::Bare => {
            let source = source.replace("#[derive(serde::Deserialize)]\n", "");
            source.replace("#[serde(rename_all = \"lowercase\")]\n", "")
        }
        _ => source,
    }
}

/// Writes these functions as tools, and a function or static that lists them.
fn tools(contender: Contender, functions: &[Function], out: &mut String) {
    match contender {
        Contender::Bare => bare(functions, out),
        Contender::Floor | Contender::Schemars => by_hand(contender, functions, out),
        Contender::ToolCore => attribute("#[tool_core::tool]", "", plain, functions, out),
        Contender::Rmcp => rmcp(functions, out),
        Contender::TowerMcp => tower_mcp(functions, out),
        Contender::Rig => {
            attribute("#[rig_core::rig_tool]", "", fallible, functions, out);
            pascal_list(
                "pub fn add_all(set: &mut rig_agent::tool::ToolSet)",
                "set.add_tool",
                functions,
                out,
            );
        }
        Contender::ToolsRs => tools_rs(functions, out),
        Contender::LlmTool => {
            attribute("#[llm_tool::llm_tool]", "", plain, functions, out);
            pascal_list(
                "pub fn add_all(set: &mut llm_tool::ToolRegistry)",
                "set.register",
                functions,
                out,
            );
        }
    }
}

/// Writes the types of the parameters.
fn types(contender: Contender, out: &mut String) {
    let derives = match contender {
        Contender::Bare | Contender::Floor => "serde::Deserialize",
        Contender::ToolCore => "serde::Deserialize, tool_core::ToolType",
        Contender::ToolsRs => "serde::Serialize, serde::Deserialize",
        _ => "serde::Deserialize, schemars::JsonSchema",
    };
    let of_structs = match contender {
        Contender::ToolsRs => "serde::Serialize, serde::Deserialize, tools_rs::ToolSchema",
        _ => derives,
    };
    let closed = match contender {
        Contender::Schemars => "#[serde(deny_unknown_fields)]\n",
        _ => "",
    };
    write!(
        out,
        "
/// Temperature unit.
#[derive(Debug, {derives})]
#[serde(rename_all = \"lowercase\")]
pub enum Unit {{
    Celsius,
    Fahrenheit,
}}

/// A place to deliver to.
#[derive(Debug, {of_structs})]
{closed}pub struct Address {{
    /// Street and number.
    pub street: String,
    /// City.
    pub city: String,
    /// Two letters, such as `PT`.
    pub country: String,
}}

/// A position of an order.
#[derive(Debug, {of_structs})]
{closed}pub struct Item {{
    /// Number in the catalogue.
    pub sku: String,
    /// How many.
    pub quantity: u32,
    /// Price of one, in cents.
    pub price: i64,
    /// A gift is wrapped.
    pub gift: bool,
}}

/// A place on Earth.
#[derive(Debug, {of_structs})]
{closed}pub struct Loc {{
    /// Degrees north.
    pub latitude: f64,
    /// Degrees east.
    pub longitude: f64,
}}

/// An order.
#[derive(Debug, {of_structs})]
{closed}pub struct Order {{
    /// Name of the customer.
    pub customer: String,
    /// Where it goes.
    pub address: Address,
    /// What is ordered.
    pub items: Vec<Item>,
    /// A note for the packer.
    pub note: Option<String>,
}}
"
    )
    .unwrap();
    if contender == Contender::ToolsRs {
        // Its derive macro rejects enums.
        out.push_str(
            "
impl tools_rs::ToolSchema for Unit {
    fn schema() -> serde_json::Value {
        serde_json::json!({\"type\": \"string\", \"enum\": [\"celsius\", \"fahrenheit\"]})
    }
}
",
        );
    }
}

fn docs(text: &str, indent: &str, out: &mut String) {
    for line in text.lines() {
        writeln!(out, "{indent}/// {line}").unwrap();
    }
}

/// Returns the body of a function: as little as the optimizer allows.
fn body(function: &Function) -> String {
    let names: Vec<_> = function
        .parameters
        .iter()
        .map(|p| format!("&{}", p.name))
        .collect();
    format!(
        "std::hint::black_box(({}));",
        names.join(", ") + if names.len() == 1 { "," } else { "" }
    )
}

const RESULT: &str = "String::from(\"stored\")";

fn plain(function: &Function) -> (&'static str, String) {
    ("String", format!("{} {RESULT}", body(function)))
}

fn fallible(function: &Function) -> (&'static str, String) {
    (
        "Result<String, rig_core::tool::ToolExecutionError>",
        format!("{} Ok({RESULT})", body(function)),
    )
}

fn attribute(
    attribute: &str,
    asyncness: &str,
    write_body: fn(&Function) -> (&'static str, String),
    functions: &[Function],
    out: &mut String,
) {
    for function in functions {
        out.push('\n');
        docs(&function.doc, "", out);
        writeln!(out, "{attribute}\npub {asyncness}fn {}(", function.name).unwrap();
        for parameter in &function.parameters {
            docs(parameter.doc, "    ", out);
            writeln!(out, "    {}: {},", parameter.name, parameter.r#type).unwrap();
        }
        let (returns, body) = write_body(function);
        writeln!(out, ") -> {returns} {{ {body} }}").unwrap();
    }
}

fn pascal(name: &str) -> String {
    name.split('_')
        .flat_map(|word| {
            let (first, rest) = word.split_at(1);
            [first.to_uppercase(), rest.to_owned()]
        })
        .collect()
}

fn pascal_list(head: &str, add: &str, functions: &[Function], out: &mut String) {
    writeln!(out, "\n{head} {{").unwrap();
    for function in functions {
        writeln!(out, "    let _ = {add}({});", pascal(&function.name)).unwrap();
    }
    out.push_str("}\n");
}

fn bare_functions(functions: &[Function], out: &mut String) {
    for function in functions {
        out.push('\n');
        docs(&function.doc, "", out);
        write!(out, "pub fn {}(", function.name).unwrap();
        for parameter in &function.parameters {
            write!(out, "{}: {}, ", parameter.name, parameter.r#type).unwrap();
        }
        writeln!(out, ") -> String {{ {} {RESULT} }}", body(function)).unwrap();
    }
}

fn bare(functions: &[Function], out: &mut String) {
    bare_functions(functions, out);
    out.push_str("\npub fn keep() {\n");
    for function in functions {
        let blanks = vec!["_"; function.parameters.len()].join(", ");
        writeln!(
            out,
            "    std::hint::black_box({} as fn({blanks}) -> String);",
            function.name
        )
        .unwrap();
    }
    out.push_str("}\n");
}

fn argument_struct(contender: Contender, function: &Function, out: &mut String) {
    let extra = match contender {
        Contender::Floor => "",
        _ => ", schemars::JsonSchema",
    };
    writeln!(out, "\n#[derive(Debug, serde::Deserialize{extra})]").unwrap();
    if contender == Contender::Schemars {
        out.push_str("#[serde(deny_unknown_fields)]\n");
    }
    writeln!(out, "pub struct {}Arguments {{", pascal(&function.name)).unwrap();
    for parameter in &function.parameters {
        docs(parameter.doc, "    ", out);
        writeln!(out, "    pub {}: {},", parameter.name, parameter.r#type).unwrap();
    }
    out.push_str("}\n");
}

fn destructured(function: &Function) -> String {
    let names: Vec<_> = function.parameters.iter().map(|p| &*p.name).collect();
    format!(
        "{}Arguments {{ {} }}",
        pascal(&function.name),
        names.join(", ")
    )
}

fn by_hand(contender: Contender, functions: &[Function], out: &mut String) {
    bare_functions(functions, out);
    for function in functions {
        argument_struct(contender, function, out);
        let names: Vec<_> = function.parameters.iter().map(|p| &*p.name).collect();
        writeln!(
            out,
            "pub fn call_{name}(text: &str) -> Result<String, String> {{
    let {arguments} = serde_json::from_str(text).map_err(|error| error.to_string())?;
    Ok({name}({names}))
}}",
            name = function.name,
            arguments = destructured(function),
            names = names.join(", "),
        )
        .unwrap();
    }
    match contender {
        Contender::Floor => {
            out.push_str(
                "\npub static TOOLS: &[(&str, fn(&str) -> Result<String, String>)] = &[\n",
            );
            for Function { name, .. } in functions {
                writeln!(out, "    (\"{name}\", call_{name}),").unwrap();
            }
        }
        _ => {
            out.push_str("\npub type Row = (&'static str, &'static str, fn() -> schemars::Schema, fn(&str) -> Result<String, String>);\n");
            out.push_str("pub static TOOLS: &[Row] = &[\n");
            for function in functions {
                writeln!(
                    out,
                    "    (\"{name}\", {doc:?}, || schemars::schema_for!({pascal}Arguments), call_{name}),",
                    name = function.name,
                    doc = function.doc,
                    pascal = pascal(&function.name),
                )
                .unwrap();
            }
        }
    }
    out.push_str("];\n");
}

fn rmcp(functions: &[Function], out: &mut String) {
    for function in functions.iter().filter(|f| !f.parameters.is_empty()) {
        argument_struct(Contender::Rmcp, function, out);
    }
    out.push_str("\n#[derive(Clone)]\npub struct Server;\n\n#[rmcp::tool_router(vis = \"pub\")]\nimpl Server {\n");
    for function in functions {
        docs(&function.doc, "    ", out);
        let parameters = if function.parameters.is_empty() {
            String::new()
        } else {
            format!(
                ", rmcp::handler::server::wrapper::Parameters({}): rmcp::handler::server::wrapper::Parameters<{}Arguments>",
                destructured(function),
                pascal(&function.name),
            )
        };
        writeln!(
            out,
            "    #[rmcp::tool]\n    fn {}(&self{parameters}) -> String {{ {} {RESULT} }}",
            function.name,
            body(function),
        )
        .unwrap();
    }
    out.push_str("}\n");
}

/// tower-mcp reads no docs of functions, and writes `-` for `_` in names that it is not given.
fn tower_mcp(functions: &[Function], out: &mut String) {
    for function in functions {
        let argument = if function.parameters.is_empty() {
            "_: tower_mcp::NoParams".to_owned()
        } else {
            argument_struct(Contender::TowerMcp, function, out);
            let pattern = destructured(function);
            format!("{pattern}: {}Arguments", pascal(&function.name))
        };
        writeln!(
            out,
            "\n#[tower_mcp::tool_fn(name = {name:?}, description = {doc:?})]
pub async fn {name}({argument}) -> tower_mcp::Result<tower_mcp::CallToolResult> {{ {} Ok(tower_mcp::CallToolResult::text({RESULT})) }}",
            body(function),
            name = function.name,
            doc = function.doc,
        )
        .unwrap();
    }
    out.push_str("\npub fn all() -> Vec<tower_mcp::Tool> {\n    vec![\n");
    for function in functions {
        writeln!(out, "        {}_tool(),", function.name).unwrap();
    }
    out.push_str("    ]\n}\n");
}

/// tools-rs accepts no docs on parameters, and its functions are async.
fn tools_rs(functions: &[Function], out: &mut String) {
    for function in functions {
        out.push('\n');
        docs(&function.doc, "", out);
        writeln!(out, "#[tools_rs::tool]\npub async fn {}(", function.name).unwrap();
        for parameter in &function.parameters {
            writeln!(out, "    {}: {},", parameter.name, parameter.r#type).unwrap();
        }
        writeln!(out, ") -> String {{ {} {RESULT} }}", body(function)).unwrap();
    }
}
