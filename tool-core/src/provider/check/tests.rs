//! What is refused of one parameter.

mod limits;

use crate::provider::check::*;
use crate::schema::{Reference, Text};

const STRING: &Schema = &Schema::STRING;

fn text(text: &str) -> Text {
    Text::new(Box::leak(text.to_owned().into_boxed_str()))
}

fn schema(schema: Schema) -> &'static Schema {
    Box::leak(Box::new(schema))
}

fn object<'k>(members: impl IntoIterator<Item = (&'k str, &'static Schema)>) -> &'static Schema {
    let members: Vec<_> = members
        .into_iter()
        .map(|(name, schema)| Property::new(text(name), Text::EMPTY, schema))
        .collect();
    schema(Schema::object(members.leak()))
}

fn strings(values: impl IntoIterator<Item = String>) -> &'static Schema {
    let values: Vec<_> = values.into_iter().map(|value| text(&value)).collect();
    schema(Schema::strings(values.leak()))
}

/// What each target that takes no parameter of this schema says.
fn refusals(parameter: &'static Schema) -> Vec<(Target, String)> {
    let arguments = object([("a", parameter), ("b", STRING)]);
    Target::ALL
        .into_iter()
        .filter_map(|target| Some((target, check(arguments, target).err()?)))
        .collect()
}

/// The targets that refuse it, each with the rule and the path that it names.
#[track_caller]
fn assert_refused(parameter: &'static Schema, expected: &[(Target, &str, &str)]) {
    let refusals = refusals(parameter);
    let targets: Vec<_> = refusals.iter().map(|(target, _)| *target).collect();
    let wanted: Vec<_> = expected.iter().map(|(target, ..)| *target).collect();
    assert_eq!(targets, wanted, "{refusals:?}");
    for ((target, message), (_, path, rule)) in refusals.iter().zip(expected) {
        let start = format!("parameter `{path}`: ");
        assert!(message.starts_with(&start), "{message}");
        assert!(message.contains(&format!("(rule {rule}); ")), "{message}");
        assert!(crate::provider::rules::find(rule).is_some(), "{rule}");
        let is_on = message.contains(&format!("the feature `{}` off", target.feature()));
        assert!(is_on || expected.len() == Target::ALL.len(), "{message}");
    }
}

/// For what no provider takes.
#[track_caller]
fn assert_refused_by_all(parameter: &'static Schema, path: &str, rule: &str) {
    assert_refused(parameter, &Target::ALL.map(|target| (target, path, rule)));
}

/// What a target says of a tool with these parameters.
fn total(arguments: &'static Schema, target: Target) -> String {
    check(arguments, target).err().unwrap_or_default()
}

#[test]
fn what_dialects_can_write_is_no_mistake() {
    let colours = strings(["red", "blue"].map(String::from));
    let point = object([
        ("x", &Schema::NUMBER),
        ("y", schema(Schema::nullable(STRING))),
    ]);
    let taken = [
        STRING,
        schema(Schema::format("a format of nobody")),
        schema(Schema::integer(-5, 5)),
        &Schema::BOOLEAN,
        &Schema::NULL,
        colours,
        schema(Schema::array(point)),
        schema(Schema::tuple(vec![STRING, point].leak())),
        schema(Schema::any_of(vec![STRING, point, colours].leak())),
        schema(Schema::nullable(point)),
        object([]),
    ];
    for parameter in taken {
        assert_refused(parameter, &[]);
    }
}

#[test]
fn strict_modes_take_no_value_of_any_type_and_no_free_keys() {
    let deep = |inner| object([("list", schema(Schema::array(object([("x", inner)]))))]);
    assert_refused(
        deep(&Schema::ANY),
        &[
            (Target::OpenAiStrict, "a.list[].x", "openai.strict.types"),
            (
                Target::AnthropicStrict,
                "a.list[].x",
                "anthropic.strict.supported",
            ),
        ],
    );
    let map = schema(Schema::map(STRING));
    let refused = |path| {
        [
            (
                Target::OpenAiStrict,
                path,
                "openai.strict.additionalProperties",
            ),
            (
                Target::AnthropicStrict,
                path,
                "anthropic.strict.unsupported",
            ),
        ]
    };
    assert_refused(deep(map), &refused("a.list[].x"));
    assert_refused(
        schema(Schema::any_of(vec![STRING, map].leak())),
        &refused("a(variant 2)"),
    );
    let flat = schema(Schema::object(vec![Property::flatten(map)].leak()));
    assert_refused(flat, &refused("a"));
}

#[test]
fn a_map_with_the_keys_of_an_enum_has_optional_keys() {
    let keys = strings(["one", "two.three-four"].map(String::from));
    let refused = (Target::OpenAiStrict, "a", "openai.strict.required");
    assert_refused(schema(Schema::map_of(keys, STRING)), &[refused]);
    let keys = strings(["one", "two three"].map(String::from));
    let key = (
        Target::AnthropicStrict,
        "a.two three",
        "anthropic.property_key_regex",
    );
    assert_refused(schema(Schema::map_of(keys, STRING)), &[refused, key]);
}

#[test]
fn keys_enums_and_unions_that_nobody_takes_are_refused_for_all() {
    for key in [
        "",
        "1st",
        "with space",
        "with-dash",
        "ünïcödé",
        &"k".repeat(65),
    ] {
        let path = format!("a.{key}");
        assert_refused_by_all(object([(key, STRING)]), &path, "portable.param_name");
    }
    assert_refused(object([(&*"k".repeat(64), STRING), ("_1", STRING)]), &[]);

    let twins = strings(["Red", "blue", "rED"].map(String::from));
    assert_refused_by_all(twins, "a", "anthropic.strict.enum_case");
    assert_refused(strings(["red", "blue", "redder"].map(String::from)), &[]);
    assert_refused_by_all(strings([]), "a", "xai.rejected");
    assert_refused_by_all(schema(Schema::any_of(&[])), "a", "xai.rejected");
}

/// The bits that tell most values apart must not hide two that differ by case.
#[test]
fn twins_are_found_among_many_values() {
    let many = || (0..1500).map(|at| format!("value {at}"));
    let found = |values| {
        let arguments = object([("a", values)]);
        total(arguments, Target::Mistral).contains("differ by case")
    };
    assert!(!found(strings(many())));
    assert!(found(strings(many().chain(["VALUE 77".into()]))));
}

#[test]
fn the_eleventh_level_is_one_too_many() {
    // The arguments are the first level.
    let nested = |levels: usize| {
        (0..levels).fold(STRING, |inner, at| match at % 2 {
            0 => object([("o", inner)]),
            _ => schema(Schema::array(inner)),
        })
    };
    assert_refused(nested(9), &[]);
    let path = "a[].o[].o[].o[].o[]";
    assert_refused(
        nested(10),
        &[(Target::OpenAiStrict, path, "openai.strict.max_nesting")],
    );
}

#[test]
fn recursion_is_refused_by_those_that_have_no_references() {
    fn target() -> &'static Schema {
        unreachable!("no rule looks behind a reference")
    }
    let back = schema(Schema::of(Kind::Reference(Reference {
        name: "Tree",
        target,
    })));
    let tree = |child: &'static Schema| {
        let mut tree = *object([("value", STRING), ("child", child)]);
        tree.name = "Tree";
        schema(tree)
    };
    let strict = |path| {
        [
            (
                Target::AnthropicStrict,
                path,
                "anthropic.strict.unsupported",
            ),
            (Target::XAi, path, "xai.supported"),
        ]
    };
    assert_refused(tree(schema(Schema::nullable(back))), &strict("a.child"));

    let list = schema(Schema::array(back));
    let gemini = (
        Target::Gemini,
        "a.child[]",
        "gemini.parametersJsonSchema.recursion",
    );
    let [anthropic, xai] = strict("a.child[]");
    assert_refused(tree(list), &[anthropic, gemini, xai]);
    // That the tree itself may be left out does not end it.
    assert_refused(
        schema(Schema::nullable(tree(list))),
        &[anthropic, gemini, xai],
    );
}

#[test]
fn an_enum_may_be_large_or_long_but_not_both() {
    let values =
        |count: usize, length: usize| strings((0..count).map(move |at| format!("{at:0length$}")));
    assert_refused(values(251, 59), &[]);
    assert_refused(values(250, 400), &[]);
    let too_long = (
        Target::OpenAiStrict,
        "a",
        "openai.strict.max_enum_string_len_when_gt_250",
    );
    assert_refused(values(251, 60), &[too_long]);
}

/// What a build says of a tool with parameters of these names and schemas, or that it takes it.
fn said_of_all(parameters: &[(&str, &'static Schema)]) -> Result<(), String> {
    let mut judge = ToolCheck::of("f");
    let heard = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        // The macro's rounds, as it makes them.
        loop {
            for (name, schema) in parameters {
                let property = Property::new(text(name), Text::EMPTY, schema);
                parameter(&mut judge, property, &verdict(schema));
            }
            if judge.ends() {
                break;
            }
        }
    }));
    heard.map_err(|payload| *payload.downcast::<String>().unwrap())
}

#[test]
fn a_broken_rule_stops_the_build_and_so_do_all_others_of_the_tool() {
    let refused = schema(Schema::array(object([("1st", STRING)])));
    assert_eq!(said_of_all(&[("a", STRING), ("b", STRING)]), Ok(()));

    let one = "`a[].1st`: this is no key that every provider takes (rule portable.param_name); use \
               an ASCII letter or `_`, then at most 63 ASCII letters, digits or `_`";
    let said = said_of_all(&[("b", STRING), ("a", refused)]).unwrap_err();
    assert_eq!(said, format!("tool `f`, parameter {one}"));

    let twins = strings(["Red", "rED"].map(String::from));
    let parameters = [("a", refused), ("b", STRING), ("c", twins), ("d", refused)];
    let said = said_of_all(&parameters).unwrap_err();
    let lines: Vec<_> = said.lines().collect();
    assert_eq!(lines.len(), 3, "{said}");
    assert_eq!(lines[0], format!("tool `f`, parameter {one}"));
    let starts = "also refused, parameter `c`: two values of this enum differ by case alone";
    assert!(lines[1].starts_with(starts), "{said}");
    assert!(lines[2].starts_with("also refused, parameter `d[].1st`: "));
}

#[test]
fn of_many_refused_parameters_the_rest_is_counted() {
    // As long as they may be.
    let refused = object([(&*"k".repeat(300), STRING)]);
    let name = "n".repeat(64);
    for count in 1..=12 {
        let said = said_of_all(&vec![(&*name, refused); count]).unwrap_err();
        let told = said.matches("digits or `_`").count();
        assert_eq!(told, count.min(8), "{said}");
        let rest = format!("also refused: {} more", count.saturating_sub(8));
        assert_eq!(said.ends_with(&rest), count > 8, "{said}");
    }
}
