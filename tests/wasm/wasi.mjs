// Runs a WASI program in Node: `node --no-warnings wasi.mjs PROGRAM.wasm [ARGUMENT...]`.
//
// The program gets the environment, the standard streams, the current folder and the repository, from which tests read.
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { WASI } from "node:wasi";

const [path, ...args] = process.argv.slice(2);
const repository = fileURLToPath(new URL("../..", import.meta.url));
const wasi = new WASI({
  version: "preview1",
  args: [path, ...args],
  env: process.env,
  // Not "/": in a program, it is the same name as ".", and hides it or is hidden.
  preopens: { [repository]: repository, ".": process.cwd() },
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
