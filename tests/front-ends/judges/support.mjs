// The service, started once for a file of tests.

import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { after } from "node:test";

export const root = new URL("../../../", import.meta.url).pathname;
export const require = createRequire(`${root}target/front-ends/package.json`);

const program = spawn(process.env.TOOL_CORE_FRONT_ENDS, { stdio: ["ignore", "pipe", "inherit"] });
after(() => program.kill());
const lines = createInterface({ input: program.stdout })[Symbol.asyncIterator]();
export const address = (await lines.next()).value;

/// Lets an answer that waits go on.
export const goOn = () => fetch(`${address}/go`, { method: "POST" });

/// Returns once a condition holds.
export const until = async (holds) => {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
};

let count = 0;
export const newId = () => `conversation-${process.pid}-${++count}`;
