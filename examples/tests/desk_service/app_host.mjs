// A host that shows the app of the chart in a browser, with the official packages: the client of the SDK in this process, and
// `AppBridge` of `@modelcontextprotocol/ext-apps` on a page.
//
//   node app_host.mjs FOLDER_OF_PACKAGES URL TOKEN CHROMIUM

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [folder, url, token, executablePath] = process.argv.slice(2);
const require = createRequire(pathToFileURL(join(folder, 'package.json')));
const load = async (name) => import(pathToFileURL(require.resolve(name)));
const { Client, StreamableHTTPClientTransport } = await load('@modelcontextprotocol/client');
const { chromium } = require('playwright-core');
const esbuild = require('esbuild');

const MIME_TYPE = 'text/html;profile=mcp-app';
const extensions = { 'io.modelcontextprotocol/ui': { mimeTypes: [MIME_TYPE] } };
const client = new Client({ name: 'host', version: '1' }, { capabilities: { extensions } });
const requestInit = { headers: { authorization: `Bearer ${token}` } };
await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));

const { tools } = await client.listTools();
const chart = tools.find((tool) => tool.name === 'draw_sales');
assert.equal(chart._meta.ui.resourceUri, 'ui://desk/sales');
assert.deepEqual(chart._meta.ui.visibility, ['model', 'app']);
const { contents: [app] } = await client.readResource({ uri: chart._meta.ui.resourceUri });
assert.equal(app.mimeType, MIME_TYPE);

// What a host has to check: an app calls tools of its server that are for apps.
const isForApps = (name) => {
  const tool = tools.find((tool) => tool.name === name);
  return tool && (tool._meta?.ui?.visibility ?? ['model', 'app']).includes('app');
};

const built = await esbuild.build({
  stdin: {
    resolveDir: folder,
    contents: `
      import { AppBridge, PostMessageTransport } from '@modelcontextprotocol/ext-apps/app-bridge';
      window.start = async (html, args, result) => {
        const frame = document.createElement('iframe');
        frame.setAttribute('sandbox', 'allow-scripts');
        document.body.replaceChildren(frame);
        const bridge = new AppBridge(null, { name: 'host', version: '1' }, { serverTools: {} });
        window.problems = [];
        bridge.onerror = (error) => window.problems.push(String(error));
        bridge.onsizechange = ({ height }) => { window.height = height; };
        bridge.oncalltool = async (params) => {
          const answer = await fetch('/call', { method: 'POST', body: JSON.stringify(params) });
          if (!answer.ok) throw new Error(await answer.text());
          return answer.json();
        };
        const ready = new Promise((resolve) => { bridge.oninitialized = resolve; });
        await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
        frame.srcdoc = html;
        await ready;
        await bridge.sendToolInput({ arguments: args });
        await bridge.sendToolResult(result);
        window.bridge = bridge;
      };`,
  },
  bundle: true, format: 'iife', write: false, logLevel: 'error',
});

const calls = [];
const page = '<!doctype html><meta charset="utf-8"><title>host</title><body><script src="/host.js"></script>';
const server = createServer(async (request, response) => {
  if (request.url === '/host.js') return response.end(built.outputFiles[0].text);
  if (request.url !== '/call') return response.setHeader('content-type', 'text/html').end(page);
  let body = '';
  for await (const part of request) body += part;
  const params = JSON.parse(body);
  calls.push(params);
  if (!isForApps(params.name)) return response.writeHead(403).end(`${params.name} is not for apps`);
  response.end(JSON.stringify(await client.callTool(params)));
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));

const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
try {
  const tab = await browser.newPage();
  await tab.goto(`http://127.0.0.1:${server.address().port}/`);
  const args = { weeks: 3 };
  const result = await client.callTool({ name: 'draw_sales', arguments: args });
  await tab.evaluate(([html, args, result]) => window.start(html, args, result), [app.text, args, result]);
  const frame = tab.frameLocator('iframe');
  const bars = frame.locator('#bars li');
  const count = async (wanted) => {
    await bars.nth(wanted - 1).waitFor();
    assert.equal(await bars.count(), wanted);
  };
  await count(3);
  const units = JSON.parse(result.content.find((part) => part.type === 'text').text);
  assert.deepEqual((await bars.allInnerTexts()).map(Number), units);

  // The app calls the tool by its host.
  await frame.getByText('12 weeks').click();
  await count(12);
  assert.deepEqual(calls, [{ name: 'draw_sales', arguments: { weeks: 12 } }]);
  assert.ok(await tab.evaluate(() => window.height) > 100);

  // A result is no markup, and an error is shown.
  const evil = '</script><img src=x onerror="parent.hacked=1;document.title=1">';
  const send = (result) => tab.evaluate((result) => window.bridge.sendToolResult(result), result);
  await send({ content: [{ type: 'text', text: JSON.stringify([evil, 2]) }] });
  await count(2);
  assert.equal(await bars.first().innerText(), evil);
  await send({ content: [{ type: 'text', text: evil }], isError: true });
  await frame.locator('#problem', { hasText: 'onerror' }).waitFor();
  assert.equal(await frame.locator('img').count(), 0);

  // An app that was taken over reaches neither the page of the host nor a tool that is hidden from it.
  const inside = tab.frames()[1];
  assert.equal(await inside.evaluate(() => { try { return parent.document.title; } catch { return 'blocked'; } }), 'blocked');
  // Only the host around it gives it results.
  await inside.evaluate(() => new Promise((resolve) => {
    window.addEventListener('message', resolve, { once: true });
    const params = { content: [{ type: 'text', text: '[1,2,3,4,5]' }] };
    window.postMessage({ jsonrpc: '2.0', method: 'ui/notifications/tool-result', params }, '*');
  }));
  assert.equal(await bars.count(), 2);
  const hidden = await inside.evaluate(() => request('tools/call', { name: 'refund_order', arguments: {} }).catch((error) => error.message));
  assert.match(hidden, /not for apps/);
  assert.deepEqual(await tab.evaluate(() => window.problems), []);
  console.log('app: ok');
} finally {
  await browser.close();
  server.close();
  await client.close();
}
process.exit(0);
