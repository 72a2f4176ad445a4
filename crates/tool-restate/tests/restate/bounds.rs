//! The cost of a conversation: its journal, and its time compared with bare SDK handlers of as many steps.

use std::time::Instant;

use restate_sdk::context::RequestTarget;
use restate_sdk::ingress::ReqwestClient;
use restate_sdk::prelude::*;
use tokio::net::TcpListener;
use tool_agent::run::RunOutcome;
use tool_restate::Message;

use crate::cast::QUICK_ROUNDS;
use crate::world::{SMALL, World};

/// Handlers with the same steps as a conversation, which do nothing.
pub struct Bare;

#[restate_sdk::object(name = "bare")]
impl Bare {
    #[handler]
    async fn send(
        &self,
        ctx: ObjectContext<'_>,
        text: Json<String>,
    ) -> HandlerResult<Json<String>> {
        let Json(text) = text;
        let parts = ctx.get::<u64>("parts").await?.unwrap_or(0);
        let mut parts = parts;
        ctx.run(|| async { Ok(Json(text.clone())) })
            .name("create")
            .await?;
        ctx.set("driver", ctx.invocation_id().to_owned());
        ctx.run(|| async { Ok(Json(text.clone())) })
            .name("push")
            .await?;
        for round in 0..=QUICK_ROUNDS {
            save(&ctx, &mut parts);
            let target = RequestTarget::object("bare", ctx.key(), "respond");
            let asking = ctx.request::<_, Json<String>>(target, Json(parts));
            let Json(response) = asking.call().await?;
            if round == QUICK_ROUNDS {
                break;
            }
            let started = ctx.run(|| async { Ok(Json(response)) }).name("start");
            let Json(call) = started.await?;
            let target = RequestTarget::service("bare-tools", "call");
            let calling = ctx.request::<_, Json<String>>(target, Json(call));
            let Json(result) = calling.call().await?;
            ctx.run(|| async { Ok(Json(result)) })
                .name("finish")
                .await?;
        }
        save(&ctx, &mut parts);
        ctx.clear("driver");
        Ok(Json("done".to_owned()))
    }

    #[handler]
    async fn respond(
        &self,
        ctx: SharedObjectContext<'_>,
        parts: Json<u64>,
    ) -> HandlerResult<Json<String>> {
        let Json(parts) = parts;
        for part in 0..parts {
            ctx.get::<Json<String>>(KEYS[usize::try_from(part).unwrap_or(0)])
                .await?;
        }
        let asking = ctx.run(|| async { Ok(Json("a response".to_owned())) });
        Ok(asking.name("respond").await?)
    }
}

pub struct BareTools;

#[restate_sdk::service(name = "bare-tools")]
impl BareTools {
    #[handler]
    async fn call(&self, ctx: Context<'_>, call: Json<String>) -> HandlerResult<Json<String>> {
        let Json(call) = call;
        ctx.run(|| async { Ok(Json(call.clone())) })
            .name("start")
            .await?;
        Ok(ctx.run(|| async { Ok(Json(call)) }).name("call").await?)
    }
}

/// The keys of the parts of a turn.
const KEYS: [&str; 9] = ["0", "1", "2", "3", "4", "5", "6", "7", "8"];

fn save(ctx: &ObjectContext<'_>, parts: &mut u64) {
    ctx.set(
        KEYS[usize::try_from(*parts).unwrap_or(0)],
        Json("a part of the run".to_owned()),
    );
    *parts += 1;
    ctx.set("parts", *parts);
}

/// Serves the bare handlers.
pub async fn serve(listener: TcpListener) {
    // Sends small pieces at once, like the crate's services.
    let set = socket2::SockRef::from(&listener).set_tcp_nodelay(true);
    set.unwrap();
    let endpoint = Endpoint::builder().bind(Bare).bind(BareTools).build();
    HttpServer::new(endpoint).serve(listener).await;
}

/// Returns the size of a message's journal in bytes, and of the messages in it.
async fn journal(world: &World) -> (usize, usize) {
    let client = world.client();
    let message = Message::new("quick").owner("ann");
    client.send("run-0", message).await.unwrap();
    let run = client.state("run-0").await.unwrap().unwrap();
    let messages = run
        .messages()
        .iter()
        .map(|message| message.to_string().len());
    let messages: usize = messages.sum();
    let entries = world.query("SELECT raw_length FROM sys_journal").await;
    let lengths = entries.iter().map(|entry| entry["raw_length"].as_u64());
    let bytes: u64 = lengths.map(|length| length.expect("a number")).sum();
    let count = entries.len();
    eprintln!("{QUICK_ROUNDS} calls: {count} entries, {bytes} bytes, {messages} of messages");
    // There is only one entry for each command and result of the message and its calls.
    assert!(
        count > 10 * QUICK_ROUNDS && bytes > 1_000,
        "the journal is not there"
    );
    (usize::try_from(bytes).unwrap(), messages)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_journal_of_a_turn_is_small() {
    let Some(world) = World::start("journal", SMALL).await else {
        return;
    };
    let (bytes, messages) = journal(&world).await;
    assert!(bytes <= 20_000 + messages, "{bytes} bytes");
}

/// Measures messages, first one after the other and then all at once. Returns the milliseconds per message of each.
async fn measure<F: Future<Output = ()> + Send + 'static>(
    round: usize,
    send: impl Fn(String) -> F,
) -> [f64; 2] {
    const ALONE: usize = 40;
    const AT_ONCE: usize = 200;
    let milliseconds = |start: Instant, count: usize| {
        start.elapsed().as_secs_f64() * 1e3 / f64::from(u32::try_from(count).unwrap())
    };
    let start = Instant::now();
    for number in 0..ALONE {
        send(format!("alone-{round}-{number}")).await;
    }
    let alone = milliseconds(start, ALONE);
    let start = Instant::now();
    let sent = (0..AT_ONCE).map(|number| tokio::spawn(send(format!("once-{round}-{number}"))));
    for sent in sent.collect::<Vec<_>>() {
        sent.await.unwrap();
    }
    [alone, milliseconds(start, AT_ONCE)]
}

/// Prints the time of a message next to bare handlers, as medians of some rounds, and the size of its journal.
///
/// ```sh
/// cargo test --release --test restate figures -- --ignored --nocapture
/// ```
#[tokio::test(flavor = "multi_thread")]
#[ignore = "measures"]
async fn figures() {
    const ROUNDS: usize = 5;
    let Some(world) = World::start("figures", SMALL).await else {
        return;
    };
    journal(&world).await;
    let _bare = world.start_bare().await;
    let (client, url) = (world.client(), world.nodes[0].ingress_url());
    let ingress = ReqwestClient::connect(url.parse().unwrap()).unwrap();
    let send = |id: String| {
        let client = client.clone();
        async move {
            let message = Message::new("quick").owner("ann");
            let reply = client.send(&id, message).await.unwrap();
            assert_eq!(reply.outcome, RunOutcome::Answered("done: quick".into()));
        }
    };
    let send_bare = |id: String| {
        let ingress = ingress.clone();
        async move {
            let target = RequestTarget::object("bare", id, "send");
            let sent = ingress.request::<_, Json<String>>(target, Json("quick".to_owned()));
            sent.call().await.unwrap().into_body().unwrap();
        }
    };
    let mut rounds = Vec::new();
    for round in 0..ROUNDS {
        rounds.push([measure(round, send_bare).await, measure(round, send).await]);
    }
    let median = |which: usize, load: usize| {
        let mut times: Vec<f64> = rounds.iter().map(|round| round[which][load]).collect();
        times.sort_by(f64::total_cmp);
        times[ROUNDS / 2]
    };
    for (load, name) in ["alone", "200 at once"].iter().enumerate() {
        let (bare, own) = (median(0, load), median(1, load));
        eprintln!(
            "{name}: {own:.2} ms, {bare:.2} ms for bare handlers: {:.2} times",
            own / bare
        );
    }
}
