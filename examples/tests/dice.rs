//! Runs the dice as a user does, and checks what is rejected.

use std::path::PathBuf;
use std::sync::Mutex;

use examples::program::{assert_closed_early, assert_rejected, run};
use serde_json::{Map, Value, json};
use tool_core::{Registry, Tool, ToolCall};
use tool_docs::testing;

#[path = "../dice/dice.rs"]
mod dice;
#[path = "../dice/tools.rs"]
mod tools;

use dice::{Dice, DiceError, Rng};

fn registry() -> Registry {
    let rng = Mutex::new(Rng::seeded(1));
    let registry = Registry::builder().linked().context(rng);
    registry.build().expect("one tool")
}

fn roll(arguments: Value) -> String {
    let result = registry().call_blocking(ToolCall::new("1", "roll", arguments));
    result.content().to_owned()
}

#[test]
fn the_schema_is_smaller_without_titles_and_references() {
    let own = tools::roll::SPEC;
    let own = own.parameters_json();
    let pydantic: Value = serde_json::from_str(include_str!("../dice/pydantic.json")).unwrap();
    for word in ["title", "$defs", "$ref"] {
        assert!(!own.contains(word), "{own}");
        assert!(pydantic.to_string().contains(word));
    }
    for word in ["\"minItems\":1", "\"additionalProperties\":false"] {
        assert!(own.contains(word), "{own}");
    }
    assert!(own.len() < pydantic.to_string().len(), "{own}");
    // Both have the same descriptions.
    let own: Value = serde_json::from_str(own).unwrap();
    let items = &own["properties"]["specs"]["items"]["properties"];
    let theirs = &pydantic["$defs"]["NamedDice"]["properties"];
    assert_eq!(own["properties"].as_object().map(Map::len), Some(1));
    for key in ["name", "dice"] {
        assert!(items[key]["description"].is_string());
        assert_eq!(items[key]["description"], theirs[key]["description"]);
    }
}

#[cfg(feature = "tokens")]
#[test]
fn the_schema_takes_fewer_tokens() {
    let count = |text: &str| {
        tiktoken_rs::o200k_base_singleton()
            .encode_ordinary(text)
            .len()
    };
    let pydantic: Value = serde_json::from_str(include_str!("../dice/pydantic.json")).unwrap();
    let own = tools::roll::SPEC;
    assert!(count(own.parameters_json()) < count(&pydantic.to_string()));
}

#[test]
fn the_notation_is_checked() {
    for text in ["1d4", "3d6+2", "2d8-1", "1000d1000+65535", "4d6+0"] {
        assert!(Dice::parse(text).is_ok(), "{text}");
    }
    for (text, error) in [
        ("", DiceError::Form),
        ("d6", DiceError::Form),
        ("0d6", DiceError::Form),
        ("1d", DiceError::Form),
        ("+1d6", DiceError::Form),
        ("1d6+", DiceError::Form),
        ("1d6 + 1", DiceError::Form),
        ("1d6+-1", DiceError::Form),
        ("1D6", DiceError::Form),
        ("1d٦", DiceError::Form),
        ("1d6−1", DiceError::Form),
        ("99999999999d6", DiceError::Form),
        ("1001d6", DiceError::TooMany),
        ("1d0", DiceError::Sides(0)),
        ("1d2", DiceError::Sides(2)),
        ("1d7", DiceError::Sides(7)),
        ("1d1002", DiceError::Sides(1002)),
        ("1d4-1", DiceError::Least(0)),
        ("2d8-9", DiceError::Least(-7)),
    ] {
        assert_eq!(Dice::parse(text), Err(error), "{text}");
    }
}

#[test]
fn every_side_is_equally_likely() {
    let mut rng = Rng::seeded(1);
    let dice = Dice::parse("1000d6").expect("dice");
    let mut fell = [0_u32; 6];
    for _ in 0..100 {
        for side in dice.roll(&mut rng).0 {
            fell[usize::from(side - 1)] += 1;
        }
    }
    // 100,000 dice: six standard deviations are about 700.
    assert!(
        fell.iter().all(|&count| count.abs_diff(16_667) < 700),
        "{fell:?}"
    );
}

#[test]
fn the_model_reads_what_is_wrong_with_each_roll() {
    let said = roll(json!({"specs": []}));
    assert!(said.contains("specs: "), "{said}");
    let said = roll(json!({"specs": [{"name": "luck", "dice": "1d4-1"}]}));
    assert!(said.contains("specs[0].dice: "), "{said}");
    assert!(said.contains("to make it at least 1"), "{said}");
    let said = roll(json!({"specs": [{"name": 1, "dice": "1d6", "sides": 6}, {"name": "luck"}]}));
    for part in ["specs[0].name", "specs[0].sides", "specs[1].dice"] {
        assert!(said.contains(part), "{said}");
    }
    // Errors of the notation are listed with the others, each with its path.
    let said = roll(json!({"specs": [
        {"name": "luck", "dice": "1d4-1"}, {"name": "fate", "dice": "1d7"}, {"dice": "six"},
    ]}));
    for part in [
        "specs[0].dice: the lowest total is 0",
        "specs[1].dice: 7 sides are not allowed",
        "specs[2].name: missing",
        "specs[2].dice: not dice notation such as 3d6+2",
    ] {
        assert!(said.contains(part), "{said}");
    }
}

#[test]
fn the_same_seed_gives_the_same_rolls() {
    let ran = |seed| run("dice", &["--seed", seed], "");
    let seven = ran("7");
    assert_eq!(seven.code, Some(0), "{}", seven.log);
    assert_eq!(rolls(&seven.out).len(), 2, "{}", seven.out);
    assert_ne!(rolls(&seven.out), rolls(&ran("8").out));
    assert_eq!(rolls(&seven.out), rolls(&ran("7").out));
}

/// Returns the lines with results.
fn rolls(out: &str) -> Vec<&str> {
    out.lines()
        .filter(|line| line.contains("\"total\":"))
        .collect()
}

#[test]
fn the_schema_is_printed() {
    let ran = run("dice", &["--schema"], "");
    assert_eq!(ran.out.trim_end(), tools::roll::SPEC.parameters_json());
}

#[test]
fn calls_come_from_a_file_or_from_standard_input() {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("dice/calls.json");
    let path = file.to_str().expect("a path that is text");
    let ran = run("dice", &["--calls", path], "");
    assert!(ran.out.contains("initiative"), "{}", ran.log);
    let call = r#"[{"specs":[{"name":"luck","dice":"1d20+100"}]}]"#;
    let ran = run("dice", &["--calls", "-"], call);
    assert!(
        ran.out.contains(r#"[{"name":"luck","dice":["#),
        "{}",
        ran.out
    );
}

#[test]
fn bad_input_exits_with_2() {
    assert_rejected("dice", &["--seed", "many"], "", "many");
    assert_rejected("dice", &["--dice"], "", "--dice");
    assert_rejected("dice", &["--calls", "none"], "", "can't read none");
    for input in ["", "{}", "[{"] {
        assert_rejected(
            "dice",
            &["--calls", "-"],
            input,
            "the calls are not a JSON array",
        );
    }
}

/// After an intended change: `TOOL_CORE_UPDATE=1 cargo test --test dice`.
#[test]
fn lock_and_catalogue_are_up_to_date() {
    testing::check(&registry())
        .lock("dice/tools.lock.json")
        .docs("dice/TOOLS.md")
        .run();
}

#[test]
fn output_that_is_closed_early_ends_it_quietly() {
    assert_closed_early("dice");
}

#[test]
fn the_tools_have_a_command_line() {
    let ran = run("dice", &["tools", "list"], "");
    assert!(ran.out.contains(r#""name":"roll""#), "{ran:?}");
    let ran = run("dice", &["tools", "call", "roll"], "");
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.log.contains("--specs: "), "{ran:?}");
}
