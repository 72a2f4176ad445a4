//! `requestState`: what a call must know when it is made again.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use rmcp::ErrorData;
use rmcp::model::{ElicitResult, RequestStateCodec, SealOptions};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tool_core::call::Arguments;

use crate::lock;
use crate::{hex, sorted_json};

/// The most states that are remembered as used, in about 50 MB. Further answers are rejected until one
/// expires, because a forgotten state would be accepted again.
const REMEMBERED: usize = 500_000;

/// The state that a call needs when it is made again.
#[derive(Default, Deserialize, Serialize)]
pub(super) struct State {
    /// Random, and different in each state.
    pub(super) nonce: String,
    /// The questions without an answer.
    pub(super) asked: Vec<String>,
    pub(super) answers: BTreeMap<String, ElicitResult>,
    /// The values that the tool keeps, as JSON text.
    pub(super) kept: BTreeMap<String, String>,
}

/// Signs states and checks them.
pub(super) struct StateCodec {
    codec: RequestStateCodec,
    lifetime: Duration,
    remembered: usize,
    used: Mutex<Used>,
}

/// The nonces of the states that were used, until they expire.
#[derive(Default)]
struct Used {
    nonces: HashSet<String>,
    /// In the order of expiry.
    order: VecDeque<(Instant, String)>,
}

impl StateCodec {
    pub(super) fn new(key: &[u8], lifetime: Duration) -> StateCodec {
        StateCodec {
            codec: RequestStateCodec::try_new(key).expect("the length of the key is checked"),
            lifetime,
            remembered: REMEMBERED,
            used: Mutex::default(),
        }
    }

    pub(super) fn seal(&self, mut state: State, binding: &Binding) -> Result<String, ErrorData> {
        state.nonce = hex(&random::<16>());
        let options = SealOptions::new()
            .associated_data(&binding.0)
            .ttl(self.lifetime);
        self.codec
            .seal_json_with(&state, &options)
            .map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }

    /// Checks a state. It is accepted once.
    pub(super) fn open(&self, sealed: &str, binding: &Binding) -> Result<State, ErrorData> {
        // The same error in all cases, so that nobody learns what is wrong with a forgery.
        let invalid = || ErrorData::invalid_params("the requestState is invalid or expired", None);
        let state: State = self
            .codec
            .open_json_with(sealed, &binding.0)
            .map_err(|error| {
                tracing::debug!(%error, "rejected a requestState");
                invalid()
            })?;
        let now = Instant::now();
        let mut used = lock(&self.used);
        while let Some((expiry, _)) = used.order.front()
            && *expiry <= now
        {
            if let Some((_, nonce)) = used.order.pop_front() {
                used.nonces.remove(&nonce);
            }
        }
        if used.order.len() >= self.remembered {
            tracing::warn!("rejected a requestState: too many were used lately");
            let message = "too many questions were answered lately; try again later";
            return Err(ErrorData::internal_error(message, None));
        }
        if !used.nonces.insert(state.nonce.clone()) {
            tracing::debug!("rejected a requestState that was used before");
            return Err(invalid());
        }
        used.order
            .push_back((now + self.lifetime, state.nonce.clone()));
        Ok(state)
    }
}

/// Binds a state to its tool, its arguments and its user.
pub(super) struct Binding([u8; 32]);

impl Binding {
    pub(super) fn new(tool: &str, arguments: Option<&Arguments>, user: Option<&str>) -> Binding {
        let mut hash = Sha256::new();
        hash.update(b"tool-mcp tools/call 1");
        for part in [tool, user.unwrap_or("")] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        hash.update([u8::from(user.is_some())]);
        let mut text = String::new();
        match arguments.map(Arguments::to_object) {
            Some(Ok(arguments)) => sorted_json::write_object(&arguments, &mut text),
            // A client that sends such integers keeps them as they are.
            Some(Err(_)) => text.push_str(&format!("{arguments:?}")),
            None => {}
        }
        hash.update(text);
        Binding(hash.finalize().into())
    }

    pub(super) fn digest(&self) -> &[u8] {
        &self.0
    }
}

/// Returns a short digest of strings.
pub(super) fn digest(texts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update((text.len() as u64).to_be_bytes());
        hash.update(text);
    }
    hex(&hash.finalize()[..16])
}

pub(super) fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the operating system has random numbers");
    bytes
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn binding(tool: &str, arguments: &Value, user: Option<&str>) -> Binding {
        Binding::new(tool, Some(&Arguments::from(arguments.clone())), user)
    }

    #[test]
    fn a_state_is_accepted_once_and_only_where_it_belongs() {
        let codec = StateCodec::new(&[7; 32], Duration::from_secs(60));
        let arguments = json!({"id": 7, "deep": {"a": 1, "b": [2]}});
        let own = binding("delete", &arguments, Some("ada"));
        let sealed = codec.seal(State::default(), &own).unwrap();
        let reordered = json!({"deep": {"b": [2], "a": 1}, "id": 7});
        for other in [
            binding("create", &arguments, Some("ada")),
            binding("delete", &json!({"id": 8}), Some("ada")),
            binding("delete", &arguments, Some("bob")),
            binding("delete", &arguments, None),
            binding("deletea", &arguments, Some("da")),
        ] {
            assert!(codec.open(&sealed, &other).is_err());
        }
        let other_key = StateCodec::new(&[8; 32], Duration::from_secs(60));
        assert!(other_key.open(&sealed, &own).is_err());
        assert!(
            codec
                .open(&sealed, &binding("delete", &reordered, Some("ada")))
                .is_ok()
        );
        assert!(codec.open(&sealed, &own).is_err());
        for text in ["", "rs1.", "x", &sealed[..sealed.len() - 1]] {
            assert!(codec.open(text, &own).is_err());
        }
    }

    #[test]
    fn an_expired_state_is_rejected() {
        let codec = StateCodec::new(&[7; 32], Duration::ZERO);
        let own = binding("delete", &json!({}), None);
        let sealed = codec.seal(State::default(), &own).unwrap();
        std::thread::sleep(Duration::from_millis(5));
        assert!(codec.open(&sealed, &own).is_err());
    }

    #[test]
    fn used_states_are_remembered_until_they_expire() {
        let mut codec = StateCodec::new(&[7; 32], Duration::from_secs(60));
        codec.remembered = 3;
        let own = binding("delete", &json!({}), None);
        let seal = |codec: &StateCodec| codec.seal(State::default(), &own).unwrap();
        let states: Vec<_> = (0..4).map(|_| seal(&codec)).collect();
        for state in &states[..3] {
            codec.open(state, &own).unwrap();
        }
        // A flood makes no room for a state that was used.
        assert!(codec.open(&states[3], &own).is_err());
        for state in &states {
            assert!(codec.open(state, &own).is_err());
        }
        // Expired states make room.
        lock(&codec.used).order[0].0 = Instant::now();
        codec.open(&states[3], &own).unwrap();
        assert_eq!(lock(&codec.used).nonces.len(), 3);
    }
}
