//! Repeats one case a given number of times, to be run under callgrind.
//!
//! Two runs that differ in the number of repeats alone differ in the instructions of the repeats
//! alone, whatever start-up costs.

use std::hint::black_box;

use crate::{Contender, cases};

/// `<program> <case> <repeats>`
pub fn main<C: Contender>() {
    let mut arguments = std::env::args().skip(1);
    let case = arguments.next().expect("a case");
    if case == "check" {
        return check::<C>();
    }
    if case == "print" {
        let list = C::start().list(&arguments.next().expect("a form"));
        return print!("{}", String::from_utf8(list).expect("UTF-8"));
    }
    let repeats: usize = arguments
        .next()
        .and_then(|repeats| repeats.parse().ok())
        .expect("a number of repeats");
    if case == "start" {
        for _ in 0..repeats {
            black_box(C::start());
        }
        return;
    }
    let contender = C::start();
    if let Some(form) = case.strip_prefix("list ") {
        for _ in 0..repeats {
            black_box(contender.list(form));
        }
        return;
    }
    let case = cases::all()
        .into_iter()
        .find(|known| known.name == case)
        .expect("a known case");
    let calls: Vec<_> = case
        .calls
        .iter()
        .map(|(tool, arguments)| (contender.find(tool), arguments))
        .collect();
    for _ in 0..repeats {
        for (tool, arguments) in &calls {
            contender.call(tool, black_box(arguments), |result| {
                black_box(result).ok();
            });
        }
    }
}

/// Shows one answer a case, and fails where a call did not end as it should.
fn check<C: Contender>() {
    let contender = C::start();
    for case in cases::all() {
        let mut shown = false;
        for (tool, arguments) in &case.calls {
            contender.call(&contender.find(tool), arguments, |result| {
                if !shown {
                    println!("{}: {result:?}", case.name);
                    shown = true;
                }
                assert_eq!(result.is_err(), case.is_refused, "{tool}: {result:?}");
            });
        }
    }
    for form in C::FORMS {
        let list = contender.list(form);
        println!("list {form}: {} bytes", list.len());
    }
}
