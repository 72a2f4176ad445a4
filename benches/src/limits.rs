//! Wall time of listing tools, beside a copy of the same bytes. callgrind can't compare the two: it counts each byte of a large
//! copy as an instruction, but not of the small ones that a list consists of.

use generate::Contender;

use crate::Result;
use crate::cargo::program;
use crate::figures::{Figures, save, set};
use crate::results::{DIALECTS, OURS};
use crate::times::time;

/// The least figure of so many counts: whatever else the machine does adds to it.
const ROUNDS: usize = 21;

pub fn measure() -> Result<()> {
    let program = program("times", Contender::ToolCore)?;
    let mut figures = Figures::new();
    for form in DIALECTS {
        let [list, copy] = [format!("list {form}"), format!("limit list {form}")];
        let mut least = [f64::INFINITY; 2];
        for _ in 0..ROUNDS {
            for (case, least) in [&list, &copy].into_iter().zip(&mut least) {
                *least = least.min(time(&program, "limits", case)?);
            }
        }
        eprintln!("{list}: {} ns, a copy {} ns", least[0], least[1]);
        set(&mut figures, OURS, &list, least[0]);
        set(&mut figures, OURS, &copy, least[1]);
    }
    save("limits", &figures)
}
