// Lists and calls the ten tools of modules and prints their sizes: `node sizes.mjs FILE...`.
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { constants, gzipSync } from "node:zlib";

for (const path of process.argv.slice(2)) {
  const bytes = await readFile(path);
  const module = await WebAssembly.compile(bytes);
  // Nothing is called that would need the host.
  const host = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    (host[from] ??= {})[name] = () => 0;
  }
  const { exports } = await WebAssembly.instantiate(module, host);
  const text = (length) =>
    new TextDecoder().decode(new Uint8Array(exports.memory.buffer, exports.reply(), length));
  const tools = JSON.parse(text(exports.list()));
  const name = (tool) => tool.name ?? tool.function.name;
  for (const tool of tools) {
    const request = new TextEncoder().encode(`${name(tool)}\n{"unknown":1}`);
    const place = exports.reserve(request.length);
    new Uint8Array(exports.memory.buffer, place, request.length).set(request);
    if (exports.call() === 0) throw new Error(`${path}: no result of ${name(tool)}`);
  }
  const packed = gzipSync(bytes, { level: constants.Z_BEST_COMPRESSION }).length;
  const label = basename(path, ".wasm").replace("size_", "");
  console.log(`| ${label} | ${tools.length} | ${bytes.length} | ${packed} |`);
}
