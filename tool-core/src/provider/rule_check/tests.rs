use crate::provider::rule_check::*;
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
        .map(|(name, schema)| Property::new(text(name), schema))
        .collect();
    schema(Schema::object(members.leak()))
}

fn strings(values: impl IntoIterator<Item = String>) -> &'static Schema {
    let values: Vec<_> = values.into_iter().map(|value| text(&value)).collect();
    schema(Schema::strings(values.leak()))
}

/// Returns the message of each target that rejects a parameter of this schema.
fn rejections(parameter: &'static Schema) -> Vec<(Target, String)> {
    let arguments = object([("a", parameter), ("b", STRING)]);
    Target::ALL
        .into_iter()
        .filter_map(|target| Some((target, check(arguments, target).err()?)))
        .collect()
}

/// Asserts which targets reject the parameter, each with the path and rule in its message.
#[track_caller]
fn assert_rejected(parameter: &'static Schema, expected: &[(Target, &str, &str)]) {
    let rejections = rejections(parameter);
    let targets: Vec<_> = rejections.iter().map(|(target, _)| *target).collect();
    let wanted: Vec<_> = expected.iter().map(|(target, ..)| *target).collect();
    assert_eq!(targets, wanted, "{rejections:?}");
    for ((target, message), (_, path, rule)) in rejections.iter().zip(expected) {
        let start = format!("parameter `{path}`: ");
        assert!(message.starts_with(&start), "{message}");
        assert!(message.contains(&format!("(rule {rule}); ")), "{message}");
        assert!(crate::provider::rules::find(rule).is_some(), "{rule}");
        let remedy = format!("turn off the feature `{}`", target.feature());
        assert!(
            message.contains(&remedy) || expected.len() == Target::ALL.len(),
            "{message}"
        );
    }
}

#[track_caller]
fn assert_rejected_by_all(parameter: &'static Schema, path: &str, rule: &str) {
    assert_rejected(parameter, &Target::ALL.map(|target| (target, path, rule)));
}

/// Returns the message of a target about a tool with these parameters, or `""`.
fn message(arguments: &'static Schema, target: Target) -> String {
    check(arguments, target).err().unwrap_or_default()
}

#[test]
fn what_dialects_can_rewrite_is_accepted() {
    let colours = strings(["red", "blue"].map(String::from));
    let point = object([
        ("x", &Schema::NUMBER),
        ("y", schema(Schema::nullable(STRING))),
    ]);
    let accepted = [
        STRING,
        schema(Schema::format("an unknown format")),
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
    for parameter in accepted {
        assert_rejected(parameter, &[]);
    }
}

#[test]
fn strict_modes_reject_untyped_values_and_arbitrary_keys() {
    let deep = |inner| object([("list", schema(Schema::array(object([("x", inner)]))))]);
    assert_rejected(
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
    let rejected = |path| {
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
    assert_rejected(deep(map), &rejected("a.list[].x"));
    assert_rejected(
        schema(Schema::any_of(vec![STRING, map].leak())),
        &rejected("a(variant 2)"),
    );
    let flat = schema(Schema::object(vec![Property::flatten(map)].leak()));
    assert_rejected(flat, &rejected("a"));
}

#[test]
fn a_map_with_the_keys_of_an_enum_has_optional_keys() {
    let keys = strings(["one", "two.three-four"].map(String::from));
    let rejected = (Target::OpenAiStrict, "a", "openai.strict.required");
    assert_rejected(schema(Schema::map_of(keys, STRING)), &[rejected]);
    let keys = strings(["one", "two three"].map(String::from));
    let key = (
        Target::AnthropicStrict,
        "a.two three",
        "anthropic.property_key_regex",
    );
    assert_rejected(schema(Schema::map_of(keys, STRING)), &[rejected, key]);
}

#[test]
fn portable_rules_apply_to_every_target() {
    for key in [
        "",
        "1st",
        "with space",
        "with-dash",
        "ünïcödé",
        &"k".repeat(65),
    ] {
        let path = format!("a.{key}");
        assert_rejected_by_all(object([(key, STRING)]), &path, "portable.param_name");
    }
    assert_rejected(object([(&*"k".repeat(64), STRING), ("_1", STRING)]), &[]);

    let colliding = strings(["Red", "blue", "rED"].map(String::from));
    assert_rejected_by_all(colliding, "a", "portable.enum_case");
    assert_rejected(strings(["red", "blue", "redder"].map(String::from)), &[]);
    assert_rejected_by_all(strings([]), "a", "portable.no_members");
    assert_rejected_by_all(schema(Schema::any_of(&[])), "a", "portable.no_members");
}

/// The bits that rule out most pairs must not hide a collision.
#[test]
fn case_collisions_are_found_among_many_values() {
    let many = || (0..1500).map(|at| format!("value {at}"));
    let found = |values| {
        let arguments = object([("a", values)]);
        message(arguments, Target::Mistral).contains("differ only by case")
    };
    assert!(!found(strings(many())));
    assert!(found(strings(many().chain(["VALUE 77".into()]))));
}

#[test]
fn openai_accepts_ten_levels() {
    // The arguments are the first level.
    let nested = |levels: usize| {
        (0..levels).fold(STRING, |inner, at| match at % 2 {
            0 => object([("o", inner)]),
            _ => schema(Schema::array(inner)),
        })
    };
    assert_rejected(nested(9), &[]);
    let path = "a[].o[].o[].o[].o[]";
    assert_rejected(
        nested(10),
        &[(Target::OpenAiStrict, path, "openai.strict.max_nesting")],
    );
}

#[test]
fn recursion_is_rejected_by_targets_without_references() {
    fn target() -> &'static Schema {
        unreachable!("checks do not follow references")
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
    assert_rejected(tree(schema(Schema::nullable(back))), &strict("a.child"));

    let list = schema(Schema::array(back));
    let gemini = (
        Target::Gemini,
        "a.child[]",
        "gemini.parametersJsonSchema.recursion",
    );
    let [anthropic, xai] = strict("a.child[]");
    assert_rejected(tree(list), &[anthropic, gemini, xai]);
    // An optional tree does not make its recursion optional.
    assert_rejected(
        schema(Schema::nullable(tree(list))),
        &[anthropic, gemini, xai],
    );
}

#[test]
fn an_enum_may_have_many_values_or_long_ones() {
    let values =
        |count: usize, length: usize| strings((0..count).map(move |at| format!("{at:0length$}")));
    assert_rejected(values(251, 59), &[]);
    assert_rejected(values(250, 400), &[]);
    let too_long = (
        Target::OpenAiStrict,
        "a",
        "openai.strict.max_enum_string_len_when_gt_250",
    );
    assert_rejected(values(251, 60), &[too_long]);
}

/// Returns the compile error of a tool `f` with a parameter of this name and schema.
fn error_of(name: &str, schema: &'static Schema) -> Option<String> {
    let property = Property::new(text(name), schema);
    let checked = std::panic::catch_unwind(|| parameter("f", property));
    checked.err().map(|payload| *payload.downcast().unwrap())
}

#[cfg_attr(panic = "abort", ignore = "it catches a panic")]
#[test]
fn a_broken_rule_stops_the_build() {
    let rejected = schema(Schema::array(object([("1st", STRING)])));
    assert_eq!(error_of("a", STRING), None);
    let message = "tool `f`, parameter `a[].1st`: this key is not valid for every provider (rule \
                   portable.param_name); use an ASCII letter or `_`, then at most 63 ASCII \
                   letters, digits or `_`";
    assert_eq!(error_of("a", rejected).unwrap(), message);
    let message = error_of("c", strings(["Red", "rED"].map(String::from))).unwrap();
    let start = "tool `f`, parameter `c`: two values of this enum differ only by case";
    assert!(message.starts_with(start), "{message}");
}

#[cfg_attr(panic = "abort", ignore = "it catches a panic")]
#[test]
fn the_longest_names_leave_room_for_the_remedy() {
    let rejected = object([(&*"k".repeat(300), STRING)]);
    let message = error_of(&"n".repeat(64), rejected).unwrap();
    assert!(message.ends_with("digits or `_`"), "{message}");
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
    assert_eq!(message(arguments(4898), Target::OpenAiStrict), "");
    assert_eq!(
        message(arguments(4899), Target::OpenAiStrict),
        "5001 properties (most in `a`) exceed the limit of 5000 (rule openai.strict.max_properties_total); \
         split the tool, or turn off the feature `openai-strict`"
    );
    assert_eq!(message(arguments(98), Target::Cohere), "");
    assert!(
        message(arguments(99), Target::Cohere)
            .starts_with("201 properties (most in `b`) exceed the limit of 200 ")
    );

    let values = |count: usize| strings((0..count).map(|at| format!("v{at}")));
    let arguments = |count| object([("a", values(count)), ("b", values(400))]);
    assert_eq!(message(arguments(600), Target::OpenAiStrict), "");
    let said = message(arguments(601), Target::OpenAiStrict);
    assert!(
        said.starts_with("1001 enum values (most in `a`) exceed the limit of 1000 "),
        "{said}"
    );

    // Characters, not bytes: each of these is two.
    let long = |length| strings(["ä".repeat(length)]);
    let arguments = |length| object([("a", long(length)), ("b", long(60_000))]);
    assert_eq!(message(arguments(59_998), Target::OpenAiStrict), "");
    let said = message(arguments(59_999), Target::OpenAiStrict);
    assert!(said.starts_with("120001 characters "), "{said}");
}

#[test]
fn anthropic_counts_optional_properties_and_unions() {
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
    // An optional parameter is not a union.
    assert_eq!(message(arguments(24), Target::AnthropicStrict), "");
    let said = message(arguments(25), Target::AnthropicStrict);
    assert!(
        said.starts_with("25 optional parameters and fields (most in `k0`) exceed "),
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
    assert_eq!(message(list(15), Target::AnthropicStrict), "");
    assert!(
        message(list(16), Target::AnthropicStrict)
            .starts_with("17 unions (most in `a`) exceed the limit of 16 ")
    );
}

/// A tuple of coordinates is not a union.
#[test]
fn a_tuple_of_one_scalar_type_is_not_a_union() {
    let unions = |items: Vec<&'static Schema>| {
        let arguments = object([("a", schema(Schema::tuple(items.leak())))]);
        check(arguments, Target::AnthropicStrict).unwrap().unions
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
    let described = schema(Schema::NUMBER.describe(Text::new("Degrees.")));
    for items in [
        vec![&Schema::NUMBER, described],
        vec![byte, &Schema::INTEGER],
        vec![STRING, &Schema::BOOLEAN],
    ] {
        assert_eq!(unions(items), 1);
    }
}

#[test]
fn cohere_requires_a_required_parameter() {
    let optional = schema(Schema::nullable(object([("x", STRING)])));
    for arguments in [object([]), object([("a", optional)])] {
        let said = message(arguments, Target::Cohere);
        assert!(
            said.starts_with("0 required parameters are below the minimum of 1 "),
            "{said}"
        );
        assert_eq!(message(arguments, Target::Mistral), "");
    }
    assert_eq!(
        message(object([("a", optional), ("b", STRING)]), Target::Cohere),
        ""
    );
}

#[test]
fn the_message_names_the_largest_parameter() {
    const SMALL: Property = Property::new(Text::new("small"), <Option<u8>>::SCHEMA);
    // As generated code does.
    const OPTIONAL: Property = TypeCheck::<Option<u8>>::parameter("f", SMALL);
    const REQUIRED: Property = Property::new(Text::new("required"), bool::SCHEMA);
    const _: () = tool("f", &[OPTIONAL, REQUIRED]);
    let counted = stats(&OPTIONAL);
    let counts = [
        counted.keys,
        counted.optional,
        counted.required,
        counted.characters,
        counted.unions,
    ];
    assert_eq!(counts, [1, 1, 0, 5, 0]);

    let wide = |name: &str, keys: usize| {
        let members = (1..keys).map(|at| Property::new(text(&format!("k{at}")), STRING));
        let members = Schema::object(members.collect::<Vec<_>>().leak());
        Property::new(text(name), schema(members))
    };
    let parameters = [wide("small", 300), wide("large", 4800)];
    let targets = Targets::only(Target::OpenAiStrict);
    let total = parameters.iter().fold(SchemaStats::NONE, |sum, parameter| {
        sum.and(stats(parameter))
    });
    let exceeded = exceeded_limit(&total, &parameters, targets);
    let mut line: ConstString<1024> = ConstString::EMPTY;
    exceeded.unwrap().write(&mut line);
    let start = "5100 properties (most in `large`) exceed the limit of 5000 ";
    assert!(line.as_str().starts_with(start), "{}", line.as_str());
}

#[test]
fn a_long_path_is_truncated() {
    let key = "k".repeat(64);
    let deep = (0..4).fold(schema(Schema::map(STRING)), |inner, _| {
        object([(&*key, inner)])
    });
    let said = message(object([("a", deep)]), Target::OpenAiStrict);
    assert!(
        said.contains("arbitrary keys (rule openai.strict.additionalProperties); name the keys"),
        "{said}"
    );
}
