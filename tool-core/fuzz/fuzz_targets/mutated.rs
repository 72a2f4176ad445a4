//! Calls tools with valid arguments in which a few bytes are changed.

#![no_main]

use libfuzzer_sys::fuzz_target;
use properties::probe;

fuzz_target!(|data: &[u8]| probe::one(data, |subject, random, _| probe::mutated(subject, random)));
