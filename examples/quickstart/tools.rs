//! The tools: plain functions over a small timetable.

use serde::{Deserialize, Serialize};
use tool_core::{ToolType, tool};

/// A line of the timetable: number, from, to, departure, arrival, free seats.
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

/// When a journey may start.
#[derive(Deserialize, ToolType)]
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
/// The trains in order of departure; an empty list when none runs.
#[tool(read_only)]
pub(crate) fn find_trains(
    /// Station of departure, in the local spelling, such as `Lisboa`.
    from: &str,
    /// Station of arrival.
    to: &str,
    /// Leave out for any time of the day.
    departure: Option<Departure>,
    /// How many trains at most.
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

/// Class of a seat.
#[derive(Clone, Copy, Deserialize, ToolType)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Class {
    First,
    Second,
}

/// Someone who travels.
#[derive(Deserialize, ToolType)]
pub(crate) struct Passenger {
    /// Name as on the passport.
    name: String,
    class: Class,
    /// Numbers of discount cards.
    #[serde(default)]
    cards: Vec<String>,
}

/// Why a seat could not be reserved.
#[derive(Debug)]
pub(crate) enum SeatError {
    NoSuchTrain(String),
    SoldOut { train: String, free: u16 },
}

impl std::fmt::Display for SeatError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SeatError::NoSuchTrain(train) => write!(f, "no train {train} runs today"),
            SeatError::SoldOut { train, free } => {
                write!(
                    f,
                    "{train} has {free} free seats, fewer than there are passengers"
                )
            }
        }
    }
}

impl std::error::Error for SeatError {}

/// Reserves seats on one train, for all passengers or for none.
#[tool(destructive = false, idempotent = false)]
pub(crate) fn reserve_seats(
    /// Number of the train, as `find_trains` gives it.
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

/// Tells whether a train is on time.
#[tool(read_only, open_world)]
pub(crate) async fn train_status(
    /// Number of the train.
    train: &str,
) -> String {
    // Stands for a request to the railway.
    tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    format!("{train} runs on time")
}

/// Lists the stations that trains serve.
#[tool(read_only)]
pub(crate) fn list_stations() -> Vec<&'static str> {
    let mut stations: Vec<_> = TIMETABLE.iter().flat_map(|run| [run.1, run.2]).collect();
    stations.sort_unstable();
    stations.dedup();
    stations
}
