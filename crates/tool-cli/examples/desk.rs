//! The tools of a desk as a command line.
//!
//! ```text
//! cargo run -p tool-cli --example desk -- list
//! cargo run -p tool-cli --example desk -- call get-forecast --city Lisbon --days 3
//! ```

use std::process::ExitCode;
use std::time::Duration;

use serde::Serialize;
use tool_cli::Cli;
use tool_core::call::Progress;
use tool_core::call::elicit::{Elicit, ElicitError, Elicited};
use tool_core::content::Image;
use tool_core::hooks::Gate;
use tool_core::{CallContext, Registry, ToolType, tool};

/// The unit of a temperature.
#[derive(Clone, Copy, Default, ToolType)]
#[serde(rename_all = "snake_case")]
enum Unit {
    #[default]
    Celsius,
    Fahrenheit,
}

/// When to leave.
#[derive(ToolType)]
struct Departure {
    /// The earliest time, such as `08:00`.
    not_before: String,
    /// The latest time.
    not_after: Option<String>,
}

/// The weather of the next days. It is made up.
///
/// # Arguments
/// * `city` - The city, such as `Lisbon`.
/// * `days` - How many days.
/// * `unit` - The unit of the temperatures.
#[tool(read_only, tags = ["weather"], example = r#"{"city": "Lisbon", "days": 3}"#)]
fn get_forecast(
    city: &str,
    #[param(range = 1..=14)] days: u8,
    #[param(default)] unit: Unit,
) -> String {
    let (degrees, sign) = match unit {
        Unit::Celsius => (21, 'C'),
        Unit::Fahrenheit => (70, 'F'),
    };
    format!("{city}: {days} days of {degrees} °{sign}")
}

#[derive(Serialize, ToolType)]
struct Train {
    number: u32,
    leaves: String,
    platform: Option<String>,
}

/// Finds trains.
///
/// # Arguments
/// * `to` - Where to go.
/// * `departure` - When to leave.
/// * `delay` - Minutes by which all trains are late. May be negative.
/// * `classes` - The classes of seats.
#[tool(read_only)]
fn find_trains(
    to: &str,
    departure: Departure,
    delay: Option<i32>,
    #[param(default)] classes: Vec<u8>,
) -> Vec<Train> {
    let number = 100 + u32::try_from(classes.len()).unwrap_or_default();
    let Departure {
        not_before,
        not_after,
    } = departure;
    let late = delay.map(|minutes| format!("{to}, {minutes} min"));
    let first = Train {
        number,
        leaves: not_before,
        platform: late,
    };
    let last = not_after.map(|leaves| Train {
        number: 200,
        leaves,
        platform: None,
    });
    std::iter::once(first).chain(last).collect()
}

/// Deletes a note.
#[tool(destructive)]
fn delete_note(id: i64) -> String {
    format!("note {id} is deleted")
}

/// Reads a note.
#[tool(read_only)]
fn read_note(id: i64, #[param(context)] notes: &Notes) -> Result<String, String> {
    let index = usize::try_from(id).ok();
    let note = index.and_then(|index| notes.0.get(index));
    note.cloned()
        .ok_or_else(|| format!("there is no note {id}"))
}

/// Where a note is kept.
#[derive(ToolType)]
enum Place {
    /// In a folder.
    Folder {
        /// Its name.
        #[param(length = 1..=40)]
        name: String,
    },
    /// On a wall.
    Wall {
        /// The height in centimetres.
        #[param(range = 0..=300)]
        height: u16,
    },
}

/// Moves a note.
#[tool]
fn move_note(id: i64, place: Place) -> String {
    match place {
        Place::Folder { name } => format!("note {id} is in {name}"),
        Place::Wall { height } => format!("note {id} hangs at {height} cm"),
    }
}

/// Draws a chart.
#[tool]
fn draw_chart() -> Image {
    Image::png(b"\x89PNG".as_slice())
}

/// Counts slowly.
#[tool]
async fn count(to: u32, call: &CallContext) -> u32 {
    for done in 0..to {
        call.report(&Progress::of(f64::from(done), f64::from(to)));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    to
}

/// A seat.
#[derive(ToolType)]
struct Seat {
    /// The row.
    #[param(range = 1..=30)]
    row: u8,
    /// Whether it is at the window.
    window: bool,
}

/// Reserves a seat. Asks the user which one.
#[tool]
async fn reserve_seat(call: &CallContext) -> Result<String, ElicitError> {
    let question = Elicit::<Seat>::form("Where do you want to sit?");
    Ok(match call.elicit("seat", question).await? {
        Elicited::Accepted(Seat { row, window: true }) => format!("row {row}, at the window"),
        Elicited::Accepted(Seat { row, .. }) => format!("row {row}, at the aisle"),
        Elicited::Declined => "any seat".into(),
        Elicited::Dismissed => "no seat".into(),
    })
}

struct Notes(Vec<String>);

fn tools() -> tool_core::RegistryBuilder {
    Registry::builder()
        .linked()
        .before(async |hook| match hook.tool.annotations.destructive {
            Some(true) => Gate::hold("it deletes something"),
            _ => Gate::Allow,
        })
}

fn main() -> ExitCode {
    Cli::new(tools)
        .name("desk")
        .version("1.0.0")
        .try_context(|| {
            let notes = std::env::var("NOTES").unwrap_or("Water the plants.\nCall Ada.".into());
            let notes: Vec<_> = notes.lines().map(str::to_owned).collect();
            if notes.is_empty() {
                return Err("`NOTES` has no notes");
            }
            Ok(Notes(notes))
        })
        .run()
}
