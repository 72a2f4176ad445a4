//! Calls tools with arbitrary JSON as arguments.

#![no_main]

use libfuzzer_sys::fuzz_target;
use properties::probe;

fuzz_target!(|data: &[u8]| probe::one(data, |subject, random, _| probe::json(subject, random)));
