//! The stubs of tools.

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};
use tool_core::dynamic::DynamicTool;
use tool_core::{Registry, ToolType, tool, tools};

/// Where to go.
#[derive(serde::Serialize, ToolType)]
struct Place {
    /// The city.
    city: String,
    country: Option<String>,
}

/// How to go.
#[derive(serde::Serialize, ToolType)]
enum Way {
    Walk,
    Ride {
        /// Who drives.
        driver: String,
    },
}

/// A part of a list.
#[derive(serde::Serialize, ToolType)]
struct Tree {
    name: String,
    children: Vec<Tree>,
}

/// Plans a trip.
///
/// Says "how".
///
/// # Arguments
///
/// - `days`: How long.
#[tool(unlinked)]
fn plan_trip(
    place: Place,
    #[param(range = 1..=14, default = 3)] days: u8,
    way: Option<Way>,
    tags: Vec<String>,
    exact: (bool, f64),
    #[param(length = 1..=3)] weights: HashMap<String, u8>,
) -> Result<Tree, String> {
    let _ = (place.city, place.country, days, tags, exact, weights);
    if let Some(Way::Ride { driver }) = way {
        return Err(driver);
    }
    Ok(Tree {
        name: String::new(),
        children: Vec::new(),
    })
}

/// Prints.
#[tool(unlinked)]
fn print(r#from: &str) -> String {
    from.to_owned()
}

fn registry() -> Registry {
    Registry::builder()
        .tools(tools![plan_trip, print])
        .build()
        .unwrap()
}

#[test]
fn stubs_have_the_types_defaults_and_descriptions_of_the_tools() {
    let expected = std::fs::read_to_string("tests/stubs/expected.pyi").unwrap_or_default();
    let stubs = tool_python::stubs(&registry());
    if std::env::var_os("BLESS").is_some() {
        std::fs::write("tests/stubs/expected.pyi", &stubs).unwrap();
        return;
    }
    assert_eq!(stubs, expected);
}

#[test]
fn names_that_python_rejects_are_replaced() {
    let tool = DynamicTool::foreign("get weather/now")
        .description("It \"rains\"")
        .parameters(json!({
            "type": "object",
            "properties": {
                "class": {"type": "object", "properties": {"from": {"type": "string"}, "str": {"type": "integer"}}},
                "a-b": {"enum": ["x\"y", 1, null]},
            },
        }))
        .build(async |_, _| Ok::<_, String>(()))
        .unwrap();
    let stubs = tool_python::stubs(&Registry::builder().tool(tool).build().unwrap());
    assert!(stubs.contains("def get_weather_now("), "{stubs}");
    assert!(
        stubs.contains("class_: GetWeatherNowClass = ..."),
        "{stubs}"
    );
    assert!(
        stubs.contains("GetWeatherNowClass = TypedDict(\"GetWeatherNowClass\", {"),
        "{stubs}"
    );
    assert!(stubs.contains("\"from\": NotRequired[str],"), "{stubs}");
    assert!(stubs.contains("It \"rains\" \"\"\"\n"), "{stubs}");
}

/// A key may have the name of a builtin, unless the class also has a type with that name.
#[test]
fn classes_are_plain_unless_a_name_hides_a_type() {
    let object =
        |key: &str, kind: &str| json!({"type": "object", "properties": {key: {"type": kind}}});
    let tool = DynamicTool::foreign("get")
        .parameters(json!({
            "type": "object",
            "properties": {"ids": object("id", "string"), "texts": object("str", "string"), "types": object("str", "integer")},
        }))
        .build(async |_, _| Ok::<_, String>(()))
        .unwrap();
    let stubs = tool_python::stubs(&Registry::builder().tool(tool).build().unwrap());
    for expected in [
        "class GetIds(TypedDict):\n    id: NotRequired[str]\n",
        "GetTexts = TypedDict(\"GetTexts\", {\n    \"str\": NotRequired[str],\n",
        "class GetTypes(TypedDict):\n    str: NotRequired[int]\n",
    ] {
        assert!(stubs.contains(expected), "{expected}\n{stubs}");
    }
}

#[test]
fn a_default_of_another_type_is_left_out() {
    let defaults = [
        (
            json!({"type": "boolean", "default": "false"}),
            "p: bool = ...",
        ),
        (
            json!({"type": "boolean", "default": false}),
            "p: bool = False",
        ),
        (json!({"type": "integer", "default": 1.5}), "p: int = ..."),
        (json!({"type": "number", "default": 1}), "p: float = 1"),
        (
            json!({"type": "array", "items": {"type": "string"}, "default": "a"}),
            "p: list[str] = ...",
        ),
        (
            json!({"enum": ["a", "b"], "default": "b"}),
            "p: Literal[\"a\", \"b\"] = \"b\"",
        ),
        (
            json!({"enum": ["a", "b"], "default": "c"}),
            "p: Literal[\"a\", \"b\"] = ...",
        ),
        (
            json!({"type": ["string", "null"], "default": null}),
            "p: str | None = None",
        ),
        (
            json!({"type": "string", "default": null}),
            "p: str | None = None",
        ),
        (json!({"default": "a"}), "p: Any = \"a\""),
    ];
    for (property, expected) in defaults {
        let tool = DynamicTool::foreign("get")
            .parameters(json!({"type": "object", "properties": {"p": property}}))
            .build(async |_, _| Ok::<_, String>(()))
            .unwrap();
        let stubs = tool_python::stubs(&Registry::builder().tool(tool).build().unwrap());
        assert!(
            stubs.contains(&format!("def get({expected}) -> str:")),
            "{expected}\n{stubs}"
        );
    }
}

#[test]
fn deferred_tools_are_found_by_search() {
    let registry = Registry::builder()
        .tools(tools![plan_trip, print])
        .defer_tools(["plan_trip"])
        .build()
        .unwrap();
    let stubs = tool_python::stubs(&registry);
    assert!(
        !stubs.contains("plan_trip") && stubs.contains("def search_tools("),
        "{stubs}"
    );
}

/// Checks stubs with mypy if `TOOL_PYTHON_MYPY` contains its path. Checks the stubs of these tests, and of the
/// functions in the file named by `TOOL_PYTHON_FUNCTIONS`, a JSON array of objects with `name`, `description` and
/// `parameters`.
#[test]
fn stubs_pass_a_strict_type_checker() {
    let Some(mypy) = std::env::var_os("TOOL_PYTHON_MYPY") else {
        eprintln!("skipped: TOOL_PYTHON_MYPY is not set");
        return;
    };
    let mut texts = vec![tool_python::stubs(&registry())];
    if let Some(path) = std::env::var_os("TOOL_PYTHON_FUNCTIONS") {
        let functions: Vec<Value> =
            serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let registry = Registry::new();
        for function in &functions {
            let tool = DynamicTool::foreign(function["name"].as_str().unwrap())
                .description(function["description"].as_str().unwrap())
                .parameters(function["parameters"].clone())
                .build(async |_, _| Ok::<_, String>(()))
                .unwrap_or_else(|error| panic!("{function}: {error}"));
            registry.add([tool.into()]).unwrap();
        }
        assert_eq!(registry.len(), functions.len());
        texts.push(tool_python::stubs(&registry));
        eprintln!("{} functions", functions.len());
    }
    for text in texts {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("tools.pyi");
        std::fs::write(&path, &text).unwrap();
        let output = Command::new(&mypy)
            .args(["--strict", "--cache-dir=/dev/null"])
            .arg(&path)
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}\n{}",
            String::from_utf8_lossy(&output.stdout),
            path.display()
        );
    }
}

/// Turns a page.
#[tool(unlinked, meta = r#"{"ui": {"visibility": ["app"]}}"#)]
fn turn_page() {}

#[test]
fn a_tool_for_apps_alone_has_no_stub() {
    let registry = Registry::builder().tools(tools![plan_trip, turn_page]);
    let stubs = tool_python::stubs(&registry.build().unwrap());
    assert!(
        stubs.contains("plan_trip") && !stubs.contains("turn_page"),
        "{stubs}"
    );
}
