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

/// Returns the compile error of a tool `f` with a parameter of this name and schema.
fn error_of(name: &str, schema: &'static Schema) -> Option<String> {
    let property = Property::new(text(name), Text::EMPTY, schema);
    let checked = std::panic::catch_unwind(|| parameter("f", property, &verdict(schema)));
    checked.err().map(|payload| *payload.downcast().unwrap())
}

#[test]
fn a_broken_rule_stops_the_build() {
    let rejected = schema(Schema::array(object([("1st", STRING)])));
    assert_eq!(error_of("a", STRING), None);
    let message = "tool `f`, parameter `a[].1st`: this is no key that every provider takes (rule \
                   portable.param_name); use an ASCII letter or `_`, then at most 63 ASCII \
                   letters, digits or `_`";
    assert_eq!(error_of("a", rejected).unwrap(), message);
    let message = error_of("c", strings(["Red", "rED"].map(String::from))).unwrap();
    let start = "tool `f`, parameter `c`: two values of this enum differ by case alone";
    assert!(message.starts_with(start), "{message}");
}

#[test]
fn the_longest_names_leave_room_for_the_remedy() {
    let rejected = object([(&*"k".repeat(300), STRING)]);
    let message = error_of(&"n".repeat(64), rejected).unwrap();
    assert!(message.ends_with("digits or `_`"), "{message}");
}
