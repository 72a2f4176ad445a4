//! Counts how often one model corrects a rejected call in its next response: with a result that names each violation, as the
//! registry writes it, and with a result that names the first alone.

use std::fmt::Write;

use serde_json::{Value, json};
use tool_agent::dialects::server::Server;
use tool_agent::run::{Round, Run, RunSettings};
use tool_agent::testing::ScriptedModel;
use tool_core::dialect::ToolChoice;
use tool_core::{Registry, ToolCall, ToolError, ToolErrorKind};

use crate::ways::{self, Turns};

/// The words of the user, the tool, wrong arguments, and right arguments.
type Correction = (&'static str, &'static str, Value, Value);

fn corrections() -> [Correction; 12] {
    [
        (
            "turn on the lights in the kitchen",
            "HassTurnOn",
            json!({"domain": "lights", "room": "kitchen"}),
            json!({"domain": "light", "area": "kitchen"}),
        ),
        (
            "turn off the fan in the attic",
            "HassTurnOff",
            json!({"domain": "fans", "location": "attic"}),
            json!({"domain": "fan", "area": "attic"}),
        ),
        (
            "set the bedroom to half the brightness",
            "HassLightSet",
            json!({"room": "bedroom", "brightness": "half"}),
            json!({"area": "bedroom", "brightness": 50}),
        ),
        (
            "dim the lamp to a third",
            "HassLightSet",
            json!({"lamp": "lamp", "brightness": 333}),
            json!({"name": "lamp", "brightness": 33}),
        ),
        (
            "blinds in the office halfway",
            "HassSetPosition",
            json!({"area": ["office"], "percent": 50}),
            json!({"area": "office", "position": 50}),
        ),
        (
            "open the curtains by the door to 20 percent",
            "HassSetPosition",
            json!({"name": "curtains by the door", "position": 120, "unit": "percent"}),
            json!({"name": "curtains by the door", "position": 20}),
        ),
        (
            "make it 21 degrees in the study",
            "HassClimateSetTemperature",
            json!({"room": "study", "temperature": "21 degrees"}),
            json!({"area": "study", "temperature": 21}),
        ),
        (
            "how warm is it in the hall upstairs",
            "HassClimateGetTemperature",
            json!({"room": "hall", "level": "upstairs"}),
            json!({"area": "hall", "floor": "upstairs"}),
        ),
        (
            "milk on the shopping list",
            "HassListAddItem",
            json!({"items": ["milk"], "list": "shopping"}),
            json!({"item": "milk", "name": "shopping"}),
        ),
        (
            "a timer of ten minutes",
            "HassStartTimer",
            json!({"minutes": "ten", "duration": 600}),
            json!({"minutes": 10}),
        ),
        (
            "two hours and thirty minutes for the roast",
            "HassStartTimer",
            json!({"hours": "two", "minutes": "thirty", "label": "roast"}),
            json!({"hours": 2, "minutes": 30, "name": "roast"}),
        ),
        (
            "is the window open",
            "HassGetState",
            json!({"device": "window", "state": true}),
            json!({"name": "window", "state": "open"}),
        ),
    ]
}

/// Returns a table of the rates.
pub(crate) fn table(server: &Server, url: &str, model: &str) -> Result<String, String> {
    let mut table = String::from(
        "| way | the result names | accepted | right | tokens |\n|---|---|---|---|---|\n",
    );
    let corrections = corrections();
    let wanted = corrections.iter().map(understood);
    let wanted = wanted.collect::<Result<Vec<_>, _>>()?;
    for way in ways::WAYS {
        for names_all in [true, false] {
            let (mut accepted, mut right, mut tokens) = (0, 0, 0);
            for (correction, wanted) in corrections.iter().zip(&wanted) {
                let run = corrected(way, names_all, server, url, model, correction)?;
                tokens += run.usage().total();
                let next = run.rounds().get(1);
                let results = next.into_iter().flat_map(Round::calls);
                let done: Vec<_> = { results }
                    .filter_map(|(call, result)| Some((call, result?)))
                    .filter(|(_, result)| !result.is_error())
                    .collect();
                accepted += usize::from(!done.is_empty());
                let is_right = |(call, result): &(&ToolCall, &_)| {
                    call.name == correction.1 && slots(result) == *wanted
                };
                right += usize::from(done.len() == 1 && done.iter().all(is_right));
            }
            let named = if names_all {
                "each violation"
            } else {
                "the first"
            };
            let of = corrections.len();
            let _ = writeln!(
                table,
                "| {way} | {named} | {accepted} of {of} | {right} of {of} | {tokens} |"
            );
        }
    }
    Ok(table)
}

/// Asks for one response after the rejected call. The model sees the tool of the call alone, so that it has little to read.
fn corrected(
    way: &str,
    names_all: bool,
    server: &Server,
    url: &str,
    model: &str,
    (says, tool, wrong, _): &Correction,
) -> Result<Run, String> {
    let builder = Registry::builder().linked();
    let builder = if names_all {
        builder
    } else {
        builder.map_errors(first_violation)
    };
    let name = *tool;
    let registry = builder.build().map_err(|error| error.to_string())?;
    let registry = registry.select(move |entry| entry.name == name);
    let model = ways::http(server, url, model).streaming(false);
    // The user waits for this call. Without a choice, the smallest models write sentences.
    let choice = registry.request(server).choice(ToolChoice::tool(name));
    let choice = choice.build().map_err(|error| error.to_string())?;
    let choice = ways::required(way, &choice, model);
    let later = ways::asked(way, &registry, server, choice);
    let first = ScriptedModel::default().call(*tool, wrong.clone());
    let agent = ways::agent(way, registry, server, Turns { first, later });
    let mut settings = RunSettings::default();
    settings.max_rounds = 2;
    let mut run = Run::builder("correction").settings(settings).build();
    run.push(agent.dialect().user_message(says))
        .map_err(|error| error.to_string())?;
    let ended = agent.run_blocking(&mut run);
    // What the model wrote is judged, whether or not the run came to an answer.
    if run.rounds().len() < 2 {
        ended.map_err(|error| format!("{says}: {error}"))?;
    }
    Ok(run)
}

/// Leaves out all violations after the first.
fn first_violation(error: &ToolError) -> Option<String> {
    if error.kind() != ToolErrorKind::InvalidArguments {
        return None;
    }
    let mut seen = 0;
    let lines = error.message().lines().filter(|line| {
        seen += usize::from(line.starts_with("- "));
        seen < 2 || !line.starts_with("- ")
    });
    Some(lines.collect::<Vec<_>>().join("\n"))
}

/// Returns the slots that the tool reads from the right arguments.
fn understood((_, tool, _, right): &Correction) -> Result<Value, String> {
    let registry = Registry::linked().map_err(|error| error.to_string())?;
    let result = registry.call_blocking(ToolCall::new("wanted", *tool, right.clone()));
    if result.is_error() {
        return Err(result.content().to_string());
    }
    Ok(slots(&result))
}

/// Reads the slots that a tool returns.
fn slots(result: &tool_core::ToolResult) -> Value {
    serde_json::from_str(result.content()).unwrap_or_default()
}
