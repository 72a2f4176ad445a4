//! A table of the page.

use std::fmt::Write;

pub struct Grid {
    columns: Vec<String>,
    rows: Vec<(String, Vec<String>)>,
}

impl Grid {
    pub fn new(columns: impl IntoIterator<Item: Into<String>>) -> Grid {
        Grid {
            columns: columns.into_iter().map(Into::into).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row. A cell without a figure stays empty.
    pub fn row(
        &mut self,
        name: impl Into<String>,
        cells: impl IntoIterator<Item = Option<String>>,
    ) {
        let cells = cells.into_iter().map(Option::unwrap_or_default).collect();
        self.rows.push((name.into(), cells));
    }

    /// Writes a heading and the rows and columns that have figures; nothing if none has.
    pub fn section(mut self, heading: &str, note: &str, out: &mut String) {
        self.rows
            .retain(|(_, cells)| cells.iter().any(|cell| !cell.is_empty()));
        if self.rows.is_empty() {
            return;
        }
        let kept: Vec<_> = (0..self.columns.len())
            .filter(|&at| self.rows.iter().any(|(_, cells)| !cells[at].is_empty()))
            .collect();
        write!(out, "\n## {heading}\n\n{note}\n\n| |").unwrap();
        for &at in &kept {
            write!(out, " {} |", self.columns[at]).unwrap();
        }
        write!(out, "\n|---|{}\n", "---:|".repeat(kept.len())).unwrap();
        for (name, cells) in &self.rows {
            write!(out, "| {name} |").unwrap();
            for &at in &kept {
                write!(out, " {} |", cells[at]).unwrap();
            }
            out.push('\n');
        }
    }
}
