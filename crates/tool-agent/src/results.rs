//! Stores of results that were too long for a model, beside the [journals](crate::run#saving) of the runs; see
//! [`RegistryBuilder::spill`](tool_core::RegistryBuilder::spill).
//!
//! With them, a run that another process continues can still read its long results.

mod file;
#[cfg(all(feature = "sqlite", not(target_family = "wasm")))]
mod sqlite;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sha2::{Digest, Sha256};

pub use self::file::FileResults;
#[cfg(all(feature = "sqlite", not(target_family = "wasm")))]
#[cfg_attr(docsrs, doc(cfg(feature = "sqlite")))]
pub use self::sqlite::SqliteResults;

/// Returns a hash of these parts, in hexadecimal. It detects damage by a disk, and tells scopes apart.
fn hash(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    let hash = hash.finalize();
    let hash = hash.iter().take(HASH / 2);
    hash.map(|byte| format!("{byte:02x}")).collect()
}

/// Number of characters of a hash.
const HASH: usize = 32;

/// Returns the time since 1970.
fn now() -> Duration {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default()
}
