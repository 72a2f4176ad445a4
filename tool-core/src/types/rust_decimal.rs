//! The schema of `Decimal`.

use rust_decimal::Decimal;

use crate::types::text;

// It would read a number too, but through an `f64`, which loses digits: the walk refuses it. It is
// written as a string unless the crate's feature `serde-float` is on, which is why that feature
// does not go together with this one.
schemas! {
    Decimal => text("Decimal number as a string, such as 12.50.").read_in_several_ways();
}
