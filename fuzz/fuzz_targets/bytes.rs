//! Any bytes as the arguments of a call: no panic, no hang, no run of what is refused.

#![no_main]

use libfuzzer_sys::fuzz_target;
use proofs::probe;

fuzz_target!(|data: &[u8]| probe::one(data, |subject, _, rest| probe::bytes(subject, rest)));
