// A browser, and pages in it that fail a test if they log an error or load anything.

import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { after } from "node:test";

export const root = new URL("../../", import.meta.url).pathname;
const require = createRequire(`${root}target/pages/package.json`);
const { chromium } = require("playwright-core");
const { AxeBuilder } = require("@axe-core/playwright");

const browser = await chromium.launch({
  executablePath: process.env.TOOL_CORE_CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu"],
});
after(() => browser.close());

/// The widths of a phone, a laptop and a large screen.
export const WIDTHS = [390, 1280, 1920];

export const fileOf = (name) => `file://${process.env.TOOL_CORE_PAGES ?? `${root}target/pages/html`}/${name}.html`;

/// Opens an address. `problems` and `requests` grow as the page runs.
export const open = async (address, options = {}) => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  if (!address.startsWith("file:")) await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const page = await context.newPage();
  const seen = { problems: [], requests: [] };
  page.on("console", (message) => message.type() === "error" && seen.problems.push(message.text()));
  page.on("pageerror", (error) => seen.problems.push(String(error)));
  page.on("dialog", (dialog) => {
    seen.problems.push(`a dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("request", (request) => seen.requests.push(request.url()));
  await page.goto(address);
  return Object.assign(page, { seen });
};

export const violations = async (page) => {
  const { violations } = await new AxeBuilder({ page }).analyze();
  return violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map(({ html }) => html.slice(0, 160)).join(" | ")}`);
};

export const picture = (page, name, options = {}) =>
  page.screenshot({ path: `${root}target/pages/pictures/${name}.png`, ...options });

/// The example `desk`.
export const desk = process.env.TOOL_CLI_DESK ?? `${root}target/debug/examples/desk`;

/// Starts the example `desk`, or another program, with its page, and returns the address.
export const serve = async (environment = {}, path = desk) => {
  const program = spawn(path, ["web"], { env: { ...process.env, ...environment }, stdio: ["ignore", "ignore", "pipe"] });
  after(() => program.kill());
  for await (const line of createInterface({ input: program.stderr })) {
    if (line.startsWith("open ")) return line.slice(5);
  }
  throw new Error("the program ended");
};
