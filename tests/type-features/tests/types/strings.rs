//! `camino`, `rust_decimal`, `semver`, `smol_str`, `url`, `uuid`.

use camino::{Utf8Path, Utf8PathBuf};
use rust_decimal::Decimal;
use semver::{Comparator, Version, VersionReq};
use serde_json::{Value, json};
use smol_str::SmolStr;
use tool_core::{Tool, ToolType};
use url::Url;
use uuid::Uuid;

use crate::type_test;

type_test! { paths: Utf8PathBuf, {"type": "string"};
keeps Utf8PathBuf::new(), Utf8PathBuf::from("/a b/é\n"), Utf8PathBuf::from("..\\\"");
rejects 1, null, ["a"], {"Unix": []}; }

type_test! { boxed_paths: Box<Utf8Path>, {"type": "string"};
keeps Utf8PathBuf::from("a/b").into_boxed_path();
rejects 1; }

#[test]
fn a_path_can_be_borrowed() {
    /// Gives the last part of a path.
    #[tool_core::tool(unlinked)]
    fn last(path: &Utf8Path, other: Option<&Utf8Path>) -> String {
        format!("{:?} {:?}", path.file_name(), other.map(Utf8Path::as_str))
    }
    let tools = tool_core::tools![last];
    let registry = tool_core::Registry::builder().tools(tools).build().unwrap();
    let call = |text: &str| registry.call_blocking(tool_core::ToolCall::new("id", "last", text));
    let result = call(r#"{"path": "a/b\u00e9"}"#);
    assert_eq!(result.content(), "Some(\"bé\") None");
    let result = call(r#"{"path": "/", "other": "x\ny"}"#);
    assert_eq!(result.content(), "None Some(\"x\\ny\")");
    assert!(call(r#"{"path": 1}"#).is_error());
}

type_test! { small_strings: SmolStr, {"type": "string"};
keeps SmolStr::new(""), SmolStr::new("a\"\\\n\u{1}é"), SmolStr::new("long".repeat(20));
rejects 1, null, ["a"]; }

type_test! { decimals: Decimal, {"type": "string", "description": "Decimal number as a string, such as 12.50."};
keeps Decimal::ZERO, Decimal::MAX, Decimal::MIN, Decimal::new(-1250, 2), Decimal::new(1, 28);
accepts "12.50", "-0.1", "+7", "1e3", ".5";
misses "", "abc", "12,50", "79228162514264337593543950336", "1e400";
rejects 12.5, 12, null, ["1"]; }

type_test! { versions: Version, {"type": "string", "description": "Semantic version, such as 1.4.0-beta.2."};
keeps Version::new(0, 0, 0), "1.4.0-beta.2+build.7".parse().unwrap();
misses "", "1", "1.2", "v1.2.3", "01.2.3", "1.2.3 ";
rejects 1, [1, 2, 3], null; }

type_test! { version_requirements: VersionReq,
{"type": "string", "description": "Requirement on a semantic version, such as ^1.2 or >=1.2, <3."};
keeps VersionReq::STAR, ">=1.2, <3".parse().unwrap(), "~1.2.3-beta".parse().unwrap();
accepts "1", "^1.2", "*";
misses "", "^", "newest", ">=1.2 <3";
rejects 1, null; }

type_test! { comparators: Comparator,
{"type": "string", "description": "Single requirement on a semantic version, such as ^1.2."};
keeps "^1.2".parse().unwrap(), "=1.2.3".parse().unwrap();
misses "", "*", ">=1.2, <3";
rejects 1; }

type_test! { urls: Url, {"type": "string", "description": "Absolute URL, such as https://example.com/path."};
keeps "https://example.com/a?b=c#d".parse().unwrap(), "mailto:a@example.com".parse().unwrap(),
    "http://[::1]:8080/".parse().unwrap();
accepts "https://example.com/a b", " http://example.com", "HTTP://EXAMPLE.COM", "urn:isbn:0451450523";
misses "", "/path", "example.com", "http://", "http://a:99999/", "http://a b/";
rejects 1, null, {}; }

type_test! { uuids: Uuid, {"type": "string", "format": "uuid"};
keeps Uuid::nil(), Uuid::max(), Uuid::from_u128(0x67e5_5044_10b1_426f_9247_bb68_0e5f_e0c8);
accepts "67E55044-10B1-426F-9247-BB680E5FE0C8";
is_lax "67e5504410b1426f9247bb680e5fe0c8", "{67e55044-10b1-426f-9247-bb680e5fe0c8}",
    "urn:uuid:67e55044-10b1-426f-9247-bb680e5fe0c8";
rejects "", "67e55044", "67e55044-10b1-426f-9247-bb680e5fe0cg", "67e55044-10b1-426f-9247bb680e5fe0c8", 7, null,
    [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]; }

/// A comment says what the value is for, and the type how it is written.
#[test]
fn a_comment_leaves_the_form_of_a_type() {
    /// Books a table.
    #[tool_core::tool(unlinked)]
    fn book(
        /// When to come.
        time: chrono::NaiveTime,
        /// The bid.
        price: Option<Decimal>,
        menu: Option<Url>,
    ) -> String {
        format!("{time} {price:?} {menu:?}")
    }

    /// A booking.
    #[derive(serde::Serialize, ToolType)]
    struct Booked {
        /// When to come.
        time: Option<chrono::NaiveTime>,
    }

    /// Shows a booking.
    #[tool_core::tool(unlinked)]
    fn show() -> Booked {
        Booked { time: None }
    }

    let parameters: Value = serde_json::from_str(book::SPEC.parameters_json()).unwrap();
    let described = |name: &str| parameters["properties"][name]["description"].clone();
    assert_eq!(
        described("time"),
        "When to come.\nTime of day, such as 08:30:00."
    );
    assert_eq!(
        described("price"),
        "The bid.\nDecimal number as a string, such as 12.50."
    );
    assert_eq!(
        described("menu"),
        "Absolute URL, such as https://example.com/path."
    );
    let result: Value = serde_json::from_str(show::SPEC.output_json().unwrap()).unwrap();
    let form = json!({"type": "string", "description": "Time of day, such as 08:30:00."});
    assert_eq!(
        result["properties"]["time"],
        json!({"description": "When to come.", "anyOf": [form, {"type": "null"}]})
    );
}
