//! Repeats one case a given number of times, under callgrind.

use crate::{Contender, cases, work};

/// `<program> <case> <repeats>`, or a query about the contender.
pub fn main<C: Contender>() {
    let mut arguments = std::env::args().skip(1);
    let mut next = |what| arguments.next().expect(what);
    let case = next("a case");
    match &*case {
        "check" => check::<C>(),
        "cases" => {
            for name in work::names::<C>() {
                println!("{name}");
            }
        }
        "mistakes" => println!("{}", mistakes_named::<C>()),
        "print" => {
            let list = C::start().list(&next("a form"));
            print!("{}", String::from_utf8(list).expect("UTF-8"));
        }
        case => work::<C>(case).count(&next("repeats")),
    }
}

/// Counts how many of the three violations of a rejected call the message names.
fn mistakes_named<C: Contender>() -> usize {
    let contender = C::start();
    let mut named = 0;
    contender.call(&contender.find("flat_7"), &cases::refused(), |result| {
        let text = result.expect_err("a refusal");
        let keys = ["city", "days", "wind"];
        named = keys.into_iter().filter(|key| text.contains(key)).count();
    });
    named
}

/// Prints one result for each case. Panics if a call does not end as it should.
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
    for case in C::OWN {
        (C::own(case).run)();
    }
}
