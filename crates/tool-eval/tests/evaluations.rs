//! Evaluations: comparing calls, running tools, and reading files.

use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};
use tool_agent::dialects::OpenAiChat;
use tool_agent::model::{ModelError, ModelErrorKind};
use tool_agent::testing::ScriptedModel;
use tool_agent::{Agent, Prices};
use tool_core::{Registry, ToolType, tool, tools};
use tool_eval::{
    AttemptReport, Baseline, CallOutcome, Candidate, Case, ChangeKind, Eval, EvalError, EvalFile,
    ExpectedCall, Order, Passes, Recordings, Report,
};

#[derive(Clone, Copy, ToolType)]
#[serde(rename_all = "snake_case")]
enum Mode {
    Warm,
    Cold,
}

static SET: AtomicU32 = AtomicU32::new(0);

/// Sets a light.
#[tool]
fn set_light(
    area: &str,
    brightness: Option<u8>,
    mode: Option<Mode>,
    #[param(default = 5)] seconds: u32,
) -> String {
    SET.fetch_add(1, Ordering::Relaxed);
    let mode = mode.map_or("", |mode| match mode {
        Mode::Warm => "warm",
        Mode::Cold => "cold",
    });
    format!("{area} {brightness:?} {mode} {seconds}")
}

/// Stops everything.
#[tool]
fn stop() -> bool {
    true
}

#[derive(serde::Serialize, ToolType)]
struct Room {
    name: String,
    /// The rooms behind its doors.
    next: Vec<Room>,
}

/// Finds a room.
#[tool]
fn find_room(name: &str) -> Room {
    Room {
        name: name.to_owned(),
        next: Vec::new(),
    }
}

/// Signs in.
#[tool]
fn sign_in(user: &str, #[param(secret)] password: &str) -> usize {
    user.len() + password.len()
}

fn registry() -> Registry {
    let tools = tools![set_light, stop, find_room, sign_in];
    Registry::builder().tools(tools).build().unwrap()
}

/// Returns a response with these calls.
fn calls(calls: &[(&str, Value)]) -> Value {
    let calls = calls.iter().zip(1..).map(|((name, arguments), id)| {
        let arguments = match arguments {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        json!({"id": format!("call_{id}"), "type": "function",
               "function": {"name": name, "arguments": arguments}})
    });
    json!({
        "choices": [{"message": {"role": "assistant", "tool_calls": calls.collect::<Vec<_>>()}}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10},
    })
}

fn says(text: &str) -> Value {
    json!({
        "choices": [{"message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10},
    })
}

fn agent(responses: impl IntoIterator<Item = Value>) -> Agent {
    Agent::new(
        registry(),
        OpenAiChat::default(),
        ScriptedModel::new(responses),
    )
}

/// Runs one case with a model that makes these calls and then answers.
fn tried(case: Case, made: &[(&str, Value)]) -> Report {
    let model = agent([calls(made), says("Done.")]);
    Eval::new([case])
        .run_blocking([Candidate::new("model", model)])
        .unwrap()
}

/// Returns the score and the problems of the only attempt.
fn outcome(report: &Report) -> (f64, Vec<&str>) {
    let attempt = &report.models[0].cases[0].attempts[0];
    let problems = attempt.problems.iter().map(String::as_str).collect();
    (attempt.score, problems)
}

fn lights() -> Case {
    Case::new("lights", "Half the light in the hall")
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

#[test]
fn arguments_are_compared_as_the_tool_decodes_them() {
    let case = lights().call(
        "set_light",
        json!({"area": "hall", "brightness": 50, "mode": "warm"}),
    );
    let made = json!({"area": "hall", "brightness": 50.0, "mode": "WARM", "seconds": 5});
    assert_eq!(outcome(&tried(case, &[("set_light", made)])), (1.0, vec![]));
    // `null` equals an absent value.
    let case = lights().call("set_light", json!({"area": "hall", "seconds": 5.0}));
    let made = json!({"area": "hall", "mode": null, "brightness": null});
    assert_eq!(outcome(&tried(case, &[("set_light", made)])), (1.0, vec![]));
}

#[test]
fn a_call_scores_by_its_parameters() {
    let case = lights().call(
        "set_light",
        json!({"area": "hall", "brightness": 50, "mode": "warm"}),
    );
    let made = json!({"area": "hall", "brightness": 30, "seconds": 9});
    let report = tried(case, &[("set_light", made)]);
    let (score, problems) = outcome(&report);
    assert!(close(score, 0.25), "{score}");
    assert_eq!(
        problems,
        [
            "set_light: brightness is 30, expected 50; mode is missing, expected \"warm\"; seconds is 9, expected 5"
        ]
    );
    let parameters = &report.models[0].parameters;
    assert_eq!(parameters["set_light.area"], Passes::new(1, 1));
    assert_eq!(parameters["set_light.mode"], Passes::new(0, 1));
}

#[test]
fn other_values_may_be_accepted_and_parameters_ignored() {
    let case = || {
        let call = ExpectedCall::new("set_light", json!({"area": "hall", "brightness": 50}))
            .accept("area", "corridor")
            .accept("brightness", 49.0)
            .ignore("seconds");
        lights().expect(call)
    };
    let made = json!({"area": "corridor", "brightness": 49, "seconds": 77});
    assert_eq!(outcome(&tried(case(), &[("set_light", made)])).1, [""; 0]);
    let made = json!({"area": "attic", "brightness": 49});
    let report = tried(case(), &[("set_light", made)]);
    assert_eq!(
        outcome(&report).1,
        ["set_light: area is \"attic\", expected \"hall\""]
    );
}

#[test]
fn an_exact_order_is_these_calls_in_this_order() {
    let case = || {
        lights()
            .call("set_light", json!({"area": "hall"}))
            .call("stop", json!({}))
    };
    let (hall, stop) = (("set_light", json!({"area": "hall"})), ("stop", json!({})));
    assert_eq!(
        outcome(&tried(case(), &[hall.clone(), stop.clone()])).1,
        [""; 0]
    );
    let report = tried(case(), &[stop.clone(), hall.clone()]);
    assert_eq!(outcome(&report), (0.5, vec!["set_light is out of order"]));
    let report = tried(case(), &[hall.clone(), stop.clone(), stop.clone()]);
    let (score, problems) = outcome(&report);
    assert_eq!(problems, ["stop was not expected"]);
    assert!(close(score, 2.0 / 3.0), "{score}");
    let report = tried(case(), &[hall]);
    assert_eq!(outcome(&report), (0.5, vec!["stop is missing"]));
}

#[test]
fn another_tool_is_named_with_the_expected_one() {
    let case = lights().call("stop", json!({}));
    let report = tried(case, &[("set_light", json!({"area": "hall"}))]);
    assert_eq!(outcome(&report), (0.0, vec!["set_light instead of stop"]));
}

#[test]
fn in_order_and_any_order_allow_others_unless_they_are_forbidden() {
    let hall = ("set_light", json!({"area": "hall"}));
    let attic = ("set_light", json!({"area": "attic"}));
    let stop = ("stop", json!({}));
    let case = |order| {
        lights()
            .call("set_light", json!({"area": "hall"}))
            .call("set_light", json!({"area": "attic"}))
            .order(order)
    };
    let passes = |case: Case, made: &[(&str, Value)]| outcome(&tried(case, made)).1.is_empty();
    let mixed = [stop.clone(), hall.clone(), stop.clone(), attic.clone()];
    assert!(passes(case(Order::InOrder), &mixed));
    assert!(!passes(
        case(Order::InOrder),
        &[attic.clone(), hall.clone()]
    ));
    assert!(passes(
        case(Order::AnyOrder),
        &[attic.clone(), stop.clone(), hall.clone()]
    ));
    assert!(!passes(
        case(Order::AnyOrder),
        &[attic.clone(), stop.clone()]
    ));
    let only = case(Order::AnyOrder).others(false);
    assert!(!passes(
        only.clone(),
        &[attic.clone(), stop.clone(), hall.clone()]
    ));
    assert!(passes(only, &[attic, hall]));
}

#[test]
fn any_order_finds_a_pairing_if_there_is_one() {
    // The first expected call accepts both, so the second must get the only call that fits it.
    let case = lights()
        .expect(ExpectedCall::new("set_light", json!({"area": "hall"})).accept("area", "attic"))
        .call("set_light", json!({"area": "hall"}))
        .order(Order::AnyOrder);
    let made = [
        ("set_light", json!({"area": "hall"})),
        ("set_light", json!({"area": "attic"})),
    ];
    assert_eq!(outcome(&tried(case, &made)), (1.0, vec![]));
}

#[test]
fn a_forbidden_tool_fails_the_case_even_if_its_call_is_rejected() {
    let case = lights().forbid("set_light");
    let report = tried(case.clone(), &[("set_light", json!({"area": 1}))]);
    assert_eq!(outcome(&report), (0.0, vec!["set_light is forbidden"]));
    assert_eq!(outcome(&tried(case, &[("stop", json!({}))])), (1.0, vec![]));
}

#[test]
fn no_call_is_what_is_expected_or_a_mistake() {
    let report = tried(lights().no_call(), &[("stop", json!({}))]);
    assert_eq!(outcome(&report), (0.0, vec!["stop was not expected"]));
    let eval = Eval::new([lights().call("stop", json!({}))]);
    let report = eval
        .run_blocking([Candidate::new("model", agent([says("OK.")]))])
        .unwrap();
    assert_eq!(outcome(&report), (0.0, vec!["stop is missing"]));
}

#[test]
fn a_rejected_call_that_is_corrected_is_counted_and_no_mistake() {
    let case = || lights().call("set_light", json!({"area": "hall", "brightness": 50}));
    let wrong = ("set_light", json!({"area": "hall", "brightness": 5000}));
    let right = ("set_light", json!({"area": "hall", "brightness": 50}));
    let model = agent([
        calls(std::slice::from_ref(&wrong)),
        calls(&[right]),
        says("Done."),
    ]);
    let report = Eval::new([case()])
        .run_blocking([Candidate::new("model", model)])
        .unwrap();
    assert_eq!(outcome(&report), (1.0, vec![]));
    assert_eq!(
        (report.models[0].corrected, report.models[0].rejected),
        (1, 0)
    );
    let outcomes: Vec<_> = report.models[0].cases[0].attempts[0]
        .calls
        .iter()
        .map(|call| call.outcome)
        .collect();
    assert_eq!(outcomes, [CallOutcome::Corrected, CallOutcome::Valid]);

    // Half of the correct parameters count.
    let report = tried(case(), &[wrong]);
    let (score, problems) = outcome(&report);
    assert!(close(score, 0.25), "{score}");
    assert!(problems[0].contains("brightness: "), "{problems:?}");
    assert_eq!(
        (report.models[0].corrected, report.models[0].rejected),
        (0, 1)
    );
    // A call in the same response corrects nothing, because the model has not seen the error.
    let both = [
        ("set_light", json!({"area": 1})),
        ("set_light", json!({"area": "hall", "brightness": 50})),
    ];
    assert_eq!(tried(case(), &both).models[0].corrected, 0);
    // A call corrects only one other.
    let wrong = ("set_light", json!({"area": 1}));
    let right = ("set_light", json!({"area": "hall", "brightness": 50}));
    let model = agent([
        calls(&[wrong.clone(), wrong]),
        calls(&[right]),
        says("Done."),
    ]);
    let report = Eval::new([case()])
        .run_blocking([Candidate::new("model", model)])
        .unwrap();
    assert_eq!(
        (report.models[0].corrected, report.models[0].rejected),
        (1, 1)
    );
    // Any call corrects one of an unknown tool.
    let model = agent([
        calls(&[("light", json!({}))]),
        calls(&[("set_light", json!({"area": "hall", "brightness": 50}))]),
        says("Done."),
    ]);
    let report = Eval::new([case()])
        .run_blocking([Candidate::new("model", model)])
        .unwrap();
    assert_eq!((outcome(&report).0, report.models[0].corrected), (1.0, 1));
}

#[test]
fn tools_run_only_if_a_case_says_so() {
    let case = || lights().call("set_light", json!({"area": "hall"}));
    let made = [("set_light", json!({"area": "hall"}))];
    let last_result = |case: Case| {
        let model = ScriptedModel::new([calls(&made), says("Done.")]);
        let agent = Agent::new(registry(), OpenAiChat::default(), model.clone());
        let eval = Eval::new([case]);
        assert!(
            eval.run_blocking([Candidate::new("model", agent)])
                .unwrap()
                .is_passed()
        );
        let request = &model.requests()[1];
        request.messages.last().unwrap()["content"].clone()
    };
    let before = SET.load(Ordering::Relaxed);
    assert_eq!(last_result(case()), "Done.");
    assert_eq!(
        last_result(case().result("set_light", "The hall is lit.")),
        "The hall is lit."
    );
    assert_eq!(SET.load(Ordering::Relaxed), before);
    assert_eq!(last_result(case().run_tools()), "hall None  5");
    assert!(SET.load(Ordering::Relaxed) > before);
}

#[test]
fn checks_by_code_see_the_calls_and_fail_the_attempt() {
    let made = [("set_light", json!({"area": "hall"}))];
    let run = |case: Case| {
        let eval = Eval::new([case]).predicate("hall", |attempt| match &attempt.calls()[0] {
            call if call.arguments()["area"] == "hall" && call.arguments()["seconds"] == 5 => {
                Ok(())
            }
            _ => Err("not in the hall".into()),
        });
        let model = agent([calls(&made), says("Done.")]);
        eval.run_blocking([Candidate::new("model", model)])
    };
    assert!(run(lights().predicate("hall")).unwrap().is_passed());
    let error = run(lights().predicate("attic")).unwrap_err().to_string();
    assert_eq!(
        error,
        "case `lights`: there is no predicate `attic`; register it, or use one of `hall`"
    );
    let report =
        run(lights().check(|attempt| Err(format!("said {:?}", attempt.answer())))).unwrap();
    assert_eq!(outcome(&report), (0.0, vec!["said \"Done.\""]));
    let report = run(lights().check(|_| panic!("oops"))).unwrap();
    assert_eq!(outcome(&report), (0.0, vec!["the check panicked"]));
}

#[test]
fn a_failed_request_fails_the_attempt() {
    let model = ScriptedModel::new([]);
    model.push_error(ModelError::new(ModelErrorKind::Overloaded, "529"));
    let agent = Agent::new(registry(), OpenAiChat::default(), model);
    let report = Eval::new([lights().forbid("stop")])
        .run_blocking([Candidate::new("model", agent)])
        .unwrap();
    let (score, problems) = outcome(&report);
    assert!(
        problems[0].starts_with("the request failed: "),
        "{problems:?}"
    );
    assert!(close(score, 0.0) && !report.is_passed());
}

#[test]
fn tokens_and_costs_are_summed() {
    let case = lights().call("stop", json!({}));
    let model = agent([
        calls(&[("stop", json!({}))]),
        says("Done."),
        calls(&[("stop", json!({}))]),
        says("Done."),
    ]);
    let priced = model.prices(Prices::new(3_000_000, 15_000_000));
    let report = Eval::new([case])
        .repeats(2)
        .run_blocking([Candidate::new("model", priced)])
        .unwrap();
    let model = &report.models[0];
    assert_eq!(model.usage.unwrap().total(), 440);
    assert_eq!(model.micros, Some(4 * (300 + 150)));
    assert!(model.millis.is_some());
    assert_eq!(model.passes, Passes::new(2, 2));
    // Without usage the cost is unknown, not 0.
    let mute = json!({"choices": [{"message": {"role": "assistant", "content": "Hi."}}]});
    let mute = agent([mute]).prices(Prices::new(1, 1));
    let report = Eval::new([lights().no_call()])
        .run_blocking([Candidate::new("model", mute)])
        .unwrap();
    assert_eq!(
        (report.models[0].usage, report.models[0].micros),
        (None, None)
    );
}

#[test]
fn the_interval_is_where_the_rate_is_just_not_rejected() {
    for (passed, attempts) in [(0, 1), (1, 1), (8, 10), (10, 10), (1, 30), (499, 1000)] {
        let passes = Passes::new(passed, attempts);
        let (low, high) = passes.interval();
        let n = f64::from(attempts);
        // By definition, the score test's statistic has its 95 % value there.
        let statistic = |rate: f64| (passes.rate() - rate).powi(2) * n / (rate * (1.0 - rate));
        for bound in [low, high] {
            if bound > 1e-12 && bound < 1.0 - 1e-12 {
                assert!(
                    (statistic(bound) - 3.841_458_820_694_124).abs() < 1e-6,
                    "{passes}"
                );
            }
        }
        assert!(low <= passes.rate() && passes.rate() <= high, "{passes}");
    }
    assert_eq!(Passes::default().interval(), (0.0, 1.0));
}

/// Runs two cases, each answered with one of these calls.
fn two(first: &str, second: &str) -> Report {
    let cases = ["one", "two"].map(|name| Case::new(name, name).call("stop", json!({})));
    let call = |tool: &str| match tool {
        "stop" => calls(&[("stop", json!({}))]),
        _ => says("No."),
    };
    let after = |tool: &str| (tool == "stop").then(|| says("Done."));
    let responses = [
        Some(call(first)),
        after(first),
        Some(call(second)),
        after(second),
    ];
    let model = agent(responses.into_iter().flatten());
    Eval::new(cases)
        .run_blocking([Candidate::new("model", model)])
        .unwrap()
}

#[test]
fn a_case_that_is_worse_than_the_baseline_fails_the_check() {
    let baseline = Baseline::of(&two("stop", "none"));
    // A case that failed before may fail again.
    let mut same = two("stop", "none");
    assert_eq!(same.failures(), ["model: two: 0/1 passed: stop is missing"]);
    baseline.compare(&mut same, 0.0);
    assert_eq!(same.failures(), [""; 0]);
    assert!(
        same.models[0]
            .comparison
            .as_ref()
            .unwrap()
            .changes
            .is_empty()
    );
    // One got better and one worse, and the gain does not hide the loss.
    let mut report = two("none", "stop");
    baseline.compare(&mut report, 0.0);
    assert_eq!(
        report.failures(),
        ["model: one: worse than the baseline, 1/1 passed before, now 0/1: stop is missing"]
    );
    let changes = &report.models[0].comparison.as_ref().unwrap().changes;
    let kinds: Vec<_> = changes
        .iter()
        .map(|change| (&*change.case, change.kind))
        .collect();
    assert_eq!(
        kinds,
        [("one", ChangeKind::Worse), ("two", ChangeKind::Better)]
    );
    // With a tolerance, the same passes.
    baseline.compare(&mut report, 1.0);
    assert_eq!(report.failures(), [""; 0]);
    // A case that is missing in the baseline has to pass.
    let mut report = two("stop", "stop");
    let mut other = serde_json::to_value(&baseline).unwrap();
    other["models"]["model"]["cases"]
        .as_object_mut()
        .unwrap()
        .remove("two");
    let without: Baseline = serde_json::from_value(other).unwrap();
    without.compare(&mut report, 0.0);
    assert!(report.is_passed());
    let mut report = two("stop", "none");
    without.compare(&mut report, 0.0);
    assert_eq!(
        report.failures(),
        ["model: two: not in the baseline, 0/1 passed: stop is missing"]
    );
}

#[test]
fn the_comparison_names_the_tools_that_changed() {
    let baseline = Baseline::of(&two("stop", "stop"));
    let mut changed = serde_json::to_value(&baseline).unwrap();
    changed["models"]["model"]["tools"]["stop"] = json!("0000000000000000");
    let changed: Baseline = serde_json::from_value(changed).unwrap();
    let mut report = two("stop", "none");
    changed.compare(&mut report, 0.0);
    assert_eq!(
        report.models[0].comparison.as_ref().unwrap().changed_tools,
        ["stop"]
    );
    let text = report.to_string();
    assert!(
        text.contains("tools that changed since the baseline: stop"),
        "{text}"
    );
    assert!(
        text.contains("worse than the baseline: two: 0/1, 1/1 before"),
        "{text}"
    );
}

/// Returns a path for a file of a test.
fn path(name: &str) -> std::path::PathBuf {
    std::env::temp_dir().join(format!("tool-agent-eval-{}-{name}", std::process::id()))
}

#[test]
fn a_baseline_is_a_file_that_is_checked_when_it_is_read() {
    let path = path("eval.lock.json");
    assert!(Baseline::read(&path).unwrap().is_none());
    let baseline = Baseline::of(&two("stop", "none"));
    baseline.write(&path).unwrap();
    assert_eq!(Baseline::read(&path).unwrap(), Some(baseline));
    for (text, words) in [
        ("{", "not a baseline; write it again"),
        (r#"{"version":2,"models":{}}"#, "version 2"),
        (r#"{"version":1,"models":{},"more":1}"#, "unknown field"),
        (
            r#"{"version":1,"models":{"m":{"tools":{},"cases":{"a":{"passed":2,"attempts":1}}}}}"#,
            "case `a`: 2/1",
        ),
    ] {
        std::fs::write(&path, text).unwrap();
        let error = Baseline::read(&path).unwrap_err().to_string();
        assert!(
            error.contains(words) && error.contains("eval.lock.json"),
            "{error}"
        );
    }
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn recorded_attempts_are_replayed_as_long_as_the_model_would_see_the_same() {
    let case = || {
        lights()
            .call("set_light", json!({"area": "hall"}))
            .result("set_light", "ok")
    };
    let good = || calls(&[("set_light", json!({"area": "hall"}))]);
    // The error of the first call contains a reference, which differs in a replay. The second attempt fails.
    let wrong = calls(&[("set_light", json!({"area": 1}))]);
    let model = agent([wrong, good(), says("Done."), says("No.")]);
    let eval = Eval::new([case()]).repeats(2);
    let report = eval
        .run_blocking([Candidate::new("model", model).record()])
        .unwrap();
    let path = path("recorded.json");
    report.models[0].recordings().unwrap().write(&path).unwrap();
    let recordings = Recordings::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();

    let replay = |eval: &Eval, registry: Registry| {
        let agent = Agent::new(registry, OpenAiChat::default(), ScriptedModel::new([]));
        let candidate = Candidate::new("model", agent).replay(recordings.clone());
        eval.run_blocking([candidate]).unwrap()
    };
    let again = replay(&eval, registry());
    let passed: Vec<_> = again.models[0].cases[0]
        .attempts
        .iter()
        .map(AttemptReport::is_passed)
        .collect();
    assert_eq!(passed, [true, false]);
    assert_eq!(again.models[0].corrected, 1);
    assert_eq!(
        (again.models[0].millis, again.models[0].usage),
        (None, report.models[0].usage)
    );

    // With other tools, another message, another result or more attempts, the request was not recorded.
    let fewer = Registry::builder()
        .tools(tools![set_light])
        .build()
        .unwrap();
    let reworded = Case::new("lights", "Light the hall").call("set_light", json!({"area": "hall"}));
    for (eval, registry) in [
        (eval.clone(), fewer),
        (Eval::new([reworded]), registry()),
        (Eval::new([case().result("set_light", "fine")]), registry()),
    ] {
        let report = replay(&eval, registry);
        let problem = &report.models[0].cases[0].attempts[0].problems[0];
        assert!(
            problem.contains("the request was not recorded"),
            "{problem}"
        );
        assert!(!report.is_passed());
    }
    let report = replay(&Eval::new([case()]).repeats(3), registry());
    let problem = &report.models[0].cases[0].attempts[2].problems[0];
    assert_eq!(problem, "attempt 3 was not recorded; record it again");
}

#[test]
fn secrets_are_in_no_report() {
    let case = || {
        Case::new("sign in", "Sign me in").call(
            "sign_in",
            json!({"user": "ada", "password": "EXPECTED-SECRET"}),
        )
    };
    let made = [
        ("sign_in", json!({"user": "ada", "password": "MADE-SECRET"})),
        ("sign_in", json!({"user": 1, "password": "OTHER-SECRET"})),
    ];
    let report = tried(case(), &made);
    let (score, problems) = outcome(&report);
    assert!(
        problems[0].contains("password has another secret"),
        "{problems:?}"
    );
    assert!(score < 0.5);
    let text = format!(
        "{report} {report:?} {} {} {:?} {}",
        report.to_markdown(),
        serde_json::to_string(&report).unwrap(),
        report.failures(),
        serde_json::to_string(&Baseline::of(&report)).unwrap(),
    );
    assert!(!text.contains("-SECRET"), "{text}");
    assert!(text.contains("[secret]"), "{text}");
    let wrong =
        Case::new("sign in", "").call("sign_in", json!({"user": 1, "password": "EXPECTED-SECRET"}));
    let error = Eval::new([wrong]).check(&registry()).unwrap_err();
    assert!(!format!("{error} {error:?}").contains("-SECRET"), "{error}");
}

#[test]
fn reports_show_several_models_in_one_table() {
    let eval = Eval::new([
        Case::new("a|b", "Stop *now*").call("stop", json!({})),
        Case::new("quiet", "Hello").no_call(),
    ]);
    let good = agent([calls(&[("stop", json!({}))]), says("Done."), says("Hello.")]);
    let bad = agent([says("No."), says("Hello.")]);
    let models = [Candidate::new("good", good), Candidate::new("bad", bad)];
    let report = eval.run_blocking(models).unwrap();
    let page = report.to_markdown();
    for line in [
        "| good | 2/2 | 100 % | 34-100 % | 1.000 |",
        "| bad | 1/2 | 50 % | 9-91 % | 0.500 |",
        "| a\\|b | 1/1 | 0/1 |",
        "- 0/1 passed: a\\|b: stop is missing",
    ] {
        assert!(page.contains(line), "{line}: {page}");
    }
    let text = report.to_string();
    assert!(
        text.contains("\ngood   2/2     100 %  34-100 %  1.000"),
        "{text}"
    );
    let again: Report = serde_json::from_str(&serde_json::to_string(&report).unwrap()).unwrap();
    assert_eq!(again.to_markdown(), page);
}

/// Returns the error of a file, or of its cases with this test's tools.
fn rejected(text: &str) -> EvalError {
    match EvalFile::parse(text, "tools.eval.toml") {
        Err(error) => error,
        Ok(file) => file.eval.check(&registry()).expect_err(text),
    }
}

#[test]
fn wrong_files_are_rejected_with_the_line_and_the_case() {
    let case = "[[cases]]\nname = \"first\"\nsays = \"x\"\ncalls = []\n\n[[cases]]\nname = \"second\"\nsays = \"y\"\n";
    for (end, line, name, words) in [
        ("calls = 1", 9, Some("second"), "expected a sequence"),
        ("cals = []", 9, Some("second"), "unknown field `cals`"),
        (
            "calls = [{ tool = \"stop\", args = {} }]",
            9,
            Some("second"),
            "unknown field `args`",
        ),
        (
            "calls = [{ arguments = {} }]",
            9,
            Some("second"),
            "missing field `tool`",
        ),
        ("order = \"some\"", 9, Some("second"), "unknown variant"),
        ("calls = [\n", 9, Some("second"), "unclosed array"),
        (
            "calls = []\nothers = true",
            10,
            Some("second"),
            "`others` has no meaning",
        ),
        (
            "max_rounds = 0\ncalls = []",
            9,
            Some("second"),
            "`max_rounds` must be from 1 to 100",
        ),
        ("", 7, Some("second"), "the case expects nothing"),
        (
            "calls = []\n[[cases]]\nname = \"first\"\nsays = \"z\"\ncalls = []",
            11,
            Some("first"),
            "another case",
        ),
        (
            "calls = [{ tool = \"stop\", arguments = { at = 2026-01-01 } }]",
            9,
            Some("second"),
            "JSON has no dates",
        ),
        (
            "calls = [{ tool = \"stop\", arguments = { at = nan } }]",
            9,
            Some("second"),
            "no such number",
        ),
        (
            "calls = []\n[prices.m]\ninput = -1\noutput = 1",
            10,
            None,
            "a price must be",
        ),
        (
            "calls = []\n[prices.m]\ninput = 1",
            10,
            None,
            "missing field `output`",
        ),
        (
            "calls = []\n[[models]]\nname = \"m\"\nprovider = \"open-ai\"",
            12,
            None,
            "there is no provider `open-ai`; use one of `openai-chat`",
        ),
        (
            "calls = []\n[[models]]\nname = \"m\"\nprovider = \"xai\"\nkey = \"k\"",
            13,
            None,
            "unknown field `key`",
        ),
        (
            "calls = []\n[[models]]\nname = \"m\"\nprovider = \"xai\"\n[[models]]\nname = \"m\"\nprovider = \"xai\"",
            14,
            None,
            "another model",
        ),
        // Mistakes that only show with the tools.
        (
            "calls = [\n  { tool = \"stopp\" },\n]",
            10,
            Some("second"),
            "did you mean stop",
        ),
        (
            "calls = [\n  { tool = \"stop\" },\n  { tool = \"set_light\" },\n]",
            11,
            Some("second"),
            "area: missing",
        ),
        (
            "calls = [{ tool = \"stop\", ignore = [\"area\"] }]",
            9,
            Some("second"),
            "no parameter `area`",
        ),
        (
            "calls = [{ tool = \"set_light\", accept = { area = [1] } }]",
            9,
            Some("second"),
            "area: expected a string",
        ),
        (
            "forbidden = [\"stopp\"]",
            7,
            Some("second"),
            "did you mean stop",
        ),
        (
            "calls = []\nresults = { stopp = 1 }",
            7,
            Some("second"),
            "did you mean stop",
        ),
        (
            "predicate = \"p\"",
            7,
            Some("second"),
            "there is no predicate `p`; register it",
        ),
    ] {
        let error = rejected(&format!("{case}{end}"));
        let text = error.to_string();
        assert!(text.contains(words), "{end:?}: {words:?} is not in {text}");
        assert_eq!(
            (error.line(), error.case()),
            (Some(line), name),
            "{end:?}: {text}"
        );
    }
    for (text, line, words) in [
        ("repeats = 0\n[[cases]]", 1, "missing field"),
        ("repeats = 1\nrepeat = 2", 2, "unknown field `repeat`"),
        ("repeats = 1", 1, "the file has no cases"),
        (
            "repeats = 0\n[[cases]]\nname = \"a\"\nsays = \"\"\ncalls = []",
            1,
            "`repeats` must be from 1 to 1000",
        ),
        (
            "tolerance = 2.0\n[[cases]]\nname = \"a\"\nsays = \"\"\ncalls = []",
            1,
            "`tolerance` must be from 0 to 1",
        ),
        (
            "[[cases]]\nname = \" \"\nsays = \"\"\ncalls = []",
            2,
            "the name of the case is empty",
        ),
    ] {
        let error = rejected(text);
        assert!(error.to_string().contains(words), "{text:?}: {error}");
        if words != "missing field" {
            assert_eq!(error.line(), Some(line), "{text:?}: {error}");
        }
    }
    let error = EvalFile::read(path("no.toml")).unwrap_err().to_string();
    assert!(error.contains("no.toml: can't be read"), "{error}");
    #[cfg(unix)]
    {
        let error = EvalFile::read("/dev/null").unwrap_err().to_string();
        assert!(error.contains("not a regular file"), "{error}");
    }
    let error = EvalFile::read(std::env::temp_dir())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("not a regular file") || error.contains("can't be read"),
        "{error}"
    );
}

#[test]
fn a_file_says_all_that_the_builder_does() {
    let text = r#"
        repeats = 2
        concurrency = 3
        tolerance = 0.25
        system = "Be quiet."
        baseline = "base.json"
        results = { stop = true }

        [[models]]
        name = "small"
        model = "qwen3:4b"
        provider = "openai-chat"
        url = "http://localhost:11434/v1"
        key_env = "SMALL_KEY"
        max_tokens = 100
        fields = { temperature = 0.0, options = { top_k = 1 } }
        recording = "recorded/small.json"

        [prices.small]
        input = 1.25
        cached_input = 0.125
        output = 10

        [[cases]]
        name = "lights"
        says = "Light!"
        order = "any_order"
        others = false
        forbidden = ["sign_in"]
        calls = [
          { tool = "set_light", arguments = { area = "hall", seconds = 5 }, accept = { area = ["corridor"] }, ignore = ["mode"] },
        ]
    "#;
    let file = EvalFile::parse(text, "folder/tools.eval.toml").unwrap();
    assert_eq!(file.baseline, std::path::Path::new("folder/base.json"));
    assert!(close(file.tolerance, 0.25));
    let model = &file.models[0];
    assert_eq!((&*model.name, &*model.model), ("small", "qwen3:4b"));
    assert_eq!(
        model.prices,
        Some(Prices::new(1_250_000, 10_000_000).cached_input(125_000))
    );
    assert_eq!(model.system.as_deref(), Some("Be quiet."));
    assert_eq!(
        model.recording.as_deref(),
        Some(std::path::Path::new("folder/recorded/small.json"))
    );
    assert_eq!(model.fields["options"], json!({"top_k": 1}));
    let made = calls(&[("set_light", json!({"area": "corridor", "mode": "cold"}))]);
    let agent = agent([made.clone(), says("Done."), made, says("Done.")]);
    let report = file
        .eval
        .run_blocking([Candidate::new("small", agent)])
        .unwrap();
    assert_eq!(report.failures(), [""; 0]);
    assert_eq!(
        (report.repeats, report.models[0].cases[0].line),
        (2, Some(25))
    );
}

#[test]
fn recordings_of_a_model_fit_its_settings() {
    let file = path("settings.json");
    let text = format!(
        "[[models]]\nname = \"m\"\nprovider = \"openai-chat\"\nrecording = {file:?}\n\
         [[cases]]\nname = \"lights\"\nsays = \"Hi\"\ncalls = []"
    );
    let parsed = EvalFile::parse(&text, "tools.eval.toml").unwrap();
    let recorded = Candidate::new("m", agent([says("Hi.")])).record();
    let report = parsed.eval.run_blocking([recorded]).unwrap();
    parsed.models[0].save(&report.models[0]).unwrap();
    let replayed = parsed.models[0].replayed(registry()).unwrap();
    assert!(parsed.eval.run_blocking([replayed]).unwrap().is_passed());
    let mut other = parsed.models[0].clone();
    other.system = Some("Be loud.".into());
    let error = other.replayed(registry()).unwrap_err().to_string();
    assert!(
        error.contains("the settings of the model `m` have changed"),
        "{error}"
    );
    // Written by hand, with the same answer for each attempt.
    let by_hand = json!([{"after": "Hi", "response": says("Hi.")}]);
    std::fs::write(&file, by_hand.to_string()).unwrap();
    let replayed = parsed.models[0].replayed(registry()).unwrap();
    let eval = parsed.eval.clone().repeats(3);
    assert_eq!(
        eval.run_blocking([replayed]).unwrap().models[0].passes,
        Passes::new(3, 3)
    );
    std::fs::write(&file, r#"{"version":2,"attempts":[]}"#).unwrap();
    let error = Recordings::read(&file).unwrap_err().to_string();
    assert!(error.contains("the recordings have version 2"), "{error}");
    std::fs::write(&file, "[1]").unwrap();
    let error = parsed.models[0]
        .replayed(registry())
        .unwrap_err()
        .to_string();
    assert!(error.contains("has no recordings"), "{error}");
    std::fs::remove_file(&file).unwrap();
}

#[test]
fn cases_and_models_with_the_same_name_are_rejected() {
    let case = || lights().no_call();
    let error = Eval::new([case(), case()]).check(&registry()).unwrap_err();
    assert!(
        error.to_string().contains("another case has this name"),
        "{error}"
    );
    let models = ["m", "m"].map(|name| Candidate::new(name, agent([])));
    let error = Eval::new([case()]).run_blocking(models).unwrap_err();
    assert!(
        error.to_string().contains("two models have the name `m`"),
        "{error}"
    );
    let error = Eval::new([case()]).only(["light"]).unwrap_err();
    assert!(
        error.to_string().contains("there is no case `light`"),
        "{error}"
    );
    let error = Eval::new([lights()]).check(&registry()).unwrap_err();
    assert!(
        error.to_string().contains("the case expects nothing"),
        "{error}"
    );
}

#[test]
fn a_result_is_one_that_the_tool_can_return() {
    let check = |eval: Eval| eval.check(&registry());
    let case = |result: Value| {
        let case = Case::new("room", "Where is Ada?").call("find_room", json!({"name": "Ada"}));
        case.result("find_room", result)
    };
    let room = json!({"name": "Ada", "next": [{"name": "Alan", "next": []}]});
    check(Eval::new([case(room.clone())])).unwrap();
    for (wrong, words) in [
        (json!({"name": "Ada"}), "next: missing"),
        (
            json!({"name": "Ada", "next": [{"name": 1, "next": []}]}),
            "next[0].name: ",
        ),
        (json!("Ada"), "expected an object"),
    ] {
        let error = check(Eval::new([case(wrong)])).unwrap_err().to_string();
        let start = "case `room`: find_room can't return the result; correct it: ";
        assert!(error.starts_with(start) && error.contains(words), "{error}");
    }
    // Results for all cases are checked as well.
    let eval = Eval::new([case(room)]).result("stop", "no");
    let error = check(eval).unwrap_err().to_string();
    assert!(error.contains("stop can't return the result"), "{error}");
}

#[test]
fn a_report_has_expected_calls_beside_those_that_were_made() {
    let case = Case::new("room", "Light Ada")
        .call("set_light", json!({"area": "hall", "brightness": 50}))
        .expect(ExpectedCall::new("find_room", json!({"name": "Ada"})).ignore("name"))
        .call("stop", json!({}));
    let made = [
        ("find_room", json!({"name": 1})),
        ("set_light", json!({"area": "hall", "seconds": 9})),
        ("find_room", json!({"name": "ADA"})),
    ];
    let report = tried(case, &made);
    let case = &report.models[0].cases[0];
    assert_eq!(case.expected, Some(3));
    let attempt = &case.attempts[0];
    let shown = attempt.compared.iter().map(|call| {
        let parameters = call.parameters.iter().map(|parameter| {
            let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".into());
            let (expected, made) = (value(&parameter.expected), value(&parameter.made));
            format!(
                "{} {expected} {made} {}",
                parameter.name, parameter.is_right
            )
        });
        (&*call.tool, call.made, parameters.collect::<Vec<_>>())
    });
    let shown: Vec<_> = shown.collect();
    assert_eq!(shown[0].0, "set_light");
    assert_eq!(attempt.calls[shown[0].1.unwrap()].tool, "set_light");
    assert_eq!(
        shown[0].2,
        [
            "area \"hall\" \"hall\" true",
            "brightness 50 - false",
            "seconds 5 9 false"
        ]
    );
    // An ignored parameter is right.
    assert_eq!(shown[1].2, ["name \"Ada\" \"ADA\" true"]);
    assert_eq!(shown[2], ("stop", None, vec![]));
    let saved = serde_json::to_string(&report).unwrap();
    let again: Report = serde_json::from_str(&saved).unwrap();
    assert_eq!(
        again.models[0].cases[0].attempts[0].compared,
        attempt.compared
    );
}

/// The page shows all words of models, users and authors of cases as plain text.
#[test]
fn a_page_shows_hostile_texts_and_no_secrets() {
    const HOSTILE: &str = "</title></script><img src=x onerror=alert(1)>\u{202e}";
    let case = |name: &str| {
        Case::new(format!("{name}{HOSTILE}"), format!("says{HOSTILE}"))
            .call("set_light", json!({"area": format!("expected{HOSTILE}")}))
            .call(
                "sign_in",
                json!({"user": "ada", "password": "EXPECTED-SECRET"}),
            )
            .call("find_room", json!({"name": "Ada"}))
            .check(|_| Err(format!("problem{HOSTILE}")))
    };
    let made = [
        ("set_light", json!({"area": format!("made{HOSTILE}")})),
        ("sign_in", json!({"user": "ada", "password": "MADE-SECRET"})),
        ("set_light", json!({"area": format!("other{HOSTILE}")})),
        ("find_room", json!({format!("key{HOSTILE}"): HOSTILE})),
        (&format!("tool{HOSTILE}"), json!({HOSTILE: HOSTILE})),
    ];
    let model = agent([calls(&made), says("Done.")]);
    let mut report = Eval::new([case("first")])
        .run_blocking([Candidate::new(format!("model{HOSTILE}"), model)])
        .unwrap();
    let page = report.to_html();
    for shown in [
        "model",
        "first",
        "says",
        "expected",
        "made",
        "problem",
        "other",
        "key",
        "find_room.key",
        "tool",
    ] {
        let shown = format!("{shown}&lt;/title&gt;&lt;/script&gt;&lt;img src=x");
        assert!(page.contains(&shown), "{shown} is not in {page}");
    }
    for hidden in ["<img", "\u{202e}", "EXPECTED-SECRET", "MADE-SECRET"] {
        assert!(!page.contains(hidden), "{hidden} is in {page}");
    }
    // The page has one script of its own, and loads nothing.
    assert_eq!(page.matches("<script").count(), 1);
    assert_eq!(page.matches("</script").count(), 1);
    assert!(page.contains("default-src 'none'") && !page.contains("src=\""));

    // Changes are shown, with a link to the case. Anybody may have written the file of the baseline.
    let baseline = json!({"version": 1, "models": {format!("model{HOSTILE}"): {
        "tools": {format!("old{HOSTILE}"): "0"}, "cases": {}}}});
    let baseline: Baseline = serde_json::from_value(baseline).unwrap();
    baseline.compare(&mut report, 0.0);
    let page = report.to_html();
    assert!(
        page.contains("<a href=\"#case-0-0\">first&lt;/title&gt;"),
        "{page}"
    );
    assert!(page.contains("<td class=\"new\">new</td>"), "{page}");
    assert!(page.contains("<code>old&lt;/title&gt;"), "{page}");
    assert!(!page.contains("<img"), "{page}");
}

#[test]
fn a_page_opens_failures_and_marks_what_differs() {
    let case = || lights().call("set_light", json!({"area": "hall", "brightness": 50}));
    let good = calls(&[("set_light", json!({"area": "hall", "brightness": 50}))]);
    let bad = calls(&[("set_light", json!({"area": "attic", "brightness": 50}))]);
    let responses = [&good, &bad, &good].map(|calls| [calls.clone(), says("Done.")]);
    let model = agent(responses.into_iter().flatten()).prices(Prices::new(1_000_000, 2_000_000));
    let report = Eval::new([case()])
        .repeats(3)
        .run_blocking([Candidate::new("model", model)])
        .unwrap();
    let page = report.to_html();
    for part in [
        "<strong class=\"failed\">The check fails: 1 failure.</strong> Each case was tried 3 times.",
        "<th scope=\"row\">model</th><td>2/3</td><td>67 %</td><td>21-94 %<svg",
        "<details open><summary><h3>lights</h3> <b class=\"failed\">2/3 passed</b>",
        "<h4>Attempts 1, 3 passed</h4>",
        "<h4>Attempt 2 failed</h4>",
        "<tr class=\"differs\"><th scope=\"row\"><code>area</code></th><td><code>\"hall\"</code></td>\
         <td><code>\"attic\"</code> <strong class=\"failed\">differs</strong></td></tr>",
        "There is no baseline to compare with.",
    ] {
        assert!(page.contains(part), "{part} is not in {page}");
    }
    assert_eq!(page.matches("class=\"differs\"").count(), 1);
}
