//! The tools: plain functions on a small timetable.

use serde::Serialize;
use tool_core::{ToolType, tool};

/// A row of the timetable: number, from, to, departure, arrival, free seats.
type Run = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    u16,
);

const TIMETABLE: &[Run] = &[
    ("IC 523", "Lisboa", "Porto", "08:30", "11:20", 41),
    ("AP 125", "Lisboa", "Porto", "10:00", "12:50", 0),
    ("IC 525", "Lisboa", "Porto", "13:30", "16:25", 112),
    ("AP 182", "Porto", "Braga", "13:05", "14:02", 18),
    ("IC 671", "Lisboa", "Évora", "09:02", "10:37", 7),
    ("IC 720", "Coimbra", "Lisboa", "18:11", "20:30", 64),
];

/// A time window.
#[derive(ToolType)]
pub(crate) struct Departure {
    /// Earliest time of day, as `HH:MM`.
    #[serde(default)]
    not_before: Option<String>,
    /// Latest time of day, as `HH:MM`.
    #[serde(default)]
    not_after: Option<String>,
}

/// A train that runs today.
#[derive(Debug, PartialEq, Serialize, ToolType)]
pub(crate) struct Train {
    number: &'static str,
    departs: &'static str,
    arrives: &'static str,
    free_seats: u16,
}

/// Finds trains between two stations today.
///
/// # When to use
/// The user asks how or when to get from one city to another.
///
/// # Returns
/// The trains, sorted by departure; empty if none runs.
#[tool(read_only)]
pub(crate) fn find_trains(
    /// Departure station in its local spelling, such as `Lisboa`.
    from: &str,
    /// Arrival station, such as `Porto`.
    to: &str,
    /// Omit for any time of day.
    departure: Option<Departure>,
    /// Maximum number of trains.
    #[param(default = 3)]
    limit: u8,
) -> Vec<Train> {
    let departure = departure.as_ref();
    let not_before = departure.and_then(|window| window.not_before.as_deref());
    let not_after = departure.and_then(|window| window.not_after.as_deref());
    TIMETABLE
        .iter()
        .filter(|run| run.1 == from && run.2 == to)
        .filter(|run| not_before.is_none_or(|time| run.3 >= time))
        .filter(|run| not_after.is_none_or(|time| run.3 <= time))
        .take(limit.into())
        .map(|&(number, _, _, departs, arrives, free_seats)| Train {
            number,
            departs,
            arrives,
            free_seats,
        })
        .collect()
}

/// Seat class.
#[derive(Clone, Copy, ToolType)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Class {
    First,
    Second,
}

/// A passenger.
#[derive(ToolType)]
pub(crate) struct Passenger {
    /// Name as in the passport.
    name: String,
    class: Class,
    /// Numbers of discount cards.
    #[serde(default)]
    cards: Vec<String>,
}

/// The reasons why seats can't be reserved.
#[derive(Debug)]
pub(crate) enum SeatError {
    NoSuchTrain(String),
    SoldOut { train: String, free: u16 },
}

impl std::fmt::Display for SeatError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SeatError::NoSuchTrain(train) => write!(f, "no train {train} runs today"),
            SeatError::SoldOut { train, free } => write!(f, "{train} has {free} free seats"),
        }
    }
}

impl std::error::Error for SeatError {}

/// Reserves seats on a train for all passengers.
///
/// If it has too few seats, none is reserved.
#[tool(destructive = false, idempotent = false)]
pub(crate) fn reserve_seats(
    /// Train number from `find_trains`, such as `IC 523`.
    train: &str,
    passengers: &[Passenger],
) -> Result<String, SeatError> {
    let run = TIMETABLE.iter().find(|run| run.0 == train);
    let free = run.ok_or_else(|| SeatError::NoSuchTrain(train.into()))?.5;
    if usize::from(free) < passengers.len() {
        return Err(SeatError::SoldOut {
            train: train.into(),
            free,
        });
    }
    let seat = |(at, passenger): (usize, &Passenger)| {
        let coach = match passenger.class {
            Class::First => 1,
            Class::Second => 21,
        };
        let discount = if passenger.cards.is_empty() {
            ""
        } else {
            ", reduced fare"
        };
        format!(
            "{}: coach {coach}, seat {}{discount}",
            passenger.name,
            at + 11
        )
    };
    let seats: Vec<_> = passengers.iter().enumerate().map(seat).collect();
    Ok(seats.join("\n"))
}

/// Checks if a train is on time.
#[tool(read_only, open_world)]
pub(crate) async fn train_status(
    /// Train number, such as `IC 523`.
    train: &str,
) -> String {
    // In place of a request to the railway.
    tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    format!("{train} runs on time")
}

/// Lists all stations.
#[tool(read_only)]
pub(crate) fn list_stations() -> Vec<&'static str> {
    let mut stations: Vec<_> = TIMETABLE.iter().flat_map(|run| [run.1, run.2]).collect();
    stations.sort_unstable();
    stations.dedup();
    stations
}
