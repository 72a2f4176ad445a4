//! Schemas of the types of `bytes`, which serde writes as arrays.

use bytes::{Bytes, BytesMut};

use crate::schema::Schema;

// They would take the bytes of a string too. The schema does not say so, and the walk refuses it.
schemas! {
    Bytes => Schema::array(u8::SCHEMA).read_in_several_ways();
    BytesMut => Schema::array(u8::SCHEMA).read_in_several_ways();
}
