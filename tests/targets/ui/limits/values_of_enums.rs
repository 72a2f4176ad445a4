//! More values of enums than one provider takes.

use serde::Deserialize;
use tool_core::{ToolType, tool, tools};

#[derive(Clone, Copy, Deserialize, ToolType)]
enum Letter {
    A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R, S, T, U, V, W, X, Y, Z,
}

type Four<T> = (T, T, T, T);

/// Writes.
#[tool]
fn write(first: Four<Four<Letter>>, then: Four<Four<Letter>>, last: Four<Letter>, more: Four<Letter>) -> usize {
    [first.0.0, then.0.0, last.0, more.0].iter().map(|letter| *letter as usize).sum()
}

fn main() {
    let _ = tools![write];
}
