// Pages in files.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { WIDTHS, fileOf, open, picture, violations } from "./support.mjs";

const shownTools = (page) => page.locator("section > details:visible summary :is(h2, h3)").allTextContents();

for (const width of WIDTHS) {
  for (const colorScheme of ["light", "dark"]) {
    test(`a page of ${width} pixels fits and is accessible in ${colorScheme}`, async () => {
      for (const name of ["60", "all", "files", "hostile"]) {
        const page = await open(fileOf(name), { viewport: { width, height: 900 }, colorScheme });
        const first = page.locator("section > details summary").first();
        if (!(await page.locator("section > details[open]").count())) await first.click();
        await page.locator("section > details[open] [role=tabpanel]").first().waitFor();
        await page.locator("#cost").evaluate((cost) => (cost.parentElement.open = true));
        await page.locator(".bars li").first().waitFor();
        assert.deepEqual(await violations(page), [], name);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        assert.ok(wide <= width, `${name} is ${wide} pixels wide`);
        await picture(page, `${name}-${width}-${colorScheme}`);
        assert.deepEqual(page.seen.problems, []);
        assert.equal(page.seen.requests.length, 1, "it loads something");
        await page.context().close();
      }
    });
  }
}

test("texts can be read and links work without scripts", async () => {
  const page = await open(fileOf("all"), { javaScriptEnabled: false });
  assert.equal(await page.locator("nav").isVisible(), false);
  await page.locator("summary", { hasText: "plant" }).click();
  await page.locator("#tool-plant").getByText("array of Tree").waitFor();
  await page.locator("#tool-plant a", { hasText: "Tree" }).first().click();
  assert.ok(page.url().endsWith("#tool-plant-1"));
});

test("the first key leads past the index", async () => {
  const page = await open(fileOf("60"));
  await page.keyboard.press("Tab");
  await page.getByRole("link", { name: "Skip to the tools" }).press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.localName), "main");
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.localName), "summary");
});

test("the keyboard searches, walks the index and opens a tool", async () => {
  const page = await open(fileOf("60"));
  await page.keyboard.press("/");
  // In the box it is a character.
  await page.keyboard.type("a/b");
  assert.equal(await page.locator("#search").inputValue(), "a/b");
  await page.keyboard.press("Escape");
  await page.keyboard.type("delete INVOICE");
  const count = await page.locator("#count").textContent();
  const found = await shownTools(page);
  assert.ok(found.length > 0 && found.every((name) => name.startsWith("delete_invoice")), found.join());
  assert.equal(count, `${found.length} of 60`);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.locator("section > details[open]").waitFor();
  assert.equal(await page.locator("nav a[aria-current]").textContent(), found[0]);
  await page.keyboard.press("/");
  await page.keyboard.type("nothing of this");
  assert.deepEqual(await shownTools(page), []);
  await page.keyboard.press("Escape");
  assert.equal((await shownTools(page)).length, 60);
  await page.keyboard.type("get_customer");
  await page.keyboard.press("Enter");
  await page.waitForURL(/#tool-get_customer/);
  // One tool at a time is open, and it is in view. The other is closed once the browser tells of the new address.
  await page.waitForFunction(() => document.querySelectorAll("section > details[open]").length === 1);
  assert.ok(await page.locator("section > details[open] summary").isVisible());
});

test("a tag shows its tools, and all of them on a second click", async () => {
  const page = await open(fileOf("60"));
  const tag = page.locator("nav .tags a", { hasText: "invoice" });
  await tag.click();
  const found = await shownTools(page);
  assert.ok(found.length > 0 && found.every((name) => name.includes("invoice")));
  await tag.click();
  assert.equal((await shownTools(page)).length, 60);
});

test("tabs show what each provider is sent, by the keyboard too", async () => {
  const page = await open(`${fileOf("all")}#tool-find_way`);
  const list = page.getByRole("tablist", { name: "What is sent" });
  await list.waitFor();
  await list.getByRole("tab").first().focus();
  await page.keyboard.press("ArrowRight");
  const panel = page.getByRole("tabpanel", { name: "OpenAI Chat, strict", exact: true });
  await panel.waitFor();
  assert.match(await panel.textContent(), /\d bytes\. Rewritten:.*must be given/s);
  const sent = JSON.parse(await panel.locator("code").last().textContent());
  assert.equal(sent[0].function.strict, true);
  await page.keyboard.press("End");
  const schema = JSON.parse(await page.getByRole("tabpanel", { name: "JSON Schema" }).locator("code").textContent());
  assert.equal(schema.properties.ways.default, 3);
  assert.match(await page.locator("#tool-find_way .words").textContent(), /^invalid arguments for find_way/);
});

test("a call is copied in four forms", async () => {
  const page = await open(`${fileOf("all")}#tool-find_way`);
  const call = page.getByRole("tablist", { name: "The call as" });
  await call.waitFor();
  const text = async (name) => {
    await call.getByRole("tab", { name }).click();
    return page.getByRole("tabpanel", { name, exact: true }).locator("pre").textContent();
  };
  const json = JSON.parse(await text("JSON"));
  const curl = await text("curl");
  assert.deepEqual(JSON.parse(curl.match(/-d '(.*)'$/)[1]).params.arguments, json);
  const rust = await text("Rust");
  assert.match(rust, /^let call = ToolCall::new\("call_1", "find_way", r#"\{"from"/);
  assert.match(await text("Test"), /^#\[test\]\nfn find_way_accepts_the_example\(\)/);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByRole("tabpanel", { name: "Test" }).getByRole("button", { name: "Copy" }).click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
});

test("the price of the list is a bar for each tool", async () => {
  const page = await open(fileOf("60"));
  await page.locator("summary", { hasText: "What the list costs" }).click();
  await page.getByRole("button", { name: "Show all 60" }).click();
  const bytes = await page.locator(".bars b").allTextContents();
  assert.equal(bytes.length, 60);
  const numbers = bytes.map((text) => Number(text.replace(/[, B]/g, "")));
  assert.deepEqual(numbers, numbers.toSorted((left, right) => right - left));
  await page.getByLabel("As sent to").selectOption("Gemini");
  assert.notDeepEqual(await page.locator(".bars b").allTextContents(), bytes);
});

test("paper has every text", async () => {
  const page = await open(fileOf("all"));
  await page.emulateMedia({ media: "print" });
  await page.locator("#tool-plant").getByText("array of Tree").waitFor();
  assert.equal(await page.locator("nav").isVisible(), false);
});

test("hostile texts are shown and do not run", async () => {
  const page = await open(fileOf("hostile"));
  await page.locator("[role=tabpanel]").first().waitFor();
  assert.equal(await page.title(), "Tools");
  assert.equal(await page.locator("img").count(), 0);
  // No text reverses what is around it, in what providers are sent neither.
  for (const tab of await page.getByRole("tab").all()) {
    await tab.click();
    assert.doesNotMatch(await page.locator("body").innerText(), /[\u202a-\u202e]/);
  }
  // What gets into the page all the same is stopped by its policy.
  await page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "document.title = 'taken'";
    document.body.append(script);
    document.body.insertAdjacentHTML("beforeend", `<img src="https://example.com/x.png" onerror="document.title = 'taken'">`);
  });
  await page.waitForTimeout(200);
  assert.equal(await page.title(), "Tools");
  assert.ok(page.seen.problems.some((problem) => problem.includes("Content Security Policy")));
});

test("a page of 1,000 tools has at most a megabyte beside what providers are sent", async (t) => {
  const html = await readFile(fileOf("1000").slice(7), "utf8");
  const data = html.match(/id="data">([^<]*)</)[1];
  t.diagnostic(`${html.length - data.length} bytes, and ${data.length} of what providers are sent`);
  assert.ok(html.length - data.length <= 1_000_000);
  const paint = async (name) => {
    const times = [];
    for (let round = 0; round < 5; round++) {
      const page = await open(fileOf(name));
      times.push(await page.evaluate(() => new Promise((done) => new PerformanceObserver((list) => {
        for (const { name, startTime } of list.getEntries()) if (name === "first-contentful-paint") done(startTime);
      }).observe({ type: "paint", buffered: true }))));
      await page.context().close();
    }
    return times.sort((left, right) => left - right)[2];
  };
  const [few, many] = [await paint("10"), await paint("1000")];
  t.diagnostic(`first paint: ${few.toFixed()} ms with 10 tools, ${many.toFixed()} ms with 1,000: ${(many / few).toFixed(1)} times`);
  const page = await open(fileOf("1000"));
  const searches = await page.evaluate(() => ["delete", "delete invoice", "x", ""].map((words) => {
    const box = document.getElementById("search");
    box.value = words;
    const start = performance.now();
    box.dispatchEvent(new Event("input"));
    document.body.offsetHeight;
    return `${(performance.now() - start).toFixed()} ms`;
  }));
  const nodes = await page.evaluate(() => document.querySelectorAll("*").length);
  t.diagnostic(`searches: ${searches.join(", ")} (the first reads all texts); ${nodes} elements, ${await page.evaluate(() => document.documentElement.scrollHeight)} pixels`);
});
