// The official TypeScript SDK against a server: node typescript_sdk.mjs PACKAGES PROGRAM. PACKAGES is the folder
// with `node_modules`.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'

const [packages, program] = process.argv.slice(2)
const require = createRequire(`${packages}/package.json`)
const load = (name) => import(pathToFileURL(require.resolve(name)))
const { Client, StreamableHTTPClientTransport } = await load('@modelcontextprotocol/client')
const { StdioClientTransport } = await load('@modelcontextprotocol/client/stdio')

async function connect(transport, mode) {
  const client = new Client(
    { name: 'judge', version: '1' },
    { capabilities: { elicitation: {} }, versionNegotiation: { mode } },
  )
  client.setRequestHandler('elicitation/create', async (request) => {
    const keys = Object.keys(request.params.requestedSchema.properties)
    const values = keys.map((key) => [key, key === 'email' ? 'ada@example.com' : 'ada'])
    return { action: 'accept', content: Object.fromEntries(values) }
  })
  await client.connect(transport)
  return client
}

async function check(client) {
  const call = (name, args = {}, options) => client.callTool({ name, arguments: args }, options)
  const text = async (...args) => (await call(...args)).content[0].text
  const { tools } = await client.listTools()
  assert(tools.some((tool) => tool.name === 'mirror' && tool.outputSchema.type === 'object'))
  assert.equal(await text('greet', { name: 'Ada' }), 'Hello, Ada!')
  assert.deepEqual((await call('mirror', { x: 2, y: -3 })).structuredContent, { x: -2, y: 3 })
  const kinds = (await call('test_multiple_content_types')).content.map((part) => part.type)
  assert.deepEqual(kinds, ['text', 'image', 'resource'])

  for (const [name, args] of [['test_error_handling', {}], ['greet', {}], ['greet', { name: 7 }]]) {
    const result = await call(name, args)
    assert(result.isError && result.content[0].text)
  }
  await assert.rejects(call('no_such_tool'), (error) => error.code === -32602)

  const seen = []
  await call('test_tool_with_progress', {}, { onprogress: ({ progress }) => seen.push(progress) })
  assert.deepEqual(seen, [0, 50, 100])

  const before = Number(await text('cancelled_calls'))
  const controller = new AbortController()
  const waiting = call('wait', {}, { signal: controller.signal })
  waiting.catch(() => {})
  await sleep(300)
  controller.abort()
  await assert.rejects(waiting)
  for (let left = 100; Number(await text('cancelled_calls')) !== before + 1; left -= 1) {
    assert(left > 0, 'the call was not cancelled')
    await sleep(50)
  }
  assert.match(await text('test_elicitation', { message: 'Who are you?' }), /ada@example\.com/)
}

async function freePort() {
  const listener = createServer().listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const { port } = listener.address()
  listener.close()
  await once(listener, 'close')
  return port
}

async function start(port) {
  const child = spawn(program, { env: { ...process.env, PORT: port }, stdio: ['ignore', 'pipe', 'ignore'] })
  // The URL is printed once the server listens.
  await once(child.stdout, 'data')
  return async () => {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
}

for (const mode of ['legacy', 'auto', { pin: '2026-07-28' }]) {
  const name = mode.pin ?? mode
  // The second is a server that was started again.
  for (let run = 0; run < 2; run += 1) {
    const client = await connect(new StdioClientTransport({ command: program, args: ['--stdio'] }), mode)
    await check(client)
    await client.close()
  }
  console.log(`typescript sdk, stdio, ${name}: ok`)

  const port = await freePort()
  const url = new URL(`http://127.0.0.1:${port}/mcp`)
  let stop = await start(port)
  const client = await connect(new StreamableHTTPClientTransport(url), mode)
  await check(client)
  await stop()
  stop = await start(port)
  if (mode !== 'legacy') {
    // There is no session that could end.
    const { content } = await client.callTool({ name: 'greet', arguments: { name: 'Bob' } })
    assert.equal(content[0].text, 'Hello, Bob!')
  }
  await client.close().catch(() => {})
  const again = await connect(new StreamableHTTPClientTransport(url), mode)
  await check(again)
  await again.close()
  await stop()
  console.log(`typescript sdk, http, ${name}: ok`)
}
process.exit(0)
