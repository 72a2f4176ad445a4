//! Wall time of one case, by criterion. Runs are short, because the caller repeats them in turn
//! with
//! the cases of other contenders.

use std::path::Path;
use std::time::Duration;

use criterion::Criterion;
use harness::{Contender, work};

/// `<program> <case> <folder>`: prints the nanoseconds of one call, tool or look-up as the last
/// line.
pub fn main<C: Contender>() {
    let mut arguments = std::env::args().skip(1);
    let case = arguments.next().expect("a case");
    let folder = arguments.next().expect("a folder");
    let folder = Path::new(&folder);
    let mut work = work::<C>(&case);
    Criterion::default()
        .output_directory(folder)
        .without_plots()
        .sample_size(10)
        .nresamples(1000)
        .warm_up_time(Duration::from_millis(30))
        .measurement_time(Duration::from_millis(120))
        .bench_function("case", |bencher| bencher.iter(&mut work.run));
    let path = folder.join("case/new/estimates.json");
    let text = std::fs::read_to_string(path).expect("criterion's estimates");
    let estimates: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let median = estimates["median"]["point_estimate"].as_f64();
    println!("{}", median.expect("a median") / work.of as f64);
}
