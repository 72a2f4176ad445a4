// Loads a module with `WebAssembly.instantiate` and checks what its tools answer:
// `node plain.mjs MODULE.wasm`.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";

const module = await WebAssembly.compile(await readFile(process.argv[2]));
assert.deepEqual(WebAssembly.Module.imports(module), [], "needs nothing of the host");
const { exports } = await WebAssembly.instantiate(module, {});

function ask(request) {
  const text = new TextEncoder().encode(JSON.stringify(request));
  const place = exports.reserve(text.length);
  new Uint8Array(exports.memory.buffer, place, text.length).set(text);
  const length = exports.run();
  const reply = new Uint8Array(exports.memory.buffer, exports.reply(), length);
  return JSON.parse(new TextDecoder().decode(reply));
}
const call = (name, args) => ask({ do: "call", name, arguments: args });

// The linker runs the start-up functions before every call of an export.
for (let round = 0; round < 3; round++) {
  const names = ask({ do: "list" }).tools.map((tool) => tool.name);
  assert.deepEqual(names, ["add", "divide", "length", "repeat", "shout", "wait"]);
}
const { tools } = ask({ do: "list" });
assert.equal(tools[0].description, "Adds two numbers.");
assert.deepEqual(tools[0].parameters, {
  type: "object",
  properties: {
    a: { type: "integer" },
    b: { type: "integer" },
  },
  required: ["a", "b"],
  additionalProperties: false,
});

assert.equal(call("add", { a: 2, b: 3 }).content, "5");
assert.equal(call("length", { coordinates: [3, 4] }).content, "5.0");
assert.equal(call("shout", { text: "hello" }).content, "HELLO");
const rejected = call("repeat", { txt: "a", times: 10 });
assert.equal(rejected.kind, "invalid_arguments");
assert.equal(rejected.violations, 3);
assert.match(rejected.content, /txt: unknown; did you mean "text"\?/);
assert.match(call("repeat", { text: "", times: 1 }).content, /the text is empty/);
assert.equal(call("add", { a: 3e9, b: 0 }).violations, 1);
assert.equal(call("ad", {}).kind, "unknown_tool");

// What would need a thread or a clock is an error, and the module goes on.
const waiting = call("wait", {});
assert.equal(waiting.kind, "unavailable");
assert.match(waiting.detail, /this platform has no threads/);
assert.match(ask({ do: "build" }).error, /set a runtime of this platform/);
assert.match(ask({ do: "ask" }).error, /this platform has no threads/);
assert.match(ask({ do: "lock" }).error, /tools\.lock\.json/);
assert.equal(ask({ do: "trace" }).events, 1);
assert.equal(call("add", { a: 2, b: 3 }).content, "5");

// A panic ends the module.
assert.throws(() => call("divide", { a: 1, b: 0 }), WebAssembly.RuntimeError);
console.log(`plain: ${tools.length} tools`);
