// Runs a WASI program in Node: `node --no-warnings wasi.mjs PROGRAM.wasm [ARGUMENT...]`.
//
// The program gets the environment, the standard streams and the current folder.
import { readFile } from "node:fs/promises";
import { WASI } from "node:wasi";

const [path, ...args] = process.argv.slice(2);
const wasi = new WASI({
  version: "preview1",
  args: [path, ...args],
  env: process.env,
  preopens: { "/": "/", ".": process.cwd() },
  returnOnExit: true,
});
const module = await WebAssembly.compile(await readFile(path));
const instance = await WebAssembly.instantiate(module, wasi.getImportObject());
try {
  process.exitCode = wasi.start(instance);
} catch (error) {
  console.error(error);
  process.exitCode = 134;
}
