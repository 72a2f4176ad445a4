use super::*;
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
        .filter_map(|target| Some((target, judge(arguments, target).err()?)))
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
        assert!(crate::rules::find(rule).is_some(), "{rule}");
        let is_on = message.contains(&format!("the feature `{}` off", target.feature()));
        assert!(is_on || expected.len() == Target::ALL.len(), "{message}");
    }
}

/// For what no provider takes.
#[track_caller]
fn assert_refused_by_all(parameter: &'static Schema, path: &str, rule: &str) {
    assert_refused(parameter, &Target::ALL.map(|target| (target, path, rule)));
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

/// What a target says of a tool with these parameters.
fn total(arguments: &'static Schema, target: Target) -> String {
    judge(arguments, target).err().unwrap_or_default()
}

#[test]
fn limits_of_a_whole_tool_count_every_depth() {
    let inner = |count: usize| {
        let names: Vec<_> = (0..count).map(|at| format!("k{at}")).collect();
        object(
            names
                .iter()
                .map(|name| (&**name, STRING))
                .collect::<Vec<_>>(),
        )
    };
    let arguments = |count| {
        object([
            ("a", schema(Schema::array(inner(count)))),
            ("b", inner(100)),
        ])
    };
    assert_eq!(total(arguments(4898), Target::OpenAiStrict), "");
    assert_eq!(
        total(arguments(4899), Target::OpenAiStrict),
        "5001 keys, most of them in `a`, are more than the 5000 of rule openai.strict.max_properties_total \
         (feature `openai-strict`); split the tool, or turn the feature off"
    );
    assert_eq!(total(arguments(98), Target::Cohere), "");
    assert!(
        total(arguments(99), Target::Cohere)
            .starts_with("201 fields, most of them in `b`, are more than the 200 ")
    );

    let values = |count: usize| strings((0..count).map(|at| format!("v{at}")));
    let arguments = |count| object([("a", values(count)), ("b", values(400))]);
    assert_eq!(total(arguments(600), Target::OpenAiStrict), "");
    let said = total(arguments(601), Target::OpenAiStrict);
    assert!(
        said.starts_with("1001 values of enums, most of them in `a`, are more than the 1000 "),
        "{said}"
    );

    // Characters, not bytes: each of these is two.
    let long = |length| strings(["ä".repeat(length)]);
    let arguments = |length| object([("a", long(length)), ("b", long(60_000))]);
    assert_eq!(total(arguments(59_998), Target::OpenAiStrict), "");
    let said = total(arguments(59_999), Target::OpenAiStrict);
    assert!(said.starts_with("120001 characters "), "{said}");
}

#[test]
fn anthropic_counts_what_may_be_left_out_and_unions() {
    let optional = schema(Schema::nullable(STRING));
    let arguments = |count: usize| {
        let names: Vec<_> = (0..count).map(|at| format!("k{at}")).collect();
        object(
            names
                .iter()
                .map(|name| (&**name, optional))
                .collect::<Vec<_>>(),
        )
    };
    // An optional parameter is no union: it is left out.
    assert_eq!(total(arguments(24), Target::AnthropicStrict), "");
    let said = total(arguments(25), Target::AnthropicStrict);
    assert!(
        said.starts_with("25 parameters and fields that may be left out, most of them in `k0`, "),
        "{said}"
    );

    let list = |count: usize| {
        let union = schema(Schema::any_of(vec![STRING, &Schema::BOOLEAN].leak()));
        object([(
            "a",
            schema(Schema::tuple(
                vec![schema(Schema::array(union)); count].leak(),
            )),
        )])
    };
    assert_eq!(total(list(15), Target::AnthropicStrict), "");
    assert!(
        total(list(16), Target::AnthropicStrict)
            .starts_with("17 unions, most of them in `a`, are more than the 16 ")
    );
}

/// A list of coordinates is no union, though it is a tuple.
#[test]
fn a_tuple_of_one_scalar_is_no_union() {
    let unions = |items: Vec<&'static Schema>| {
        let arguments = object([("a", schema(Schema::tuple(items.leak())))]);
        judge(arguments, Target::AnthropicStrict).unwrap().unions
    };
    let byte = schema(Schema::integer(0, 255));
    for items in [
        vec![],
        vec![&Schema::NUMBER; 3],
        vec![byte, byte],
        vec![STRING, STRING],
    ] {
        assert_eq!(unions(items), 0);
    }
    let told = schema(Schema::NUMBER.describe(Text::new("Degrees.")));
    for items in [
        vec![&Schema::NUMBER, told],
        vec![byte, &Schema::INTEGER],
        vec![STRING, &Schema::BOOLEAN],
    ] {
        assert_eq!(unions(items), 1);
    }
}

#[test]
fn cohere_wants_a_required_parameter() {
    let optional = schema(Schema::nullable(object([("x", STRING)])));
    for arguments in [object([]), object([("a", optional)])] {
        let said = total(arguments, Target::Cohere);
        assert!(
            said.starts_with("0 required parameters are fewer than the 1 "),
            "{said}"
        );
        assert_eq!(total(arguments, Target::Mistral), "");
    }
    assert_eq!(
        total(object([("a", optional), ("b", STRING)]), Target::Cohere),
        ""
    );
}

#[test]
fn the_greatest_part_of_a_tool_is_named() {
    const SMALL: Property = Property::new(Text::new("small"), Text::EMPTY, <Option<u8>>::SCHEMA);
    // The macro's calls, as it makes them.
    const SAME: Property = Judged::<Option<u8>>::parameter("f", SMALL);
    const GIVEN: Property = Property::new(Text::new("given"), Text::EMPTY, bool::SCHEMA);
    const _: () = tool("f", &[SAME, GIVEN]);
    let census = verdict(SAME.schema()).census.of(&SAME);
    let counts = [
        census.keys,
        census.optional,
        census.required,
        census.characters,
        census.unions,
    ];
    assert_eq!(counts, [1, 1, 0, 5, 0]);

    let wide = |name: &str, keys: usize| {
        let members =
            (1..keys).map(|at| Property::new(text(&format!("k{at}")), Text::EMPTY, STRING));
        let members = Schema::object(members.collect::<Vec<_>>().leak());
        Property::new(text(name), Text::EMPTY, schema(members))
    };
    let parameters = [wide("small", 300), wide("large", 4800)];
    let targets = Targets::only(Target::OpenAiStrict);
    let total = limit::total(&parameters, targets);
    let excess = limit::exceeded(&total, &parameters, targets);
    let mut line: Line<1024> = Line::EMPTY;
    excess.unwrap().write(&mut line);
    let start = "5100 keys, most of them in `large`, are more than the 5000 ";
    assert!(line.as_str().starts_with(start), "{}", line.as_str());
}

#[test]
#[should_panic(
    expected = "tool `f`, parameter `a[].1st`: this is no key that every provider \
                           takes (rule portable.param_name); use an ASCII letter"
)]
fn a_broken_rule_stops_the_build() {
    let list = schema(Schema::array(object([("1st", STRING)])));
    let property = Property::new(text("a"), Text::EMPTY, list);
    parameter("f", property, &verdict(list));
}

#[test]
fn a_long_path_is_cut_and_not_lost() {
    let key = "k".repeat(64);
    let deep = (0..4).fold(schema(Schema::map(STRING)), |inner, _| {
        object([(&*key, inner)])
    });
    let said = total(object([("a", deep)]), Target::OpenAiStrict);
    assert!(
        said.contains("free keys (rule openai.strict.additionalProperties); name the keys"),
        "{said}"
    );
}
