//! Asks the user during calls, in both lifecycles.

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rmcp::model::{CallToolResponse, ClientCapabilities, InputRequiredResult};
use serde_json::{Value, json};
use support::{Answer, BOTH, Lifecycle, Running, TestClient, call, connect, in_time, params, text};
use tool_core::call::elicit::{Elicit, ElicitError, Elicited};
use tool_core::hooks::Gate;
use tool_core::{CallContext, Registry, ToolCall, ToolType, tool, tools};
use tool_mcp::Server;
use tool_mcp::server::UserId;

#[derive(ToolType)]
struct Seat {
    /// The row.
    #[param(range = 1..=30)]
    row: u8,
    /// The place in the row.
    letter: Letter,
    /// A wish.
    #[expect(dead_code, reason = "the form may have optional fields")]
    wish: Option<String>,
}

#[derive(Debug, ToolType)]
enum Letter {
    A,
    B,
}

/// Counts runs of tools.
#[derive(Default)]
struct Runs(AtomicUsize);

/// Books a seat.
#[tool]
async fn book(
    flight: String,
    call: &CallContext,
    #[param(context)] runs: &Arc<Runs>,
) -> Result<String, ElicitError> {
    let number: usize = match call.kept("number") {
        Some(number) => number,
        None => {
            let number = runs.0.fetch_add(1, Ordering::SeqCst) + 1;
            call.keep("number", &number);
            number
        }
    };
    let Some(seat) = call
        .elicit("seat", Elicit::<Seat>::form("Which seat?"))
        .await?
        .accepted()
    else {
        return Ok("no seat".into());
    };
    let question = format!("Pay for {}{:?}?", seat.row, seat.letter);
    let paid = call.elicit("pay", Elicit::confirm(question)).await?;
    let page = Elicit::visit("Confirm at", "https://example.com/confirm");
    let page = match call.elicit("page", page).await {
        Ok(Elicited::Accepted(())) => "opened",
        Ok(_) => "closed",
        Err(_) => "not possible",
    };
    Ok(format!(
        "{flight} {}{:?} {paid:?} {page} {number}",
        seat.row, seat.letter
    ))
}

/// Asks two questions at once.
#[tool]
async fn ask_twice(call: &CallContext) -> Result<String, ElicitError> {
    let first = call.elicit("first", Elicit::confirm("First?"));
    let second = call.elicit("second", Elicit::confirm("Second?"));
    let (first, second) = tokio::join!(first, second);
    Ok(format!("{:?} {:?}", first?, second?))
}

/// Calls another tool, which asks.
#[tool]
async fn book_for_friend(call: &CallContext) -> String {
    let mut texts = Vec::new();
    for id in ["ada", "bob"] {
        let arguments = json!({"flight": id});
        texts.push(
            call.call(ToolCall::new(id, "book", arguments))
                .await
                .content()
                .to_owned(),
        );
    }
    texts.join("; ")
}

/// Deletes a note.
#[tool(destructive)]
fn delete_note(id: u32) -> String {
    format!("note {id} is deleted")
}

fn server() -> (Server, Arc<Runs>) {
    let runs = Arc::new(Runs::default());
    let registry = Registry::builder()
        .tools(tools![book, ask_twice, book_for_friend, delete_note])
        .context(runs.clone())
        .before(async |hook| match hook.tool.annotations.destructive {
            Some(true) => Gate::confirm("it deletes something"),
            _ => Gate::Allow,
        })
        .build()
        .unwrap();
    (Server::new(registry), runs)
}

fn accept(answer: Value) -> Answer {
    Answer::Accept(answer)
}

fn seat(row: u32) -> Answer {
    accept(json!({"row": row, "letter": "B"}))
}

#[tokio::test]
async fn a_tool_asks_the_user_in_both_lifecycles() {
    for lifecycle in BOTH {
        let handler = TestClient::answering([seat(7), Answer::Decline]);
        let (server, runs) = server();
        let client = connect(server, lifecycle, handler.clone()).await;
        let result = text(&client, "book", json!({"flight": "TP1"})).await;
        // The client has declared forms alone.
        assert_eq!(result, "TP1 7B Declined not possible 1");
        assert_eq!(handler.questions(), ["Which seat?", "Pay for 7B?"]);
        // What the tool kept was done once, though it ran again after each answer.
        assert_eq!(runs.0.load(Ordering::SeqCst), 1);
    }
}

#[tokio::test]
async fn an_answer_that_does_not_match_is_an_error() {
    for lifecycle in BOTH {
        for (answer, problem) in [
            (accept(json!({"row": 31, "letter": "A"})), "row: "),
            (accept(json!({"row": 3, "letter": "C"})), "letter: "),
            (accept(json!({"letter": "A"})), "row: "),
            (accept(json!([])), "expected an object"),
        ] {
            let handler = TestClient::answering([answer]);
            let client = connect(server().0, lifecycle, handler).await;
            let result = text(&client, "book", json!({"flight": "TP1"})).await;
            assert!(
                result.contains("the user's answer is invalid: ") && result.contains(problem),
                "{result}"
            );
        }
    }
}

#[tokio::test]
async fn several_questions_are_asked_together() {
    let handler = TestClient::answering([accept(json!({})), Answer::Decline]);
    let client = connect(server().0, Lifecycle::Modern, handler).await;
    let response = in_time(client.call_tool_once(params("ask_twice", json!({})))).await;
    let CallToolResponse::InputRequired(required) = response.unwrap() else {
        panic!("no question")
    };
    let requests = required.input_requests.unwrap();
    assert_eq!(requests.keys().collect::<Vec<_>>(), ["first", "second"]);
    for lifecycle in BOTH {
        let handler = TestClient::answering([accept(json!({})), Answer::Decline]);
        let client = connect(server().0, lifecycle, handler).await;
        let result = text(&client, "ask_twice", json!({})).await;
        let expected = ["Accepted(()) Declined", "Declined Accepted(())"];
        assert!(expected.contains(&&*result), "{result}");
    }
}

#[tokio::test]
async fn nested_calls_ask_with_keys_of_their_own() {
    for lifecycle in BOTH {
        let answers = [seat(1), Answer::Decline, seat(2), Answer::Decline];
        let client = connect(server().0, lifecycle, TestClient::answering(answers)).await;
        let result = text(&client, "book_for_friend", json!({})).await;
        assert_eq!(
            result,
            "ada 1B Declined not possible 1; bob 2B Declined not possible 2"
        );
    }
}

#[tokio::test]
async fn a_held_call_asks_whether_to_run_it() {
    for lifecycle in BOTH {
        let handler = TestClient::answering([accept(json!({})), Answer::Decline]);
        let client = connect(server().0, lifecycle, handler.clone()).await;
        let result = text(&client, "delete_note", json!({"id": 7})).await;
        assert_eq!(result, "note 7 is deleted");
        let result = call(&client, "delete_note", json!({"id": 8})).await;
        assert_eq!(result["isError"], true);
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(
            text.ends_with("was not run") || text.contains("the user declined"),
            "{text}"
        );
        assert_eq!(
            handler.questions()[0],
            "Allow delete_note? it deletes something\nArguments: {\"id\":7}"
        );
    }
}

#[tokio::test]
async fn a_client_that_can_not_ask_is_an_error_at_once() {
    for lifecycle in BOTH {
        let handler = TestClient {
            capabilities: ClientCapabilities::default(),
            ..TestClient::default()
        };
        let client = connect(server().0, lifecycle, handler).await;
        let result = call(&client, "book", json!({"flight": "TP1"})).await;
        match lifecycle {
            Lifecycle::Legacy => {
                let text = result["content"][0]["text"].as_str().unwrap();
                assert!(text.ends_with("the client does not ask its user"), "{text}");
            }
            Lifecycle::Modern => {
                assert_eq!(result["error"]["code"], -32021);
                let required = &result["error"]["data"]["requiredCapabilities"];
                assert!(required["elicitation"].is_object());
            }
        }
    }
}

/// Makes a call and returns its question.
async fn question(client: &Running, tool: &'static str, arguments: Value) -> InputRequiredResult {
    let response = client
        .call_tool_once(params(tool, arguments))
        .await
        .unwrap();
    match response {
        CallToolResponse::InputRequired(required) => required,
        other => panic!("{other:?}"),
    }
}

/// Answers a question. Returns the text of the result, or the message of the error.
async fn answer(
    client: &Running,
    tool: &'static str,
    arguments: Value,
    state: &str,
    answers: Value,
) -> String {
    let params = params(tool, arguments)
        .with_request_state(state)
        .with_input_responses(serde_json::from_value(answers).unwrap());
    match client.call_tool_once(params).await {
        Ok(CallToolResponse::Complete(result)) => support::first_text(&result).to_owned(),
        Ok(CallToolResponse::InputRequired(required)) => {
            let keys = required.input_requests.unwrap();
            format!("asked {:?}", keys.keys().collect::<Vec<_>>())
        }
        Ok(other) => panic!("{other:?}"),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn a_state_can_be_neither_forged_nor_swapped_nor_used_twice() {
    const REJECTED: &str = "the requestState is invalid or expired";
    let client = connect(server().0, Lifecycle::Modern, TestClient::default()).await;
    let arguments = json!({"id": 7});
    let required = question(&client, "delete_note", arguments.clone()).await;
    let state = required.request_state.unwrap();
    let key = required.input_requests.unwrap().into_keys().next().unwrap();
    let yes = json!({ key: {"action": "accept", "content": {}} });

    let other = question(&client, "delete_note", json!({"id": 8})).await;
    let other = other.request_state.unwrap();
    let forged = state.replace(&state[8..10], "xy");
    for state in [&*other, &*forged, "", "rs1.a.b"] {
        let text = answer(
            &client,
            "delete_note",
            arguments.clone(),
            state,
            yes.clone(),
        )
        .await;
        assert!(text.contains(REJECTED), "{text}");
    }
    let text = answer(&client, "ask_twice", json!({}), &state, yes.clone()).await;
    assert!(text.contains(REJECTED), "{text}");
    // An answer to what was not asked yet counts for nothing.
    let flight = json!({"flight": "TP1"});
    let required = question(&client, "book", flight.clone()).await;
    let answers = json!({
        "seat": {"action": "accept", "content": {"row": 7, "letter": "A"}},
        "pay": {"action": "accept", "content": {}},
    });
    let state = required.request_state.unwrap();
    let text = answer(&client, "book", flight, &state, answers).await;
    assert_eq!(text, r#"asked ["pay"]"#);
    let required = question(&client, "delete_note", arguments.clone()).await;
    let state = required.request_state.unwrap();
    // Nor does one to another call's question.
    let fresh = question(&client, "delete_note", json!({"id": 9})).await;
    let fresh = fresh.request_state.unwrap();
    let text = answer(
        &client,
        "delete_note",
        json!({"id": 9}),
        &fresh,
        yes.clone(),
    )
    .await;
    assert!(text.starts_with("asked"), "{text}");

    let text = answer(
        &client,
        "delete_note",
        arguments.clone(),
        &state,
        yes.clone(),
    )
    .await;
    assert_eq!(text, "note 7 is deleted");
    let text = answer(&client, "delete_note", arguments, &state, yes).await;
    assert!(text.contains(REJECTED), "{text}");
}

#[tokio::test]
async fn a_state_belongs_to_a_user_and_expires() {
    const REJECTED: &str = "the requestState is invalid or expired";
    let key = vec![7; 32];
    let served = |user: &'static str, lifetime| {
        server()
            .0
            .state_key(key.clone())
            .state_lifetime(lifetime)
            .identity(move |_, call| Ok(call.with(UserId::new(user))))
    };
    let long = Duration::from_secs(60);
    let ada = connect(
        served("ada", long),
        Lifecycle::Modern,
        TestClient::default(),
    )
    .await;
    let again = connect(
        served("ada", long),
        Lifecycle::Modern,
        TestClient::default(),
    )
    .await;
    let bob = connect(
        served("bob", long),
        Lifecycle::Modern,
        TestClient::default(),
    )
    .await;
    let short = served("ada", Duration::from_millis(1));
    let short = connect(short, Lifecycle::Modern, TestClient::default()).await;
    let arguments = json!({"id": 7});

    let required = question(&ada, "delete_note", arguments.clone()).await;
    let state = required.request_state.unwrap();
    let hold = required.input_requests.unwrap().into_keys().next().unwrap();
    let yes = json!({ hold: {"action": "accept", "content": {}} });
    let text = answer(&bob, "delete_note", arguments.clone(), &state, yes.clone()).await;
    assert!(text.contains(REJECTED), "{text}");
    // Another process of the same server has the same key.
    let text = answer(
        &again,
        "delete_note",
        arguments.clone(),
        &state,
        yes.clone(),
    )
    .await;
    assert_eq!(text, "note 7 is deleted");

    let required = question(&short, "delete_note", arguments.clone()).await;
    let state = required.request_state.unwrap();
    tokio::time::sleep(Duration::from_millis(20)).await;
    let text = answer(&short, "delete_note", arguments, &state, yes).await;
    assert!(text.contains(REJECTED), "{text}");
}

/// Returns who decided on its call.
#[tool]
fn who_decided(call: &CallContext) -> String {
    let names: Vec<_> = call.decisions().map(|(_, _, by)| by).collect();
    names.join(", ")
}

fn gated(gate: fn(&str) -> Gate) -> Server {
    let registry = Registry::builder()
        .tools(tools![who_decided])
        .before(move |_| async move { gate("others will see it") })
        .build()
        .unwrap();
    Server::new(registry)
}

#[tokio::test]
async fn a_confirmation_is_recorded_with_the_name_of_the_user() {
    for lifecycle in BOTH {
        let gate = |reason: &str| Gate::confirm(reason);
        let named = gated(gate).identity(|_, call| Ok(call.with(UserId::new("ada"))));
        for (server, name) in [(named, "ada"), (gated(gate), "local")] {
            let handler = TestClient::answering([accept(json!({}))]);
            let client = connect(server, lifecycle, handler.clone()).await;
            assert_eq!(text(&client, "who_decided", json!({})).await, name);
            assert_eq!(handler.questions().len(), 1);
        }
    }
}

#[tokio::test]
async fn whoever_makes_a_call_is_not_asked_about_its_hold() {
    for lifecycle in BOTH {
        let gate = |reason: &str| Gate::hold(reason);
        let named = gated(gate).identity(|_, call| Ok(call.with(UserId::new("ada"))));
        for server in [named, gated(gate)] {
            assert_not_asked(server, lifecycle).await;
        }
    }
}

#[tokio::test]
async fn a_client_without_a_name_confirms_nothing() {
    for lifecycle in BOTH {
        let gate = |reason: &str| Gate::confirm(reason);
        assert_not_asked(gated(gate).identity(|_, call| Ok(call)), lifecycle).await;
    }
}

/// Asserts that a call does not run, though its client would allow it.
async fn assert_not_asked(server: Server, lifecycle: Lifecycle) {
    let handler = TestClient::answering([accept(json!({}))]);
    let client = connect(server, lifecycle, handler.clone()).await;
    let result = call(&client, "who_decided", json!({})).await;
    assert_eq!(result["isError"], true);
    let text = result.to_string();
    assert!(text.contains("needs approval"), "{text}");
    assert!(handler.questions().is_empty());
}

#[tokio::test]
async fn a_question_is_cancelled_with_the_call_that_asked() {
    let handler = TestClient::answering([Answer::Never]);
    let client = connect(server().0, Lifecycle::Legacy, handler.clone()).await;
    let request = rmcp::model::CallToolRequest::new(params("book", json!({"flight": "TP1"})));
    let handle = client
        .send_cancellable_request(
            request.into(),
            rmcp::service::PeerRequestOptions::no_options(),
        )
        .await
        .unwrap();
    in_time(handler.asked.notified()).await;
    handle.cancel(None).await.unwrap();
    in_time(handler.cancelled.notified()).await;
}
