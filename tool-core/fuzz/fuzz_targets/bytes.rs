//! Calls tools with arbitrary bytes as arguments: no panic, no hang, no run of a rejected call.

#![no_main]

use libfuzzer_sys::fuzz_target;
use properties::probe;

fuzz_target!(|data: &[u8]| probe::one(data, |subject, _, rest| probe::bytes(subject, rest)));
