// Draws the pictures of `examples/pictures` from programs that run: `tests/pages/run pictures`.

import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, test } from "node:test";
import { open, root, serve } from "./support.mjs";

const programs = `${process.env.CARGO_TARGET_DIR ?? `${root}target`}/debug`;
const save = (page, name) => page.screenshot({ path: `${root}examples/pictures/${name}.png` });

test("the page of the tutorial, with a violation", async () => {
  const page = await open(await serve({}, `${programs}/trips`), { viewport: { width: 1280, height: 640 } });
  await page.locator('nav a[href="#tool-get_forecast"]').click();
  const form = page.locator("#tool-get_forecast form");
  await form.getByLabel("city").fill("Lisbon");
  await form.getByLabel("days").fill("300");
  await form.locator(".wrong", { hasText: "maximum 14" }).waitFor();
  await form.evaluate((form) => form.closest("details").scrollIntoView());
  await save(page, "web");
});

test("the inbox of desk_service, in which a lead decides on the call of a clerk", async () => {
  const folder = await mkdtemp(join(tmpdir(), "desk-"));
  const flags = ["--listen", "127.0.0.1:0", "--delay", "0", "--folder", join(folder, "desk")];
  const program = spawn(`${programs}/examples/desk_service`, flags, { stdio: ["ignore", "pipe", "inherit"] });
  after(async () => {
    program.kill();
    await rm(folder, { recursive: true });
  });
  const lines = createInterface({ input: program.stdout })[Symbol.asyncIterator]();
  const next = async () => (await lines.next()).value.split(" ");
  const [, address] = await next();
  const tokens = Object.fromEntries([await next(), await next(), await next(), await next()]);
  const page = await open(address, { viewport: { width: 1000, height: 760 } });
  const signIn = async (user) => {
    await page.getByLabel("Token").fill(tokens[user]);
    await page.getByRole("button", { name: "Sign in" }).click();
  };
  await signIn("clerk-1");
  await page.locator("#suggestions button").first().click();
  await page.locator(".call.waiting").waitFor();
  await page.getByRole("button", { name: "Sign out" }).click();
  await signIn("lead-1");
  await page.locator("#waiting .call").waitFor();
  await save(page, "inbox");
});
