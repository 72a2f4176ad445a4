// The same server with the SDK for TypeScript: typescript.mjs PACKAGES (stdio|http) TOOLS. PACKAGES is the folder
// `node_modules` with `@modelcontextprotocol/server` and `@modelcontextprotocol/node`. Over HTTP, it prints its URL.

import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';

const [packages, transport, tools] = process.argv.slice(2);
const load = createRequire(resolve(packages, 'index.js'));
const { McpServer } = load('@modelcontextprotocol/server');
const z = load('zod');

function makeServer() {
  const server = new McpServer({ name: 'bounds', version: '1' });
  const numbers = z.object({ a: z.number().int(), b: z.number().int() });
  server.registerTool('add', { description: 'Adds two numbers.', inputSchema: numbers }, ({ a, b }) => ({
    content: [{ type: 'text', text: String(a + b) }],
  }));
  const forecast = z.object({
    city: z.string().describe('The city.'),
    days: z.number().int().min(0).max(255).describe('How many days.'),
    unit: z.enum(['Celsius', 'Fahrenheit']).optional().describe('The unit.'),
  });
  for (let number = 1; number < Number(tools); number++) {
    const options = { description: 'The forecast for a city.', inputSchema: forecast };
    server.registerTool(`city_${number}_forecast`, options, ({ city, days }) => ({
      content: [{ type: 'text', text: `${city} ${days}` }],
    }));
  }
  return server;
}

if (transport === 'stdio') {
  const { serveStdio } = load('@modelcontextprotocol/server/stdio');
  serveStdio(makeServer);
} else {
  const { NodeStreamableHTTPServerTransport } = load('@modelcontextprotocol/node');
  const sessions = new Map();
  const http = createServer(async (request, response) => {
    let session = sessions.get(request.headers['mcp-session-id']);
    if (!session) {
      session = new NodeStreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        enableJsonResponse: true,
        onsessioninitialized: id => sessions.set(id, session),
      });
      await makeServer().connect(session);
    }
    await session.handleRequest(request, response);
  });
  http.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${http.address().port}/mcp`));
}
