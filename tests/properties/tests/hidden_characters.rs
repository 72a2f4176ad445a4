//! The list of hidden characters is that of Unicode's tables, as another library has them, and a text that somebody
//! approves shows everything.

use std::collections::HashMap;
use std::fmt::Write;

use properties::random::Random;
use properties::rounds;
use regex::Regex;
use tool_core::visible::{self, is_hidden, is_unclear};

/// Returns all characters for which the class is `true`.
fn class(class: &str) -> impl Fn(char) -> bool {
    let class = Regex::new(&format!("^{class}$")).unwrap();
    move |character| class.is_match(character.encode_utf8(&mut [0; 4]))
}

#[test]
fn hidden_characters_are_those_of_unicode() {
    let hidden = class(
        r"(?s:[[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\p{Zl}\p{Zp}]--\p{Prepended_Concatenation_Mark}])",
    );
    for character in '\0'..=char::MAX {
        assert_eq!(is_hidden(character), hidden(character), "{character:?}");
    }
    let bidi = class(r"\p{Bidi_Control}");
    assert!(('\0'..=char::MAX).all(|c| !bidi(c) || is_hidden(c)));
}

#[test]
fn unclear_characters_are_those_of_unicode() {
    let unclear = class(
        r"(?s:[[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\p{Co}\p{Z}\p{Noncharacter_Code_Point}\u{2800}\u{1d159}]--[ ]])",
    );
    let unassigned = class(r"\p{Cn}");
    for character in '\0'..=char::MAX {
        // Whether a new character is assigned depends on the version of either library.
        if !unassigned(character) || unclear(character) {
            assert_eq!(is_unclear(character), unclear(character), "{character:?}");
        }
    }
    for never_assigned in ['\u{378}', '\u{530}', '\u{2fe0}', '\u{3fffd}'] {
        assert!(is_unclear(never_assigned), "{never_assigned:?}");
    }
}

#[test]
fn every_emoji_keeps_its_variation_selector() {
    let emoji = class(r"[\p{Extended_Pictographic}\p{Emoji_Modifier}]");
    let assigned = class(r"\P{Cn}");
    for character in ('\0'..=char::MAX).filter(|&c| emoji(c) && assigned(c)) {
        let text = format!("{character}\u{fe0f}\u{200d}{character}");
        assert_eq!(visible::remove(&text), text);
    }
}

/// JSON as its text says it: keys in their order and more than once, numbers as they are spelled, halves of pairs.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Tree {
    Word(&'static str),
    Text(Vec<u16>),
    List(Vec<Tree>),
    Members(Vec<(Vec<u16>, Tree)>),
}

/// Returns one of few texts, so that equal shown forms are found.
fn text(random: &mut Random) -> Vec<u16> {
    const PARTS: [&str; 14] = [
        "a",
        "b",
        " ",
        "\\",
        "\"",
        "/",
        "\n",
        "u200b",
        "\u{200b}",
        "\u{202e}",
        "\u{a0}",
        "\u{e0041}",
        "é",
        "not JSON: ",
    ];
    let mut units = Vec::new();
    for _ in 0..random.below(4) {
        if random.percent(8) {
            units.push(*random.pick(&[0xd800, 0xdc00]));
        } else {
            units.extend(random.pick::<&str>(&PARTS).encode_utf16());
        }
    }
    units
}

fn tree(random: &mut Random, depth: usize) -> Tree {
    const WORDS: [&str; 10] = [
        "null",
        "true",
        "false",
        "0",
        "-0",
        "1",
        "1.0",
        "1e0",
        "1E0",
        "12345678901234567890123",
    ];
    match random.below(if depth == 0 { 2 } else { 4 }) {
        0 => Tree::Word(random.pick::<&str>(&WORDS)),
        1 => Tree::Text(text(random)),
        2 => Tree::List(
            (0..random.below(3))
                .map(|_| tree(random, depth - 1))
                .collect(),
        ),
        _ => {
            let members = (0..random.below(3)).map(|_| (text(random), tree(random, depth - 1)));
            Tree::Members(members.collect())
        }
    }
}

/// Writes JSON in one of its spellings.
fn spell(tree: &Tree, random: &mut Random, out: &mut String) {
    blank(random, out);
    match tree {
        Tree::Word(word) => out.push_str(word),
        Tree::Text(units) => spell_text(units, random, out),
        Tree::List(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                out.push_str(if at > 0 { "," } else { "" });
                spell(item, random, out);
            }
            out.push(']');
        }
        Tree::Members(members) => {
            out.push('{');
            for (at, (key, value)) in members.iter().enumerate() {
                out.push_str(if at > 0 { "," } else { "" });
                blank(random, out);
                spell_text(key, random, out);
                blank(random, out);
                out.push(':');
                spell(value, random, out);
            }
            out.push('}');
        }
    }
    blank(random, out);
}

fn blank(random: &mut Random, out: &mut String) {
    out.push_str(random.pick::<&str>(&["", "", "", " ", "\n", "\t ", "\r\n"]));
}

fn spell_text(units: &[u16], random: &mut Random, out: &mut String) {
    out.push('"');
    for unit in char::decode_utf16(units.iter().copied()) {
        let character = unit.as_ref().copied().unwrap_or('\0');
        let short = match character {
            '"' => "\\\"",
            '\\' => "\\\\",
            '/' => "\\/",
            '\n' => "\\n",
            _ => "",
        };
        let is_escaped = unit.is_err() || random.percent(15);
        if !short.is_empty() && !is_escaped && (character != '/' || random.percent(50)) {
            out.push_str(short);
        } else if !is_escaped {
            out.push(character);
        } else {
            let units = match unit {
                Ok(character) => character.encode_utf16(&mut [0; 2]).to_vec(),
                Err(half) => vec![half.unpaired_surrogate()],
            };
            for unit in units {
                let hex = format!("{unit:04x}");
                let hex = if random.percent(50) {
                    hex.to_uppercase()
                } else {
                    hex
                };
                write!(out, "\\u{hex}").unwrap();
            }
        }
    }
    out.push('"');
}

/// The trees are known before they are spelled, so no reader of JSON judges.
#[test]
fn arguments_that_differ_are_shown_differently() {
    let mut random = Random::named("shown", 1);
    let mut trees: HashMap<String, Tree> = HashMap::new();
    for _ in 0..rounds(40_000, 4_000_000) {
        let tree = tree(&mut random, 2);
        let mut text = String::new();
        spell(&tree, &mut random, &mut text);
        let shown = visible::json(&text).into_owned();
        let unclear = shown.find(is_unclear);
        assert_eq!(unclear, None, "{text:?} is shown as {shown:?}");
        assert_eq!(visible::json(&shown), shown, "{text:?}");
        let before = trees.entry(shown).or_insert_with(|| tree.clone());
        assert_eq!(*before, tree, "{text:?}");
    }
    // What is not JSON.
    let mut others: HashMap<String, Vec<u16>> = HashMap::new();
    for _ in 0..rounds(20_000, 1_000_000) {
        let units = text(&mut random);
        let Ok(text) = String::from_utf16(&units) else {
            continue;
        };
        if serde_json::from_str::<serde_json::Value>(&text).is_err() {
            let shown = visible::json(&text).into_owned();
            assert_eq!(shown.find(is_unclear), None, "{text:?}");
            assert!(!trees.contains_key(&shown), "{text:?}");
            let before = others.entry(shown).or_insert_with(|| units.clone());
            assert_eq!(*before, units, "{text:?}");
        }
    }
}
