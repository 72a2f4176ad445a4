//! The report of a run for a model. It has one limit, is cut at rows, members and lines, and says how much was left
//! out.

use serde::Serialize;
use serde_json::value::RawValue;
use tool_core::schema::Json;

use crate::{Outcome, Value};

/// Default of [`CodeTool::shown`](crate::CodeTool::shown) in bytes.
pub(crate) const SHOWN: usize = 16 << 10;

/// Maximum number of bytes of the notes on left-out parts.
const NOTES: usize = 400;

/// Minimum number of bytes for a part of a value; fewer are useless.
const LEAST: usize = 120;

/// The report for the model, without empty parts.
#[derive(Serialize)]
pub(super) struct Ran {
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    repr: Option<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    stdout: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    stderr: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    files: Vec<Listed>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

#[derive(Serialize)]
struct Listed {
    path: String,
    bytes: u64,
}

impl Listed {
    fn cost(&self) -> usize {
        cost(&self.path) + 40
    }
}

impl Ran {
    /// Describes a run in at most `most` bytes of JSON. Files are listed only if `lists_files`.
    pub(super) fn new(outcome: &Outcome, lists_files: bool, most: usize) -> Ran {
        let (value, repr) = match &outcome.result {
            Some(Value::Json(json)) => (json.get(), ""),
            Some(Value::Text(text)) => ("", &**text),
            None => ("", ""),
        };
        let files = outcome.files.iter().map(|file| Listed {
            path: file.path.to_string_lossy().into_owned(),
            bytes: file.bytes,
        });
        let files: Vec<_> = files.filter(|_| lists_files).collect();
        let costs = [
            value.len(),
            cost(repr),
            cost(&outcome.stdout),
            cost(&outcome.stderr),
            files.iter().map(Listed::cost).sum(),
        ];
        let [for_value, for_repr, for_stdout, for_stderr, for_files] =
            shares(costs, most.saturating_sub(NOTES));
        let mut left_out = Vec::new();
        let mut cut = |what: &str, text: &str, most| {
            let (text, missing) = lines(text, most);
            left_out.extend(missing.map(|missing| format!("{what}: {missing}")));
            text
        };
        let repr = (!repr.is_empty()).then(|| cut("repr", repr, for_repr));
        let stdout = cut("stdout", &outcome.stdout, for_stdout);
        let stderr = cut("stderr", &outcome.stderr, for_stderr);
        let value = match &outcome.result {
            Some(Value::Json(json)) if json.get().len() > for_value => {
                let (shown, missing) = match Json::parse(json.get()) {
                    Ok(parsed) => rows(&parsed, for_value),
                    // The value is nested too deeply.
                    Err(_) => as_text(json.get(), for_value),
                };
                left_out.push(format!("value: {missing}"));
                RawValue::from_string(shown).ok()
            }
            Some(Value::Json(json)) => Some(json.clone()),
            _ => None,
        };
        let all = files.len();
        let mut left = for_files;
        let fits = |file: &Listed| {
            left = left.checked_sub(file.cost())?;
            Some(())
        };
        let shown = files.iter().map_while(fits).count();
        if shown < all {
            left_out.push(format!("files: {} of {all}", all - shown));
        }
        let is_empty = costs.iter().sum::<usize>() == 0 && outcome.files.is_empty();
        let nothing = "nothing was printed or returned; end with an expression, such as the name of a variable";
        let note = (!left_out.is_empty()).then(|| {
            format!(
                "the result is limited to {most} bytes and what was left out is not kept; run again and return a slice, a \
                 count or a summary"
            )
        });
        let note = note.or_else(|| is_empty.then(|| nothing.to_owned()));
        Ran {
            value,
            repr,
            stdout,
            stderr,
            files: files.into_iter().take(shown).collect(),
            left_out,
            note,
        }
    }
}

/// Describes a failed run in at most `most` bytes: the exception, then the output before it.
pub(super) fn failed(problem: &str, outcome: &Outcome, most: usize) -> String {
    let texts = [problem, &outcome.stdout, &outcome.stderr].map(str::trim_end);
    let shares = shares(texts.map(cost), most.saturating_sub(NOTES));
    let mut text = String::new();
    for ((what, part), share) in ["", "stdout", "stderr"].iter().zip(texts).zip(shares) {
        if part.is_empty() {
            continue;
        }
        if !what.is_empty() {
            text.push_str(&format!("\n\n{what} before that:\n"));
        }
        text.push_str(&lines(part, share).0);
    }
    text
}

/// Returns the start and end of a text in at most `most` bytes.
pub(super) fn cut(text: &str, most: usize) -> String {
    lines(text, most).0
}

/// Divides `most` among parts of these lengths. Short parts get all they need, the others equal shares.
fn shares<const N: usize>(costs: [usize; N], most: usize) -> [usize; N] {
    let mut order: [usize; N] = std::array::from_fn(|at| at);
    order.sort_by_key(|&at| costs[at]);
    let mut shares = [0; N];
    let mut left = most;
    for (done, at) in order.into_iter().enumerate() {
        shares[at] = costs[at].min(left / (N - done));
        left -= shares[at];
    }
    shares
}

/// Returns the number of bytes of a character in a JSON string.
fn char_cost(c: char) -> usize {
    match c {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' => 6,
        c => c.len_utf8(),
    }
}

fn cost(text: &str) -> usize {
    text.chars().map(char_cost).sum()
}

/// Returns the start and end of a text, and a note on the missing middle.
fn lines(text: &str, most: usize) -> (String, Option<String>) {
    if cost(text) <= most {
        return (text.to_owned(), None);
    }
    // The note takes less than the rest.
    let half = most.saturating_sub(80) / 2;
    let head = beginning(text.split_inclusive('\n'), half);
    let head = match head {
        0 => beginning(text.split_inclusive(|_| true), half),
        head => head,
    };
    let rest = &text[head..];
    let tail = match beginning(rest.split_inclusive('\n').rev(), half) {
        0 => beginning(rest.split_inclusive(|_| true).rev(), half),
        tail => tail,
    };
    let missing = &rest[..rest.len() - tail];
    let said = format!("{} of {} bytes", missing.len(), text.len());
    let said = match missing.lines().count() {
        0 | 1 => said,
        count => format!("{count} lines, {said}"),
    };
    let break_before = if head == 0 || text[..head].ends_with('\n') {
        ""
    } else {
        "\n"
    };
    let shown = format!(
        "{}{break_before}[left out: {said}]\n{}",
        &text[..head],
        &rest[missing.len()..]
    );
    (shown, Some(said))
}

/// Returns the length of the first parts that together cost at most `most` bytes.
fn beginning<'a>(parts: impl Iterator<Item = &'a str>, most: usize) -> usize {
    let mut left = most;
    let fits = |part: &str| {
        left = left.checked_sub(cost(part))?;
        Some(part.len())
    };
    parts.map_while(fits).sum()
}

/// Cuts a value, and returns it as JSON with a note on the rest. Keeps the first rows of an array, the first members of
/// an object, or the start and end of a string.
fn rows(value: &Json, most: usize) -> (String, String) {
    let text = value.to_string();
    let said = |kind: &str, shown: usize, all: usize| {
        format!(
            "{} of {all} {kind}, {} bytes in all",
            all - shown,
            text.len()
        )
    };
    match value {
        Json::Array(items) => {
            let (shown, count) = some(
                items.iter().map(|item| (String::new(), item)),
                ["[", "]"],
                most,
            );
            (shown, said("rows", count, items.len()))
        }
        Json::Object(members) => {
            let keyed = members
                .iter()
                .map(|(key, member)| (quoted(key) + ":", member));
            let (shown, count) = some(keyed, ["{", "}"], most);
            (shown, said("members", count, members.len()))
        }
        Json::String(string) => {
            let (shown, missing) = lines(string, most.saturating_sub(2));
            (quoted(&shown), missing.unwrap_or_default())
        }
        // For instance an integer of thousands of digits.
        _ => as_text(&text, most),
    }
}

/// Returns the start and end of JSON text as a string.
fn as_text(json: &str, most: usize) -> (String, String) {
    let (shown, missing) = lines(json, most.saturating_sub(2));
    (quoted(&shown), missing.unwrap_or_default())
}

/// Writes as many items as fit, each after its key, and returns their number. If the first does not fit, cuts it.
fn some<'a>(
    items: impl Iterator<Item = (String, &'a Json)>,
    [open, close]: [&str; 2],
    most: usize,
) -> (String, usize) {
    let mut text = open.to_owned();
    let mut count = 0;
    for (key, item) in items {
        let comma = if count == 0 { "" } else { "," };
        let room = most.saturating_sub(text.len() + comma.len() + key.len() + close.len());
        let written = item.to_string();
        let is_first = count == 0 && room > LEAST;
        if written.len() <= room {
            text.extend([comma, &key, &written]);
            count += 1;
        } else {
            if is_first {
                text.extend([&*key, &rows(item, room).0]);
                count += 1;
            }
            break;
        }
    }
    (text + close, count)
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("strings serialize")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Tree, json};

    use super::*;

    /// Generates values, from short ones to some far above any limit.
    fn value(random: &mut impl FnMut(usize) -> usize, depth: usize) -> Tree {
        let many = [0, 1, 3, 20, 60][random(5)] >> (2 * depth);
        match random(if depth > 3 { 3 } else { 5 }) {
            0 => json!(random(usize::MAX)),
            1 => json!("a\u{1}\"é\n".repeat(many)),
            2 => json!("x".repeat(many * 100)),
            3 => (0..many).map(|_| value(random, depth + 1)).collect(),
            _ => {
                let members = (0..many).map(|at| (format!("k{at}"), value(random, depth + 1)));
                Tree::Object(members.collect())
            }
        }
    }

    fn random(mut seed: u64) -> impl FnMut(usize) -> usize {
        move |end| {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(seed >> 33).unwrap() % end.max(1)
        }
    }

    #[test]
    fn what_is_cut_is_json_within_the_limit() {
        for seed in 0..400 {
            let mut random = random(seed);
            let text = value(&mut random, 0).to_string();
            for most in [200, 1_000, 5_000] {
                if text.len() <= most {
                    continue;
                }
                let (shown, missing) = rows(&Json::parse(&text).unwrap(), most);
                assert!(shown.len() <= most, "{} > {most}: {shown}", shown.len());
                assert!(!missing.is_empty());
                let parsed: Tree = serde_json::from_str(&shown).unwrap();
                if let (Ok(Tree::Array(all)), Tree::Array(some)) =
                    (serde_json::from_str(&text), parsed)
                {
                    // Only the first item may be cut.
                    assert!(some.iter().skip(1).eq(all.iter().take(some.len()).skip(1)));
                }
            }
        }
    }

    #[test]
    fn lines_keep_both_ends() {
        let text: String = (0..1_000).map(|n| format!("line {n}\n")).collect();
        let (shown, missing) = lines(&text, 300);
        assert!(shown.starts_with("line 0\nline 1\n") && shown.ends_with("line 999\n"));
        assert!(shown.contains("\n[left out: "), "{shown}");
        assert!(missing.unwrap().contains(" lines, "));
        let (shown, missing) = lines(&"é".repeat(1_000), 300);
        assert!(shown.len() <= 300 && missing.is_some(), "{shown}");
    }

    #[test]
    fn short_parts_are_whole_and_long_ones_share_the_rest() {
        assert_eq!(shares([10, 1_000, 500, 0], 700), [10, 345, 345, 0]);
        assert_eq!(shares([10, 20, 30, 40], 700), [10, 20, 30, 40]);
    }
}
