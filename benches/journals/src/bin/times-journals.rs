//! Prints the microseconds of an append: a case and the mean of each of seven rounds on a line, separated by tabs. All cases
//! run in turn.

use std::time::Instant;

/// The appends of a round.
const APPENDS: u32 = 100;

fn main() {
    let folders: Vec<_> = with_journals::CASES
        .iter()
        .map(|_| with_journals::Folder::new())
        .collect();
    let mut cases: Vec<_> = with_journals::CASES
        .iter()
        .zip(&folders)
        .map(|(case, folder)| (case, with_journals::work(case, folder), Vec::new()))
        .collect();
    for _ in 0..7 {
        for (_, work, times) in &mut cases {
            let began = Instant::now();
            for _ in 0..APPENDS {
                (work.run)();
            }
            times.push(began.elapsed().as_secs_f64() * 1e6 / f64::from(APPENDS));
        }
    }
    for (case, _, times) in cases {
        let times: Vec<_> = times.iter().map(|time| format!("{time:.1}")).collect();
        println!("{case}\t{}", times.join("\t"));
    }
}
