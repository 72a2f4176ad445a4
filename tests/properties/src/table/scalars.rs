//! Booleans, numbers, strings, and types that std parses from strings.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::num::{NonZero, Saturating, Wrapping};
use std::ops::{Range, RangeFrom, RangeInclusive, RangeTo};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use serde_json::{Map, Number, Value};

super::table! {
    both {
        bool_: bool;
        u8_: u8;
        i8_: i8;
        u16_: u16;
        i16_: i16;
        u32_: u32;
        i32_: i32;
        u64_: u64;
        i64_: i64;
        u128_: u128;
        i128_: i128;
        usize_: usize;
        isize_: isize;
        f32_: f32;
        f64_: f64;
        char_: char;
        string: String;
        boxed_str: Box<str>;
        nonzero_u8: NonZero<u8>;
        nonzero_i8: NonZero<i8>;
        nonzero_u32: NonZero<u32>;
        nonzero_i64: NonZero<i64>;
        nonzero_u128: NonZero<u128>;
        nonzero_i128: NonZero<i128>;
        wrapping: Wrapping<u16>;
        saturating: Saturating<i8>;
        path: PathBuf;
        ipv4: Ipv4Addr;
        ipv6: Ipv6Addr;
        ip: IpAddr;
        parsed_socket: SocketAddr;
        parsed_socket_v4: SocketAddrV4;
        parsed_socket_v6: SocketAddrV6;
        duration: Duration;
        system_time: SystemTime;
        range: Range<u8>;
        range_inclusive: RangeInclusive<i32>;
        range_from: RangeFrom<f64>;
        range_to: RangeTo<u64>;
        range_of_options: Range<Option<u8>>;
        unit: ();
        phantom: PhantomData<u8>;
        number: Number;
        any: Value;
        any_object: Map<String, Value>;
    }
    read {
        borrowed_str: &str;
        optional_str: Option<&str>;
        cow_str: Cow<'_, str>;
        borrowed_value: &Value;
        borrowed_number: &u8;
        optional_borrowed_number: Option<&i16>;
    }
}
