// The page of a report of `eval`.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { WIDTHS, desk, open, picture, root, violations } from "./support.mjs";

const HOSTILE = "<img src=x onerror=\"document.title='taken'\">\u202e";
const folder = `${root}target/pages/report`;
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });

const calls = (...calls) => ({
  choices: [{ message: { role: "assistant", tool_calls: calls.map(([name, args], at) => ({
    id: `call_${at}`, type: "function", function: { name, arguments: JSON.stringify(args) } })) } }],
  usage: { prompt_tokens: 1200, completion_tokens: 40 },
});
const done = { choices: [{ message: { role: "assistant", content: "OK." } }], usage: { prompt_tokens: 1300, completion_tokens: 5 } };

/// Writes the recordings of a model that is right if it is careful.
const record = (name, isCareful) => writeFileSync(`${folder}/${name}.json`, JSON.stringify([
  { after: "seventh", response: calls(["delete_note", { id: isCareful ? 7 : 8 }]) },
  { after: "Lisbon", response: calls(["get_forecast", { city: "Lisbon", days: isCareful ? 3 : 4, unit: "celsius" }]) },
  { after: "Porto", response: isCareful
    ? calls(["find_trains", { to: "Porto", departure: { not_before: "08:00", not_after: null } }])
    : calls(["find_trains", { to: "Porto" }], ["count", { to: 3 }]) },
  { after: "hello", response: isCareful ? done : calls(["read_note", { id: 1 }]) },
  { after: "Strange", response: calls(["get_forecast", { city: HOSTILE, days: 2 }]) },
  { after: "", response: done },
]));
writeFileSync(`${folder}/tools.eval.toml`, `
repeats = 3
tolerance = 0.1

[prices."large-1.5"]
input = 1.25
output = 10

[[models]]
name = "large-1.5"
provider = "openai-chat"
recording = "large.json"

[[models]]
name = "small"
provider = "openai-chat"
recording = "small.json"

[[cases]]
name = "note"
says = "Delete the seventh note"
calls = [{ tool = "delete_note", arguments = { id = 7 } }]

[[cases]]
name = "forecast"
says = "What is the weather of the next three days in Lisbon? I leave tomorrow, and want to know whether an umbrella is worth its weight."
calls = [{ tool = "get_forecast", arguments = { city = "Lisbon", days = 3, unit = "celsius" } }]

[[cases]]
name = "train to Porto"
says = "To Porto, not before eight"
calls = [{ tool = "find_trains", arguments = { to = "Porto", departure = { not_before = "08:00" } } }]

[[cases]]
name = "greeting"
says = "Say hello"
calls = []

[[cases]]
name = ${JSON.stringify(HOSTILE)}
says = ${JSON.stringify(`Strange ${HOSTILE}`)}
calls = [{ tool = "get_forecast", arguments = { city = "Rome", days = 2 } }]
`);
const evaluate = (...flags) => {
  try {
    execFileSync(desk, ["eval", "--format", "json", "-o", "report.json", "--html", "report.html", ...flags], { cwd: folder, stdio: "pipe" });
    return 0;
  } catch (error) {
    return error.status;
  }
};
record("large", true);
record("small", true);
assert.equal(evaluate("--update"), 0);
record("small", false);
assert.equal(evaluate(), 1);
const address = `file://${folder}/report.html`;

for (const width of WIDTHS) {
  for (const colorScheme of ["light", "dark"]) {
    test(`a report of ${width} pixels fits and is accessible in ${colorScheme}`, async () => {
      const page = await open(address, { viewport: { width, height: 1000 }, colorScheme });
      const failed = page.locator("#case-1-2");
      await page.locator("section:nth-of-type(2) summary", { hasText: "train to Porto" }).click();
      await failed.waitFor();
      assert.deepEqual(await violations(page), []);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= width, `it is ${wide} pixels wide`);
      await picture(page, `report-${width}-${colorScheme}`, { fullPage: true });
      assert.deepEqual(page.seen.problems, []);
      assert.equal(page.seen.requests.length, 1, "it loads something");
      await page.context().close();
    });
  }
}

test("a report compares models, cases and calls", async () => {
  const page = await open(address);
  const table = page.getByRole("region", { name: "Models" });
  assert.match(await table.locator("tbody tr").first().textContent(), /^large-1\.512\/1580 %.*0\.\d{4}$/);
  await page.getByText("The check fails:").waitFor();
  // A link in the table of changes opens its case.
  await page.getByRole("link", { name: "note", exact: true }).last().click();
  await page.waitForURL(/#case-1-0$/);
  const row = page.locator("#case-1-0 tr.differs");
  assert.match(await row.textContent(), /^id78 differs$/);
  await page.locator("summary", { hasText: "train to Porto" }).last().click();
  const train = page.locator("#case-1-2");
  await train.getByText("was rejected").first().waitFor();
  await train.getByText("was not expected").first().waitFor();
  await page.locator("summary", { hasText: "Say hello" }).last().click();
  await page.locator("#case-1-3").getByText("was not expected").last().waitFor();
});

test("the index filters the cases by what became of them, and the search finds them", async () => {
  const page = await open(address);
  const shown = () => page.locator("section > details:visible").count();
  assert.equal(await shown(), 10);
  await page.locator("nav .tags a", { hasText: "worse" }).click();
  assert.equal(await shown(), 4);
  await page.locator("nav .tags a", { hasText: "worse" }).click();
  await page.keyboard.press("/");
  await page.keyboard.type("umbrella");
  assert.equal(await page.locator("#count").textContent(), "2 of 10");
});

test("a report can be read without scripts, and on paper", async () => {
  const page = await open(address, { javaScriptEnabled: false });
  await page.locator("summary", { hasText: "train to Porto" }).last().click();
  await page.locator("#case-1-2").getByText("departure").first().waitFor();
  await page.emulateMedia({ media: "print" });
  await page.locator("#case-0-0").getByText("passed").first().waitFor();
});

test("hostile texts in a report are shown and do not run", async () => {
  const page = await open(address);
  assert.equal(await page.title(), "Evaluation");
  assert.equal(await page.locator("img").count(), 0);
  await page.locator("summary", { hasText: "<img" }).first().click();
  await page.locator("#case-0-4").getByText("[U+202E]").first().waitFor();
  assert.doesNotMatch(await page.locator("body").innerText(), /[\u202a-\u202e]/);
});
