//! Wall time of listing tools, beside a copy of the same bytes. callgrind can't compare the two: it counts each byte of a large
//! copy as an instruction, but not of the small ones that a list consists of.

use generate::Contender;

use crate::Result;
use crate::cargo::program;
use crate::figures::save;
use crate::results::{DIALECTS, OURS};
use crate::times::{ROUNDS, Times, time};

pub fn measure() -> Result<()> {
    let program = program("times", Contender::ToolCore)?;
    let mut times = Times::new();
    let of_ours = times.entry(OURS.to_owned()).or_default();
    for round in 1..=ROUNDS {
        eprintln!("round {round} of {ROUNDS}");
        for form in DIALECTS {
            for case in [format!("list {form}"), format!("limit list {form}")] {
                let nanoseconds = time(&program, "limits", &case)?;
                of_ours.entry(case).or_default().push(nanoseconds);
            }
        }
    }
    save("limits", &times)
}
