// The page of `web`, which calls tools.

import assert from "node:assert/strict";
import { test } from "node:test";
import { WIDTHS, open, picture, serve, violations } from "./support.mjs";

const HOSTILE = "<img src=x onerror=\"document.title='taken'\"><script>document.title='taken'</script>";
const address = await serve({ NOTES: `Water the plants.\n${HOSTILE}` });

const tool = async (page, name) => {
  await page.locator(`nav a[href="#tool-${name}"]`).evaluate((link) => link.click());
  const form = page.locator(`#tool-${name} form`);
  await form.waitFor();
  return form;
};
const quiet = (page) => {
  assert.deepEqual(page.seen.problems, []);
  const origin = new URL(address).origin;
  assert.deepEqual(page.seen.requests.filter((url) => !url.startsWith(origin) && !url.startsWith("data:")), []);
};

for (const width of WIDTHS) {
  test(`the form is accessible and fits ${width} pixels`, async () => {
    for (const colorScheme of ["light", "dark"]) {
      const page = await open(address, { viewport: { width, height: 1000 }, colorScheme });
      const form = await tool(page, "find_trains");
      await form.getByRole("button", { name: "Call", exact: true }).click();
      await form.locator(".json").waitFor();
      assert.deepEqual(await violations(page), []);
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width);
      await picture(page, `live-${width}-${colorScheme}`);
      quiet(page);
      await page.context().close();
    }
  });
}

test("the form stands beside the parameters, at most a screen below the name", async () => {
  for (const width of WIDTHS) {
    const page = await open(address, { viewport: { width, height: 900 } });
    const names = await page.locator("nav ul:not(.tags) a[href^='#tool-']").evaluateAll((links) => links.map(({ hash }) => hash.slice(6)));
    assert.ok(names.length > 5);
    for (const name of names) {
      await tool(page, name);
      const [heading, words, form] = await page.locator(`#tool-${name}`).evaluate((entry) =>
        [entry.parentElement.querySelector("summary"), entry.firstElementChild, entry.querySelector("form")]
          .map((element) => element.getBoundingClientRect().toJSON()));
      assert.ok(form.top - heading.top < 900, `${name} at ${width}: ${form.top - heading.top}`);
      if (width < 1000) assert.ok(form.top >= words.bottom, `${name} at ${width}`);
      else assert.ok(form.top < words.top + 20 && form.left >= words.right && form.width >= 380, `${name} at ${width}`);
    }
    await page.context().close();
  }
});

test("a large result keeps targets of 24 pixels, and descriptions have their code", async () => {
  const page = await open(address);
  const rows = JSON.stringify(Array.from({ length: 5000 }, (_, number) => ({ number, place: { row: 1 } })));
  const result = { milliseconds: 1, parts: [], content: "rows", structured: rows };
  await page.route("**/call", (route) => route.fulfill({ body: `${JSON.stringify({ result })}\n` }));
  const form = await tool(page, "get_forecast");
  assert.equal(await form.locator(".hint code").first().textContent(), "Lisbon");
  await form.getByRole("button", { name: "Call", exact: true }).click();
  await form.getByText("and 4000 more").waitFor();
  const heights = await form.locator(".json summary").evaluateAll((all) => all.map((one) => one.getBoundingClientRect().height));
  assert.ok(heights.length > 1000 && Math.min(...heights) >= 24, `${Math.min(...heights)}`);
  assert.deepEqual(await violations(page), []);
  quiet(page);
});

test("each violation stands at its field while one types", async () => {
  const page = await open(address);
  const form = await tool(page, "get_forecast");
  await form.getByLabel("days").fill("300");
  await form.locator(".wrong", { hasText: "maximum 14" }).waitFor();
  assert.equal(await form.getByLabel("days").getAttribute("aria-invalid"), "true");
  await picture(page, "live-violation");
  await form.getByLabel("days").fill("soon");
  await form.locator(".wrong", { hasText: "expected an integer" }).waitFor();
  await form.getByLabel("days").fill("5");
  await form.locator(".wrong:not(:empty)").first().waitFor({ state: "detached" });
  await form.getByLabel("days").press("Control+Enter");
  await form.getByText("Lisbon: 5 days of 21").waitFor();
  quiet(page);
});

test("fields say what fits, and the forms of a union have names", async () => {
  const page = await open(address);
  let form = await tool(page, "get_forecast");
  const days = form.getByLabel("days");
  const described = await days.evaluate((field) => field.getAttribute("aria-describedby").split(" ")
    .map((id) => document.getElementById(id).textContent).join(""));
  assert.match(described, /at least 1, at most 14/);
  form = await tool(page, "move_note");
  const kind = form.getByLabel("form of place");
  assert.deepEqual(await kind.locator("option").allTextContents(), ["Folder", "Wall"]);
  await kind.selectOption("Wall");
  await form.getByText("The height in centimetres. \u00b7 at least 0, at most 300").waitFor();
  await form.getByLabel("height").fill("140");
  await form.getByLabel("id").fill("3");
  await picture(page, "live-union");
  assert.deepEqual(await violations(page), []);
  await form.getByRole("button", { name: "Call", exact: true }).click();
  await form.getByText("note 3 hangs at 140 cm").waitFor();
  quiet(page);
});

test("objects and lists have fields, and JSON can be written in their place", async () => {
  const page = await open(address);
  const form = await tool(page, "find_trains");
  await form.getByLabel("not_after").fill("22:00");
  await form.getByRole("button", { name: "Add" }).click();
  await form.getByLabel("classes 1").fill("2");
  await form.getByText("The arguments as JSON").click();
  const json = form.getByLabel("arguments of find_trains as JSON");
  const written = JSON.parse(await json.inputValue());
  assert.deepEqual([written.departure.not_after, written.classes], ["22:00", [2]]);
  await json.fill('{"to": "Porto", "departure": {"not_before": 8}}');
  assert.equal(await form.getByLabel("to", { exact: false }).first().inputValue(), "Porto");
  await form.locator(".wrong", { hasText: "expected a string" }).waitFor();
  await json.fill("{");
  await form.locator(".wrong", { hasText: "not valid JSON" }).waitFor();
  quiet(page);
});

test("a call shows its progress and is cancelled", async () => {
  const page = await open(address);
  const form = await tool(page, "count");
  await form.getByLabel("to").fill("100000");
  await form.getByRole("button", { name: "Call", exact: true }).click();
  await form.getByText(/^\d+ %/).waitFor();
  await picture(page, "live-progress");
  await form.getByRole("button", { name: "Cancel" }).click();
  await form.getByText(/^cancelled after/).waitFor();
  quiet(page);
});

test("a hook's question is answered on the page, and a call is made again", async () => {
  const page = await open(address);
  const form = await tool(page, "delete_note");
  await form.getByLabel("id").fill("7");
  await form.getByRole("button", { name: "Call", exact: true }).click();
  await form.getByText("it deletes something").waitFor();
  assert.deepEqual(await violations(page), []);
  await picture(page, "live-hold");
  await form.getByRole("button", { name: "Run it", exact: true }).click();
  await form.getByText("note 7 is deleted").waitFor();
  await form.getByRole("button", { name: "Again" }).click();
  await form.getByRole("button", { name: "Don't run it" }).click();
  await form.getByText(/the person said no/).waitFor();
  assert.equal(await form.locator(".history li").count(), 2);
  await form.getByRole("button", { name: "curl" }).first().click();
  const curl = await page.evaluate(() => navigator.clipboard.readText());
  assert.ok(curl.startsWith("curl -H") && curl.endsWith(`${new URL("call", address)}`), curl);
  quiet(page);
});

test("a held call runs only by a press that was meant for it", async () => {
  const page = await open(address);
  // The clock stands still between keys, however slow the machine is.
  await page.clock.install();
  const form = await tool(page, "delete_note");
  const held = form.getByRole("group", { name: "A hook holds the call" });
  const allow = held.getByRole("button", { name: "Run it", exact: true });
  const keys = async (...names) => {
    for (const name of names) await page.keyboard.press(name);
  };
  const hold = async () => {
    await form.getByLabel("id").fill("7");
    await form.getByLabel("id").press("Control+Enter");
    await held.waitFor();
  };
  await page.clock.pauseAt(new Date(Date.now() + 60_000));
  // The keys of somebody who goes on typing.
  await hold();
  await keys("Enter", "Enter", "Space", "Control+Enter", "Tab", "Tab", "Tab", "Enter", "Space");
  assert.equal(await allow.evaluate((button) => button === document.activeElement), true);
  // The second half of a double click.
  await allow.dispatchEvent("click", { detail: 2 });
  await page.clock.runFor(499);
  await keys("Enter");
  await picture(page, "live-hold-keys");
  // Had one of them counted, the call would be over.
  assert.equal(await held.count(), 1);
  await page.clock.runFor(500);
  await keys("Enter");
  await form.getByText("note 7 is deleted").waitFor();
  // Enter in the reason refuses.
  await hold();
  await held.getByLabel("Why not").fill("wrong customer, do not delete");
  await keys("Enter", "Enter");
  await form.getByText("wrong customer, do not delete").waitFor();
  assert.equal(await form.getByText("note 7 is deleted").count(), 0);
  quiet(page);
});

test("a question takes no key that was pressed before it was read", async () => {
  const page = await open(address);
  await page.clock.install();
  const form = await tool(page, "reserve_seat");
  await page.clock.pauseAt(new Date(Date.now() + 60_000));
  await form.getByRole("button", { name: "Call", exact: true }).focus();
  await page.keyboard.press("Enter");
  const question = form.getByRole("group", { name: "The tool asks you" });
  await question.waitFor();
  await page.clock.runFor(10);
  await question.getByLabel("row").fill("7");
  await question.getByLabel("window").selectOption("true");
  await question.getByLabel("row").press("Enter");
  await question.getByRole("button", { name: "Answer" }).press("Enter");
  assert.equal(await question.count(), 1);
  await page.clock.runFor(500);
  await question.getByLabel("row").press("Enter");
  await form.getByText("row 7, at the window").waitFor();
  quiet(page);
});

test("a tool's question is a form, judged and answered, declined or cancelled", async () => {
  const page = await open(address, { viewport: { width: 390, height: 900 } });
  const form = await tool(page, "reserve_seat");
  const ask = async () => {
    await form.getByRole("button", { name: "Call", exact: true }).click();
    const question = form.getByRole("group", { name: "The tool asks you" });
    await question.getByText("Where do you want to sit?").waitFor();
    return question;
  };
  let question = await ask();
  assert.equal(await question.getByLabel("row").evaluate((field) => field === document.activeElement), true);
  await question.getByLabel("row").fill("31");
  await question.locator(".wrong", { hasText: "30" }).waitFor();
  assert.deepEqual(await violations(page), []);
  await picture(page, "live-question");
  await question.getByRole("button", { name: "Answer" }).click();
  // It stays open until the answer is valid.
  await question.locator(".wrong", { hasText: "30" }).waitFor();
  await question.getByLabel("row").fill("7");
  // Nobody has chosen for the person.
  assert.equal(await question.getByLabel("window").inputValue(), "");
  await question.getByLabel("window").selectOption("true");
  await question.getByRole("button", { name: "Answer" }).click();
  await form.getByText("row 7, at the window").waitFor();
  assert.equal(await question.count(), 0);
  question = await ask();
  await question.getByRole("button", { name: "Decline" }).click();
  await form.getByText("any seat").waitFor();
  question = await ask();
  await question.getByRole("button", { name: "Cancel the question" }).click();
  await form.getByText("no seat").waitFor();
  question = await ask();
  await form.getByRole("button", { name: "Cancel", exact: true }).click();
  await form.getByText(/^cancelled after/).waitFor();
  assert.equal(await question.count(), 0);
  // A refused answer is an error in the log of the browser.
  assert.ok(page.seen.problems.every((problem) => problem.includes("422")), page.seen.problems.join());
});

test("twenty earlier calls are kept", async () => {
  const page = await open(address);
  const form = await tool(page, "draw_chart");
  const call = form.getByRole("button", { name: "Call", exact: true });
  for (let made = 1; made <= 22; made++) {
    await call.click();
    await form.locator("img").waitFor();
    await form.locator(`.history li:nth-child(${Math.min(made, 20)})`).waitFor();
  }
  assert.equal(await form.locator(".history li").count(), 20);
  quiet(page);
});

test("pictures are shown, and hostile results are text", async () => {
  const page = await open(address);
  let form = await tool(page, "draw_chart");
  await form.getByRole("button", { name: "Call", exact: true }).click();
  await form.locator("img").waitFor();
  form = await tool(page, "read_note");
  await form.getByLabel("id").fill("1");
  await form.getByRole("button", { name: "Call", exact: true }).click();
  await form.locator("pre", { hasText: HOSTILE }).waitFor();
  assert.equal(await page.title(), "desk");
});

test("a secret is not shown while it is typed, nor among the earlier calls", async () => {
  const page = await open(address);
  // The registry says which values are secret by how it shows them.
  await page.route("**/validate", (route) => route.fulfill({ json: { violations: [], shown: '{"city": "[secret]", "days": 3}' } }));
  const form = await tool(page, "get_forecast");
  await form.locator("input[type=password]").waitFor();
  assert.equal(await form.getByLabel("city").getAttribute("type"), "password");
  await form.getByLabel("city").fill("hunter2");
  await form.getByRole("button", { name: "Call", exact: true }).click();
  await form.getByText("hunter2: 3 days").waitFor();
  assert.match(await form.locator(".history li").textContent(), /^\{"city": "\[secret\]"/);
  quiet(page);
});

test("the page runs no script that is not its own", async () => {
  const page = await open(address);
  await page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "document.title = 'taken'";
    document.body.append(script);
  });
  assert.equal(await page.title(), "desk");
  const response = await page.evaluate(() => fetch("https://example.com/").then(() => "sent", () => "stopped"));
  assert.equal(response, "stopped");
});
