//! What was found, and what of it is explained.

use crate::differences::{DIFFERENCES, Difference};

/// What a run of this program found.
#[derive(Default)]
pub(crate) struct Report {
    pub(crate) responses: usize,
    /// Streams, once for each way to read them.
    pub(crate) streams: usize,
    pub(crate) calls: usize,
    /// Requests that were checked.
    pub(crate) requests: usize,
    /// Responses that are errors in both readings.
    pub(crate) errors: usize,
    pub(crate) cases: usize,
    /// How often each difference on purpose was met, in the order of the list.
    explained: Vec<usize>,
    unexplained: usize,
    empty: usize,
}

impl Report {
    /// Prints a fault, unless it is a difference on purpose.
    pub(crate) fn fault(&mut self, place: &str, what: &str) {
        self.explained.resize(DIFFERENCES.len(), 0);
        let known = DIFFERENCES
            .iter()
            .position(|known| known.explains(place, what));
        if let Some(at) = known {
            self.explained[at] += 1;
        } else {
            self.unexplained += 1;
            println!("UNEXPLAINED {place}: {what}");
        }
    }

    /// Prints a turn without anything in it.
    pub(crate) fn empty(&mut self, what: &str) {
        self.empty += 1;
        println!("empty turn: {what}");
    }

    /// Prints the sums. Returns `true` if nothing is left to explain.
    pub(crate) fn sums(&self) -> bool {
        println!(
            "{} responses, {} streams, {} calls, {} errors in both readings, {} empty turns; {} cases; {} requests checked",
            self.responses,
            self.streams,
            self.calls,
            self.errors,
            self.empty,
            self.cases,
            self.requests
        );
        for (Difference { reason, .. }, count) in DIFFERENCES.iter().zip(&self.explained) {
            println!("{count} on purpose: {reason}");
        }
        println!("{} unexplained", self.unexplained);
        self.unexplained == 0
    }
}
