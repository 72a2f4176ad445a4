// A Worker around the module, and its test: `node worker.mjs FOLDER`, with what `pack` wrote.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const folder = resolve(process.argv[2]);
const { initSync, tools, call } = await import(pathToFileURL(`${folder}/worker.js`));
// A Worker imports its module compiled.
const module = await WebAssembly.compile(await readFile(`${folder}/worker_bg.wasm`));

globalThis.hostWeather = async (city) => {
  await new Promise((done) => setTimeout(done, 1));
  if (city === "Atlantis") throw new Error("no such city");
  return `sunny in ${city}`;
};

const worker = {
  async fetch(request) {
    initSync({ module });
    if (request.method === "GET") return new Response(tools());
    const { name, arguments: text } = await request.json();
    return new Response(await call(name, text));
  },
};

const url = "https://tools.example/";
const list = await (await worker.fetch(new Request(url))).json();
assert.deepEqual(
  list.map((tool) => tool.name),
  ["add", "echo", "get_weather", "length", "repeat", "shout", "wait"],
);
async function post(name, args) {
  const body = JSON.stringify({ name, arguments: JSON.stringify(args) });
  return (await worker.fetch(new Request(url, { method: "POST", body }))).json();
}
assert.equal((await post("add", { a: 2, b: 3 })).content, "5");
assert.equal((await post("get_weather", { city: "Porto" })).content, "sunny in Porto");
assert.match((await post("get_weather", { city: "Atlantis" })).content, /no such city/);
assert.equal((await post("get_weather", { town: "Porto" })).kind, "invalid_arguments");
assert.equal((await post("echo", { n: 7 })).content, '{"n":7}');
assert.equal((await post("echo", { n: "seven" })).kind, "invalid_arguments");
// Timeouts work with the timers of the host, and calls at the same time do not disturb each other.
const [late, early] = await Promise.all([post("wait", {}), post("shout", { text: "hi" })]);
assert.equal(late.kind, "timed_out");
assert.equal(early.content, "HI");
console.log(`worker: ${list.length} tools`);
