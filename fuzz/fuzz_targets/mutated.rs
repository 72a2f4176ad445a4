//! Valid calls with a few bytes changed.

#![no_main]

use libfuzzer_sys::fuzz_target;
use properties::probe;

fuzz_target!(|data: &[u8]| probe::one(data, |subject, random, _| probe::mutated(subject, random)));
