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
#[allow(
    deprecated,
    unreachable_code,
    unused_qualifications,
    clippy::all,
    clippy::pedantic,
    clippy::arbitrary_source_item_ordering
)]
const _: () = {
    use ::tool_core::__private as __tool_core;
    #[automatically_derived]
    impl<T: Clone> __tool_core::ToolType for Place<T>
    where
        Option<T>: __tool_core::ToolType,
    {
        const SCHEMA: &'static __tool_core::Schema = &const {
            __tool_core::named(
                (__tool_core::structure(
                    const {
                        &[
                            __tool_core::property::<
                                i32,
                            >("seaLevelMetres above the sea.", 8)
                                .optional(),
                            {
                                let _ = <Option<T> as __tool_core::ToolType>::SCHEMA;
                                __tool_core::property::<Option<T>>("name", 4)
                            },
                        ]
                    },
                    false,
                ))
                    .describe(__tool_core::text("A place on Earth.", 17)),
                "Place",
            )
        };
        const EXACT: ::core::primitive::bool = true;
        const WRITES: ::core::primitive::u8 = {
            #[allow(unused_imports)]
            use __tool_core::NotExact as _;
            __tool_core::Exactness::<i32>::WRITES
                & __tool_core::Exactness::<Option<T>>::WRITES
        };
    }
    #[automatically_derived]
    impl<T: Clone> __tool_core::NamedType for Place<T> {
        const NAME: &'static ::core::primitive::str = "Place";
    }
    #[automatically_derived]
    #[allow(clippy::type_repetition_in_bounds)]
    impl<'__de, T: Clone> __tool_core::Decode<'__de> for Place<T>
    where
        Option<T>: __tool_core::ToolType,
        i32: __tool_core::Decode<'__de>,
        i32: __tool_core::HasDefault<'__de>,
        Option<T>: __tool_core::Decode<'__de>,
        Cache: __tool_core::HasDefault<'__de>,
    {
        fn decode(
            __reader: &mut __tool_core::Reader<'__de>,
        ) -> __tool_core::Result<Self, __tool_core::ReadError> {
            __reader
                .structure(
                    <Self as __tool_core::ToolType>::SCHEMA,
                    |(__0, __1): (__tool_core::Absent<i32>, Option<T>)| Place {
                        sea_level: __0.or_default(),
                        name: __1,
                        cache: <Cache as __tool_core::HasDefault<'__de>>::make(),
                    },
                )
        }
    }
};
#[derive(ToolType)]
struct Metres(f64);
#[allow(
    deprecated,
    unreachable_code,
    unused_qualifications,
    clippy::all,
    clippy::pedantic,
    clippy::arbitrary_source_item_ordering
)]
const _: () = {
    use ::tool_core::__private as __tool_core;
    #[automatically_derived]
    impl __tool_core::ToolType for Metres {
        const SCHEMA: &'static __tool_core::Schema = &const {
            {
                let __schema = __tool_core::named(
                    *<f64 as __tool_core::ToolType>::SCHEMA,
                    "Metres",
                );
                #[cfg(test)]
                let __schema = {
                    #[allow(unused_imports)]
                    use __tool_core::NoDecodeCheck as _;
                    __tool_core::with_comparison(
                        __schema,
                        __tool_core::Comparison::<Self>::VALUE,
                        __tool_core::VerdictComparison::<Self>::VALUE,
                    )
                };
                __schema
            }
        };
        const EXACT: ::core::primitive::bool = true;
        const WRITES: ::core::primitive::u8 = {
            #[allow(unused_imports)]
            use __tool_core::NotExact as _;
            __tool_core::Exactness::<f64>::WRITES
        };
    }
    #[automatically_derived]
    impl __tool_core::NamedType for Metres {
        const NAME: &'static ::core::primitive::str = "Metres";
    }
    #[automatically_derived]
    #[allow(clippy::type_repetition_in_bounds)]
    impl<'__de> __tool_core::Decode<'__de> for Metres
    where
        f64: __tool_core::Decode<'__de>,
    {
        fn decode(
            __reader: &mut __tool_core::Reader<'__de>,
        ) -> __tool_core::Result<Self, __tool_core::ReadError> {
            __reader
                .wrapped(
                    <Self as __tool_core::ToolType>::SCHEMA,
                    {
                        #[allow(unused_imports)]
                        use __tool_core::NotExact as _;
                        __tool_core::Exactness::<f64>::VALUE
                    },
                    |__0: f64| Metres { 0: __0 },
                )
        }
    }
    #[allow(unused_lifetimes)]
    impl __tool_core::MapKey for Metres
    where
        for<'__key> f64: __tool_core::MapKey,
    {}
};
#[derive(ToolType)]
#[param(crate = crate::toolbox)]
#[serde(rename_all = "kebab-case")]
enum Unit {
    Celsius,
    DegreesFahrenheit,
}
#[allow(
    deprecated,
    unreachable_code,
    unused_qualifications,
    clippy::all,
    clippy::pedantic,
    clippy::arbitrary_source_item_ordering
)]
const _: () = {
    use crate::toolbox::__private as __tool_core;
    #[automatically_derived]
    impl __tool_core::ToolType for Unit {
        const SCHEMA: &'static __tool_core::Schema = &const {
            {
                let __schema = __tool_core::named(
                    __tool_core::strings(
                        const {
                            &[
                                __tool_core::text("celsius", 7),
                                __tool_core::text("degrees-fahrenheit", 18),
                            ]
                        },
                        const { &[] },
                        false,
                        __tool_core::text("", 0),
                    ),
                    "Unit",
                );
                #[cfg(test)]
                let __schema = {
                    #[allow(unused_imports)]
                    use __tool_core::NoDecodeCheck as _;
                    __tool_core::with_comparison(
                        __schema,
                        __tool_core::Comparison::<Self>::VALUE,
                        __tool_core::VerdictComparison::<Self>::VALUE,
                    )
                };
                __schema
            }
        };
        const EXACT: ::core::primitive::bool = true;
        const WRITES: ::core::primitive::u8 = __tool_core::WRITES_EXACTLY;
    }
    #[automatically_derived]
    impl __tool_core::NamedType for Unit {
        const NAME: &'static ::core::primitive::str = "Unit";
    }
    #[automatically_derived]
    #[allow(clippy::type_repetition_in_bounds)]
    impl<'__de> __tool_core::Decode<'__de> for Unit {
        fn decode(
            __reader: &mut __tool_core::Reader<'__de>,
        ) -> __tool_core::Result<Self, __tool_core::ReadError> {
            let __variant = match __reader.unit(<Self as __tool_core::ToolType>::SCHEMA)
            {
                __tool_core::Ok(__variant) => __variant,
                __tool_core::Err(__error) => return __tool_core::Err(__error),
            };
            match __variant {
                0usize => __tool_core::Ok(Unit::Celsius {}),
                1usize => __tool_core::Ok(Unit::DegreesFahrenheit {}),
                _ => __reader.rejected(),
            }
        }
    }
    impl __tool_core::MapKey for Unit {}
};
#[derive(ToolType)]
union Bits {
    float: f32,
    integer: u32,
}
#[allow(
    deprecated,
    unreachable_code,
    unused_qualifications,
    clippy::all,
    clippy::pedantic,
    clippy::arbitrary_source_item_ordering
)]
const _: () = {
    use ::tool_core::__private as __tool_core;
    #[automatically_derived]
    impl __tool_core::ToolType for Bits {
        const SCHEMA: &'static __tool_core::Schema = &const { __tool_core::Schema::ANY };
        const EXACT: ::core::primitive::bool = true;
        const WRITES: ::core::primitive::u8 = 0;
    }
    #[automatically_derived]
    impl __tool_core::NamedType for Bits {
        const NAME: &'static ::core::primitive::str = "Bits";
    }
    #[automatically_derived]
    #[allow(clippy::type_repetition_in_bounds)]
    impl<'__de> __tool_core::Decode<'__de> for Bits {
        fn decode(
            __reader: &mut __tool_core::Reader<'__de>,
        ) -> __tool_core::Result<Self, __tool_core::ReadError> {
            __reader.rejected()
        }
    }
};
::core::compile_error! {
    "`ToolType` cannot be derived for a union; write a struct or an enum"
}
