//! Truth values, numbers and strings.

use std::borrow::Cow;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::num::{NonZero, Saturating, Wrapping};
use std::path::{Path, PathBuf};

use crate::schema::{IntegerRange, Kind, Lengths, NumberRange, Schema};
use crate::types::{MapKey, ToolType};

/// `EXACT` is true for these: serde accepts just what their schema describes.
macro_rules! scalars {
    ($($type:ty => $schema:expr;)*) => {$(
        impl ToolType for $type {
            const SCHEMA: &'static Schema = &$schema;
            const EXACT: bool = true;
        }
    )*};
}

scalars! {
    bool => Schema::BOOLEAN;
    char => Schema::string(Lengths::exactly(1));
    f64 => Schema::NUMBER;
    str => Schema::STRING;
    String => Schema::STRING;
    Box<str> => Schema::STRING;
    &'static str => Schema::STRING;
    Cow<'_, str> => Schema::STRING;
}

impl MapKey for char {}
impl MapKey for String {}
impl MapKey for Box<str> {}
impl MapKey for Cow<'_, str> {}

/// The first number that rounds to no `f32`: half a step above the greatest.
const ABOVE_F32: f64 = 3.402_823_567_797_336_6e38;

// serde makes an `f32` of a number that is too big for it: infinity. One that rounds to the
// greatest is not: `f32::MAX` itself is written as 3.4028235e38, a little above it.
impl ToolType for f32 {
    const SCHEMA: &'static Schema = &Schema::of(Kind::Number(NumberRange::up_to(f64::from_bits(
        ABOVE_F32.to_bits() - 1,
    ))));
}

/// What an integer type shows of its limits: a model needs no telling that a number of days is
/// below two to the thirty-first.
macro_rules! integers {
    ($($type:ty: $minimum:expr, $maximum:expr, shows $shows_minimum:expr, $shows_maximum:expr;)*) => {$(
        scalars! {
            $type => Schema::of(Kind::Integer(IntegerRange {
                minimum: $minimum,
                maximum: $maximum,
                shows_minimum: $shows_minimum,
                shows_maximum: $shows_maximum,
                multiple_of: 0,
            }));
        }

        impl MapKey for $type {}

        impl ToolType for Wrapping<$type> {
            const SCHEMA: &'static Schema = <$type>::SCHEMA;
            const EXACT: bool = true;
        }

        // serde brings a number that is too big for it to the nearest that is not.
        impl ToolType for Saturating<$type> {
            const SCHEMA: &'static Schema = <$type>::SCHEMA;
        }

        impl ToolType for NonZero<$type> {
            const SCHEMA: &'static Schema = {
                const POSITIVE: IntegerRange = IntegerRange {
                    minimum: 1,
                    maximum: $maximum,
                    shows_minimum: true,
                    shows_maximum: $shows_maximum,
                    multiple_of: 0,
                };
                const NEGATIVE: IntegerRange = IntegerRange {
                    minimum: $minimum,
                    maximum: -1,
                    shows_minimum: $shows_minimum,
                    shows_maximum: true,
                    multiple_of: 0,
                };
                if $minimum == 0 {
                    &Schema::of(Kind::Integer(POSITIVE))
                } else {
                    &Schema::any_of(
                        const {
                            &[
                                &Schema::of(Kind::Integer(POSITIVE)),
                                &Schema::of(Kind::Integer(NEGATIVE)),
                            ]
                        },
                    )
                }
            };
            const EXACT: bool = true;
        }
    )*};
}

integers! {
    u8: 0, u8::MAX as i128, shows true, true;
    i8: i8::MIN as i128, i8::MAX as i128, shows true, true;
    u16: 0, u16::MAX as i128, shows true, true;
    i16: i16::MIN as i128, i16::MAX as i128, shows true, true;
    u32: 0, u32::MAX as i128, shows true, false;
    i32: i32::MIN as i128, i32::MAX as i128, shows false, false;
    u64: 0, u64::MAX as i128, shows true, false;
    i64: i64::MIN as i128, i64::MAX as i128, shows false, false;
    usize: 0, usize::MAX as i128, shows true, false;
    isize: isize::MIN as i128, isize::MAX as i128, shows false, false;
    // `i128::MAX` stands for no limit: decoding knows the rest.
    u128: 0, i128::MAX, shows true, false;
    i128: i128::MIN, i128::MAX, shows false, false;
}

// Strings that a type parses: decoding refuses the others, in the words of the type.
schemas! {
    Path => Schema::STRING;
    PathBuf => Schema::STRING;
    Box<Path> => Schema::STRING;
    Ipv4Addr => Schema::format("ipv4");
    Ipv6Addr => Schema::format("ipv6");
    IpAddr => Schema::any_of(&[Ipv4Addr::SCHEMA, Ipv6Addr::SCHEMA]);
    SocketAddrV4 => Schema::STRING.describe(crate::schema::Text::new("IPv4 address and port, such as 127.0.0.1:8080."));
    SocketAddrV6 => Schema::STRING.describe(crate::schema::Text::new("IPv6 address and port, such as [::1]:8080."));
    SocketAddr => Schema::STRING.describe(crate::schema::Text::new("IP address and port, such as 127.0.0.1:8080 or [::1]:8080."));
}
