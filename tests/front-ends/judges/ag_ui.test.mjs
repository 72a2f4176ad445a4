// AG-UI's `HttpAgent`, which checks each event, as the judge of its protocol.

import assert from "node:assert/strict";
import { test } from "node:test";
import { address, goOn, newId, require, until } from "./support.mjs";

const { HttpAgent, buildResumeArray } = require("@ag-ui/client");
const { EventSchemas } = require("@ag-ui/core/schemas");

const open = (threadId = newId(), options = {}) => {
  const agent = new HttpAgent({ url: `${address}/ag-ui`, threadId, ...options });
  agent.seen = [];
  agent.subscribe({ onEvent: ({ event }) => void agent.seen.push(event) });
  return agent;
};

let count = 0;
const say = (agent, content) => {
  agent.addMessage({ id: `message-${++count}`, role: "user", content });
  return agent.runAgent();
};

/// Returns the kinds of events without repetitions, after a check of each.
const kinds = (agent) => {
  for (const event of agent.seen) EventSchemas.parse(event);
  return agent.seen.map(({ type }) => type).filter((type, index, all) => type !== all[index - 1]);
};
const plain = (value) => JSON.parse(JSON.stringify(value));
const shown = (agent) => plain(agent.messages).filter(({ role }) => role !== "user" && role !== "reasoning");

/// Checks that a front end that is opened now shows the same.
const isSameAfterReload = async (agent) => {
  const other = open(agent.threadId);
  await other.runAgent();
  assert.deepEqual(kinds(other).slice(0, 2), ["RUN_STARTED", "MESSAGES_SNAPSHOT"]);
  assert.deepEqual(shown(other), shown(agent));
};

test("a text is streamed, with the reasoning before it", async () => {
  const agent = open();
  await say(agent, "hello");
  assert.deepEqual(shown(agent), [{ id: "model-0", role: "assistant", content: "Hello!" }]);
  assert.deepEqual(kinds(agent), ["RUN_STARTED", "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END", "RUN_FINISHED"]);
  await say(agent, "think");
  const { newMessages } = { newMessages: plain(agent.messages).slice(-2) };
  assert.deepEqual(newMessages.map(({ role, content }) => [role, content]), [["reasoning", "Hm, yes."], ["assistant", "Yes."]]);
  kinds(agent);
  await isSameAfterReload(agent);
});

test("a call has arguments in pieces, progress and a result", async () => {
  const agent = open();
  await say(agent, "weather");
  const [call, result, answer] = shown(agent);
  const own = { id: "call-0-0", type: "function", function: { name: "find_weather", arguments: '{"place":"Oslo"}' } };
  assert.deepEqual(call, { id: "model-0", role: "assistant", content: "I look.", toolCalls: [own] });
  const output = '{"degrees":21,"place":"Oslo"}';
  assert.deepEqual(result, { id: "result-call-0-0", role: "tool", toolCallId: "call-0-0", content: output });
  assert.equal(answer.content, `I got: ${output}`);
  assert.equal(agent.seen.filter(({ type }) => type === "TOOL_CALL_ARGS").length, 2);
  const progress = agent.seen.find(({ type }) => type === "CUSTOM");
  assert.deepEqual(plain(progress.value), { toolCallId: "call-0-0", message: "asks the station" });
  kinds(agent);
  await isSameAfterReload(agent);
});

test("a picture of a tool is a part of its result", async () => {
  const agent = open();
  await say(agent, "chart");
  const picture = { type: "image", source: { type: "data", value: "iVBORw==", mimeType: "image/png" } };
  assert.deepEqual(shown(agent)[1].content, [{ type: "text", text: "a chart" }, picture]);
  await isSameAfterReload(agent);
});

test("calls wait as interrupts, and go on when they are answered", async () => {
  const agent = open();
  await say(agent, "pay twice");
  assert.equal(agent.seen.at(-1).outcome.type, "interrupt");
  const [first, second] = agent.pendingInterrupts;
  assert.deepEqual([first.toolCallId, first.message], ["call-0-0", "it costs money"]);
  assert.doesNotMatch(JSON.stringify(agent.messages), /4711/);
  await isSameAfterReload(agent);
  const resume = buildResumeArray(agent.pendingInterrupts, {
    [first.id]: { status: "resolved", payload: { approved: true } },
    [second.id]: { status: "resolved", payload: { approved: false, reason: "too much" } },
  });
  await agent.runAgent({ resume });
  assert.deepEqual(plain(agent.pendingInterrupts), []);
  const [, paid, denied, answer] = shown(agent);
  assert.equal(paid.content, "paid 700 with 4 digits");
  assert.match(denied.content, /too much/);
  assert.match(answer.content, /^I got: /);
  kinds(agent);
  await isSameAfterReload(agent);
});

test("a call that is given up is denied", async () => {
  const agent = open();
  await say(agent, "pay");
  const [{ id }] = agent.pendingInterrupts;
  await agent.runAgent({ resume: buildResumeArray(agent.pendingInterrupts, { [id]: { status: "cancelled" } }) });
  assert.equal(agent.seen.at(-1).outcome.type, "success");
  assert.doesNotMatch(shown(agent)[1].content, /paid/);
});

test("a broken connection is followed", async () => {
  const control = new AbortController();
  const agent = open();
  agent.addMessage({ id: "m", role: "user", content: "slow" });
  const running = agent.runAgent({ abortController: control });
  await until(() => agent.messages.at(-1).content === "One two ");
  control.abort();
  await running.catch(() => {});
  const other = open(agent.threadId);
  const following = [agent.runAgent(), other.runAgent()];
  await until(() => [agent, other].every(({ seen }) => seen.some(({ type }) => type === "MESSAGES_SNAPSHOT")));
  await goOn();
  await Promise.all(following);
  for (const one of [agent, other]) assert.deepEqual(shown(one), [{ id: "model-0", role: "assistant", content: "One two three." }]);
});

test("an error of the model has the sentence for users", async () => {
  const agent = open();
  await say(agent, "break");
  const last = agent.seen.at(-1);
  assert.equal(last.type, "RUN_ERROR");
  assert.doesNotMatch(last.message, /cause for the log/);
  await say(agent, "hello");
  assert.equal(shown(agent).at(-1).content, "Hello!");
});
