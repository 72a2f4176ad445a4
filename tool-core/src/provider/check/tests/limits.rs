//! How much a whole tool may hold.

use crate::provider::check::tests::*;

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
    const SAME: Property = TypeCheck::<Option<u8>>::parameter("f", SMALL);
    const GIVEN: Property = Property::new(Text::new("given"), Text::EMPTY, bool::SCHEMA);
    const _: () = tool("f", &[SAME, GIVEN]);
    let stats = verdict(SAME.schema()).stats.of(&SAME);
    let counts = [
        stats.keys,
        stats.optional,
        stats.required,
        stats.characters,
        stats.unions,
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
    let mut line: ConstString<1024> = ConstString::EMPTY;
    excess.unwrap().write(&mut line);
    let start = "5100 keys, most of them in `large`, are more than the 5000 ";
    assert!(line.as_str().starts_with(start), "{}", line.as_str());
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
