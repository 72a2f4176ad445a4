//! [`SearchIndex`]: finds tools by words, ranked with BM25 over weighted fields.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use serde_json::Value;

use super::name_hash::NameHash;
use crate::tool::{EntryId, ToolEntry};

/// The usual parameters of BM25: the saturation of a word's frequency, and the weight of a description's
/// length.
const K1: f32 = 1.2;
const B: f32 = 0.75;

/// The weight of a word in each field. Chosen on half of the questions of the Berkeley Function Calling
/// Leaderboard. Half or twice of each changes the recall by less than 1 %.
const NAME: f32 = 3.0;
const PROMPT: f32 = 1.0;
const KEY: f32 = 1.0;
const TEXT: f32 = 0.5;

/// The tools of a snapshot, sorted by name.
pub(super) type SortedTools = Arc<OnceLock<Vec<ToolEntry>>>;

/// The index of the last search. The next search adds and removes the tools that have changed since.
#[derive(Default)]
pub(super) struct SharedIndex(Mutex<Option<Arc<SearchIndex>>>);

impl SharedIndex {
    /// Returns the index of these tools.
    pub(super) fn of(&self, tools: &SortedTools) -> Arc<SearchIndex> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let index = match last.take() {
            Some(index) if Weak::as_ptr(&index.of) == Arc::as_ptr(tools) => index,
            before => {
                let mut index = before.map(Arc::unwrap_or_clone).unwrap_or_default();
                index.follow(tools.get().map_or(&[], Vec::as_slice));
                index.of = Arc::downgrade(tools);
                Arc::new(index)
            }
        };
        Arc::clone(last.insert(index))
    }
}

/// An inverted index. It keeps no tool alive.
#[derive(Clone, Default)]
pub(super) struct SearchIndex {
    of: Weak<OnceLock<Vec<ToolEntry>>>,
    words: HashMap<Box<str>, Vec<Posting>, NameHash>,
    tools: Vec<EntryId>,
    /// The weighted length of each tool.
    lengths: Vec<f32>,
}

/// A word in the name, descriptions or keys of a tool.
#[derive(Clone, Copy)]
struct Posting {
    tool: u32,
    /// Each occurrence counts as much as the weight of its field.
    frequency: f32,
}

impl SearchIndex {
    /// Removes the tools that are not among these, and adds the others. The index is then the same as a new one.
    fn follow(&mut self, tools: &[ToolEntry]) {
        let ids: Vec<_> = tools.iter().map(ToolEntry::id).collect();
        let places: HashMap<_, _, NameHash> = ids.iter().map(|id| id.address).zip(0..).collect();
        let place = |id: &EntryId| places.get(&id.address).copied();
        let moved: Vec<Option<u32>> = self.tools.iter().map(place).collect();
        self.words.retain(|_, postings| {
            postings.retain_mut(|posting| {
                let place = moved[posting.tool as usize];
                posting.tool = place.unwrap_or_default();
                place.is_some()
            });
            !postings.is_empty()
        });
        let mut kept = vec![None; tools.len()];
        for (place, length) in moved.into_iter().zip(&self.lengths) {
            if let Some(place) = place {
                kept[place as usize] = Some(*length);
            }
        }
        self.lengths.clear();
        for (tool, kept) in tools.iter().zip(kept) {
            if let Some(length) = kept {
                self.lengths.push(length);
                continue;
            }
            self.push(|document| {
                document.text(&tool.name, NAME);
                document.text(tool.title().unwrap_or_default(), NAME);
                document.text(tool.group().unwrap_or_default(), PROMPT);
                document.text(&tool.prompt(), PROMPT);
                document.schema(tool.portable_json());
            });
        }
        self.tools = ids;
    }

    /// Adds a tool with the words that a closure writes.
    #[allow(clippy::cast_possible_truncation)] // No registry has four billion tools.
    fn push(&mut self, write: impl FnOnce(&mut Document<'_>)) {
        let mut document = Document {
            words: &mut self.words,
            tool: self.lengths.len() as u32,
            length: 0.0,
        };
        write(&mut document);
        let length = document.length;
        self.lengths.push(length);
    }

    /// Returns the indices of the tools that match best, the best first. Tools that match equally are in
    /// the order of the index.
    #[allow(clippy::cast_precision_loss)] // An estimate is enough.
    pub(super) fn search(
        &self,
        query: &str,
        limit: usize,
        is_included: impl Fn(usize) -> bool,
    ) -> Vec<usize> {
        let mut words = Vec::new();
        each_word(query, |word| words.extend(self.words.get_key_value(word)));
        // The sum of floats depends on their order.
        words.sort_unstable_by_key(|(word, _)| *word);
        words.dedup_by_key(|(word, _)| *word);
        let tools = self.lengths.len() as f32;
        let mean = self.lengths.iter().sum::<f32>() / tools;
        let mut scores = vec![0.0_f32; self.lengths.len()];
        for (_, postings) in words {
            let count = postings.len() as f32;
            let rarity = (1.0 + (tools - count + 0.5) / (count + 0.5)).ln();
            for &Posting { tool, frequency } in postings {
                let length = 1.0 - B + B * self.lengths[tool as usize] / mean;
                let score = rarity * frequency * (K1 + 1.0) / (frequency + K1 * length);
                scores[tool as usize] += score;
            }
        }
        // The worst is the greatest. Most tools contain some frequent word, but only the returned tools are
        // sorted.
        let mut best = BinaryHeap::new();
        for (tool, score) in scores.into_iter().enumerate() {
            // The bits of positive numbers have their order.
            let found = (Reverse(score.to_bits()), tool);
            let is_full = best.len() == limit;
            let is_better = !is_full || best.peek().is_some_and(|worst| found < *worst);
            if score > 0.0 && is_better && is_included(tool) {
                if is_full {
                    best.pop();
                }
                best.push(found);
            }
        }
        let best = best.into_sorted_vec();
        best.into_iter().map(|(_, tool)| tool).collect()
    }
}

/// Adds the words of one tool.
struct Document<'a> {
    words: &'a mut HashMap<Box<str>, Vec<Posting>, NameHash>,
    tool: u32,
    length: f32,
}

impl Document<'_> {
    fn text(&mut self, text: &str, weight: f32) {
        each_word(text, |word| {
            self.length += weight;
            let found = Posting {
                tool: self.tool,
                frequency: weight,
            };
            match self.words.get_mut(word) {
                Some(postings) => match postings.last_mut() {
                    Some(last) if last.tool == self.tool => last.frequency += weight,
                    _ => postings.push(found),
                },
                None => {
                    self.words.insert(word.into(), vec![found]);
                }
            }
        });
    }

    /// Adds the keys, descriptions and values in a schema.
    fn schema(&mut self, json: &str) {
        if let Ok(schema) = serde_json::from_str(json) {
            self.value(&schema);
        }
    }

    fn value(&mut self, schema: &Value) {
        match schema {
            Value::Array(items) => items.iter().for_each(|item| self.value(item)),
            Value::Object(members) => {
                for (key, value) in members {
                    match (key.as_str(), value) {
                        ("properties" | "$defs", Value::Object(properties)) => {
                            for (name, property) in properties {
                                self.text(name, KEY);
                                self.value(property);
                            }
                        }
                        ("description" | "title" | "const", Value::String(text)) => {
                            self.text(text, TEXT);
                        }
                        ("enum", Value::Array(values)) => {
                            for value in values.iter().filter_map(Value::as_str) {
                                self.text(value, TEXT);
                            }
                        }
                        ("default" | "examples" | "required", _) => {}
                        _ => self.value(value),
                    }
                }
            }
            _ => {}
        }
    }
}

/// Calls a closure with the stem of each word of a string: `getUserIDs`, `get_user_id` and "get the IDs of
/// users" have the same words.
fn each_word(text: &str, mut with: impl FnMut(&str)) {
    let mut word = String::new();
    let mut end = |word: &mut String| {
        if !word.is_empty() && !is_stop_word(word) {
            stem(word);
            with(word);
        }
        word.clear();
    };
    let mut characters = text.chars().peekable();
    let mut before = ' ';
    while let Some(character) = characters.next() {
        if !character.is_alphanumeric() {
            // "Ada's" is one word, and its last letter none.
            if character != '\'' && character != '’' {
                end(&mut word);
            } else if characters.peek() == Some(&'s') {
                characters.next();
            }
        } else if is_ideograph(character) {
            // Without spaces between words, each character is one.
            end(&mut word);
            word.push(character);
            end(&mut word);
        } else {
            let mut rest = characters.clone();
            let is_next_small = rest.next_if(|next| next.is_lowercase());
            // The `s` of `userIDs` belongs to the capitals.
            let is_plural =
                is_next_small == Some('s') && !rest.next().is_some_and(char::is_lowercase);
            let starts_word = character.is_uppercase()
                && (before.is_lowercase()
                    || before.is_alphanumeric() && is_next_small.is_some() && !is_plural);
            if starts_word {
                end(&mut word);
            }
            word.extend(character.to_lowercase());
        }
        before = character;
    }
    end(&mut word);
}

/// Returns `true` for Chinese characters and for Japanese and Korean syllables.
fn is_ideograph(character: char) -> bool {
    matches!(character, '\u{3040}'..='\u{30FF}' | '\u{3400}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7AF}'
        | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}')
}

/// Words of a request that say nothing about a tool. Other frequent words score little anyway.
fn is_stop_word(word: &str) -> bool {
    const WORDS: [&str; 58] = [
        "a", "all", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can",
        "could", "did", "do", "does", "each", "for", "from", "had", "has", "have", "how", "i",
        "if", "in", "into", "is", "it", "its", "me", "my", "of", "on", "or", "our", "please",
        "she", "should", "so", "some", "that", "the", "their", "them", "there", "this", "to", "us",
        "was", "we", "what", "which", "with", "would", "you", "your",
    ];
    WORDS.binary_search(&word).is_ok()
}

/// Removes the endings of English nouns and verbs from a word in lower case. The rest need not be a word:
/// `calculate`, `calculating` and `calculation` become `calculat`.
fn stem(word: &mut String) {
    if word.len() < 3 || !word.is_ascii() {
        return;
    }
    if word.ends_with("ies") && word.len() > 4 {
        word.truncate(word.len() - 3);
        word.push('y');
    } else if word.ends_with('s') && !["ss", "us", "is"].iter().any(|end| word.ends_with(end)) {
        word.pop();
    }
    for ending in [
        "ation", "ator", "ating", "ated", "ion", "ing", "ed", "er", "or",
    ] {
        let Some(rest) = word.strip_suffix(ending) else {
            continue;
        };
        let rest = rest.len() + if ending.starts_with("at") { 2 } else { 0 };
        if rest < 3 || !word[..rest].contains(['a', 'e', 'i', 'o', 'u', 'y']) {
            break;
        }
        word.truncate(rest);
        let bytes = word.as_bytes();
        if let [.., before, last] = bytes
            && before == last
            && !b"aeiouls".contains(last)
        {
            word.pop();
        }
        break;
    }
    if word.ends_with('e') && word.len() > 3 {
        word.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        each_word(text, |word| words.push(word.to_owned()));
        words
    }

    /// Returns an index of tools with these names and descriptions.
    fn index(tools: &[(&str, &str)]) -> SearchIndex {
        let mut index = SearchIndex::default();
        for (name, description) in tools {
            index.push(|document| {
                document.text(name, NAME);
                document.text(description, PROMPT);
            });
        }
        index
    }

    /// A function of the Berkeley Function Calling Leaderboard.
    struct Function {
        name: String,
        description: String,
        parameters: String,
    }

    fn index_of(functions: &[Function]) -> SearchIndex {
        let mut index = SearchIndex::default();
        for function in functions {
            index.push(|document| {
                document.text(&function.name, NAME);
                document.text(&function.description, PROMPT);
                document.schema(&function.parameters);
            });
        }
        index
    }

    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation)]
    /// Prints how well and how fast the index finds the functions of the Berkeley Function Calling
    /// Leaderboard by their own questions. `BFCL` is the folder with its `BFCL_v4_*.json`.
    #[test]
    #[ignore = "prints figures"]
    fn figures() {
        use std::collections::BTreeMap;
        use std::time::Instant;

        let folder = std::env::var("BFCL").expect("`BFCL` is a folder");
        let lines = |name: String| -> Vec<Value> {
            let text = std::fs::read_to_string(format!("{folder}/{name}")).unwrap();
            text.lines()
                .map(|line| serde_json::from_str(line).unwrap())
                .collect()
        };
        let mut functions = BTreeMap::<String, Function>::new();
        let mut variants = Vec::new();
        let mut questions = Vec::new();
        for part in ["simple_python", "multiple", "parallel", "parallel_multiple"] {
            let answers = lines(format!("possible_answer/BFCL_v4_{part}.json"));
            for (asked, answer) in lines(format!("BFCL_v4_{part}.json")).iter().zip(&answers) {
                assert_eq!(asked["id"], answer["id"]);
                for function in asked["function"].as_array().unwrap() {
                    let text = |key: &str| function[key].as_str().unwrap_or_default().to_owned();
                    let new = || Function {
                        name: text("name"),
                        description: text("description"),
                        parameters: function["parameters"].to_string(),
                    };
                    functions.entry(text("name")).or_insert_with(new);
                    variants.push(new());
                }
                let mut names: Vec<_> = answer["ground_truth"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .flat_map(|call| call.as_object().unwrap().keys().cloned())
                    .collect();
                names.sort();
                names.dedup();
                let said = asked["question"][0].as_array().unwrap().last().unwrap();
                questions.push((said["content"].as_str().unwrap().to_owned(), names));
            }
        }
        let functions: Vec<_> = functions.into_values().collect();
        let found = index_of(&functions);
        for (label, part) in [("even", 0), ("odd", 1), ("all", 2)] {
            for limit in [1, 5, 10] {
                let (mut hits, mut all) = (0, 0);
                let asked = questions.iter().enumerate();
                for (_, (question, names)) in asked.filter(|(at, _)| part == 2 || at % 2 == part) {
                    let found = found.search(question, limit, |_| true);
                    let is_found =
                        |name: &&String| found.iter().any(|&tool| functions[tool].name == **name);
                    hits += names.iter().filter(is_found).count();
                    all += names.len();
                }
                println!(
                    "{label}: recall@{limit} {hits}/{all} = {:.4}",
                    hits as f64 / all as f64
                );
            }
        }
        println!("{} functions, {} words", functions.len(), found.words.len());
        let many: Vec<_> = (0..10_000)
            .map(|at| {
                let function = &variants[at % variants.len()];
                Function {
                    name: format!("{}_{at}", function.name),
                    description: function.description.clone(),
                    parameters: function.parameters.clone(),
                }
            })
            .collect();
        let start = Instant::now();
        let index = index_of(&many);
        println!("10,000 tools: built in {:?}", start.elapsed());
        let postings: usize = index.words.values().map(Vec::len).sum();
        println!("{} words, {postings} postings", index.words.len());
        for _ in 0..3 {
            let start = Instant::now();
            let found: usize = questions
                .iter()
                .map(|(question, _)| index.search(question, 5, |_| true).len())
                .sum();
            println!(
                "{:?} a query, {found}",
                start.elapsed() / questions.len() as u32
            );
        }
    }

    #[test]
    fn stop_words_are_sorted() {
        for word in ["a", "your", "i", "the", "please"] {
            assert!(is_stop_word(word), "{word}");
        }
        assert!(!is_stop_word("get"));
    }

    #[test]
    fn names_and_sentences_have_the_same_words() {
        for text in [
            "get_user_id",
            "getUserID",
            "GetUserIDs",
            "get-user-id",
            "GET the IDs of users!",
            "getting user's id",
        ] {
            let mut words = words(text);
            words.sort();
            assert_eq!(words, ["get", "id", "user"], "{text}");
        }
        assert_eq!(words("parseHTTPResponse"), ["pars", "http", "respons"]);
        assert_eq!(words("s3 base64 of to"), ["s3", "base64"]);
        assert_eq!(words("天気 tool"), ["天", "気", "tool"]);
        assert_eq!(words("Grüße, GRÜSSE"), ["grüße", "grüsse"]);
        assert!(words("… ' — ''").is_empty());
    }

    #[test]
    fn forms_of_a_word_have_one_stem() {
        for forms in [
            &[
                "calculate",
                "calculates",
                "calculating",
                "calculation",
                "calculated",
                "calculator",
            ][..],
            &["city", "cities"],
            &["search", "searches", "searching", "searched"],
            &["convert", "converts", "converter", "converting"],
            &["plan", "planning", "planned"],
            &["translate", "translation", "translator"],
            &["price", "prices", "pricing"],
            &["message", "messages", "messaging"],
        ] {
            let stems: Vec<_> = forms.iter().flat_map(|form| words(form)).collect();
            assert!(stems.iter().all(|stem| *stem == stems[0]), "{stems:?}");
        }
        for (left, right) in [
            ("status", "state"),
            ("address", "add"),
            ("sing", "s"),
            ("user", "us"),
        ] {
            assert_ne!(words(left), words(right));
        }
    }

    #[test]
    fn rare_words_and_names_count_more() {
        let index = index(&[
            ("get_weather", "Returns the weather of a city."),
            ("get_population", "Returns the population of a city."),
            ("list_cities", "Returns cities, with weather stations."),
        ]);
        let search = |query| index.search(query, 5, |_| true);
        assert_eq!(search("stations in cities")[0], 2);
        assert_eq!(search("weather in cities")[0], 0);
        assert_eq!(search("the weather"), [0, 2]);
        assert_eq!(search("what is the population of this city?")[0], 1);
        assert_eq!(search("of the"), [0; 0]);
        assert_eq!(search("nothing like it"), [0; 0]);
        assert_eq!(index.search("returns", 2, |_| true).len(), 2);
        assert_eq!(index.search("returns", 0, |_| true), [0; 0]);
        assert_eq!(index.search("weather", 5, |tool| tool != 0), [2]);
        assert_eq!(
            SearchIndex::default().search("weather", 5, |_| true),
            [0; 0]
        );
    }

    /// A limit must not change which tools are first.
    #[test]
    fn a_limit_returns_the_first_of_all() {
        let names: Vec<_> = (0..300)
            .map(|number| format!("tool {} word{}", number % 7, number % 31))
            .collect();
        let tools: Vec<_> = names.iter().map(|name| (&**name, "A tool.")).collect();
        let index = index(&tools);
        for query in ["tool word3", "word3 word4 5", "2"] {
            let all = index.search(query, usize::MAX, |_| true);
            for limit in [0, 1, 5, 42, 299, 300, 301] {
                let found = index.search(query, limit, |_| true);
                assert_eq!(found, all[..limit.min(all.len())], "{query}, {limit}");
            }
        }
    }

    #[test]
    fn a_schema_adds_its_keys_texts_and_values() {
        let mut index = SearchIndex::default();
        index.push(|document| {
            document.schema(
                r#"{"type":"object","properties":{"unit":{"enum":["celsius","kelvin"]},
                "spots":{"type":"array","items":{"properties":{"latitude":{"description":"Degrees north."}}}}},
                "required":["unit"],"description":"Whole."}"#,
            );
        });
        index.push(|document| document.schema("no JSON"));
        for word in ["unit", "kelvin", "spot", "latitude", "north", "whole"] {
            assert_eq!(index.search(word, 1, |_| true), [0], "{word}");
        }
        for word in ["object", "type", "enum", "required", "json"] {
            assert_eq!(index.search(word, 1, |_| true), [0; 0], "{word}");
        }
    }
}
