//! The conversation: what the user says, what the model answers, and what an operator decides.

use std::error::Error;
use std::io;

use futures_util::StreamExt;
use tool_agent::run::{Run, RunOutcome, RunSettings};
use tool_agent::{Agent, Event};
use tool_core::ToolResult;

use crate::operator::Operator;
use crate::screen::{self, Arriving};

/// Runs the turns of the user, and prints what happens.
pub(crate) async fn converse(
    agent: &Agent,
    settings: RunSettings,
    turns: &[&str],
    operator: &Operator,
) -> Result<(), Box<dyn Error>> {
    let mut arriving = Arriving::default();
    let mut run = Run::builder("desk").settings(settings).build();
    for turn in turns {
        screen::said("user", turn)?;
        run.push(agent.dialect().user_message(turn))?;
        loop {
            match drive(agent, &mut run, &mut arriving).await? {
                RunOutcome::Answered(_) => break,
                // The calls that wait run, or are denied, when the loop goes on.
                RunOutcome::Waiting(held) => operator.decide(agent, &mut run, &held)?,
                RunOutcome::OutOfRounds => {
                    screen::lines(0, &format!("stopped after {} rounds", run.rounds().len()))?;
                    break;
                }
                other => {
                    screen::lines(0, &format!("stopped: {other:?}"))?;
                    break;
                }
            }
        }
    }
    Ok(())
}

/// Asks the model and runs its calls, until there is an answer or a call waits for a person. Shows text while it
/// arrives, and every result.
async fn drive(
    agent: &Agent,
    run: &mut Run,
    arriving: &mut Arriving,
) -> Result<RunOutcome, Box<dyn Error>> {
    let mut events = agent.events(run);
    while let Some(event) = events.next().await {
        match event {
            Ok(Event::Text(text)) => arriving.piece("model", &text)?,
            Ok(Event::Response { .. }) => arriving.end()?,
            Ok(Event::Result(result)) => show(&result)?,
            Ok(Event::Done(outcome)) => return Ok(outcome),
            Ok(_) => {}
            Err(error) => {
                arriving.end()?;
                return Err(error.into());
            }
        }
    }
    Err("the run ended without an outcome".into())
}

fn show(result: &ToolResult) -> io::Result<()> {
    let what = if result.is_error() { "failed" } else { "done" };
    screen::verdict(2, result.name(), what, !result.is_error())?;
    screen::quoted(2, result.content())
}
