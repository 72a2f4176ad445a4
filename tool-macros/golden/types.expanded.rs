/// A place
/// on Earth.
#[derive(Deserialize, ToolType)]
#[serde(rename_all = "camelCase")]
struct Place<T: Clone> {
    /// Metres above the sea.
    #[serde(default)]
    sea_level: i32,
    name: Option<T>,
    #[serde(skip)]
    cache: Cache,
}
#[allow(deprecated, unused_qualifications, clippy::all, clippy::pedantic)]
const _: () = {
    use ::tool_core::__private as __tool;
    #[automatically_derived]
    impl<T: Clone> __tool::ToolType for Place<T>
    where
        Option<T>: __tool::ToolType,
    {
        const SCHEMA: &'static __tool::Schema = &const {
            __tool::named(
                (__tool::structure(
                    const {
                        &[
                            __tool::property::<i32>("seaLevel", "Metres above the sea.")
                                .optional(),
                            __tool::property::<Option<T>>("name", ""),
                        ]
                    },
                    false,
                ))
                    .describe(__tool::text("A place on Earth.", "A place on Earth.")),
                "Place",
                false,
            )
        };
        const EXACT: ::core::primitive::bool = false;
    }
    #[automatically_derived]
    impl<T: Clone> __tool::Recurse for Place<T> {
        const NAME: &'static ::core::primitive::str = "Place";
    }
};
#[derive(ToolType)]
struct Metres(f64);
#[allow(deprecated, unused_qualifications, clippy::all, clippy::pedantic)]
const _: () = {
    use ::tool_core::__private as __tool;
    #[automatically_derived]
    impl __tool::ToolType for Metres {
        const SCHEMA: &'static __tool::Schema = &const {
            __tool::named(*<f64 as __tool::ToolType>::SCHEMA, "Metres", false)
        };
        const EXACT: ::core::primitive::bool = <f64 as __tool::ToolType>::EXACT;
    }
    #[automatically_derived]
    impl __tool::Recurse for Metres {
        const NAME: &'static ::core::primitive::str = "Metres";
    }
    impl __tool::MapKey for Metres
    where
        for<'__key> f64: __tool::MapKey,
    {}
};
#[derive(ToolType)]
#[param(crate = crate::toolbox)]
#[serde(rename_all = "kebab-case")]
enum Unit {
    Celsius,
    DegreesFahrenheit,
}
#[allow(deprecated, unused_qualifications, clippy::all, clippy::pedantic)]
const _: () = {
    use crate::toolbox::__private as __tool;
    #[automatically_derived]
    impl __tool::ToolType for Unit {
        const SCHEMA: &'static __tool::Schema = &const {
            __tool::named(
                __tool::strings(
                    const {
                        &[
                            __tool::text("celsius", "celsius"),
                            __tool::text("degrees-fahrenheit", "degrees-fahrenheit"),
                        ]
                    },
                    const { &[] },
                    false,
                    __tool::text("", ""),
                ),
                "Unit",
                false,
            )
        };
        const EXACT: ::core::primitive::bool = false;
    }
    #[automatically_derived]
    impl __tool::Recurse for Unit {
        const NAME: &'static ::core::primitive::str = "Unit";
    }
    impl __tool::MapKey for Unit {}
};
#[derive(ToolType)]
union Bits {
    float: f32,
    integer: u32,
}
#[allow(deprecated, unused_qualifications, clippy::all, clippy::pedantic)]
const _: () = {
    use ::tool_core::__private as __tool;
    #[automatically_derived]
    impl __tool::ToolType for Bits {
        const SCHEMA: &'static __tool::Schema = &const { __tool::Schema::ANY };
        const EXACT: ::core::primitive::bool = false;
    }
    #[automatically_derived]
    impl __tool::Recurse for Bits {
        const NAME: &'static ::core::primitive::str = "Bits";
    }
};
::core::compile_error! {
    "a union has no form in JSON; derive `ToolType` for a struct or an enum"
}
