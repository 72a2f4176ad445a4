//! The picture of the fleet, as text of a given width.

use std::collections::VecDeque;
use std::time::Duration;

/// The number of events shown.
const NOTES: usize = 8;

/// A process.
pub struct Machine {
    name: String,
    pub is_up: bool,
    pub kills: usize,
}

impl Machine {
    pub fn new(name: &str) -> Machine {
        Machine {
            name: name.to_owned(),
            is_up: true,
            kills: 0,
        }
    }
}

/// The state to draw.
pub struct Picture {
    pub machines: Vec<Machine>,
    /// The number of answered conversations.
    pub conversations: usize,
    of: usize,
    pub calls: usize,
    pub payments: usize,
    pub time: Duration,
    notes: VecDeque<String>,
}

impl Picture {
    pub fn new(machines: Vec<Machine>, conversations: usize) -> Picture {
        Picture {
            machines,
            conversations: 0,
            of: conversations,
            calls: 0,
            payments: 0,
            time: Duration::ZERO,
            notes: VecDeque::new(),
        }
    }

    /// Adds an event, and drops the oldest.
    pub fn note(&mut self, text: String) {
        if self.notes.len() == NOTES {
            self.notes.pop_front();
        }
        self.notes.push_back(text);
    }

    /// Returns lines of at most this width.
    pub fn draw(&self, width: usize) -> String {
        let mut lines = vec![
            format!("fleet  {:.1} s", self.time.as_secs_f64()),
            String::new(),
        ];
        for machine in &self.machines {
            let state = if machine.is_up {
                "● up  "
            } else {
                "○ down"
            };
            let kills = match machine.kills {
                0 => String::new(),
                1 => "  killed once".to_owned(),
                kills => format!("  killed {kills} times"),
            };
            lines.push(format!("{:<9} {state}{kills}", machine.name));
        }
        let progress = format!(" {} of {}", self.conversations, self.of);
        let room = width.saturating_sub(15 + progress.len()).min(40);
        let full = room * self.conversations / self.of.max(1);
        let bar = "█".repeat(full) + &"░".repeat(room - full);
        lines.push(String::new());
        lines.push(format!("conversations  {bar}{progress}"));
        lines.push(format!("calls          {}", self.calls));
        lines.push(format!("payments       {}", self.payments));
        lines.push(String::new());
        lines.extend(self.notes.iter().cloned());
        let mut text = String::new();
        for line in lines {
            text.extend(line.chars().take(width));
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_fits_its_width_and_shows_everything_at_forty_columns() {
        let mut picture = Picture::new(vec![Machine::new("worker 1")], 1_000);
        picture.conversations = 1_000;
        picture.machines[0].kills = 100;
        for number in 0..20 {
            picture.note(format!("run-{number:03} is answered"));
        }
        for width in [1, 20, 40, 80, 200] {
            let drawn = picture.draw(width);
            assert!(drawn.lines().all(|line| line.chars().count() <= width));
        }
        let drawn = picture.draw(40);
        for part in ["1000 of 1000", "killed 100 times", "run-012", "run-019"] {
            assert!(drawn.contains(part), "{drawn}");
        }
        assert!(!drawn.contains("run-011"), "{drawn}");
    }
}
