//! A case as repeatable work, to be counted or timed.

use std::hint::black_box;

use crate::{Contender, OF_EACH, SHAPES, cases};

/// One case, ready to be repeated.
pub struct Work {
    /// Runs one repeat.
    pub run: Box<dyn FnMut()>,
    /// Calls, tools, look-ups or events in a repeat, by which figures are divided.
    pub of: usize,
}

impl Work {
    pub fn new(of: usize, run: impl FnMut() + 'static) -> Work {
        Work {
            run: Box::new(run),
            of,
        }
    }

    /// Runs the repeats. callgrind collects this function alone, and finds it by its name.
    #[inline(never)]
    fn repeat_counted(&mut self, repeats: usize) {
        for _ in 0..repeats {
            (self.run)();
        }
    }

    /// Repeats the case after a first time, which has all work on first use. callgrind collects these repeats alone, and
    /// what this prints divides the instructions of one of them.
    pub fn count(mut self, repeats: &str) {
        let repeats = repeats.parse().expect("a number of repeats");
        (self.run)();
        self.repeat_counted(repeats);
        println!("{}", self.of);
    }
}

/// Returns the names of all cases of a contender.
pub fn names<C: Contender>() -> Vec<String> {
    let calls = cases::all().into_iter().map(|case| case.name.to_owned());
    let lists = C::FORMS.iter().flat_map(|form| {
        let shapes = SHAPES
            .iter()
            .map(move |shape| format!("list {form} {shape}"));
        std::iter::once(format!("list {form}")).chain(shapes)
    });
    let start = (!C::FORMS.is_empty()).then(|| "start".to_owned());
    let own = C::OWN.iter().map(|&case| case.to_owned());
    calls.chain(lists).chain(start).chain(own).collect()
}

/// Returns the case with this name.
pub fn work<C: Contender>(name: &str) -> Work {
    if name == "start" {
        return Work::new(1, || {
            black_box(C::start());
        });
    }
    if let Some(form) = name.strip_prefix("list ") {
        let mut contender = C::start();
        let (form, kept) = form.split_once(' ').unwrap_or((form, ""));
        let form = form.to_owned();
        if !kept.is_empty() {
            contender.forget("get_forecast");
            for shape in SHAPES.into_iter().filter(|&shape| shape != kept) {
                for index in 0..OF_EACH {
                    contender.forget(&format!("{shape}_{index}"));
                }
            }
        }
        return Work::new(1, move || {
            black_box(contender.list(&form));
        });
    }
    let Some(case) = cases::all().into_iter().find(|case| case.name == name) else {
        return C::own(name);
    };
    let contender = C::start();
    let calls: Vec<_> = case
        .calls
        .into_iter()
        .map(|(tool, arguments)| (contender.find(tool), arguments))
        .collect();
    Work::new(calls.len(), move || {
        for (tool, arguments) in &calls {
            contender.call(tool, black_box(arguments), |result| {
                black_box(result).ok();
            });
        }
    })
}
