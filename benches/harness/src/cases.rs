//! The inputs of the cases.

use std::fmt::Write;

use crate::OF_EACH;

/// A call to measure.
#[derive(Clone)]
pub struct Case {
    pub name: &'static str,
    /// Made in order.
    pub calls: Vec<(&'static str, String)>,
    pub is_refused: bool,
}

/// Returns cases that repeat the call of one tool, and cases that call up to 200 tools in turn.
pub fn all() -> Vec<Case> {
    let hot = |name, tool, arguments: String| Case {
        name,
        calls: vec![(tool, arguments)],
        is_refused: name == "refused",
    };
    vec![
        hot("flat", "flat_7", flat()),
        hot("nested", "nested_7", nested()),
        hot("text", "text_7", text()),
        hot("none", "none_7", "{}".into()),
        hot("refused", "flat_7", refused()),
        Case {
            name: "flat in turn",
            calls: turn(&["flat"]),
            is_refused: false,
        },
        Case {
            name: "200 in turn",
            calls: turn(&["flat", "nested", "text", "none"]),
            is_refused: false,
        },
    ]
}

/// Calls the tools of these shapes, not in the order of their names.
fn turn(shapes: &[&str]) -> Vec<(&'static str, String)> {
    (0..OF_EACH)
        .flat_map(|round| shapes.iter().map(move |&shape| (round, shape)))
        .map(|(round, shape)| {
            let name: &'static str = format!("{shape}_{}", round * 37 % OF_EACH).leak();
            let arguments = match shape {
                "flat" => flat(),
                "nested" => nested(),
                "text" => text(),
                _ => "{}".into(),
            };
            (name, arguments)
        })
        .collect()
}

/// Six scalars.
pub fn flat() -> String {
    r#"{"city":"Lisbon, Portugal","days":3,"unit":"celsius","latitude":38.7223,"limit":25,"hourly":true}"#
        .into()
}

/// A wrong type, a value out of range, an unknown key.
pub fn refused() -> String {
    r#"{"city":5,"days":300,"unit":"celsius","latitude":38.7223,"limit":25,"hourly":true,"wind":true}"#
        .into()
}

/// A struct with a list of 20 structs, 1.4 KB.
pub fn nested() -> String {
    let mut items = String::new();
    for index in 0..20 {
        let comma = if index == 0 { "" } else { "," };
        write!(
            items,
            r#"{comma}{{"sku":"A-{}","quantity":{},"price":{},"gift":{}}}"#,
            1000 + index * 7,
            1 + index % 5,
            499 + index * 1250,
            index % 3 == 0,
        )
        .unwrap();
    }
    format!(
        r#"{{"order":{{"customer":"Ada Lovelace","address":{{"street":"12 St James's Square","city":"London","country":"GB"}},"items":[{items}],"note":"Leave at the door.\nRing twice."}},"rush":true}}"#
    )
}

/// A string of 8 KB, in lines.
pub fn text() -> String {
    let line =
        r#"The committee met at nine, agreed on the \"minutes\" and adjourned until spring. "#;
    let mut body = String::new();
    while body.len() < 8192 {
        body.push_str(line);
        body.push_str("\\n");
    }
    format!(r#"{{"body":"{body}"}}"#)
}
