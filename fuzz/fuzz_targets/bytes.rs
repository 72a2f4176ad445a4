//! Arbitrary bytes as the arguments of a call: no panic, no hang, and no run of a rejected call.

#![no_main]

use libfuzzer_sys::fuzz_target;
use properties::probe;

fuzz_target!(|data: &[u8]| probe::one(data, |subject, _, rest| probe::bytes(subject, rest)));
