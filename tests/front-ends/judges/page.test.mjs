// The page `page.jsx` with `@ai-sdk/react`, version 6 and 7, in Chromium.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { address, goOn, newId, require, root } from "./support.mjs";

const executablePath = process.env.TOOL_CORE_CHROMIUM;
if (!executablePath) console.log("skipped: pages with useChat: no Chromium");

const bundle = async (version) => {
  const { outputFiles } = await require("esbuild").build({
    entryPoints: [`${root}tests/front-ends/judges/page.jsx`],
    bundle: true,
    write: false,
    format: "esm",
    jsx: "automatic",
    define: { "process.env.NODE_ENV": '"production"' },
    alias: { ai: `ai-${version}`, "ai-react": `ai-react-${version}` },
    nodePaths: [`${root}target/front-ends/node_modules`],
  });
  const script = outputFiles[0].text.replaceAll("</script", "<\\/script");
  return `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><div id="root"></div><script type="module">${script}</script>`;
};

for (const version of executablePath ? [6, 7] : []) {
  const html = await bundle(version);
  const browser = await require("playwright-core").chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
  after(() => browser.close());

  const open = async () => {
    const page = await browser.newPage();
    page.problems = [];
    page.on("pageerror", (error) => page.problems.push(String(error)));
    // From the origin of the service.
    await page.route(`${address}/page?*`, (route) => route.fulfill({ contentType: "text/html", body: html }));
    await page.goto(`${address}/page?id=${newId()}`);
    const send = async (text) => {
      await page.locator("input").fill(text);
      await page.getByRole("button", { name: "Send" }).click();
    };
    const last = page.locator("article.assistant").last();
    const rests = () => page.locator("main[data-status=ready]").waitFor();
    return { page, send, last, rests };
  };

  test(`version ${version}: a chat with a tool and a picture`, async () => {
    const { page, send, last, rests } = await open();
    await send("weather");
    await last.getByText("I got: ").waitFor();
    await rests();
    const parts = ["tool-find_weather", "output-available", '{"place":"Oslo"}', '{"degrees":21,"place":"Oslo"}'];
    assert.deepEqual(await last.locator("section > *").allTextContents(), parts);
    await send("chart");
    await last.getByRole("img").waitFor();
    await rests();
    const before = await page.locator("main").innerHTML();
    await page.reload();
    await last.getByRole("img").waitFor();
    assert.equal(await page.locator("main").innerHTML(), before);
    assert.deepEqual(page.problems, []);
  });

  test(`version ${version}: a call that waits, also for a page that was loaded again`, async () => {
    const { page, send, last, rests } = await open();
    await send("pay twice");
    await last.getByText("it costs money").nth(1).waitFor();
    await page.reload();
    await last.getByRole("button", { name: "Allow" }).first().click();
    await last.getByRole("button", { name: "Deny" }).click();
    await last.getByText("I got: ").waitFor();
    await rests();
    assert.deepEqual(await last.locator("i").allTextContents(), ["output-available", "output-denied"]);
    assert.equal(await page.locator("article").count(), 2);
    assert.deepEqual(page.problems, []);
  });

  test(`version ${version}: an answer goes on in a page that was loaded again`, async () => {
    const { page, send, last, rests } = await open();
    await send("slow");
    await last.getByText("One two").waitFor();
    await page.reload();
    await page.locator("main[data-status=streaming]").waitFor();
    await goOn();
    await last.getByText("One two three.", { exact: true }).waitFor();
    await rests();
    assert.equal(await page.locator("article").count(), 2);
    assert.deepEqual(page.problems, []);
  });

  test(`version ${version}: an error is shown`, async () => {
    const { page, send } = await open();
    await send("break");
    const shown = await page.locator("strong").textContent();
    assert.doesNotMatch(shown, /cause for the log/);
    assert.deepEqual(page.problems, []);
  });
}
