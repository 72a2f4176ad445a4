/// A function that becomes a tool.
#[derive(Clone, Debug)]
pub struct Function {
    pub name: String,
    pub doc: String,
    pub parameters: Vec<Parameter>,
}

#[derive(Clone, Debug)]
pub struct Parameter {
    pub name: String,
    pub doc: &'static str,
    pub r#type: &'static str,
}

/// A parameter: name, docs, type.
type Row = (&'static str, &'static str, &'static str);

/// Returns functions to call: `of_each` of each of four shapes.
///
/// `flat_…` takes six scalars, `nested_…` a struct with a list of structs, `text_…` one string,
/// `none_…` nothing. One more, `get_forecast`, is listed and never called.
pub fn calls(of_each: usize) -> Vec<Function> {
    let shapes: [(&str, &str, &[Row]); 4] = [
        (
            "flat",
            "Weather forecast for a city.",
            &[
                (
                    "city",
                    "City and country, such as `Lisbon, Portugal`.",
                    "String",
                ),
                ("days", "How many days ahead.", "Option<u8>"),
                ("unit", "Temperature unit.", "Unit"),
                ("latitude", "Degrees north.", "f64"),
                ("limit", "How many entries to give at most.", "u32"),
                ("hourly", "One entry an hour instead of one a day.", "bool"),
            ],
        ),
        (
            "nested",
            "Places an order.",
            &[
                ("order", "What is ordered, and by whom.", "Order"),
                ("rush", "Deliver within a day.", "bool"),
            ],
        ),
        (
            "text",
            "Stores a note.",
            &[("body", "The text of the note.", "String")],
        ),
        ("none", "Lists the notes.", &[]),
    ];
    let mut functions = Vec::new();
    for index in 0..of_each {
        for (shape, doc, parameters) in shapes {
            functions.push(Function {
                name: format!("{shape}_{index}"),
                doc: doc.to_owned(),
                parameters: parameters
                    .iter()
                    .map(|&(name, doc, r#type)| Parameter {
                        name: name.to_owned(),
                        doc,
                        r#type,
                    })
                    .collect(),
            });
        }
    }
    functions.push(Function {
        name: "get_forecast".into(),
        doc: "Weather forecast for a place.".into(),
        parameters: [
            (
                "city",
                "City and country, such as `Lisbon, Portugal`.",
                "String",
            ),
            ("days", "How many days ahead.", "Option<u8>"),
            ("unit", "Temperature unit.", "Unit"),
            ("tags", "What to report, such as `wind`.", "Vec<String>"),
            ("loc", "The exact place.", "Loc"),
        ]
        .map(|(name, doc, r#type)| Parameter {
            name: name.to_owned(),
            doc,
            r#type,
        })
        .to_vec(),
    });
    functions
}

/// Returns functions to compile, with `parameters` parameters each, or with 4 to 8 in turn.
pub fn build(count: usize, parameters: Option<usize>) -> Vec<Function> {
    const KINDS: [Row; 8] = [
        (
            "query",
            "What to look for, in the words of the user.",
            "String",
        ),
        ("limit", "How many results to give at most.", "Option<u32>"),
        ("threshold", "Results below this score are dropped.", "f64"),
        ("verbose", "Tell more of each result.", "bool"),
        (
            "tags",
            "Only results that have one of these tags.",
            "Vec<String>",
        ),
        ("offset", "How many results to leave out.", "i64"),
        (
            "language",
            "The language of the results, such as `en`.",
            "Option<String>",
        ),
        ("unit", "Temperature unit.", "Unit"),
    ];
    (0..count)
        .map(|index| {
            let width = parameters.unwrap_or(4 + index % 5);
            // For sizes, no two tools may have the same code.
            let suffix = match parameters {
                Some(_) => index,
                None => index % 7,
            };
            Function {
                name: format!("search_{index}"),
                doc: format!("Searches the collection {index} and gives what fits best."),
                parameters: (0..width)
                    .map(|at| {
                        let (name, doc, r#type) = KINDS[(index + at) % KINDS.len()];
                        Parameter {
                            name: format!("{name}_{suffix}"),
                            doc,
                            r#type,
                        }
                    })
                    .collect(),
            }
        })
        .collect()
}
