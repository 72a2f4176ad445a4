// The AI SDK's `Chat` and `DefaultChatTransport`, version 6 and 7, as judges of the UI message stream.

import assert from "node:assert/strict";
import { test } from "node:test";
import { address, goOn, newId, require, until } from "./support.mjs";

/// What a library for pages adds to the chat: where it keeps the messages.
class State {
  status = "ready";
  error = undefined;
  constructor(messages) {
    this.messages = messages;
  }
  pushMessage = (message) => (this.messages = [...this.messages, message]);
  popMessage = () => (this.messages = this.messages.slice(0, -1));
  replaceMessage = (index, message) => (this.messages = this.messages.with(index, structuredClone(message)));
  snapshot = (value) => structuredClone(value);
}

/// Returns a part without what is undefined.
const plain = (value) => JSON.parse(JSON.stringify(value));
const lastParts = (chat) => plain(chat.lastMessage.parts);
const toolIn = (chat) => lastParts(chat).findLast((part) => part.toolCallId);
const text = (text) => ({ type: "text", text, state: "done" });
const step = { type: "step-start" };

for (const version of [6, 7]) {
  const ai = require(`ai-${version}`);

  /// Opens a page with the conversation.
  const open = async (id = newId(), options = {}) => {
    const messages = await (await fetch(`${address}/api/chat/${id}`)).json();
    if (messages.length) await ai.validateUIMessages({ messages });
    const seen = { data: [], finished: [] };
    class Chat extends ai.AbstractChat {}
    const chat = new Chat({
      id,
      state: new State(messages),
      transport: new ai.DefaultChatTransport({ api: `${address}/api/chat`, ...options }),
      sendAutomaticallyWhen: ai.lastAssistantMessageIsCompleteWithApprovalResponses,
      onData: (part) => seen.data.push(part),
      onFinish: ({ finishReason }) => seen.finished.push(finishReason),
      onError: () => {},
    });
    return Object.assign(chat, { seen });
  };

  /// Checks that a page that is loaded now shows the same.
  const isSameAfterReload = async (chat, normal = (part) => part) => {
    const { messages } = await open(chat.id);
    const own = chat.messages.map(({ role, parts }) => ({ role, parts: plain(parts).map(normal) }));
    const loaded = messages.map(({ role, parts }) => ({ role, parts: plain(parts).map(normal) }));
    assert.deepEqual(loaded, own.map(({ role, parts }) => ({ role, parts })));
  };

  const named = (name, body) => test(`version ${version}: ${name}`, body);

  named("a text is streamed, and a second one continues the chat", async () => {
    const chat = await open();
    await chat.sendMessage({ text: "hello" });
    assert.equal(chat.error, undefined);
    assert.deepEqual(lastParts(chat), [step, text("Hello!")]);
    assert.equal(chat.lastMessage.id, "turn-1");
    assert.deepEqual(chat.seen.finished, ["stop"]);
    await isSameAfterReload(chat);
    await chat.sendMessage({ text: "hello" });
    assert.deepEqual(chat.messages.map(({ role }) => role), ["user", "assistant", "user", "assistant"]);
    assert.deepEqual(lastParts(chat), [step, text("Hello!")]);
    await isSameAfterReload(chat);
  });

  named("reasoning comes before the text", async () => {
    const chat = await open();
    await chat.sendMessage({ text: "think" });
    const [, reasoning, answer] = lastParts(chat);
    assert.equal(reasoning.type, "reasoning");
    assert.equal(reasoning.text, "Hm, yes.");
    assert.deepEqual(answer, text("Yes."));
  });

  named("the input of a tool grows, and its output is a value", async () => {
    const chat = await open();
    const inputs = [];
    const replace = chat.state.replaceMessage;
    chat.state.replaceMessage = (index, message) => {
      const tool = message.parts.findLast((part) => part.toolCallId);
      if (tool) inputs.push([tool.state, plain(tool.input ?? null)]);
      return replace(index, message);
    };
    await chat.sendMessage({ text: "weather" });
    assert.equal(chat.error, undefined);
    const [first, said, tool, second, answer] = lastParts(chat);
    assert.deepEqual([first, said, second], [step, text("I look."), step]);
    const output = { degrees: 21, place: "Oslo" };
    const expected = { type: "tool-find_weather", toolCallId: "call-0-0", state: "output-available", input: { place: "Oslo" }, output };
    assert.deepEqual(tool, expected);
    assert.deepEqual(answer, text(`I got: ${JSON.stringify(output)}`));
    const streaming = inputs.filter(([state]) => state === "input-streaming").map(([, input]) => input);
    assert.deepEqual(streaming, [null, {}, { place: "Oslo" }]);
    const progress = { toolCallId: "call-0-0", message: "asks the station" };
    const usage = { inputTokens: 164, cachedInputTokens: 128, outputTokens: 34, totalTokens: 198 };
    assert.deepEqual(chat.lastMessage.metadata, { usage });
    assert.deepEqual(chat.seen.data.map(({ type, data }) => [type, data]), [["data-progress", progress]]);
    await isSameAfterReload(chat);
  });

  named("a failed call has its error", async () => {
    const chat = await open();
    await chat.sendMessage({ text: "nowhere" });
    const { state, errorText } = toolIn(chat);
    assert.equal(state, "output-error");
    assert.match(errorText, /there is no such place/);
    await isSameAfterReload(chat);
  });

  named("a picture of a tool is a file", async () => {
    const chat = await open();
    await chat.sendMessage({ text: "chart" });
    const file = lastParts(chat).find(({ type }) => type === "file");
    assert.deepEqual(file, { type: "file", mediaType: "image/png", url: "data:image/png;base64,iVBORw==" });
    assert.equal(toolIn(chat).output, "a chart");
    await isSameAfterReload(chat);
  });

  named("a call waits, is approved and goes on in the same message", async () => {
    const chat = await open();
    await chat.sendMessage({ text: "pay" });
    assert.equal(chat.error, undefined);
    const asked = toolIn(chat);
    assert.equal(asked.state, "approval-requested");
    assert.deepEqual(asked.input, { cents: 700, pin: "[secret]" });
    assert.equal(asked.approval.descriptor.reason, "it costs money");
    if (version > 6) assert.equal(asked.approval.requestReason, "it costs money");
    assert.deepEqual(chat.seen.finished, ["tool-calls"]);
    // A text has to wait for the decision.
    const other = await open(chat.id);
    assert.equal(toolIn(other).approval.id, asked.approval.id);
    await other.sendMessage({ text: "hello" });
    assert.match(String(other.error?.message ?? other.error), /decide on them first/);
    await chat.addToolApprovalResponse({ id: asked.approval.id, approved: true });
    await until(() => chat.seen.finished.length === 2 && chat.status === "ready");
    assert.equal(chat.messages.length, 2);
    const [, tool, , answer] = lastParts(chat);
    assert.deepEqual([tool.state, tool.output], ["output-available", "paid 700 with 4 digits"]);
    assert.deepEqual(answer, text("I got: paid 700 with 4 digits"));
    assert.doesNotMatch(JSON.stringify(chat.messages), /4711/);
    const withoutId = (part) => (part.approval ? { ...part, approval: part.approval.approved } : part);
    await isSameAfterReload(chat, withoutId);
  });

  named("two calls wait, one is denied", async () => {
    const chat = await open();
    await chat.sendMessage({ text: "pay twice" });
    const [first, second] = lastParts(chat).filter((part) => part.toolCallId);
    await chat.addToolApprovalResponse({ id: second.approval.id, approved: false, reason: "too much" });
    assert.deepEqual(chat.seen.finished, ["tool-calls"]);
    await chat.addToolApprovalResponse({ id: first.approval.id, approved: true });
    await until(() => chat.seen.finished.length === 2 && chat.status === "ready");
    assert.equal(chat.error, undefined);
    const tools = lastParts(chat).filter((part) => part.toolCallId);
    assert.deepEqual(tools.map(({ state }) => state), ["output-available", "output-denied"]);
    assert.equal(tools[1].approval.reason, "too much");
    const loaded = await open(chat.id);
    const denied = lastParts(loaded).filter((part) => part.toolCallId)[1];
    assert.equal(denied.approval.approved, false);
    assert.match(denied.approval.reason, /too much/);
  });

  named("a decision that is refused asks again", async () => {
    // Somebody else's name is not the owner's.
    const chat = await open();
    await chat.sendMessage({ text: "pay" });
    const { approval } = toolIn(chat);
    const headers = { "x-user": "ben" };
    const other = await open(chat.id, { headers });
    await other.addToolApprovalResponse({ id: approval.id, approved: true });
    await until(() => other.status === "error");
    assert.match(String(other.error.message), /decide|may not|confirm/);
    assert.equal(toolIn(other).state, "approval-requested");
    // What a page says of its calls counts for nothing.
    const loaded = await open(chat.id);
    assert.equal(toolIn(loaded).state, "approval-requested");
  });

  named("a call that somebody else decided on goes on", async () => {
    const chat = await open();
    await chat.sendMessage({ text: "pay" });
    const { approval } = toolIn(chat);
    const other = await open(chat.id);
    await other.addToolApprovalResponse({ id: approval.id, approved: false, reason: "no" });
    await until(() => other.seen.finished.length === 1 && other.status === "ready");
    // The late decision counts for nothing, and the page gets what happened.
    await chat.addToolApprovalResponse({ id: approval.id, approved: true });
    await until(() => chat.seen.finished.length === 2 && chat.status === "ready");
    assert.equal(toolIn(chat).state, "output-denied");
    assert.match(lastParts(chat).at(-1).text, /I got: .*no/);
  });

  named("a broken connection is resumed", async () => {
    const control = new AbortController();
    const cut = async (url, init) => {
      const response = await fetch(url, { ...init, signal: undefined });
      if (init.method === "GET") return response;
      const { readable, writable } = new TransformStream();
      response.body.pipeTo(writable, { signal: control.signal }).catch(() => {});
      return new Response(readable, { headers: response.headers });
    };
    const chat = await open(undefined, { fetch: cut });
    const sending = chat.sendMessage({ text: "slow" });
    await until(() => chat.lastMessage?.parts.at(-1)?.text === "One two ");
    control.abort(new TypeError("network error"));
    await sending;
    assert.equal(chat.status, "error");
    // Another page, and the same one after its loss.
    const other = await open(chat.id);
    assert.deepEqual(lastParts(other), [step, text("One two ")]);
    const resuming = [chat.resumeStream(), other.resumeStream()];
    await until(() => [chat, other].every((one) => one.status === "streaming"));
    await goOn();
    await Promise.all(resuming);
    for (const one of [chat, other]) {
      assert.equal(one.error, undefined);
      assert.equal(one.messages.length, 2);
      assert.deepEqual(lastParts(one), [step, text("One two three.")]);
      assert.equal(one.status, "ready");
    }
    // Nothing is left to resume.
    await chat.resumeStream();
    assert.equal(chat.status, "ready");
    await isSameAfterReload(chat);
  });

  named("an error of the model has the sentence for users, and another try", async () => {
    const chat = await open();
    await chat.sendMessage({ text: "break" });
    assert.equal(chat.status, "error");
    assert.doesNotMatch(chat.error.message, /cause for the log/);
    assert.ok(chat.error.message.length > 10, chat.error.message);
    const { message } = chat.error;
    await chat.regenerate();
    assert.equal(chat.error.message.slice(0, 20), message.slice(0, 20));
    assert.equal(chat.messages.length, 2);
    // The user asks for something else.
    await chat.sendMessage({ text: "hello" });
    assert.equal(chat.error, undefined);
    assert.deepEqual(lastParts(chat), [step, text("Hello!")]);
  });

  named("a message that this service can't take is refused", async () => {
    const chat = await open();
    await chat.sendMessage({ text: "look", files: [{ type: "file", mediaType: "image/png", url: "data:image/png;base64,iVBORw==" }] });
    assert.match(chat.error.message, /takes text alone/);
  });
}
